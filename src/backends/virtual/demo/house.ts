// The demo house: devices, people and weather on a seeded generator. Pure: what happens between two instants is the same
// whenever it is asked, so that a past week can be written and the live run goes on with the same story.
import type { House } from '../../../config/house.ts';
import type { Json } from '../../../lib/json.ts';
import type { Place } from '../../../lib/time/sun-position.ts';
import { dayAt } from '../../../lib/time/zone.ts';
import type { Target } from '../../../model/target.ts';
import type { VirtualSpec } from '../spec.ts';
import { chanceOf } from './chance.ts';
import { type DemoEvent, eventsOfDay } from './days.ts';
import { DEMO_DEVICES, demoHouseConfig } from './furnishing.ts';
import { gaugesOf } from './weather.ts';

/** Attribute → value, by device id. */
type DemoValues = Readonly<Record<string, Readonly<Record<string, Json>>>>;

/** A demo house. Instants are epoch ms. */
export interface DemoHouse {
  readonly seed: number;
  /** To be created on the virtual backend. */
  readonly devices: readonly (VirtualSpec & { id: string })[];
  /** Its house.yaml. */
  readonly house: House<typeof Target>;
  /** How everything stands at an instant, with what happens at that very instant. */
  valuesAt(ms: number): DemoValues;
  /** What happens with from ≤ at < to, by time. */
  eventsBetween(from: number, to: number): DemoEvent[];
}

/** @param options the same ones give the same story; `place` without its zone */
export function demoHouse(options: { seed: number; place: Omit<Place, 'zone'>; zone: string }): DemoHouse {
  const place: Place = { ...options.place, zone: options.zone };
  const chance = chanceOf(options.seed);
  const gauges = gaugesOf(place, chance);
  const days = new Map<number, DemoEvent[]>();
  const dayEvents = (day: number) => {
    const known = days.get(day) ?? eventsOfDay(day, place, chance);
    // Two days are enough for one who goes through time; more would only fill the memory.
    if (days.size > 2) days.clear();
    days.set(day, known);
    return known;
  };

  function readings(from: number, to: number): DemoEvent[] {
    return gauges.flatMap(({ device, attribute, everyMs, value }) => {
      const events: DemoEvent[] = [];
      const first = Math.ceil(from / everyMs) * everyMs;
      if (first >= to) return events;
      let last = value(first - everyMs);
      for (let at = first; at < to; at += everyMs) {
        const now = value(at);
        if (now !== last) events.push({ at, device, attribute, value: now });
        last = now;
      }
      return events;
    });
  }

  return {
    seed: options.seed,
    devices: DEMO_DEVICES,
    house: demoHouseConfig(),
    valuesAt(ms) {
      const all: Record<string, Record<string, Json>> = {};
      for (const { id, values } of DEMO_DEVICES) all[id] = { ...values };
      const set = (device: string, attribute: string, value: Json) => {
        all[device] = { ...all[device], [attribute]: value };
      };
      for (const { device, attribute, everyMs, value } of gauges) {
        set(device, attribute, value(Math.floor(ms / everyMs) * everyMs));
      }
      for (const event of dayEvents(dayAt(ms, place.zone))) {
        if (event.at <= ms && event.attribute !== 'pushed') set(event.device, event.attribute, event.value);
      }
      return all;
    },
    eventsBetween(from, to) {
      const events: DemoEvent[] = [];
      for (let day = dayAt(from, place.zone); day <= dayAt(to, place.zone); day++) {
        events.push(...dayEvents(day).filter(({ at }) => from <= at && at < to));
      }
      return [...events, ...readings(from, to)].sort((a, b) => a.at - b.at);
    },
  };
}
