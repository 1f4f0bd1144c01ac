// What kinds read of the present: the port that `view.ts` serves.
import type { Availability, Device } from '../model/device.ts';
import type { Target } from '../model/target.ts';
import type { HouseValue } from '../state/house.ts';
import type { Reading } from '../state/values.ts';

/** Readings of the present, with a record of what was read. */
export interface View {
  /** Engine time. */
  now(): number;
  /** Wall time, epoch ms. */
  wall(): number;
  toWall(at: number): number;
  readonly zone: string;
  readonly place: { latitude: number; longitude: number } | undefined;
  resolve(ref: string): string;
  /** Of a selector only those that bear the attribute, where one is named; what is named by its id always. */
  members(target: Target, attribute?: string): string[];
  device(id: string): Device | undefined;
  /** A reading good enough to decide upon, or undefined. */
  good(device: string, attribute: string): Reading | undefined;
  reading(device: string, attribute: string): Reading | undefined;
  availability(device: string): Availability;
  mode(): HouseValue;
  /** A rule's own variable first, then the house's. */
  variable(name: string): HouseValue | undefined;
  topic(topic: string): HouseValue | undefined;
  /** Concrete topics with a known payload that match the filter. */
  topics(filter: string): string[];
  period(name: string): PeriodSpec | undefined;
  isWorkday(wall: number): boolean | null;
}

/** A period of house.yaml: the fields of a `time` condition. */
export interface PeriodSpec {
  after?: string | undefined;
  before?: string | undefined;
  weekdays?: readonly string[] | undefined;
  weekday_of?: 'window_start' | 'now' | undefined;
  dates?: readonly string[] | undefined;
  workday?: boolean | undefined;
}
