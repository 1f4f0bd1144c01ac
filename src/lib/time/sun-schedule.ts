// The schedules of the sun trigger: an event with offset and fallbacks, an elevation, an azimuth. All searches end after
// 400 days; a sun that does not rise makes no occurrence and no loop.
import { CausewayError } from '../errors.ts';
import { DAY_MS, formatDate } from './calendar.ts';
import { parseClockTime } from './clock-time.ts';
import type { Occurrence } from './occurrence.ts';
import {
  type Direction,
  elevationCrossing,
  firstTrue,
  isSunEvent,
  type SolarDay,
  type SunEvent,
  solarDayAt,
  solarNoon,
  sunEvent,
} from './sun-events.ts';
import { type Place, sunAzimuth } from './sun-position.ts';
import { dayAt, firstInstantOf, formatLocal } from './zone.ts';

const SEARCH_DAYS = 400;

/** As in a rule. The offset moves the event and the events among its fallbacks, never a fallback `HH:MM`. */
export interface SunSpec {
  event: SunEvent;
  offsetMs?: number;
  /** What to take, the first that there is, on a day without the event: events or times (`HH:MM[:SS]`). */
  fallback?: readonly string[];
}

/**
 * The first occurrence strictly after `afterMs`; its key is the date and the event, its note names a fallback. Days
 * without event and fallback are passed over. Throws INPUT_INVALID for a fallback that is neither event nor time.
 */
export function nextSunEvent(spec: SunSpec, place: Place, afterMs: number): Occurrence | null {
  const offset = spec.offsetMs ?? 0;
  // Events come in the order of their days; a fallback may overtake the next day's event, or be overtaken.
  const disorder = spec.fallback ? 2 + Math.ceil(Math.abs(offset) / DAY_MS) : 0;
  const first = solarDayAt(afterMs - offset, place) - 1 - disorder;
  let last = first + disorder + SEARCH_DAYS;
  let next: Occurrence | null = null;
  for (let day = first; day <= last; day++) {
    const found = onDay(spec, offset, day, place);
    if (!found || found.at <= afterMs || (next && found.at >= next.at)) continue;
    next = found;
    last = Math.min(last, day + disorder);
  }
  return next;
}

function onDay(spec: SunSpec, offset: number, day: SolarDay, place: Place): Occurrence | null {
  const key = `${formatDate(day)} ${spec.event}`;
  const at = sunEvent(spec.event, day, place);
  if (at !== null) return { at: at + offset, key };
  for (const fallback of spec.fallback ?? []) {
    const instead = fallbackAt(fallback, offset, day, place);
    if (instead !== null)
      return { at: instead, key, note: `no ${spec.event} on ${formatDate(day)}: ${fallback} instead` };
  }
  return null;
}

function fallbackAt(fallback: string, offset: number, day: SolarDay, place: Place): number | null {
  if (isSunEvent(fallback)) {
    const at = sunEvent(fallback, day, place);
    return at === null ? null : at + offset;
  }
  const time = parseClockTime(fallback);
  if (time === undefined) {
    throw new CausewayError('INPUT_INVALID', `"${fallback}" is neither a sun event nor a time`, {
      path: 'fallback',
      hint: 'Write an event such as dusk, or a time such as 22:30.',
    });
  }
  return firstInstantOf(dayAt(solarNoon(day, place), place.zone) * DAY_MS + time, place.zone);
}

/** The first time strictly after `afterMs` that the sun passes an elevation (degrees). The key is date and direction. */
export function nextElevation(
  elevation: number,
  direction: Direction,
  place: Place,
  afterMs: number,
): Occurrence | null {
  const first = solarDayAt(afterMs, place) - 1;
  for (let day = first; day <= first + SEARCH_DAYS; day++) {
    const at = elevationCrossing(elevation, direction, day, place);
    if (at !== null && at > afterMs) return { at, key: `${formatDate(day)} ${direction}` };
  }
  return null;
}

/**
 * When the answer to "is the sun above any of these elevations?" changes next (epoch ms): the moment to look again at
 * a condition on the sun. `[HORIZON]` for up and down.
 */
export function nextElevationChange(elevations: readonly number[], place: Place, afterMs: number): number | null {
  const changes = elevations.flatMap(elevation => [
    nextElevation(elevation, 'rising', place, afterMs),
    nextElevation(elevation, 'setting', place, afterMs),
  ]);
  const at = Math.min(...changes.map(change => change?.at ?? Number.POSITIVE_INFINITY));
  return at === Number.POSITIVE_INFINITY ? null : at;
}

const STEP_MS = 900_000;

/**
 * The first time strictly after `afterMs` that the sun stands at an azimuth (degrees clockwise from north), by day or
 * night, whichever way it goes (between the tropics it may go back). The key is the local stamp.
 */
export function nextAzimuth(azimuth: number, place: Place, afterMs: number): Occurrence | null {
  // The sine changes its sign at the azimuth and opposite it, the cosine tells them apart; neither jumps at north.
  const beyond = (ms: number) => ((sunAzimuth(ms, place) - azimuth) * Math.PI) / 180;
  const isPast = (ms: number) => Math.sin(beyond(ms)) > 0;
  // Steps on a fixed grid, so that the same instant is found from wherever the search began.
  const first = Math.floor(afterMs / STEP_MS) * STEP_MS;
  let past = isPast(first);
  for (let to = first + STEP_MS; to <= first + SEARCH_DAYS * DAY_MS; to += STEP_MS) {
    if (isPast(to) === past) continue;
    past = !past;
    const at = firstTrue(ms => isPast(ms) === past, to - STEP_MS, to);
    if (at !== null && at > afterMs && Math.cos(beyond(at)) > 0) return { at, key: formatLocal(at, place.zone) };
  }
  return null;
}
