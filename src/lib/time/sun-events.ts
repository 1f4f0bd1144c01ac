// Sunrise, dusk and the like of one day. suncalc gives the noon, its other times are not used: within days of the polar
// night they are hours off (2.0.2: dawn of 2026-08-14 at 69.65° N stands 9° too high). A crossing found by halving is
// exact, and at the very millisecond of `sunrise` the sun counts as up.
import { getTimes } from 'suncalc';
import { DAY_MS, type Day } from './calendar.ts';
import { HORIZON, isAbove, type Place } from './sun-position.ts';
import { firstInstantOf } from './zone.ts';

/** Which way the sun passes an elevation. */
export type Direction = 'rising' | 'setting';

const CROSSINGS = {
  sunrise: [HORIZON, 'rising'],
  sunset: [HORIZON, 'setting'],
  sunrise_end: [-0.3, 'rising'],
  sunset_start: [-0.3, 'setting'],
  dawn: [-6, 'rising'],
  dusk: [-6, 'setting'],
  nautical_dawn: [-12, 'rising'],
  nautical_dusk: [-12, 'setting'],
  night_end: [-18, 'rising'],
  night: [-18, 'setting'],
  golden_hour_end: [6, 'rising'],
  golden_hour: [6, 'setting'],
} as const satisfies Record<string, readonly [number, Direction]>;

/** The names of sun events, as in a rule. */
export const SUN_EVENTS = [
  ...(Object.keys(CROSSINGS) as (keyof typeof CROSSINGS)[]),
  'solar_noon' as const,
  'nadir' as const,
] as const;
/** A name of `SUN_EVENTS`. */
export type SunEvent = (typeof SUN_EVENTS)[number];

/** True for a name of `SUN_EVENTS`. */
export const isSunEvent = (name: string): name is SunEvent => (SUN_EVENTS as readonly string[]).includes(name);

/** The hour of the solar day around which an event lies, where it happens at all. */
export function usualHour(event: SunEvent): number {
  if (event === 'solar_noon') return 12;
  if (event === 'nadir') return 0;
  return CROSSINGS[event][1] === 'rising' ? 6 : 18;
}

/**
 * A solar day: from midnight to midnight of the sun at a longitude, counted like dates. Unlike dates they follow each
 * other without a gap or a fold.
 */
export type SolarDay = number;

/** The solar day of an instant. */
export const solarDayAt = (ms: number, place: Place): SolarDay => Math.floor(ms / DAY_MS + place.longitude / 360);

/** The solar day of a local date: that of its noon, whichever hour it is now. */
export const solarDayOf = (day: Day, place: Place): SolarDay =>
  solarDayAt(firstInstantOf(day * DAY_MS + DAY_MS / 2, place.zone), place);

/** The instant at which the sun stands highest. */
export const solarNoon = (day: SolarDay, { latitude, longitude }: Place): number =>
  getTimes(new Date(DAY_MS * (day + 0.5 - longitude / 360)), latitude, longitude).solarNoon.getTime();

/** The instant of an event on a solar day; null where it does not happen. */
export function sunEvent(event: SunEvent, day: SolarDay, place: Place): number | null {
  if (event === 'solar_noon') return solarNoon(day, place);
  if (event === 'nadir') return solarNoon(day, place) - DAY_MS / 2;
  const [elevation, direction] = CROSSINGS[event];
  return elevationCrossing(elevation, direction, day, place);
}

/** All events of a local date (of the solar day around its noon, so that a late dusk may be on the next date). */
export function sunEvents(day: Day, place: Place): Record<SunEvent, number | null> {
  const solarDay = solarDayOf(day, place);
  const at = SUN_EVENTS.map(event => [event, sunEvent(event, solarDay, place)] as const);
  return Object.fromEntries(at) as Record<SunEvent, number | null>;
}

/** The first millisecond of a solar day at which the sun has passed an elevation (degrees); null if it does not. */
export function elevationCrossing(elevation: number, direction: Direction, day: SolarDay, place: Place): number | null {
  const above = (ms: number) => isAbove(elevation, ms, place) === (direction === 'rising');
  const noon = solarNoon(day, place);
  const halves = [firstTrue(above, noon - DAY_MS / 2, noon), firstTrue(above, noon, noon + DAY_MS / 2)];
  // The sun rises before noon; only near a pole, where it circles, the seasons are faster than the day.
  return halves[0] ?? halves[1] ?? null;
}

/** The first integer in (from, to] at which `test` holds, given that it turns once; null if it does not turn to true. */
export function firstTrue(test: (at: number) => boolean, from: number, to: number): number | null {
  if (test(from) || !test(to)) return null;
  let low = from;
  let high = to;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (test(middle)) high = middle;
    else low = middle;
  }
  return high;
}
