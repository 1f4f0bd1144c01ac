// Dates and wall times as plain numbers: what a calendar and a clock on the wall show, without any zone. Arithmetic on
// them is arithmetic on integers; only zone.ts joins them with instants.

/** Milliseconds of a day on a wall clock (not always those between two local midnights). */
export const DAY_MS = 86_400_000;

/** A calendar date: days since 1970-01-01. The day after is `day + 1`. */
export type Day = number;

/** What a wall clock shows: its milliseconds since 1970-01-01T00:00 on that same clock. No instant. */
export type Wall = number;

/** The days of the week in their order in a rule. */
export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
/** A name of `WEEKDAYS`. */
export type Weekday = (typeof WEEKDAYS)[number];

/** The date of a wall time. */
export const dayOf = (wall: Wall): Day => Math.floor(wall / DAY_MS);

/** The weekday of a date. */
export const weekdayOf = (day: Day): Weekday => WEEKDAYS[(((day + 3) % 7) + 7) % 7] as Weekday;

/** Month and day of the month as one number, `1224`, for comparisons within a year. */
export function monthDayOf(day: Day): number {
  const date = new Date(day * DAY_MS);
  return (date.getUTCMonth() + 1) * 100 + date.getUTCDate();
}

/** The date of a year, a month (1–12) and a day of the month; undefined where there is none (30 February). */
export function dayOfDate(year: number, month: number, date: number): Day | undefined {
  const ms = Date.UTC(year, month - 1, date);
  const back = new Date(ms);
  return back.getUTCMonth() === month - 1 && back.getUTCDate() === date ? ms / DAY_MS : undefined;
}

/** The date of `2026-12-24`; undefined when it is none. */
export function parseDate(text: string): Day | undefined {
  const parts = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  return parts ? dayOfDate(Number(parts[1]), Number(parts[2]), Number(parts[3])) : undefined;
}

/** `2026-12-24`. */
export const formatDate = (day: Day): string => new Date(day * DAY_MS).toISOString().slice(0, 10);

/** `2026-12-24T18:00:00`, to the second. */
export const formatWall = (wall: Wall): string => new Date(wall).toISOString().slice(0, 19);
