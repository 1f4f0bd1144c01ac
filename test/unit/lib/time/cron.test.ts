import { expect, it } from 'vitest';
import { cronHasDate, nextCron, parseCron } from '../../../../src/lib/time/cron.ts';
import { latestOccurrence, occurrencesBetween } from '../../../../src/lib/time/occurrence.ts';
import { formatLocal, type Gap } from '../../../../src/lib/time/zone.ts';

const ms = Date.parse;

/** The local times at which an expression fires in (from, to], at most 12. */
function fires(text: string, zone: string, from: string, to: string, gap?: Gap): string[] {
  const cron = parseCron(text);
  return occurrencesBetween(after => nextCron(cron, zone, after, gap), ms(from), ms(to), 12).map(o =>
    formatLocal(o.at, zone),
  );
}

it('reads names, lists, steps, ranges and 7 as Sunday', () => {
  const week = ['2026-06-01T00:00Z', '2026-06-09T00:00Z'] as const;
  const days = (text: string) => fires(text, 'UTC', ...week).map(stamp => stamp.slice(5, 10));
  expect(days('0 12 * * mon-wed')).toEqual(['06-01', '06-02', '06-03', '06-08']);
  expect(days('0 12 * jun FRI,7')).toEqual(['06-05', '06-07']);
  expect(days('0 12 1-9/4 * *')).toEqual(['06-01', '06-05']);
  expect(days('0 12 */3 * *')).toEqual(['06-01', '06-04', '06-07']);
});

it('reads seconds as the first of six fields', () => {
  expect(fires('15,45 59 23 * * *', 'UTC', '2026-06-01T00:00Z', '2026-06-02T00:00Z')).toEqual([
    '2026-06-01T23:59:15+00:00',
    '2026-06-01T23:59:45+00:00',
  ]);
});

it('takes either when day of month and weekday are both set', () => {
  expect(
    fires('0 9 13 * fri', 'UTC', '2026-06-01T00:00Z', '2026-06-20T00:00Z').map(stamp => stamp.slice(8, 10)),
  ).toEqual(['05', '12', '13', '19']);
});

it('knows the last day of the month and the nth weekday', () => {
  expect(fires('0 9 L * *', 'UTC', '2026-02-01T00:00Z', '2026-03-01T00:00Z')).toEqual(['2026-02-28T09:00:00+00:00']);
  expect(fires('0 9 * * fri#2', 'UTC', '2026-06-01T00:00Z', '2026-07-01T00:00Z')).toEqual([
    '2026-06-12T09:00:00+00:00',
  ]);
});

it.each(['', '0 0', '* * * * * * *', '60 * * * *', '0 24 * * *', '0 0 32 * *', '@daily', 'a b c d e', '0 22-4 * * *'])(
  'refuses "%s" and says what to write',
  text => {
    expect(() => parseCron(text)).toThrow(
      expect.objectContaining({ code: 'INPUT_INVALID', hint: expect.stringContaining('5 fields') }),
    );
  },
);

it('says within 50 ms that an impossible date never comes (BC-61)', () => {
  for (const text of ['0 0 30 2 *', '0 0 31 4 *', '0 0 31 2,4,6,9,11 *']) {
    // The best of a few: what else the machine does meanwhile is not the search's.
    const took = Array.from({ length: 5 }, () => {
      const started = performance.now();
      expect(cronHasDate(parseCron(text))).toBe(false);
      expect(nextCron(parseCron(text), 'Europe/Berlin', ms('2026-03-01T00:00Z'))).toBeNull();
      return performance.now() - started;
    });
    expect(Math.min(...took)).toBeLessThan(50);
  }
  expect(cronHasDate(parseCron('0 0 29 2 *'))).toBe(true);
});

it('says so too for an impossible date with hour * (BC-61)', () => {
  const started = performance.now();
  expect(nextCron(parseCron('*/5 * 30 2 *'), 'Europe/Berlin', ms('2026-03-01T00:00Z'))).toBeNull();
  expect(performance.now() - started).toBeLessThan(50);
});

