// The hub's answers and events as they come, made uniform. Shapes and quirks: Maker API documentation and recordings of
// its public clients; every row is read by itself, so that an odd one costs no other.
import { z } from 'zod';
import { CausewayError } from '../../lib/errors.ts';
import type { Counters } from './counters.ts';

/** An attribute as the hub tells it. */
export interface NativeAttribute {
  readonly name: string;
  /** NUMBER, ENUM, STRING …; undefined where the form of the answer has none. */
  readonly dataType: string | undefined;
  readonly values: readonly string[];
  readonly unit: string | undefined;
  readonly value: unknown;
}

/** A device as the hub tells it. */
export interface NativeDevice {
  readonly id: string;
  readonly name: string;
  readonly room: string | undefined;
  /** Name of the driver. */
  readonly driver: string;
  readonly capabilities: readonly string[];
  readonly attributes: readonly NativeAttribute[];
  readonly commands: readonly string[];
}

/** An event, whichever way it came. */
export interface HubEvent {
  /** `other`: neither a device nor the location (apps). */
  readonly of: 'device' | 'location' | 'other';
  /** Of a device; empty otherwise. */
  readonly device: string;
  readonly name: string;
  readonly value: unknown;
  readonly unit: string | undefined;
}

/** A mode of the hub. */
export interface HubMode {
  readonly id: string;
  readonly name: string;
  readonly active: boolean;
}

/** A hub variable. */
export interface HubVariable {
  readonly name: string;
  readonly value: unknown;
  /** integer, bigdecimal, boolean, string, datetime. */
  readonly type: string;
}

/** The eventsocket writes absent text as the word. */
export const isAbsent = (value: unknown): boolean => value === null || value === undefined || value === 'null';

// Ids are texts in the Maker API and numbers in the eventsocket.
const Id = z.union([z.string().min(1), z.number()]).transform(String);
// What is of another type than is known costs nothing but itself: a row that is refused is a device that is gone.
const Text = z
  .union([z.string(), z.number().transform(String)])
  .nullish()
  .catch(undefined);
const List = z.array(z.unknown()).nullish().catch(undefined);
const Attribute = z.object({
  name: z.string().min(1),
  currentValue: z.unknown(),
  dataType: Text,
  unit: Text,
  values: List,
});
const DeviceRow = z.object({
  id: Id,
  name: Text,
  label: Text,
  type: Text,
  room: Text,
  capabilities: List,
  attributes: z
    .union([z.array(z.unknown()), z.record(z.string(), z.unknown())])
    .nullish()
    .catch(undefined),
  commands: List,
});
const Named = z.object({ command: z.string().min(1), type: z.array(z.string()).nullish() });
const Mode = z.object({ id: Id, name: z.string().min(1), active: z.boolean().default(false) });
const Variable = z.object({ name: z.string().min(1), value: z.unknown(), type: z.string().default('string') });
const Hsm = z.object({ hsm: z.string().min(1) });
const Event = z.object({
  source: Text,
  name: z.string().min(1),
  value: z.unknown(),
  deviceId: z.union([z.string(), z.number()]).nullish(),
  unit: Text,
});

/** The rows that fit; the others are counted. */
function rows<S extends z.ZodType>(schema: S, body: unknown, counters: Counters): z.output<S>[] {
  if (!Array.isArray(body)) {
    counters.unreadable++;
    return [];
  }
  return body.flatMap(row => {
    const parsed = schema.safeParse(row);
    if (parsed.success) return [parsed.data];
    counters.unreadable++;
    return [];
  });
}

/**
 * The hub's list of devices. What is none must not pass for an empty one, by which all of them would be gone.
 * @throws BACKEND_REJECTED
 */
export function deviceRows(body: unknown): unknown[] {
  if (Array.isArray(body)) return body;
  throw new CausewayError('BACKEND_REJECTED', 'the hub answered with something else than its list of devices', {
    hint: 'it is asked again; if this stays so, see the hub’s own log, and `url` and `app` in config.yaml',
  });
}

