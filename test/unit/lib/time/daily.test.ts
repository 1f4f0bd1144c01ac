import { expect, it } from 'vitest';
import { type DailySpec, nextDaily, parseDaily } from '../../../../src/lib/time/daily.ts';
import { latestOccurrence, occurrencesBetween } from '../../../../src/lib/time/occurrence.ts';
import { formatLocal } from '../../../../src/lib/time/zone.ts';

const ms = Date.parse;
const HOUR = 3_600_000;

/** The local times at which a schedule fires in (from, to], at most 20. */
function fires(spec: DailySpec, from: string, to: string): string[] {
  const daily = parseDaily(spec);
  return occurrencesBetween(after => nextDaily(daily, after), ms(from), ms(to), 20).map(o =>
    formatLocal(o.at, spec.zone),
  );
}

it('fires at the same wall time before and after a change of the clocks (BC-52)', () => {
  const spec = { at: ['07:00'], zone: 'Europe/Prague' };
  expect(fires(spec, '2026-03-27T12:00Z', '2026-03-30T12:00Z')).toEqual([
    '2026-03-28T07:00:00+01:00',
    '2026-03-29T07:00:00+02:00',
    '2026-03-30T07:00:00+02:00',
  ]);
});

it('fires once on the day of the change (BC-53)', () => {
  expect(fires({ at: ['12:00'], zone: 'Europe/Prague' }, '2026-03-28T22:00Z', '2026-03-29T22:00Z')).toHaveLength(1);
});

it('fires a time in the gap once, at the first instant after it (BC-49)', () => {
  const spec = { at: ['02:30'], zone: 'Europe/Paris' };
  expect(fires(spec, '2026-03-28T12:00Z', '2026-03-29T20:00Z')).toEqual(['2026-03-29T03:00:00+02:00']);
});

it('passes over a time in the gap with skip (BC-49)', () => {
  const spec: DailySpec = { at: ['02:30'], zone: 'Europe/Paris', gap: 'skip' };
  expect(fires(spec, '2026-03-28T12:00Z', '2026-03-30T12:00Z')).toEqual(['2026-03-30T02:30:00+02:00']);
});

it('makes one occurrence of several that a gap moves to one instant', () => {
  const daily = parseDaily({ at: ['03:00', '02:15', '02:45'], zone: 'Europe/Paris' });
  expect(nextDaily(daily, ms('2026-03-28T23:00Z'))).toEqual({
    at: ms('2026-03-29T01:00Z'),
    key: '2026-03-29T02:15:00',
  });
  expect(nextDaily(daily, ms('2026-03-29T01:00Z'))?.key).toBe('2026-03-30T02:15:00');
});

it('fires in the first pass of a fold and not in the second (BC-50)', () => {
  const spec = { at: ['01:30'], zone: 'America/New_York' };
  expect(fires(spec, '2026-11-01T04:00Z', '2026-11-01T09:00Z')).toEqual(['2026-11-01T01:30:00-04:00']);
  const again = nextDaily(parseDaily(spec), ms('2026-11-01T06:10Z'));
  expect(again?.key).toBe('2026-11-02T01:30:00');
});

it('fires midnight at 01:00 where midnight is left out (BC-55)', () => {
  const spec = { at: ['00:00'], zone: 'America/Santiago' };
  expect(fires(spec, '2026-09-05T12:00Z', '2026-09-06T12:00Z')).toEqual(['2026-09-06T01:00:00-03:00']);
});

it('takes the first pass for a one-shot, and ends with it (BC-56)', () => {
  const daily = parseDaily({ at: ['2026-11-01T01:30'], zone: 'America/New_York' });
  for (const armed of ['2026-07-01T00:00Z', '2026-10-31T23:00Z']) {
    expect(nextDaily(daily, ms(armed))?.at).toBe(ms('2026-11-01T05:30Z'));
  }
  expect(nextDaily(daily, ms('2026-11-01T05:30Z'))).toBeNull();
});

it('takes a stamp with Z or an offset as that instant', () => {
  const spec = { at: ['2026-06-01T10:00:00Z', '2026-06-01T10:00:00-01:00'], zone: 'Europe/Berlin' };
  expect(fires(spec, '2026-05-01T00:00Z', '2027-01-01T00:00Z')).toEqual([
    '2026-06-01T12:00:00+02:00',
    '2026-06-01T13:00:00+02:00',
  ]);
  expect(nextDaily(parseDaily(spec), 0)?.key).toBe('2026-06-01T10:00:00.000Z');
});

