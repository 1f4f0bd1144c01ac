// The devices that house.yaml describes, each as one attribute derived from those of others.
import type { z } from 'zod';
import type { houseSchema } from '../../config/house.ts';
import type { Clock } from '../../lib/clock.ts';
import { durationMs } from '../../lib/duration.ts';
import { type AttributeDecl, CAPABILITIES, capabilityOfAttribute } from '../../model/capability.ts';
import { type Device, deviceOf } from '../../model/device.ts';
import type { Target } from '../../model/target.ts';
import type { Json } from '../../model/value.ts';
import type { Devices } from '../../state/devices.ts';
import { groupAttribute, groupValue, type Integrator, integrator } from './groups.ts';
import { personOf } from './people.ts';

/** What of house.yaml becomes devices. */
export type HouseConfig = Pick<z.output<ReturnType<typeof houseSchema<typeof Target>>>, 'people' | 'groups'>;

/** One attribute of a device, as a key. */
export const keyOf = (device: string, attribute: string): string => `${device}\n${attribute}`;

/** How derived devices see the rest of the house. */
export interface Sight {
  readonly devices: Devices;
  readonly clock: Clock;
  /** Engine time. */
  now(): number;
  /** A value that can be relied on; undefined otherwise. */
  value(device: string, attribute: string): Json | undefined;
  /** Engine time of the last change. */
  since(device: string, attribute: string): number;
  /** What a device of ours is, or was before the last stop. */
  last(id: string, attribute: string): Json | undefined;
  /** It should be looked at again, though nothing was told. */
  look(id: string): void;
}

/** A device of ours. */
export interface Derived {
  readonly id: string;
  readonly attribute: string;
  /** As it is to be declared now. */
  device(): Device;
  /** Keys of what it derives from, as the registry stands. */
  keys(): string[];
  /** Its value now; undefined when it cannot be told. */
  value(): Json | undefined;
  /** It grows by itself and is to be looked at each minute. */
  readonly isGrowing: boolean;
  stop(): void;
}

const TRACKED = { presence: 'present', connectivity: 'online' } as const;
const nothing = () => {};

/** The person `name`: `house:<name>`, presence fused from its trackers. */
export function personDevice(name: string, config: HouseConfig['people'][string], sight: Sight): Derived {
  const id = `house:${name}`;
  const refs = () => config.trackers.map(ref => sight.devices.resolve(ref));
  const tracker = (device: string) => {
    const declared = sight.devices.get(device)?.attributes;
    // What tells presence tells it alone: to be without a connection is not yet to be away.
    const attribute = declared?.presence ? 'presence' : 'connectivity';
    const value = sight.value(device, attribute);
    if (value === undefined) return { isPresent: undefined, since: 0 };
    return { isPresent: value === TRACKED[attribute], since: sight.since(device, attribute) };
  };
  const person = personOf({
    clock: sight.clock,
    now: sight.now,
    awayAfterMs: durationMs(config.away_after),
    trackers: () => refs().map(tracker),
    last: () => sight.last(id, 'presence'),
    told: () => sight.value(id, 'presence'),
    onAway: () => sight.look(id),
  });
  return {
    id,
    attribute: 'presence',
    device: () => deviceOf({ id, name, capabilities: ['presence'] }),
    keys: () => refs().flatMap(device => Object.keys(TRACKED).map(attribute => keyOf(device, attribute))),
    value: person.look,
    isGrowing: false,
    stop: person.stop,
  };
}

/** `house:anyone` and `house:everyone`. */
export function peopleDevice(
  id: string,
  name: string,
  of: 'any' | 'all',
  people: readonly string[],
  sight: Sight,
): Derived {
  const declared = CAPABILITIES.presence.attributes.presence;
  return {
    id,
    attribute: 'presence',
    device: () => deviceOf({ id, name, capabilities: ['presence'] }),
    keys: () => people.map(person => keyOf(person, 'presence')),
    value: () => groupValue(of, known(people, 'presence', sight), declared),
    isGrowing: false,
    stop: nothing,
  };
}

const known = (devices: readonly string[], attribute: string, sight: Sight): Json[] =>
  devices.map(device => sight.value(device, attribute)).filter(value => value !== undefined);

/** The group `name`: `house:<name>`, without any command. */
export function groupDevice(name: string, config: HouseConfig['groups'][string], sight: Sight): Derived {
  const id = `house:${name}`;
  const { attribute, function: of } = config;
  let total: Integrator | undefined;
  const members = () => membersOf(config.members, sight.devices).filter(member => member !== id);
  const declared = () => declarationOf(attribute, members(), sight.devices);
  return {
    id,
    attribute,
    device: () =>
      deviceOf({ id, name, capabilities: [] }, { attributes: { [attribute]: groupAttribute(of, declared()) } }),
    keys: () => members().map(member => keyOf(member, attribute)),
    value() {
      const values = known(members(), attribute, sight);
      if (of !== 'integral') return groupValue(of, values, declared());
      total ??= integrator(Number(sight.last(id, attribute) ?? 0));
      return total.next(values, sight.clock.elapsed());
    },
    isGrowing: of === 'integral',
    stop: nothing,
  };
}

// A selector means real devices: a group of all that have presence must not count the people made of them.
function membersOf(target: Target, devices: Devices): string[] {
  const members = devices.members(target);
  const isSelector = typeof target === 'object' && !Array.isArray(target);
  return isSelector && target.backend === undefined ? members.filter(id => !id.startsWith('house:')) : members;
}

function declarationOf(attribute: string, members: readonly string[], devices: Devices): AttributeDecl | undefined {
  const declaring = members.map(id => devices.get(id)?.attributes[attribute]).find(declared => declared !== undefined);
  const capability = capabilityOfAttribute(attribute);
  return declaring ?? (capability && CAPABILITIES[capability].attributes[attribute]);
}
