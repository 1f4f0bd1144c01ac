// Operations on devices.
import { z } from 'zod';
import { slugOf } from '../backends/virtual/spec.ts';
import { iso } from '../lib/clock.ts';
import { asCausewayError, CausewayError } from '../lib/errors.ts';
import { didYouMean } from '../lib/text.ts';
import { CapabilitySchema, type Device, DeviceRef } from '../model/device.ts';
import type { Json } from '../model/value.ts';
import { causeOf } from './causes.ts';
import type { Gateway } from './gateway.ts';
import { type CallContext, defineOp } from './op.ts';
import { deviceSummary, showDevice } from './show.ts';

const device = DeviceRef.meta({ description: 'Device id (`hubitat:42`) or alias' });
const AnyObject = z.looseObject({});

const listDevices = defineOp({
  name: 'list_devices',
  title: 'List devices',
  description: 'Devices with their present values; narrow by room, capability, backend or a word of the name.',
  input: z.strictObject({
    room: z.string().optional(),
    capability: CapabilitySchema.optional(),
    backend: z.string().optional(),
    search: z.string().optional().meta({ description: 'Words of the name, id, alias or room, in any order' }),
    limit: z.int().min(1).max(500).optional(),
    offset: z.int().min(0).optional(),
  }),
  output: z.looseObject({ devices: z.array(AnyObject), total: z.number() }),
  effect: 'read',
  scope: 'read',
  route: ['GET', '/devices'],
  listed: true,
  async run(gateway: Gateway, input) {
    const { devices } = gateway.engine.core;
    const { room, capability, backend, search } = input;
    const selector = {
      ...(room !== undefined && { room }),
      ...(capability && { capability }),
      ...(backend !== undefined && { backend }),
    };
    const ids = Object.keys(selector).length > 0 ? new Set(devices.members(selector)) : undefined;
    const words = wordsOf(search ?? '');
    const textOf = (one: Device) => wordsOf(`${one.id} ${one.name} ${devices.aliasOf(one.id) ?? ''} ${one.room ?? ''}`);
    const found = devices
      .all()
      .filter(one => ids?.has(one.id) ?? true)
      .filter(one => words.every(word => textOf(one).some(other => other.includes(word))))
      .sort((a, b) => (a.id < b.id ? -1 : 1));
    const offset = input.offset ?? 0;
    const page = found.slice(offset, offset + (input.limit ?? 100));
    const more = offset + page.length < found.length;
    return {
      devices: page.map(one => deviceSummary(gateway, one)),
      total: found.length,
      ...(more && { next_offset: offset + page.length }),
      ...(found.length === 0 && { hint: hintFor(gateway, input) }),
    };
  },
});

const wordsOf = (text: string): string[] =>
  text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);

/** What was probably meant by a question that finds nothing. */
function hintFor(
  gateway: Gateway,
  asked: { room?: string | undefined; backend?: string | undefined; search?: string | undefined },
): string {
  const { devices } = gateway.engine.core;
  const all = devices.all();
  const rooms = new Set(all.flatMap(({ room }) => room ?? []));
  const backends = [...devices.allBackends().keys()];
  if (asked.backend !== undefined && !backends.includes(asked.backend))
    return `there is no backend "${asked.backend}"; ${didYouMean(asked.backend, backends)}`;
  if (asked.room !== undefined && devices.members({ room: asked.room }).length === 0)
    return `there is no room "${asked.room}"; ${didYouMean(asked.room, rooms)}`;
  if (asked.search === undefined) return 'no device is all of that; leave one condition out';
  const names = all.flatMap(({ id, name }) => [devices.aliasOf(id) ?? name]);
  return `no device has these words; ${didYouMean(asked.search, names)}`;
}

const getDevice = defineOp({
  name: 'get_device',
  title: 'Get a device',
  description: 'One device: attributes with value, type, unit, last change and maker; commands with their arguments.',
  input: z.strictObject({ device }),
  output: AnyObject,
  effect: 'read',
  scope: 'read',
  route: ['GET', '/devices/:device'],
  listed: true,
  async run(gateway: Gateway, input) {
    return showDevice(gateway, gateway.engine.core.devices.require(input.device));
  },
});

