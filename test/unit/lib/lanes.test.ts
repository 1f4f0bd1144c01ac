import { describe, expect, test } from 'vitest';
import { withSignals } from '../../../src/lib/abort.ts';
import { createLanes } from '../../../src/lib/lanes.ts';
import { patience, settled } from '../backends/kit.ts';

/** Tasks that end when they are told to. */
function stage(max: number) {
  const lanes = createLanes(max);
  const running = new Map<string, { end: () => void; fail: () => void }>();
  const begun: string[] = [];
  const run = (name: string, lane?: string, signal = patience()) =>
    lanes.run(lane, signal, () => {
      begun.push(name);
      return new Promise<string>((resolve, reject) => {
        running.set(name, { end: () => resolve(name), fail: () => reject(new Error(name)) });
      });
    });
  const end = async (name: string, how: 'end' | 'fail' = 'end') => {
    running.get(name)?.[how]();
    await settled();
  };
  return { run, end, begun };
}

describe('lanes', () => {
  test('let so many run at once, first come first served', async () => {
    const { run, end, begun } = stage(2);
    for (const name of ['a', 'b', 'c', 'd']) void run(name);
    await settled();
    expect(begun).toEqual(['a', 'b']);
    await end('b');
    expect(begun).toEqual(['a', 'b', 'c']);
  });

  test('let one of a lane run at a time, and others pass by', async () => {
    const { run, end, begun } = stage(2);
    void run('a1', 'a');
    void run('a2', 'a');
    void run('b1', 'b');
    await settled();
    expect(begun).toEqual(['a1', 'b1']);
    await end('a1');
    expect(begun).toEqual(['a1', 'b1', 'a2']);
  });

  test('go on after a task that failed', async () => {
    const { run, end, begun } = stage(1);
    const failing = expect(run('a', 'x')).rejects.toThrow('a');
    void run('b', 'x');
    await settled();
    await end('a', 'fail');
    await failing;
    expect(begun).toEqual(['a', 'b']);
  });

  test('forget what is given up while it waits', async () => {
    const { run, end, begun } = stage(1);
    const given = new AbortController();
    void run('a');
    const waiting = expect(run('b', undefined, given.signal)).rejects.toThrow('enough');
    void run('c');
    await settled();
    given.abort(new Error('enough'));
    await waiting;
    await end('a');
    expect(begun).toEqual(['a', 'c']);
  });
});

describe('signals', () => {
  test('end a task with the reason of the first that is aborted, and are let go after it', async () => {
    const [one, other] = [new AbortController(), new AbortController()];
    const task = withSignals(
      [undefined, one.signal, other.signal],
      signal => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    );
    const outcome = expect(task).rejects.toThrow('first');
    other.abort(new Error('first'));
    one.abort(new Error('second'));
    await outcome;
    const seen = await withSignals([one.signal], async signal => signal.aborted);
    expect(seen).toBe(true);
  });
});
