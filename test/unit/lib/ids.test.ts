import { describe, expect, it } from 'vitest';
import { idSource, seededRandom } from '../../../src/lib/ids.ts';

/** A clock that shows what it is told. */
const clockAt = (now: number) => ({
  at: now,
  now() {
    return this.at;
  },
  elapsed: () => 0,
  after: () => () => {},
});

const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const timeOf = (id: string) => [...id.slice(0, 10)].reduce((ms, digit) => ms * 32 + DIGITS.indexOf(digit), 0);

describe('ids', () => {
  it('are ULIDs that carry the time of the clock', () => {
    const now = Date.UTC(2026, 10, 30, 12, 34, 56, 789);
    const id = idSource(clockAt(now))();
    expect(id).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/);
    expect(timeOf(id)).toBe(now);
  });

  it('rise strictly within a millisecond, over many of them, and when the clock is set back', () => {
    const clock = clockAt(1_000_000);
    const next = idSource(clock);
    let last = '';
    for (let step = 0; step < 3_000; step++) {
      clock.at += step % 7 === 0 ? -50 : step % 3;
      for (let n = 0; n < 5; n++) {
        const id = next();
        expect(id > last).toBe(true);
        last = id;
      }
    }
  });

  it('of two sources differ, and of one seed are the same', () => {
    const clock = clockAt(1_000_000);
    expect(idSource(clock)()).not.toBe(idSource(clock)());
    const seeded = () => idSource(clock, seededRandom(7));
    const [a, b] = [seeded(), seeded()];
    expect([a(), a()]).toEqual([b(), b()]);
  });
});
