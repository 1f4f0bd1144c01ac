// Which days a rule means: `weekdays` and `dates` of time triggers and time conditions.
import { CausewayError } from '../errors.ts';
import { type Day, dayOfDate, monthDayOf, parseDate, type Weekday, weekdayOf } from './calendar.ts';

/** As in a rule; what is absent restricts nothing. `dates`: `2026-12-24`, `12-24` each year, `12-20..01-06`. */
export interface DaySpec {
  weekdays?: readonly Weekday[];
  dates?: readonly string[];
}

/** A range of dates, both ends included: of the calendar, or of every year as `monthDayOf` (then it may wrap). */
interface DateRange {
  readonly yearly: boolean;
  readonly from: number;
  readonly to: number;
}

/** A `DaySpec` that was read. */
export interface DayFilter {
  readonly weekdays: ReadonlySet<Weekday> | undefined;
  readonly dates: readonly DateRange[] | undefined;
}

/** Reads one entry of `dates`; undefined when it is none. */
export function parseDateRange(text: string): DateRange | undefined {
  const [first = '', second = first, ...more] = text.split('..').map(part => part.trim());
  if (more.length > 0) return undefined;
  const from = parseDate(first);
  const to = parseDate(second);
  if (from !== undefined && to !== undefined) return from <= to ? { yearly: false, from, to } : undefined;
  const yearlyFrom = parseMonthDay(first);
  const yearlyTo = parseMonthDay(second);
  if (yearlyFrom === undefined || yearlyTo === undefined) return undefined;
  return { yearly: true, from: yearlyFrom, to: yearlyTo };
}

function parseMonthDay(text: string): number | undefined {
  const parts = /^(\d{2})-(\d{2})$/.exec(text);
  // Of a leap year, so that 02-29 is a date.
  const day = parts ? dayOfDate(2000, Number(parts[1]), Number(parts[2])) : undefined;
  return day === undefined ? undefined : monthDayOf(day);
}

/** Reads `weekdays` and `dates`. Throws INPUT_INVALID with the path of the date that is none. */
export function parseDayFilter(spec: DaySpec): DayFilter {
  const dates = spec.dates?.map((text, index) => {
    const range = parseDateRange(text);
    if (range) return range;
    throw new CausewayError('INPUT_INVALID', `"${text}" is no date`, {
      path: `dates/${index}`,
      hint: 'Write 2026-12-24, 12-24 (each year), or a range such as 12-20..01-06.',
    });
  });
  return { weekdays: spec.weekdays && new Set(spec.weekdays), dates };
}

/** True if the rule means this day. */
export function matchesDay(filter: DayFilter, day: Day): boolean {
  if (filter.weekdays && !filter.weekdays.has(weekdayOf(day))) return false;
  return filter.dates?.some(range => inRange(range, range.yearly ? monthDayOf(day) : day)) ?? true;
}

function inRange({ from, to }: DateRange, value: number): boolean {
  return from <= to ? from <= value && value <= to : from <= value || value <= to;
}