it('finds leap days, over a century without one too (BC-62, BC-110)', () => {
  const next = (from: string) => nextCron(parseCron('0 9 29 2 *'), 'Europe/Berlin', ms(from))?.key;
  expect(next('2026-03-01T00:00Z')).toBe('2028-02-29T09:00:00');
  expect(next('2028-02-29T08:00Z')).toBe('2032-02-29T09:00:00');
  expect(next('2096-03-01T00:00Z')).toBe('2104-02-29T09:00:00');
});

it('goes on hourly on a leap day (BC-62)', () => {
  expect(nextCron(parseCron('0 * * * 1-5'), 'UTC', ms('2028-02-29T10:20Z'))?.at).toBe(ms('2028-02-29T11:00Z'));
});

it('fires fixed hours in the first pass of a fold only', () => {
  const day = ['2026-10-24T23:50Z', '2026-10-25T02:00Z'] as const;
  expect(fires('*/30 2 * * *', 'Europe/Berlin', ...day)).toEqual([
    '2026-10-25T02:00:00+02:00',
    '2026-10-25T02:30:00+02:00',
  ]);
});

it('goes through both passes of a fold with hour *, with a key for each', () => {
  const cron = parseCron('30 * * * *');
  const found = occurrencesBetween(
    after => nextCron(cron, 'Europe/Berlin', after),
    ms('2026-10-25T00:00Z'),
    ms('2026-10-25T02:00Z'),
    9,
  );
  expect(found.map(o => o.key)).toEqual(['2026-10-25T02:30:00+02:00', '2026-10-25T02:30:00+01:00']);
});

it('goes through both passes with a step in the hour, and past the gap', () => {
  const folds = fires('0 */2 * * *', 'Europe/Berlin', '2026-10-24T21:59Z', '2026-10-25T03:30Z');
  expect(folds).toEqual([
    '2026-10-25T00:00:00+02:00',
    '2026-10-25T02:00:00+02:00',
    '2026-10-25T02:00:00+01:00',
    '2026-10-25T04:00:00+01:00',
  ]);
  const gap = fires('0 */2 * * *', 'Europe/Berlin', '2026-03-28T22:59Z', '2026-03-29T02:30Z');
  expect(gap).toEqual(['2026-03-29T00:00:00+01:00', '2026-03-29T04:00:00+02:00']);
});

it('fires fixed hours in a gap at its end, once, or not at all', () => {
  const day = ['2026-03-28T23:30Z', '2026-03-29T10:00Z'] as const;
  expect(fires('*/20 2 * * *', 'Europe/Berlin', ...day)).toEqual(['2026-03-29T03:00:00+02:00']);
  expect(fires('*/20 2 * * *', 'Europe/Berlin', ...day, 'skip')).toEqual([]);
});

it('finds the latest of a thousand missed ones at once (BC-64)', () => {
  const cron = parseCron('*/5 * * * *');
  const latest = latestOccurrence(
    after => nextCron(cron, 'Europe/Berlin', after),
    ms('2020-06-01T10:00Z'),
    ms('2026-06-01T11:02Z'),
  );
  expect(latest?.at).toBe(ms('2026-06-01T11:00Z'));
});

it('asks for what comes strictly after, between seconds too', () => {
  const cron = parseCron('* * * * * *');
  expect(nextCron(cron, 'UTC', ms('2026-06-01T00:00:00.000Z'))?.at).toBe(ms('2026-06-01T00:00:01Z'));
  expect(nextCron(cron, 'UTC', ms('2026-06-01T00:00:00.500Z'))?.at).toBe(ms('2026-06-01T00:00:01Z'));
  expect(nextCron(cron, 'UTC', ms('2026-06-01T00:00:00.999Z'))?.at).toBe(ms('2026-06-01T00:00:01Z'));
});
