import { describe, expect, test } from 'vitest';
import { createBucket } from '../../../../src/backends/unifi/console/bucket.ts';
import { VirtualClock } from '../../../../src/lib/virtual-clock.ts';

describe('a bucket', () => {
  test('gives so many at once, and more as time passes', () => {
    const clock = new VirtualClock(0);
    const bucket = createBucket(clock, 3, 60);
    expect([1, 2, 3, 4].map(() => bucket.tryTake())).toEqual([true, true, true, false]);
    clock.advanceTo(clock.elapsed() + 1_000);
    expect([1, 2].map(() => bucket.tryTake())).toEqual([true, false]);
    clock.advanceTo(clock.elapsed() + 3_600_000);
    expect([1, 2, 3, 4].map(() => bucket.tryTake())).toEqual([true, true, true, false]);
  });

  test('lets wait in the order of asking', async () => {
    const clock = new VirtualClock(0);
    const bucket = createBucket(clock, 1, 60);
    const got: string[] = [];
    const take = (name: string) =>
      bucket.take(new AbortController().signal).then(() => got.push(`${name} ${clock.elapsed()}`));
    const all = Promise.all(['a', 'b', 'c'].map(take));
    await Promise.resolve();
    clock.advanceTo(clock.elapsed() + 10_000);
    await all;
    expect(got.map(line => line[0])).toEqual(['a', 'b', 'c']);
  });

  test('gives back what somebody no longer waits for', async () => {
    const clock = new VirtualClock(0);
    const bucket = createBucket(clock, 1, 60);
    bucket.tryTake();
    const ending = new AbortController();
    const waiting = bucket.take(ending.signal);
    ending.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    expect(clock.nextDue()).toBeUndefined();
    clock.advanceTo(clock.elapsed() + 1_000);
    expect(bucket.tryTake()).toBe(true);
  });
});
