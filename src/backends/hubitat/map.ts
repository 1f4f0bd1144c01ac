// A device of the hub as a device of ours: canonical capabilities, attributes and commands, with the native ones beside.
import {
  type AttributeDecl,
  CAPABILITIES,
  type CapabilityName,
  type CommandDecl,
  type Effect,
} from '../../model/capability.ts';
import type { Device } from '../../model/device.ts';
import type { ValueType } from '../../model/value.ts';
import { CANONICAL, COMMANDS, TELEMETRY, TEMPERATURES } from './capabilities.ts';
import type { Counters } from './counters.ts';
import { type Reader, readerOf, type Scale, scaleOf } from './values.ts';
import type { NativeAttribute, NativeDevice } from './wire.ts';

/** A device with what is needed to read its events and to command it. */
export interface Mapped {
  readonly nativeId: string;
  readonly driver: string;
  readonly device: Device;
  readonly readers: ReadonlyMap<string, Reader>;
  /** Native commands as the hub listed them. */
  readonly native: ReadonlySet<string>;
}

/** What mapping needs to know of the hub. */
export interface Mapping {
  /** The backend's id. */
  readonly backend: string;
  readonly scale: Scale;
  /** The types of each command's arguments, by driver. */
  signatures(device: NativeDevice): ReadonlyMap<string, readonly string[]> | undefined;
  readonly counters: Counters;
  readonly pool: Pool;
}

/** Attributes by all that makes them: five hundred devices have a few dozen kinds between them, and sets of these. */
export interface Pool {
  readonly readers: Map<string, Reader>;
  readonly sets: Map<string, AttributeSet>;
}

/** Nothing yet. */
export const newPool = (): Pool => ({ readers: new Map(), sets: new Map() });

/** The attributes of a device; many have the same. */
interface AttributeSet {
  readonly readers: ReadonlyMap<string, Reader>;
  readonly declared: Readonly<Record<string, AttributeDecl>>;
}

/**
 * A °F thermostat rounds to its own steps: what differs by less than half a °F is the same setpoint.
 * (0.55 °C and not 5/9, so that a change of exactly half a °F still is one.)
 */
const FAHRENHEIT_STEP = 0.55;

/** A device as ours. */
export function mapDevice(native: NativeDevice, mapping: Mapping): Mapped {
  const capabilities = [...new Set(native.capabilities.flatMap(name => CANONICAL[name] ?? []))];
  const { readers, declared: attributes } = attributeSet(native.attributes, capabilities, mapping);
  const commands: Record<string, CommandDecl> = {};
  const signatures = mapping.signatures(native);
  for (const name of native.commands) {
    commands[name] = fitted(
      canonicalCommand(name, capabilities) ?? knownCommand(name, native) ?? driverCommand(signatures?.get(name)),
      readers,
    );
  }
  for (const [name, declared] of Object.entries(madeUp(commands, capabilities)))
    commands[name] = fitted(declared, readers);
  return {
    nativeId: native.id,
    driver: native.driver,
    readers,
    native: new Set(native.commands),
    device: {
      id: `${mapping.backend}:${native.id}`,
      name: native.name,
      ...(native.room !== undefined && { room: native.room }),
      capabilities,
      attributes,
      commands,
    },
  };
}

// --- attributes --------------------------------------------------------------------------------------------------------

/** How attributes are read: as a canonical capability says where the device has it, else as the hub types them. */
function attributeSet(
  attributes: readonly NativeAttribute[],
  capabilities: readonly CapabilityName[],
  { scale, counters, pool }: Mapping,
): AttributeSet {
  const kinds = attributes.map(({ name, dataType, unit, values }) => [name, dataType, unit, values]);
  const key = JSON.stringify([scale, capabilities, kinds]);
  let set = pool.sets.get(key);
  if (!set) {
    const readers = new Map<string, Reader>();
    for (const [index, attribute] of attributes.entries()) {
      const kind = JSON.stringify([scale, capabilities, kinds[index]]);
      const reader = pool.readers.get(kind) ?? newReader(attribute, capabilities, scale, counters);
      pool.readers.set(kind, reader);
      readers.set(attribute.name, reader);
    }
    set = { readers, declared: Object.fromEntries([...readers].map(([name, { declared }]) => [name, declared])) };
    pool.sets.set(key, set);
  }
  return set;
}