const wanted = {
  device,
  command: z.string().min(1).meta({ description: 'Name of the command, as get_device lists it' }),
  args: z
    .union([z.record(z.string(), z.json()), z.array(z.json())])
    .optional()
    .meta({ description: 'Arguments by name' }),
};
const wait = z.boolean().optional();

/** What became of a command. */
interface Sent extends Record<string, Json> {
  id: string;
  device: string;
  command: string;
  args: Record<string, Json>;
  outcome: string;
}

/** Sends one through the gate. @throws as the gate and the backend */
export async function sendThroughGate(
  gateway: Gateway,
  input: { device: string; command: string; args?: unknown; wait?: boolean | undefined },
  { caller, dryRun, signal }: CallContext,
): Promise<Sent> {
  const cause = causeOf(gateway, caller);
  const { engine } = gateway;
  const said = await engine.do(() =>
    engine.core.gate.submit(engine.core.tx, {
      device: input.device,
      command: input.command,
      args: input.args as Json | undefined,
      cause,
      dryRun,
    }),
  );
  if (said.error) throw said.error;
  const answer = {
    id: said.id,
    device: engine.core.devices.resolve(input.device),
    command: input.command,
    args: { ...said.args },
  };
  if (dryRun) return { ...answer, outcome: 'would be sent', dry_run: true };
  if (said.outcome !== 'sent' || input.wait === false) return { ...answer, outcome: said.outcome };
  const result = await engine.resultOf(said.id, 25_000, signal);
  if (!result) return { ...answer, outcome: 'sent', note: 'no answer yet' };
  if (result.error)
    throw new CausewayError(result.error.code, result.error.message, {
      ...(result.error.hint !== undefined && { hint: result.error.hint }),
      ...(result.error.path !== undefined && { path: result.error.path }),
      details: { id: said.id, outcome: result.outcome },
    });
  const { timeline, endings } = engine.core;
  const due = endings.dueOf(said.id);
  const ends = due !== undefined && { ends_at: iso(timeline.toWall(due)) };
  return { ...answer, outcome: result.outcome, ms: result.ms, ...ends };
}

const sendCommand = defineOp({
  name: 'send_command',
  title: 'Send a command',
  description:
    'Tells a device to do something. Answers once it left; with wait (default) once the device’s system answered.',
  input: z.strictObject({ ...wanted, wait }),
  output: AnyObject,
  effect: 'write',
  scope: 'devices:control',
  route: ['POST', '/devices/:device/commands'],
  listed: true,
  run: (gateway: Gateway, input, context) => sendThroughGate(gateway, input, context),
});

const sendCommands = defineOp({
  name: 'send_commands',
  title: 'Send several commands',
  description:
    'Tells several devices to do something, at once. Each has a result of its own, in the order given: one that fails ' +
    'stops no other, and nothing is taken back.',
  input: z.strictObject({ commands: z.array(z.strictObject(wanted)).min(1).max(200), wait }),
  output: z.looseObject({ results: z.array(AnyObject), failed: z.number() }),
  effect: 'write',
  scope: 'devices:control',
  route: ['POST', '/commands'],
  listed: false,
  async run(gateway: Gateway, { commands, wait: waits }, context) {
    const ends = await Promise.allSettled(
      commands.map(one => sendThroughGate(gateway, { ...one, wait: waits }, context)),
    );
    const results = ends.map((end, index): Record<string, Json> => {
      if (end.status === 'fulfilled') return end.value;
      const error = asCausewayError(end.reason);
      const { outcome = 'refused', id = null } = (error.details ?? {}) as { outcome?: string; id?: string };
      const { device: to, command } = commands[index] as { device: string; command: string };
      return { id, device: to, command, outcome, error: error.toJSON() as unknown as Json };
    });
    return { results, failed: ends.filter(({ status }) => status === 'rejected').length };
  },
});

const attributeType = z.strictObject({
  type: z.enum(['number', 'boolean', 'string', 'enum', 'json']),
  values: z.array(z.string()).optional(),
  unit: z.string().optional(),
  step: z.number().optional(),
});

