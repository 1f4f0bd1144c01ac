// A worker for the tests of src/lib/worker.ts.
import { CausewayError } from '../../../src/lib/errors.ts';
import { answer, sendNote, takeRequests } from '../../../src/lib/worker.ts';

let largestBatch = 0;

const answers = {
  echo: (value: unknown) => value,
  nothing: () => {},
  later: async (value: number) => value + 1,
  refuse() {
    throw new CausewayError('NOT_FOUND', 'there is no such lamp', { path: 'a/b', hint: 'Look again.', details: [1] });
  },
  fail() {
    throw new TypeError('lamp is undefined');
  },
  notClonable: () => () => {},
  note: (text: string) => sendNote({ text }),
  largestBatch: () => largestBatch,
  block(ms: number) {
    const end = performance.now() + ms;
    while (performance.now() < end);
  },
  crash() {
    queueMicrotask(() => {
      throw new Error('the floor fell in');
    });
    return new Promise<void>(() => {});
  },
};

export type EchoAnswers = typeof answers;

takeRequests(requests => {
  largestBatch = Math.max(largestBatch, requests.length);
  for (const request of requests) void answer(answers, request);
});
