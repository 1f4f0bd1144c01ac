// The present as rules read it, with a record of which keys were read: what to look at again when one of them changes.

import { topicMatches } from '../lib/topic.ts';
import type { Availability, Device } from '../model/device.ts';
import type { Target } from '../model/target.ts';
import type { Devices } from '../state/devices.ts';
import type { House, HouseValue } from '../state/house.ts';
import type { Reading, Values } from '../state/values.ts';
import type { PeriodSpec, View } from './reading.ts';
import { keys } from './signals.ts';
import type { Timeline } from './timeline.ts';

/** What of the configuration rules can see. It may change while the engine runs. */
export interface Surroundings {
  zone: string;
  place: { latitude: number; longitude: number } | undefined;
  /** The backend that told the place; undefined where config.yaml says it. */
  placeBy?: string;
  periods: Readonly<Record<string, PeriodSpec>>;
  /** Whether the local day of an instant (epoch ms) is a workday; null where nothing is configured. */
  isWorkday(wall: number): boolean | null;
  /** The root of the gateway's own topics, which rules may not publish on. */
  root?: string;
  /** Scenes of house.yaml: device → attribute → value. */
  scenes: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, never>>>>>>;
  /** Where else house.yaml names devices (`the group lights`), with what it names there. */
  named?: Readonly<Record<string, readonly string[]>>;
}

/** What every view reads from. */
export interface ViewParts {
  readonly values: Values;
  readonly devices: Devices;
  readonly house: House;
  readonly timeline: Timeline;
  readonly surroundings: Surroundings;
}

/** A rule's own variables, as far as a view needs them. */
export type OwnVariables = (name: string) => HouseValue | undefined;

/** The View of one rule. */
export class EngineView implements View {
  /** While set, every key that is read is added. */
  touched: Set<string> | undefined;
  private readonly parts: ViewParts;
  private readonly timezone: string | undefined;
  private readonly own: OwnVariables | undefined;
  private readonly rule: string;

  constructor(parts: ViewParts, rule: string, timezone?: string, own?: OwnVariables) {
    this.parts = parts;
    this.rule = rule;
    this.timezone = timezone;
    this.own = own;
  }

  get zone(): string {
    return this.timezone ?? this.parts.surroundings.zone;
  }

  get place() {
    return this.parts.surroundings.place;
  }

  now(): number {
    return this.parts.timeline.now();
  }

  wall(): number {
    return this.parts.timeline.wall();
  }

  toWall(at: number): number {
    return this.parts.timeline.toWall(at);
  }

  resolve(ref: string): string {
    return this.parts.devices.resolve(ref);
  }

  members(target: Target, attribute?: string): string[] {
    return this.parts.devices.members(
      target,
      device => attribute === undefined || Object.hasOwn(device.attributes, attribute),
    );
  }

  device(id: string): Device | undefined {
    return this.parts.devices.get(id);
  }

  good(device: string, attribute: string): Reading | undefined {
    const reading = this.reading(device, attribute);
    if (reading?.quality !== 'good' || reading.epoch === 0 || reading.value === null) return undefined;
    this.touched?.add(keys.availability(this.resolve(device)));
    return this.parts.devices.availability(this.resolve(device)) === 'online' ? reading : undefined;
  }

  reading(device: string, attribute: string): Reading | undefined {
    const id = this.resolve(device);
    this.touched?.add(keys.attribute(id, attribute));
    return this.parts.values.get(id, attribute);
  }

  availability(device: string): Availability {
    const id = this.resolve(device);
    this.touched?.add(keys.availability(id));
    return this.parts.devices.availability(id);
  }

  mode(): HouseValue {
    this.touched?.add(keys.mode);
    return this.parts.house.mode;
  }

  variable(name: string): HouseValue | undefined {
    const own = this.own?.(name);
    this.touched?.add(own ? keys.own(this.rule, name) : keys.variable(name));
    return own ?? this.parts.house.variables.get(name);
  }

  topic(topic: string): HouseValue | undefined {
    this.touched?.add(keys.topic(topic));
    return this.parts.house.topics.get(topic);
  }

  topics(filter: string): string[] {
    this.touched?.add(keys.topic(filter));
    if (!/[+#]/.test(filter)) return this.parts.house.topics.has(filter) ? [filter] : [];
    return [...this.parts.house.topics.keys()].filter(topic => topicMatches(filter, topic));
  }

  period(name: string): PeriodSpec | undefined {
    return this.parts.surroundings.periods[name];
  }

  isWorkday(wall: number): boolean | null {
    return this.parts.surroundings.isWorkday(wall);
  }
}