function newReader(
  { name, dataType, unit, values }: NativeAttribute,
  capabilities: readonly CapabilityName[],
  scale: Scale,
  counters: Counters,
): Reader {
  if (TEMPERATURES.includes(name) || scaleOf(unit) !== undefined) {
    const isSetpoint = name.endsWith('Setpoint') && scale === 'F';
    const step = isSetpoint ? { step: FAHRENHEIT_STEP } : {};
    return { form: 'temperature', declared: { type: 'number', unit: '°C', ...step } };
  }
  const canonical = capabilities.map(one => CAPABILITIES[one].attributes[name]).find(one => one !== undefined);
  if (canonical) return { form: 'plain', declared: widened(canonical, values) };
  const { type, form } = readerOf(dataType, counters);
  const isEnum = type === 'enum' && values.length > 0;
  return {
    form,
    declared: {
      type: type === 'enum' && !isEnum ? 'string' : type,
      ...(isEnum && { values }),
      ...(unit !== undefined && unit !== '' && { unit }),
      ...(TELEMETRY.includes(name) && { telemetry: true }),
    },
  };
}

/** Drivers have further words than the canonical ones (a thermostat mode `eco`); `unknown` means that there is none. */
function widened<T extends ValueType>(declared: T, values: readonly string[]): T {
  if (declared.type !== 'enum') return declared;
  const known = declared.values ?? [];
  const further = values.filter(value => value !== 'unknown' && !known.includes(value));
  return further.length === 0 ? declared : { ...declared, values: [...known, ...further] };
}

// --- commands ----------------------------------------------------------------------------------------------------------

const canonicalCommand = (name: string, capabilities: readonly CapabilityName[]): CommandDecl | undefined =>
  capabilities.map(one => CAPABILITIES[one].commands[name]).find(one => one !== undefined);

const knownCommand = (name: string, { capabilities }: NativeDevice): CommandDecl | undefined =>
  capabilities.map(one => COMMANDS[one]?.[name]).find(one => one !== undefined);

const MOST_ARGUMENTS = 8;
const ARGUMENT_TYPES: Readonly<Record<string, 'number' | 'string'>> = {
  NUMBER: 'number',
  STRING: 'string',
  ENUM: 'string',
  DATE: 'string',
  TEXT: 'string',
};

/**
 * A driver's own command: nothing is known of what it does, so it is never repeated. The hub tells the types of all
 * arguments and not which of them may be left out.
 */
function driverCommand(types: readonly string[] | undefined): CommandDecl {
  const given = types ?? Array.from({ length: MOST_ARGUMENTS }, () => '');
  const args = given.map((type, index) => ({
    name: `arg${index + 1}`,
    type: ARGUMENT_TYPES[type.toUpperCase()] ?? ('json' as const),
    optional: true,
  }));
  return { args, effects: [], idempotent: false };
}

/** Canonical commands that the hub lacks and we make of others: see `callOf`. */
function madeUp(
  { on, off, toggle, stop, stopPositionChange }: Readonly<Record<string, CommandDecl>>,
  capabilities: readonly CapabilityName[],
): Record<string, CommandDecl> {
  const { switch: switches, cover } = CAPABILITIES;
  return {
    ...(capabilities.includes('switch') && on && off && !toggle && { toggle: switches.commands.toggle as CommandDecl }),
    ...(capabilities.includes('cover') && stopPositionChange && !stop && { stop: cover.commands.stop as CommandDecl }),
  };
}

/**
 * A command as this device takes it: without the effects on attributes that it lacks, which would be waited for in vain,
 * and with all the words of the attribute that an argument sets.
 */
function fitted(declared: CommandDecl, attributes: ReadonlyMap<string, Reader>): CommandDecl {
  const effects = declared.effects.filter((effect: Effect) => attributes.has(effect.attribute));
  const args = declared.args.map(arg => {
    const effect = effects.find(one => 'fromArg' in one && one.fromArg === arg.name);
    const { values = [] } = (effect && attributes.get(effect.attribute)?.declared) ?? {};
    return widened(arg, values);
  });
  const isSame = effects.length === declared.effects.length && args.every((arg, i) => arg === declared.args[i]);
  return isSame ? declared : { ...declared, args, effects };
}