/** Devices in the detail form (`/devices/*`) or the short one (`/devices/all`); the same device once. */
export function readDevices(body: unknown, counters: Counters): NativeDevice[] {
  const byId = new Map<string, NativeDevice>();
  for (const row of rows(DeviceRow, body, counters)) {
    const { id, name, label, type, room, capabilities, attributes, commands } = row;
    if (byId.has(id)) continue;
    byId.set(id, {
      id,
      name: label || name || `Device ${id}`,
      room: isAbsent(room) || room === '' ? undefined : (room as string),
      driver: type ?? '',
      // Names alternate with objects that repeat their attributes.
      capabilities: [...new Set((capabilities ?? []).filter(one => typeof one === 'string'))],
      attributes: Array.isArray(attributes)
        ? detailed(attributes, counters)
        : plain((attributes ?? {}) as Record<string, unknown>),
      commands: commandNames(commands ?? []),
    });
  }
  return [...byId.values()];
}

/** Attributes in the detail form; one that comes twice counts once. */
function detailed(list: unknown[], counters: Counters): NativeAttribute[] {
  const byName = new Map<string, NativeAttribute>();
  for (const { name, currentValue, dataType, unit, values } of rows(Attribute, list, counters)) {
    const known = byName.get(name);
    byName.set(name, {
      name,
      dataType: known?.dataType ?? dataType ?? undefined,
      values: known?.values.length ? known.values : (values ?? []).map(String),
      unit: known?.unit ?? (isAbsent(unit) ? undefined : (unit as string)),
      value: known?.value ?? currentValue ?? null,
    });
  }
  return [...byName.values()];
}

/** The short form is a map, into which the last attribute's `dataType` and `values` leak. */
const plain = (map: Record<string, unknown>): NativeAttribute[] =>
  Object.entries(map)
    .filter(([name]) => name !== 'dataType' && name !== 'values')
    .map(([name, value]) => ({ name, dataType: undefined, values: [], unit: undefined, value }));

function commandNames(list: unknown[]): string[] {
  const names = list.map(one => (typeof one === 'string' ? one : (one as { command?: unknown } | null)?.command));
  return [...new Set(names.filter(name => typeof name === 'string' && name !== ''))] as string[];
}

/** The types of each command's arguments (`/devices/<id>/commands`). */
export const readSignatures = (body: unknown, counters: Counters): Map<string, readonly string[]> =>
  new Map(rows(Named, body, counters).map(({ command, type }) => [command, type ?? []]));

/** The hub's modes (`/modes`). */
export const readModes = (body: unknown, counters: Counters): HubMode[] => rows(Mode, body, counters);

/** The hub's variables (`/hubvariables`), or one of them. */
export const readVariables = (body: unknown, counters: Counters): HubVariable[] =>
  rows(Variable, Array.isArray(body) ? body : [body], counters);

/** The state of Hubitat Safety Monitor (`/hsm`); undefined where there is none. */
export const readHsm = (body: unknown): string | undefined => Hsm.safeParse(body).data?.hsm;

/** The unit that a device's last event of one of these attributes had (`/devices/<id>/events`). */
export function unitInHistory(body: unknown, attributes: readonly string[], counters: Counters): string | undefined {
  const told = rows(z.object({ name: z.string(), unit: Text }), body, counters).find(
    ({ name, unit }) => attributes.includes(name) && !isAbsent(unit),
  );
  return told?.unit ?? undefined;
}

/**
 * A body that the Maker API posted, or a frame of the eventsocket. Firmware of 2026 posts the fields without the
 * `content` around them. Counted and undefined when it is none.
 */
export function readEvent(body: unknown, counters: Counters): HubEvent | undefined {
  const { content } = (body ?? {}) as { content?: unknown };
  const parsed = Event.safeParse(content ?? body);
  if (!parsed.success) {
    counters.garbled++;
    return undefined;
  }
  const { source, name, value, deviceId, unit } = parsed.data;
  const device = isAbsent(deviceId) || deviceId === 0 || deviceId === '0' ? '' : String(deviceId);
  const of = device !== '' ? 'device' : isAbsent(source) || source === 'LOCATION' ? 'location' : 'other';
  return {
    of,
    device,
    name,
    value: isAbsent(value) ? null : value,
    unit: isAbsent(unit) ? undefined : (unit as string),
  };
}
