// What webhooks of a console remember, so that it neither lasts too long nor grows.
import { expect, test } from 'vitest';
import { createSeen } from '../../../../src/backends/unifi/hooks/seen.ts';
import { VirtualClock } from '../../../../src/lib/virtual-clock.ts';

test('a key is remembered for its time, anew each time it is added', () => {
  const clock = new VirtualClock(0);
  const seen = createSeen(clock);
  seen.add('a', 1_000);
  seen.add('b', 5_000);
  clock.advanceTo(999);
  expect([seen.has('a'), seen.has('b'), seen.has('c')]).toEqual([true, true, false]);
  clock.advanceTo(1_000);
  expect([seen.has('a'), seen.has('b')]).toEqual([false, true]);
  seen.add('a', 1_000);
  expect(seen.has('a')).toBe(true);
});

test('the oldest go where there are too many', () => {
  const seen = createSeen(new VirtualClock(0), 3);
  for (const key of ['a', 'b', 'c', 'a', 'd']) seen.add(key, 1_000);
  expect(['a', 'b', 'c', 'd'].map(key => seen.has(key))).toEqual([true, false, true, true]);
});

test('ten thousand are kept', () => {
  const seen = createSeen(new VirtualClock(0));
  for (let i = 0; i <= 10_000; i++) seen.add(`${i}`, 1_000);
  expect([0, 1, 10_000].map(i => seen.has(`${i}`))).toEqual([false, true, true]);
});
