import { expect, it } from 'vitest';
import { parseDate, weekdayOf } from '../../../../src/lib/time/calendar.ts';
import { type DaySpec, matchesDay, parseDateRange, parseDayFilter } from '../../../../src/lib/time/day-filter.ts';

const means = (spec: DaySpec, date: string) => matchesDay(parseDayFilter(spec), parseDate(date)!);

it('means every day when nothing is said', () => {
  expect(means({}, '2026-05-05')).toBe(true);
});

it('knows the weekday of a date, before 1970 too', () => {
  expect(['2026-12-24', '2028-02-29', '1969-12-31'].map(date => weekdayOf(parseDate(date)!))).toEqual([
    'thu',
    'tue',
    'wed',
  ]);
});

it('wants weekday and date where both are set', () => {
  const spec: DaySpec = { weekdays: ['thu'], dates: ['12-24'] };
  expect(['2026-12-24', '2027-12-24', '2026-12-17'].map(date => means(spec, date))).toEqual([true, false, false]);
});

it('takes one date, a date of every year, and a range with both its ends', () => {
  expect(['2026-12-24', '2027-12-24'].map(date => means({ dates: ['2026-12-24'] }, date))).toEqual([true, false]);
  expect(['2026-12-24', '2027-12-24'].map(date => means({ dates: ['12-24'] }, date))).toEqual([true, true]);
  const range = { dates: ['2026-05-01..2026-05-03'] };
  expect(['2026-04-30', '2026-05-01', '2026-05-03', '2026-05-04'].map(date => means(range, date))).toEqual([
    false,
    true,
    true,
    false,
  ]);
});

it('wraps a yearly range over New Year', () => {
  const range = { dates: ['12-20..01-06'] };
  expect(['2026-12-19', '2026-12-20', '2027-01-06', '2027-01-07'].map(date => means(range, date))).toEqual([
    false,
    true,
    true,
    false,
  ]);
});

it('accepts 29 February as a date of every year', () => {
  expect(['2028-02-29', '2027-03-01'].map(date => means({ dates: ['02-29'] }, date))).toEqual([true, false]);
});

it.each(['02-30', '2026-02-29', '12-20..2027-01-06', '2026-05-03..2026-05-01', '1-1', 'may', '01-01..02-01..03-01'])(
  'finds no date in "%s"',
  text => {
    expect(parseDateRange(text)).toBeUndefined();
    expect(() => parseDayFilter({ dates: ['12-24', text] })).toThrow(expect.objectContaining({ path: 'dates/1' }));
  },
);
