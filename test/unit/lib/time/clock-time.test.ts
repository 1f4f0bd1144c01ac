import { expect, it } from 'vitest';
import { parseClockTime, parseStamp } from '../../../../src/lib/time/clock-time.ts';

it.each([
  ['00:00', 0],
  ['07:30', 27_000_000],
  ['7:30', 27_000_000],
  ['23:59:59', 86_399_000],
  ['24:00', 86_400_000],
])('reads %s as a time of the day', (text, ms) => {
  expect(parseClockTime(text)).toBe(ms);
});

it.each(['24:01', '25:00', '07:60', '0730', '07:30:61', 'noon', '', '7:3'])('finds no time in "%s"', text => {
  expect(parseClockTime(text)).toBeUndefined();
});

it('tells local stamps from instants', () => {
  const wall = Date.parse('2026-12-24T18:00:00Z');
  expect(parseStamp('2026-12-24T18:00')).toEqual({ wall });
  expect(parseStamp('2026-12-24T18:00:15')).toEqual({ wall: wall + 15_000 });
  expect(parseStamp('2026-12-24T18:00:00Z')).toEqual({ instant: wall });
  expect(parseStamp('2026-12-24T18:00:00.250Z')).toEqual({ instant: wall + 250 });
  expect(parseStamp('2026-12-24T18:00+01:00')).toEqual({ instant: wall - 3_600_000 });
  expect(parseStamp('2026-12-24T18:00:00-03:30')).toEqual({ instant: wall + 12_600_000 });
});

it.each(['2026-02-30T08:00', '2026-12-24', '2026-12-24 18:00', '2026-12-24T25:00', '18:00', '2026-12-24T18:00+25:00'])(
  'finds no stamp in "%s"',
  text => {
    expect(parseStamp(text)).toBeUndefined();
  },
);
