// The schedule of the time trigger: times of the day and one-shot stamps, on the days that the rule means.
import { CausewayError } from '../errors.ts';
import { DAY_MS, dayOf, type Wall } from './calendar.ts';
import { parseClockTime, parseStamp } from './clock-time.ts';
import { type DayFilter, type DaySpec, matchesDay, parseDayFilter } from './day-filter.ts';
import { nextFirstPass, type Occurrence } from './occurrence.ts';
import { dayAt, type Gap } from './zone.ts';

/**
 * As in a rule: `at` holds `HH:MM[:SS]`, local stamps, and stamps with `Z` or an offset. Weekdays and dates hold for all
 * of them; 24:00 belongs to the day that it ends.
 */
export interface DailySpec extends DaySpec {
  at: readonly string[];
  gap?: Gap;
  zone: string;
}

/** A `DailySpec` that was read; read it once, ask it often. */
export interface Daily {
  readonly zone: string;
  readonly gap: Gap;
  readonly days: DayFilter;
  /** Milliseconds since midnight, ascending; `DAY_MS` is 24:00. */
  readonly times: readonly number[];
  /** One-shot wall times, ascending. */
  readonly stamps: readonly Wall[];
  /** One-shot instants, ascending. */
  readonly instants: readonly number[];
}

// 29 February falls on each weekday once in 28 years, in 40 where a century without leap day lies between.
const HORIZON_DAYS = 41 * 366;

/** Reads the schedule. Throws INPUT_INVALID with a path (`at/1`, `dates/0`). */
export function parseDaily(spec: DailySpec): Daily {
  const times: number[] = [];
  const stamps: Wall[] = [];
  const instants: number[] = [];
  for (const [index, text] of spec.at.entries()) {
    const time = parseClockTime(text);
    const stamp = parseStamp(text);
    if (time !== undefined) times.push(time);
    else if (stamp && 'wall' in stamp) stamps.push(stamp.wall);
    else if (stamp) instants.push(stamp.instant);
    else {
      throw new CausewayError('INPUT_INVALID', `"${text}" is neither a time nor a stamp`, {
        path: `at/${index}`,
        hint: 'Write 07:30, 07:30:15, 2026-12-24T18:00, or 2026-12-24T18:00:00Z.',
      });
    }
  }
  const ascending = (a: number, b: number) => a - b;
  return {
    zone: spec.zone,
    gap: spec.gap ?? 'next',
    days: parseDayFilter(spec),
    times: times.sort(ascending),
    stamps: stamps.sort(ascending),
    instants: instants.sort(ascending),
  };
}

/**
 * The first occurrence strictly after `afterMs`. Its key is the scheduled local stamp, of a stamp with `Z` or offset the
 * instant in UTC.
 */
export function nextDaily(daily: Daily, afterMs: number): Occurrence | null {
  const local = nextFirstPass(wall => nextWall(daily, wall), daily.zone, daily.gap, afterMs);
  const at = daily.instants.find(ms => ms > afterMs && matchesDay(daily.days, dayAt(ms, daily.zone)));
  if (at === undefined || (local && local.at <= at)) return local;
  return { at, key: new Date(at).toISOString() };
}

function nextWall(daily: Daily, after: Wall): Wall | null {
  const stamp = daily.stamps.find(wall => wall > after && matchesDay(daily.days, dayOf(wall)));
  const time = nextTime(daily, after, stamp ?? Number.POSITIVE_INFINITY);
  return time ?? stamp ?? null;
}

/** The first time of the day after `after` on a day that is meant, if it comes before `until`. */
function nextTime({ times, days }: Daily, after: Wall, until: Wall): Wall | undefined {
  if (times.length === 0) return undefined;
  const today = dayOf(after);
  const last = Math.min(today + HORIZON_DAYS, dayOf(until));
  for (let day = today; day <= last; day++) {
    if (!matchesDay(days, day)) continue;
    const time = times.find(ms => day * DAY_MS + ms > after);
    if (time !== undefined) return day * DAY_MS + time < until ? day * DAY_MS + time : undefined;
  }
  return undefined;
}
