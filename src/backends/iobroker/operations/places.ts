// Rooms, functions, and the functional devices in them.
import { z } from 'zod';
import { defineOperation } from '../../operation.ts';
import type { Connection } from '../connection.ts';
import type { IobrokerBackend } from '../index.ts';
import { idAt } from '../map.ts';
import { nameIn, stateObject } from '../wire.ts';
import { enumOf } from './objects.ts';
import { AnyObject } from './show.ts';

const language = z
  .string()
  .regex(/^[a-z]{2}(-[a-z]{2})?$/)
  .optional()
  .describe('Of names; that of the configuration unless told');

/** Rooms or functions with what is in them. */
const listing = (kind: 'rooms' | 'functions') =>
  defineOperation({
    name: `list_iobroker_${kind}`,
    title: `ioBroker ${kind}`,
    description: `The ${kind} of ioBroker with their members; a member that has no object any more is \`missing\`.`,
    input: z.strictObject({ language }),
    output: z.looseObject({ [kind]: z.array(AnyObject) }),
    effect: 'read',
    scope: 'read',
    path: kind,
    async run(backend: IobrokerBackend, input) {
      const connection = backend.live;
      const of = input.language ?? connection.names;
      const enums = connection.catalogue.enumsOf(kind);
      const objects = await objectsById(connection, [...new Set(enums.flatMap(({ id, members }) => [id, ...members]))]);
      return {
        [kind]: enums.map(({ id, members }) => ({
          id,
          name: nameOf(objects.get(id), of) || id.slice(`enum.${kind}.`.length),
          members: members.map(member => memberOf(member, objects.get(member), of)),
        })),
      };
    },
  });

export const listRooms = listing('rooms');
export const listFunctions = listing('functions');

/** Objects of ids, as far as they exist. */
async function objectsById(connection: Connection, ids: readonly string[]): Promise<ReadonlyMap<string, object>> {
  if (ids.length === 0) return new Map();
  const answer = (await connection.socket.ask('getObjects', [...ids])) as Record<string, unknown> | null;
  return new Map(
    Object.entries(answer ?? {}).flatMap(([id, object]) =>
      typeof object === 'object' && object !== null ? [[id, object]] : [],
    ),
  );
}

interface Raw {
  readonly type?: string;
  readonly common?: { readonly name?: string | Record<string, unknown> };
}

const nameOf = (object: Raw | undefined, of: string): string => nameIn(object?.common?.name, of);

function memberOf(id: string, object: Raw | undefined, of: string): Record<string, string | boolean | number> {
  if (!object) return { id, missing: true };
  const shown = { id, type: object.type ?? '', name: nameOf(object, of) };
  if (object.type !== 'state') return shown;
  const { type, role, unit, min, max, step } = stateObject({ id, type: 'state', common: object.common ?? {} }, of);
  return {
    ...shown,
    value_type: type,
    role,
    ...(unit !== undefined && { unit }),
    ...(min !== undefined && { min }),
    ...(max !== undefined && { max }),
    ...(step !== undefined && { step }),
  };
}

/** Devices by room. */
export const listDevices = defineOperation({
  name: 'list_iobroker_devices',
  title: 'ioBroker devices by room',
  description:
    'The devices that ioBroker’s type detector knows (light, thermostat, blind …), by room, with the canonical ' +
    'attributes that they have here and the states behind each. `list_devices` has all devices, with values.',
  input: z.strictObject({ room: z.string().min(1).optional().describe('Name or id of one room') }),
  output: z.looseObject({ rooms: z.array(AnyObject) }),
  effect: 'read',
  scope: 'read',
  path: 'devices',
  async run(backend: IobrokerBackend, { room }) {
    const connection = backend.live;
    const only = room === undefined ? undefined : enumOf(connection, 'rooms', room).name;
    const rooms = new Map<string, object[]>();
    for (const mapped of connection.catalogue.devices.values()) {
      const { device, blueprint } = mapped;
      if (device.capabilities.length === 0 || (only !== undefined && device.room !== only)) continue;
      const name = device.room ?? '';
      const shown = {
        device: device.id,
        name: device.name,
        capabilities: [...device.capabilities],
        attributes: Object.fromEntries(
          blueprint.derived.map(({ attribute, ids }) => [attribute, ids.map(place => idAt(mapped, place))]),
        ),
        commands: Object.keys(device.commands).filter(command => !command.includes(':')),
      };
      rooms.set(name, [...(rooms.get(name) ?? []), shown]);
    }
    const sorted = [...rooms].sort(([a], [b]) => (a === '' ? 1 : b === '' ? -1 : a.localeCompare(b)));
    return { rooms: sorted.map(([name, devices]) => ({ ...(name !== '' && { room: name }), devices })) };
  },
});