const createDevice = defineOp({
  name: 'create_device',
  title: 'Create a virtual device',
  description:
    'Makes a virtual device of one or several capabilities, or with attributes of its own: `virtual:<name>`.',
  input: z.strictObject({
    name: z.string().min(1).max(200).meta({ description: 'The last part of its id: virtual:<name>' }),
    label: z.string().max(200).optional().meta({ description: 'What people call it' }),
    room: z.string().optional(),
    capabilities: z.array(CapabilitySchema).optional(),
    attributes: z.record(z.string(), attributeType).optional(),
    values: z.record(z.string(), z.json()).optional().meta({ description: 'What it reports at first' }),
  }),
  output: AnyObject,
  effect: 'write',
  scope: 'house:write',
  route: ['POST', '/devices'],
  listed: false,
  async run(gateway: Gateway, input, { dryRun }) {
    if (dryRun) return { id: `virtual:${slugOf(input.name)}`, dry_run: true };
    const made = await gateway.virtual.createDevice(input);
    await gateway.engine.idle();
    return showDevice(gateway, gateway.engine.core.devices.get(made.id) ?? made);
  },
});

/** The id of a virtual device. @throws DEVICE_NOT_FOUND, UNSUPPORTED where another system has it */
function virtualId({ engine }: Gateway, ref: string): string {
  const { id } = engine.core.devices.require(ref);
  if (id.startsWith('virtual:')) return id;
  throw new CausewayError('UNSUPPORTED', `${id} is no virtual device`, {
    path: 'device',
    hint: 'it is the system of this device that names it, removes it and tells its values; an alias in house.yaml gives it another name here',
  });
}

const renameDevice = defineOp({
  name: 'rename_device',
  title: 'Rename a virtual device',
  description: 'Gives a virtual device another label; its id stays, and with it every rule.',
  input: z.strictObject({ device, name: z.string().min(1).max(200) }),
  output: AnyObject,
  effect: 'write',
  scope: 'house:write',
  idempotent: true,
  route: ['PATCH', '/devices/:device'],
  listed: false,
  async run(gateway: Gateway, input, { dryRun }) {
    const id = virtualId(gateway, input.device);
    if (dryRun) return { id, name: input.name, dry_run: true };
    const renamed = await gateway.virtual.renameDevice(id, input.name);
    return { id, name: renamed.name };
  },
});

const deleteDevice = defineOp({
  name: 'delete_device',
  title: 'Delete a virtual device',
  description: 'Deletes a virtual device. Rules that name it stay, degraded.',
  input: z.strictObject({ device, confirm: z.boolean().optional() }),
  output: AnyObject,
  effect: 'destructive',
  scope: 'house:write',
  route: ['DELETE', '/devices/:device'],
  listed: false,
  async run(gateway: Gateway, input, { dryRun }) {
    const id = virtualId(gateway, input.device);
    if (!dryRun) await gateway.virtual.deleteDevice(id);
    return { id, deleted: !dryRun };
  },
});

const setDeviceValue = defineOp({
  name: 'set_device_value',
  title: 'Set a value of a virtual device',
  description: 'Lets a virtual device report a value, as its sensor or a hand at it would.',
  input: z.strictObject({ device, attribute: z.string().min(1), value: z.json() }),
  output: AnyObject,
  effect: 'write',
  scope: 'devices:control',
  idempotent: true,
  route: ['PUT', '/devices/:device/attributes/:attribute'],
  listed: false,
  async run(gateway: Gateway, input, { dryRun }) {
    const id = virtualId(gateway, input.device);
    if (!dryRun) {
      gateway.virtual.setValue(id, input.attribute, input.value as Json);
      await gateway.engine.idle();
    }
    return { id, attribute: input.attribute, value: input.value };
  },
});

/** Operations on devices. */
export const deviceOps = [
  listDevices,
  getDevice,
  sendCommand,
  sendCommands,
  createDevice,
  renameDevice,
  deleteDevice,
  setDeviceValue,
];