it('fires each of a list in order of time, stamps among times', () => {
  const spec = { at: ['18:00', '06:30', '2026-01-05T12:00'], zone: 'Europe/Berlin' };
  expect(fires(spec, '2026-01-04T23:00Z', '2026-01-05T23:00Z')).toEqual([
    '2026-01-05T06:30:00+01:00',
    '2026-01-05T12:00:00+01:00',
    '2026-01-05T18:00:00+01:00',
  ]);
});

it('keeps to weekdays and dates', () => {
  const spec: DailySpec = { at: ['08:00'], weekdays: ['sat', 'sun'], dates: ['12-20..01-06'], zone: 'Europe/Berlin' };
  expect(fires(spec, '2026-12-01T00:00Z', '2027-01-31T00:00Z').map(text => text.slice(0, 10))).toEqual([
    '2026-12-20',
    '2026-12-26',
    '2026-12-27',
    '2027-01-02',
    '2027-01-03',
  ]);
});

it('lets 24:00 belong to the day that it ends', () => {
  const spec: DailySpec = { at: ['24:00'], weekdays: ['fri'], zone: 'Europe/Berlin' };
  expect(fires(spec, '2026-01-05T00:00Z', '2026-01-11T00:00Z')).toEqual(['2026-01-10T00:00:00+01:00']);
});

it('finds 29 February on a Monday, decades ahead, and ends where dates are over', () => {
  const leap = parseDaily({ at: ['09:00'], dates: ['02-29'], weekdays: ['mon'], zone: 'UTC' });
  expect(nextDaily(leap, ms('2026-03-01T00:00Z'))?.key).toBe('2044-02-29T09:00:00');
  expect(nextDaily(leap, ms('2072-03-01T00:00Z'))?.key).toBe('2112-02-29T09:00:00');
  const over = parseDaily({ at: ['09:00'], dates: ['2026-02-01'], zone: 'UTC' });
  expect(nextDaily(over, ms('2026-02-01T09:00Z'))).toBeNull();
});

it('has one key for an occurrence however the clock is set back (BC-65)', () => {
  const daily = parseDaily({ at: ['08:00'], zone: 'Europe/Berlin' });
  const first = nextDaily(daily, ms('2026-06-01T05:00Z'));
  const afterStepBack = nextDaily(daily, first!.at - HOUR / 2);
  expect(afterStepBack).toEqual(first);
});

it('keeps the key of a date when the house moves to another zone (BC-67)', () => {
  const berlin = nextDaily(parseDaily({ at: ['06:00'], zone: 'Europe/Berlin' }), ms('2026-06-01T03:30Z'));
  const lisbon = nextDaily(parseDaily({ at: ['06:00'], zone: 'Europe/Lisbon' }), ms('2026-06-01T03:30Z'));
  expect(lisbon?.key).toBe(berlin?.key);
  expect(lisbon?.at).toBe(ms('2026-06-01T05:00Z'));
});

it('finds the last of the missed ones as well as all of them', () => {
  const daily = parseDaily({ at: ['06:00', '18:00'], zone: 'Europe/Berlin' });
  const next = (after: number) => nextDaily(daily, after);
  expect(latestOccurrence(next, ms('2025-01-01T00:00Z'), ms('2026-06-01T12:00Z'))?.key).toBe('2026-06-01T06:00:00');
  expect(latestOccurrence(next, ms('2026-06-01T04:00Z'), ms('2026-06-01T12:00Z'))).toBeNull();
  expect(occurrencesBetween(next, ms('2026-06-01T04:00Z'), ms('2027-01-01T00:00Z'), 3).map(o => o.key)).toEqual([
    '2026-06-01T18:00:00',
    '2026-06-02T06:00:00',
    '2026-06-02T18:00:00',
  ]);
});

it('names the entry that it cannot read', () => {
  const path = (name: string) => expect.objectContaining({ code: 'INPUT_INVALID', path: name });
  expect(() => parseDaily({ at: ['08:00', '25:00'], zone: 'UTC' })).toThrow(path('at/1'));
  expect(() => parseDaily({ at: ['08:00'], dates: ['13-01'], zone: 'UTC' })).toThrow(path('dates/0'));
});

it('schedules ten thousand rules in well under a second', () => {
  const rules = Array.from({ length: 10_000 }, (_, i) =>
    parseDaily({
      at: [`${String(i % 24).padStart(2, '0')}:${String(i % 60).padStart(2, '0')}`],
      zone: i % 2 ? 'Europe/Berlin' : 'America/New_York',
    }),
  );
  const started = performance.now();
  for (const rule of rules) nextDaily(rule, ms('2026-06-01T00:00Z'));
  expect(performance.now() - started).toBeLessThan(500);
});
