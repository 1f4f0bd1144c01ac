// Which days are workdays. Public holidays of a country are not built yet: no well-kept library for them is installed.
import type { z } from 'zod';
import type { houseSchema } from '../../config/house.ts';
import { type Day, weekdayOf } from '../../lib/time/calendar.ts';
import { matchesDay, parseDayFilter } from '../../lib/time/day-filter.ts';

/** `workdays` of house.yaml. */
export type Workdays = z.output<ReturnType<typeof houseSchema>>['workdays'];

/** Monday to Friday but the days of `except`, and the days of `extra` (which win). */
export function isWorkday(day: Day, { extra, except }: Pick<Workdays, 'extra' | 'except'>): boolean {
  if (isAmong(day, extra)) return true;
  const weekday = weekdayOf(day);
  return weekday !== 'sat' && weekday !== 'sun' && !isAmong(day, except);
}

const isAmong = (day: Day, dates: readonly string[]): boolean =>
  dates.length > 0 && matchesDay(parseDayFilter({ dates }), day);

/** What the configuration asks for and cannot have yet; undefined when it asks for nothing of the kind. */
export function workdaysNotYet({ country, region }: Workdays): string | undefined {
  if (country === undefined && region === undefined) return undefined;
  const where = [country, region].filter(Boolean).join('-');
  return `workdays: public holidays (${where}) are not known yet; list them under workdays.except, such as 12-25..12-26`;
}
