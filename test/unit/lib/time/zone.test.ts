import { expect, it } from 'vitest';
import { dayOfDate, formatDate, formatWall, parseDate } from '../../../../src/lib/time/calendar.ts';
import { isZone, nextTransition, offsetAt } from '../../../../src/lib/time/offsets.ts';
import {
  dayAt,
  firstInstantOf,
  formatLocal,
  instantsOf,
  localParts,
  startOfDay,
} from '../../../../src/lib/time/zone.ts';

const wall = (text: string) => Date.parse(`${text}Z`);
const at = Date.parse;
const iso = (ms: number | null) => ms && new Date(ms).toISOString();

it('reads calendar, clock and weekday of an instant', () => {
  expect(localParts(at('2026-03-28T21:00:00.250Z'), 'Europe/Berlin')).toEqual({
    year: 2026,
    month: 3,
    day: 28,
    hour: 22,
    minute: 0,
    second: 0,
    ms: 250,
    weekday: 'sat',
  });
});

it('knows names of zones from other words', () => {
  expect(['Europe/Berlin', 'UTC', 'Mars/Base', ''].map(isZone)).toEqual([true, true, false, false]);
  expect(() => offsetAt(0, 'Mars/Base')).toThrow(expect.objectContaining({ code: 'INPUT_INVALID' }));
});

it('has one instant for most wall times, none in a gap, two in a fold', () => {
  const zone = 'Europe/Paris';
  expect(instantsOf(wall('2026-03-29T01:59'), zone).map(iso)).toEqual(['2026-03-29T00:59:00.000Z']);
  expect(instantsOf(wall('2026-03-29T02:30'), zone)).toEqual([]);
  expect(instantsOf(wall('2026-10-25T02:30'), zone).map(iso)).toEqual([
    '2026-10-25T00:30:00.000Z',
    '2026-10-25T01:30:00.000Z',
  ]);
});

it('moves a wall time in a gap to the first instant after it, or skips it', () => {
  expect(iso(firstInstantOf(wall('2026-03-29T02:30'), 'Europe/Paris'))).toBe('2026-03-29T01:00:00.000Z');
  expect(firstInstantOf(wall('2026-03-29T02:30'), 'Europe/Paris', 'skip')).toBeNull();
  expect(firstInstantOf(wall('2026-03-29T03:00'), 'Europe/Paris', 'skip')).toBe(at('2026-03-29T01:00:00Z'));
});

it('takes the first pass of a fold, whatever the season (BC-56)', () => {
  expect(formatLocal(firstInstantOf(wall('2026-11-01T01:30'), 'America/New_York'), 'America/New_York')).toBe(
    '2026-11-01T01:30:00-04:00',
  );
});

it('starts the day at 01:00 where midnight is left out (BC-55)', () => {
  const day = parseDate('2026-09-06')!;
  expect(formatLocal(startOfDay(day, 'America/Santiago'), 'America/Santiago')).toBe('2026-09-06T01:00:00-03:00');
});

it('starts the day at the first of two midnights', () => {
  const day = parseDate('2026-11-01')!;
  expect(formatLocal(startOfDay(day, 'America/Havana'), 'America/Havana')).toBe('2026-11-01T00:00:00-04:00');
});

it('follows half-hour changes, a date that was left out, and winter time below standard time', () => {
  expect(offsetAt(at('2026-01-01T00:00Z'), 'Australia/Lord_Howe')).toBe(11 * 3_600_000);
  expect(offsetAt(at('2026-07-01T00:00Z'), 'Australia/Lord_Howe')).toBe(10.5 * 3_600_000);
  expect(instantsOf(wall('2011-12-30T12:00'), 'Pacific/Apia')).toEqual([]);
  expect(formatDate(dayAt(firstInstantOf(wall('2011-12-30T12:00'), 'Pacific/Apia'), 'Pacific/Apia'))).toBe(
    '2011-12-31',
  );
  expect(offsetAt(at('2026-01-01T00:00Z'), 'Europe/Dublin')).toBe(0);
});

it('finds the next transition to the millisecond', () => {
  expect(nextTransition(at('2026-01-01T00:00Z'), at('2026-12-31T00:00Z'), 'Europe/Berlin')).toEqual({
    at: at('2026-03-29T01:00:00Z'),
    before: 3_600_000,
    after: 7_200_000,
  });
  expect(nextTransition(at('2026-03-29T01:00:00Z'), at('2026-10-01T00:00Z'), 'Europe/Berlin')).toBeNull();
  expect(nextTransition(at('2026-01-01T00:00Z'), at('2030-01-01T00:00Z'), 'Asia/Tokyo')).toBeNull();
});

it('sees two transitions within a week', () => {
  const zone = 'America/Recife';
  const first = nextTransition(at('2000-10-01T00:00Z'), at('2000-11-01T00:00Z'), zone)!;
  const second = nextTransition(first.at, at('2000-11-01T00:00Z'), zone)!;
  expect([first.at, second.at].map(iso)).toEqual(['2000-10-08T03:00:00.000Z', '2000-10-15T02:00:00.000Z']);
});

it('writes local time with its offset', () => {
  expect(formatLocal(at('2026-03-28T21:00:00Z'), 'Europe/Berlin')).toBe('2026-03-28T22:00:00+01:00');
  expect(formatLocal(at('2026-03-28T21:00:00.050Z'), 'America/St_Johns')).toBe('2026-03-28T18:30:00.050-02:30');
  expect(formatLocal(at('1969-12-31T23:59:59.999Z'), 'UTC')).toBe('1969-12-31T23:59:59.999+00:00');
});

it('counts dates like a calendar', () => {
  expect(formatDate(parseDate('2028-02-28')! + 1)).toBe('2028-02-29');
  expect(parseDate('2026-02-29')).toBeUndefined();
  expect(parseDate('2026-1-1')).toBeUndefined();
  expect(dayOfDate(2026, 13, 1)).toBeUndefined();
  expect(formatWall(wall('2026-12-24T18:00'))).toBe('2026-12-24T18:00:00');
});
