import { describe, expect, onTestFinished, test } from 'vitest';
import { CausewayError } from '../../../src/lib/errors.ts';
import { startWorker, type WorkerOptions } from '../../../src/lib/worker.ts';
import type { EchoAnswers } from './echo-worker.ts';

function start(options: Partial<WorkerOptions> = {}) {
  const worker = startWorker<EchoAnswers>(new URL('./echo-worker.ts', import.meta.url), {
    name: 'the echo',
    ...options,
  });
  onTestFinished(() => worker.stop());
  return worker;
}

describe('a worker', () => {
  test('answers each question with its own answer, whatever their order', async () => {
    const worker = start();
    const answers = [
      worker.ask('later', 1),
      worker.ask('echo', 'a'),
      worker.ask('nothing'),
      worker.ask('echo', [null]),
    ];
    expect(await Promise.all(answers)).toEqual([2, 'a', undefined, [null]]);
  });

  test('lets its errors cross whole', async () => {
    const error = await start()
      .ask('refuse')
      .catch(thrown => thrown);
    expect(error).toBeInstanceOf(CausewayError);
    expect(error).toMatchObject({
      code: 'NOT_FOUND',
      message: 'there is no such lamp',
      path: 'a/b',
      hint: 'Look again.',
    });
    expect(error.details).toEqual([1]);
  });

  test('answers with INTERNAL what is a fault of ours, and goes on', async () => {
    const worker = start();
    await expect(worker.ask('fail')).rejects.toMatchObject({ code: 'INTERNAL', message: 'lamp is undefined' });
    await expect(worker.ask('notClonable')).rejects.toMatchObject({ code: 'INTERNAL' });
    await expect(worker.ask('absent' as 'fail')).rejects.toMatchObject({
      message: expect.stringContaining('"absent"'),
    });
    await expect(worker.ask('echo', () => {})).rejects.toMatchObject({ code: 'INTERNAL' });
    expect(await worker.ask('echo', 1)).toBe(1);
  });

  test('gets all at once that arrived while it was busy', async () => {
    const worker = start();
    await worker.ask('nothing');
    const busy = worker.ask('block', 50);
    await Promise.all([busy, ...Array.from({ length: 20 }, (_, i) => worker.ask('echo', i))]);
    expect(await worker.ask('largestBatch')).toBeGreaterThan(10);
  });

  test('can say something unasked', async () => {
    const notes: unknown[] = [];
    const worker = start({ onNote: note => notes.push(note) });
    await worker.ask('note', 'hello');
    expect(notes).toEqual([{ text: 'hello' }]);
  });

  test('that dies fails all that wait and all that ask later, and says so once', async () => {
    const exits: CausewayError[] = [];
    const worker = start({ onExit: error => exits.push(error) });
    const waiting = [worker.ask('crash'), worker.ask('later', 1).then(() => worker.ask('block', 10_000))];
    for (const answer of waiting) {
      await expect(answer).rejects.toMatchObject({ code: 'INTERNAL', message: 'the echo is gone: the floor fell in' });
    }
    await expect(worker.ask('echo', 1)).rejects.toMatchObject({ hint: expect.stringContaining('Restart') });
    expect(exits).toHaveLength(1);
  });

  test('that is stopped is no accident', async () => {
    const exits: CausewayError[] = [];
    const worker = start({ onExit: error => exits.push(error) });
    const waiting = worker.ask('block', 10_000);
    const failed = expect(waiting).rejects.toMatchObject({ message: 'the echo is gone: it was stopped' });
    await worker.stop();
    await failed;
    expect(exits).toEqual([]);
  });
});
