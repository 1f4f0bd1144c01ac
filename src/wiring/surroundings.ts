// From config.yaml and house.yaml to what rules see of the house.

import { isWorkday } from '../backends/house/workdays.ts';
import type { House as HouseFile } from '../config/house.ts';
import { DEFAULT_MODES } from '../config/house.ts';
import type { Config } from '../config/schema.ts';
import { rememberedPlace } from '../engine/place.ts';
import type { Surroundings } from '../engine/view.ts';
import { dayAt } from '../lib/time/zone.ts';
import type { Json } from '../model/value.ts';
import type { Devices } from '../state/devices.ts';
import type { House } from '../state/house.ts';

/** What rules see of the configuration. */
export function surroundingsOf(config: Config, house: HouseFile, meta: ReadonlyMap<string, Json>): Surroundings {
  const { latitude, longitude, timezone } = config.location;
  const zone = timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  const told = rememberedPlace(meta, backend => Object.hasOwn(config.backends, backend));
  const given = latitude === undefined || longitude === undefined ? undefined : { latitude, longitude };
  const surroundings: Surroundings = {
    zone,
    place: given ?? (told && { latitude: told.latitude, longitude: told.longitude }),
    ...(!given && told && { placeBy: told.by }),
    periods: house.periods,
    scenes: house.scenes as never,
    named: namedIn(house),
    isWorkday: wall => isWorkday(dayAt(wall, surroundings.zone), house.workdays),
  };
  return surroundings;
}

/** Where house.yaml names devices, beside its aliases and scenes. */
function namedIn({ people, groups, rooms, notifiers }: HouseFile): Record<string, readonly string[]> {
  const places = <T>(what: string, all: Readonly<Record<string, T>>, refs: (one: T) => unknown) =>
    Object.entries(all).map(([name, one]) => [`the ${what} ${name}`, refsIn(refs(one))] as const);
  return Object.fromEntries([
    ...places('person', people, ({ trackers }) => trackers),
    ...places('group', groups, ({ members }) => members),
    ...places('room', rooms, ({ devices }) => devices),
    ...places('notifier', notifiers, ({ device }) => device),
  ]);
}

/** The ids and aliases in a target. */
function refsIn(target: unknown): string[] {
  if (typeof target === 'string') return [target];
  if (Array.isArray(target)) return target.flatMap(refsIn);
  return target !== null && typeof target === 'object' ? refsIn((target as { except?: unknown }).except) : [];
}

/** Names, modes and variables of house.yaml. */
export function furnish(file: HouseFile, devices: Devices, house: House, now: number): void {
  devices.setNames({ aliases: file.aliases, rooms: file.rooms });
  const modes = file.modes ?? DEFAULT_MODES;
  house.declare(modes.names, file.variables as never, now);
}
