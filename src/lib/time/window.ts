// Windows of time, as in time conditions and periods: half-open, over midnight where they must, and unknown where the
// sun that should begin or end them stays away.
import { CausewayError } from '../errors.ts';
import { type Bound, boundAt, parseBound } from './bound.ts';
import { DAY_MS, type Day } from './calendar.ts';
import { type DayFilter, type DaySpec, matchesDay, parseDayFilter } from './day-filter.ts';
import { usualHour } from './sun-events.ts';
import type { Place } from './sun-position.ts';
import { dayAt, firstInstantOf, startOfDay } from './zone.ts';

/**
 * As in a rule. `after` alone reaches to the end of the day, `before` alone from its start, neither is the whole day.
 * Equal bounds follow each other without a gap. `weekdays` and `dates` mean the day to which the start of the window
 * belongs, or with `weekdayOf: now` the day of the moment asked about.
 */
export interface WindowSpec extends DaySpec {
  after?: string;
  before?: string;
  weekdayOf?: 'window_start' | 'now';
}

/** A `WindowSpec` that was read; read it once, ask it often. */
export interface Window {
  readonly after: Bound;
  readonly before: Bound;
  /** How many days after the start the end usually belongs: 1 over midnight. */
  readonly endsDaysLater: number;
  /** How many days away from today a window that matters today may begin. */
  readonly reach: number;
  readonly days: DayFilter;
  readonly daysOfNow: boolean;
}

/** Reads a window. Throws INPUT_INVALID with a path (`after`, `before`, `dates/0`). */
export function parseWindow(spec: WindowSpec): Window {
  const after = readBound(spec.after ?? '00:00', 'after');
  const before = readBound(spec.before ?? '24:00', 'before');
  const offsets = [after, before].map(bound => ('offset' in bound ? Math.abs(bound.offset) : 0));
  return {
    after,
    before,
    endsDaysLater: Math.max(0, Math.floor((usualTime(after) - usualTime(before)) / DAY_MS) + 1),
    reach: 1 + Math.ceil(Math.max(...offsets) / DAY_MS),
    days: parseDayFilter(spec),
    daysOfNow: spec.weekdayOf === 'now',
  };
}

function readBound(text: string, path: string): Bound {
  const bound = parseBound(text);
  if (bound) return bound;
  throw new CausewayError('INPUT_INVALID', `"${text}" is neither a time nor a sun event`, {
    path,
    hint: 'Write 22:00, 22:00:30, sunset, sunset-30m or sunrise+1h.',
  });
}

/** True if an instant lies within the window; null if that hangs on a sun event that does not happen. */
export function inWindow(window: Window, place: Place, ms: number): boolean | null {
  const today = dayAt(ms, place.zone);
  if (window.daysOfNow && !matchesDay(window.days, today)) return false;
  let answer: false | null = false;
  // Tomorrow's may have begun today: by an offset, or where a clock is put back over midnight.
  for (let day = today + window.reach; day >= today - window.reach; day--) {
    if (!window.daysOfNow && !matchesDay(window.days, day)) continue;
    const span = spanOf(window, day, place);
    if (ms < span.from || ms >= span.to) continue;
    if (span.known) return true;
    answer = null;
  }
  return answer;
}

/** The next instant at which the answer of `inWindow` may change; until then it stays. Never more than a day away. */
export function nextWindowEdge(window: Window, place: Place, ms: number): number {
  const today = dayAt(ms, place.zone);
  const edges = [startOfDay(today + 1, place.zone), startOfDay(today + 2, place.zone)];
  for (let day = today - window.reach; day <= today + window.reach; day++) {
    const { from, to } = spanOf(window, day, place);
    edges.push(from, to);
  }
  return Math.min(...edges.filter(edge => edge > ms));
}

interface Span {
  readonly from: number;
  readonly to: number;
  /** False where a bound has no event: then this is where the window might lie. */
  readonly known: boolean;
}

/** The window whose start belongs to a day. */
function spanOf({ after, before, endsDaysLater, reach }: Window, day: Day, place: Place): Span {
  const endDay = day + endsDaysLater;
  const from = boundAt(after, day, place);
  const midnight = (of: Day) => startOfDay(of, place.zone);
  if (from === null) {
    return { from: midnight(day), to: boundAt(before, endDay, place) ?? midnight(endDay + 1), known: false };
  }
  // Two times are compared as such: a gap that moves both to one instant must not make a whole day of them.
  if ('time' in after && 'time' in before)
    return { from, to: firstInstantOf(endDay * DAY_MS + before.time, place.zone), known: true };
  for (let end = day; end <= day + reach; end++) {
    const to = boundAt(before, end, place);
    if (to === null && end >= endDay) return { from, to: midnight(end + 1), known: false };
    if (to !== null && to > from) return { from, to, known: true };
  }
  return { from, to: from, known: true };
}

const usualTime = (bound: Bound): number =>
  'time' in bound ? bound.time : usualHour(bound.event) * 3_600_000 + bound.offset;
