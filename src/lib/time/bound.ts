// One end of a window of time: a time of the day, or a sun event with an offset.
import { parseDuration } from '../duration.ts';
import { DAY_MS, type Day } from './calendar.ts';
import { parseClockTime } from './clock-time.ts';
import { isSunEvent, type SunEvent, solarDayOf, sunEvent } from './sun-events.ts';
import type { Place } from './sun-position.ts';
import { firstInstantOf } from './zone.ts';

/** `time` in milliseconds since midnight (`DAY_MS` is 24:00), or an event of the sun and an offset in milliseconds. */
export type Bound = { readonly time: number } | { readonly event: SunEvent; readonly offset: number };

/** Reads `HH:MM[:SS]`, `sunset`, `sunset-30m`, `sunrise+1h`; undefined when it is none of these. */
export function parseBound(text: string): Bound | undefined {
  const time = parseClockTime(text);
  if (time !== undefined) return { time };
  const [, event = '', signed] = /^([a-z_]+)\s*(?:([+-].+))?$/.exec(text.trim()) ?? [];
  const offset = signed === undefined ? 0 : parseDuration(signed.replace(/\s/g, ''));
  return isSunEvent(event) && offset !== undefined ? { event, offset } : undefined;
}

/** The instant of a bound that belongs to a local date (with an offset it may lie on another); null without its event. */
export function boundAt(bound: Bound, day: Day, place: Place): number | null {
  if ('time' in bound) return firstInstantOf(day * DAY_MS + bound.time, place.zone);
  const at = sunEvent(bound.event, solarDayOf(day, place), place);
  return at === null ? null : at + bound.offset;
}
