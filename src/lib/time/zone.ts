// Between instants (epoch ms) and the wall clocks of a zone. Where a wall time happens twice (the fold of autumn) the
// first pass is meant, always: luxon would choose by the season in which it is asked.
import { DAY_MS, type Day, dayOf, formatWall, type Wall, type Weekday, weekdayOf } from './calendar.ts';
import { nextTransition, offsetAt } from './offsets.ts';

/** What calendar and clock show at an instant; `month` is 1–12. */
export interface LocalParts {
  year: number;
  month: number;
  day: number;
  hour: number;
  minute: number;
  second: number;
  ms: number;
  weekday: Weekday;
}

/** What becomes of a wall time that a clock leaves out: the first instant after the gap, or none. */
export type Gap = 'next' | 'skip';

/** The wall time of `zone` at an instant. */
export const wallAt = (ms: number, zone: string): Wall => ms + offsetAt(ms, zone);

/** The date of `zone` at an instant. */
export const dayAt = (ms: number, zone: string): Day => dayOf(wallAt(ms, zone));

/** Year to millisecond and weekday of `zone` at an instant. */
export function localParts(ms: number, zone: string): LocalParts {
  const wall = wallAt(ms, zone);
  const date = new Date(wall);
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
    ms: date.getUTCMilliseconds(),
    weekday: weekdayOf(dayOf(wall)),
  };
}

/** All instants at which the clocks of `zone` show `wall`, ascending: none in a gap, two in a fold, else one. */
export function instantsOf(wall: Wall, zone: string): number[] {
  // Offsets lie within a day, so the two in question are those in force a day before and a day after.
  const early = offsetAt(wall - DAY_MS, zone);
  const late = offsetAt(wall + DAY_MS, zone);
  const offsets = early === late ? [early] : [early, late];
  return offsets.filter(offset => offsetAt(wall - offset, zone) === offset).map(offset => wall - offset);
}

/** The first instant at which the clocks of `zone` show `wall`; in a gap by `gap`. Never falls as `wall` rises. */
export function firstInstantOf(wall: Wall, zone: string): number;
export function firstInstantOf(wall: Wall, zone: string, gap: Gap): number | null;
export function firstInstantOf(wall: Wall, zone: string, gap: Gap = 'next'): number | null {
  const early = offsetAt(wall - DAY_MS, zone);
  if (early === offsetAt(wall + DAY_MS, zone)) return wall - early;
  const [first] = instantsOf(wall, zone);
  if (first !== undefined) return first;
  return gap === 'skip' ? null : (nextTransition(wall - DAY_MS, wall + DAY_MS, zone)?.at ?? null);
}

/** The first instant of a date in `zone`: mostly 00:00, 01:00 where the clocks leave midnight out (Santiago). */
export const startOfDay = (day: Day, zone: string): number => firstInstantOf(day * DAY_MS, zone);

/** `2026-03-28T22:00:00+01:00`, with milliseconds where there are some. */
export function formatLocal(ms: number, zone: string): string {
  const offset = offsetAt(ms, zone);
  const fraction = ((ms % 1000) + 1000) % 1000;
  const minutes = Math.round(Math.abs(offset) / 60_000);
  const two = (n: number) => String(n).padStart(2, '0');
  const suffix = `${offset < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
  return formatWall(ms + offset) + (fraction ? `.${String(fraction).padStart(3, '0')}` : '') + suffix;
}
