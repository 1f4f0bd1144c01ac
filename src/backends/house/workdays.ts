// Which days are workdays: Monday to Friday but public holidays (the library date-holidays), as house.yaml has it.
import { createRequire } from 'node:module';
import type HolidaysLibrary from 'date-holidays';
import type { z } from 'zod';
import type { houseSchema } from '../../config/house.ts';
import { CausewayError } from '../../lib/errors.ts';
import { memoByObject } from '../../lib/memo.ts';
import { DAY_MS, type Day, formatDate, weekdayOf } from '../../lib/time/calendar.ts';
import { matchesDay, parseDayFilter } from '../../lib/time/day-filter.ts';

/** `workdays` of house.yaml. */
export type Workdays = z.output<ReturnType<typeof houseSchema>>['workdays'];

/** Monday to Friday but public holidays and the days of `except`, and the days of `extra` (which win). */
export function isWorkday(day: Day, workdays: Workdays): boolean {
  if (isAmong(day, workdays.extra)) return true;
  const weekday = weekdayOf(day);
  return weekday !== 'sat' && weekday !== 'sun' && !isAmong(day, workdays.except) && !isHoliday(day, workdays);
}

const isAmong = (day: Day, dates: readonly string[]): boolean =>
  dates.length > 0 && matchesDay(parseDayFilter({ dates }), day);

/** Checks country and region once, at the start. @throws CONFIG_INVALID with those that there are */
export function checkWorkdays({ country, region }: Workdays): void {
  if (country === undefined) return;
  const library = load();
  const countries = library.getCountries();
  if (!Object.hasOwn(countries, country)) {
    throw new CausewayError('CONFIG_INVALID', `workdays/country: the holidays of "${country}" are not known`, {
      path: 'workdays/country',
      hint: 'use the two letters of ISO 3166 (DE, AT, US), or list the days under except',
    });
  }
  const regions = Object.keys(library.getStates(country) ?? {});
  if (region === undefined || regions.includes(region)) return;
  throw new CausewayError('CONFIG_INVALID', `workdays/region: ${country} has no region "${region}"`, {
    path: 'workdays/region',
    hint: regions.length > 0 ? `it has ${regions.join(', ')}` : 'leave it out',
  });
}

// Loaded only by a house that names a country: its tables are large.
const load = (country?: string, region?: string): HolidaysLibrary => {
  const Holidays = createRequire(import.meta.url)('date-holidays') as typeof HolidaysLibrary;
  if (country === undefined) return new Holidays();
  return region === undefined ? new Holidays(country) : new Holidays(country, region);
};

const calendarOf = memoByObject(({ country, region }: Workdays) => {
  const library = load(country, region);
  const years = new Map<number, ReadonlySet<string>>();
  return (year: number): ReadonlySet<string> => {
    let days = years.get(year);
    if (!days) {
      const holidays = library.getHolidays(year).filter(({ type }) => type === 'public');
      // A holiday may last several days; each `date` is local, `start` and `end` are instants a whole number of days apart.
      const dates = holidays.flatMap(({ date, start, end }) => {
        const first = Date.parse(`${date.slice(0, 10)}T00:00:00Z`);
        const length = Math.max(1, Math.round((end.getTime() - start.getTime()) / DAY_MS));
        return Array.from({ length }, (_, i) => formatDate(Math.floor(first / DAY_MS) + i));
      });
      years.set(year, (days = new Set(dates)));
    }
    return days;
  };
});

function isHoliday(day: Day, workdays: Workdays): boolean {
  if (workdays.country === undefined) return false;
  const date = formatDate(day);
  return calendarOf(workdays)(Number(date.slice(0, 4))).has(date);
}
