// What the sun makes of the demo house: light and warmth, outside and under the roof. Not a model of any climate: in each
// season a day is warm enough for the attic fan and a night cool enough for it to stop, so that there is something to see.
import type { Json } from '../../../lib/json.ts';
import { solarDayAt, solarNoon } from '../../../lib/time/sun-events.ts';
import { type Place, sunPosition } from '../../../lib/time/sun-position.ts';
import type { Chance } from './chance.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** A sensor that is read at intervals and reports what differs from the last reading. */
export interface Gauge {
  readonly device: string;
  readonly attribute: string;
  readonly everyMs: number;
  /** A pure function of the instant, rounded as the sensor does. */
  value(ms: number): Json;
}

const sine = (degrees: number): number => Math.sin((degrees * Math.PI) / 180);
const clamp = (n: number, low: number, high: number): number => Math.min(high, Math.max(low, n));
const tenths = (n: number): number => Math.round(n * 10) / 10;
/** Two digits that count, as light sensors have: 3,412 → 3,400. */
const coarse = (n: number): number => (n < 1 ? 0 : Number(n.toPrecision(2)));

/** The sensors that follow the sun. */
export function gaugesOf(place: Place, chance: Chance): Gauge[] {
  const elevation = (ms: number) => sunPosition(ms, place).elevation;
  /** 0 by night, about 1 where the day is warmest, `lag` after noon. */
  const warmth = (ms: number, lag: number) => {
    const highest = elevation(solarNoon(solarDayAt(ms - lag, place), place));
    return Math.max(0, sine(elevation(ms - lag))) / Math.max(sine(highest), sine(5));
  };
  const clouds = (ms: number) => 0.5 + 0.5 * chance.drift('clouds', ms, 5 * HOUR);
  const light = (ms: number) => {
    const degrees = elevation(ms);
    if (degrees <= -6) return 0;
    if (degrees < 0) return 400 * (1 + degrees / 6) ** 2;
    return 400 + 90_000 * sine(degrees) ** 1.2 * (1 - 0.7 * clouds(ms));
  };
  const outside = (ms: number) => 11 + 9 * warmth(ms, 2 * HOUR) + 4 * chance.drift('front', ms, 36 * HOUR);
  const inside = (ms: number) => 20.3 + 1.7 * warmth(ms, 3 * HOUR) + 0.4 * chance.drift('inside', ms, 4 * HOUR);
  const attic = (ms: number) => 20.5 + 9.5 * warmth(ms, 3 * HOUR) + chance.drift('attic', ms, 20 * HOUR);
  const damp = (name: string, ms: number, mean: number, dries: number) =>
    Math.round(clamp(mean - dries * warmth(ms, 2 * HOUR) + 8 * chance.drift(name, ms, 9 * HOUR), 20, 100));
  const gauge = (device: string, attribute: string, minutes: number, value: (ms: number) => Json): Gauge => ({
    device: `virtual:${device}`,
    attribute,
    everyMs: minutes * MINUTE,
    value,
  });
  return [
    gauge('outside', 'temperature', 5, ms => tenths(outside(ms))),
    gauge('outside', 'humidity', 15, ms => damp('outside damp', ms, 80, 30)),
    gauge('outside', 'illuminance', 5, ms => coarse(light(ms))),
    gauge('thermostat', 'temperature', 10, ms => tenths(inside(ms))),
    gauge('thermostat', 'humidity', 20, ms => damp('inside damp', ms, 47, 5)),
    gauge('attic-sensor', 'temperature', 5, ms => tenths(attic(ms))),
    gauge('attic-sensor', 'humidity', 20, ms => damp('attic damp', ms, 55, 18)),
    gauge('hall-motion', 'illuminance', 10, ms => coarse(Math.min(300, light(ms) * 0.004))),
    gauge('hall-motion', 'battery', 24 * 60, ms => 100 - (Math.floor(ms / (24 * HOUR)) % 80)),
    gauge('front-lock', 'battery', 24 * 60, ms => 100 - (Math.floor(ms / (24 * HOUR) + 33) % 80)),
  ];
}
