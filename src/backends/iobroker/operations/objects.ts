// Objects: one, and the search for them.
import { z } from 'zod';
import { CausewayError } from '../../../lib/errors.ts';
import { didYouMean } from '../../../lib/text.ts';
import { defineOperation } from '../../operation.ts';
import { lineage } from '../catalogue.ts';
import type { Connection } from '../connection.ts';
import type { IobrokerBackend } from '../index.ts';
import { matcherOf } from '../patterns.ts';
import { type Enum, nameIn } from '../wire.ts';
import { AnyObject, limited, objectsOf, redacted, requireObject, showState } from './show.ts';

/** One object. */
export const getObject = defineOperation({
  name: 'get_iobroker_object',
  title: 'An ioBroker object',
  description:
    'One object of ioBroker as it is: type, common (name, role, unit, min, max, states, read, write) and native, with ' +
    'secrets hidden; of a state also its value, and the device and attribute that it is here.',
  input: z.strictObject({ id: z.string().min(1) }),
  output: z.looseObject({ object: AnyObject }),
  effect: 'read',
  scope: 'read',
  path: 'object',
  async run(backend: IobrokerBackend, { id }) {
    const connection = backend.live;
    const object = redacted(await requireObject(connection, id));
    if (object.type !== 'state') return { object };
    return { object, state: showState(connection, id, await connection.socket.ask('getState', id)) };
  },
});

// Those of which ioBroker has a view.
const TYPES = [
  'state',
  'channel',
  'device',
  'folder',
  'enum',
  'instance',
  'adapter',
  'host',
  'script',
  'chart',
  'meta',
  'config',
  'user',
  'group',
] as const;

/** The search. */
export const searchObjects = defineOperation({
  name: 'search_iobroker_objects',
  title: 'Search ioBroker objects',
  description:
    'Objects of ioBroker by a word of id or name (any language), and by type, role (level.* for all that begin so), ' +
    'room, function and adapter instance (hue.0, or hue for all of them). What is given must all fit.',
  input: z.strictObject({
    query: z.string().min(1).optional(),
    type: z.enum(TYPES).optional().describe('state, channel, device, folder and enum unless told'),
    role: z.string().min(1).optional(),
    room: z.string().min(1).optional().describe('Name or id of a room'),
    function: z.string().min(1).optional().describe('Name or id of a function'),
    adapter: z.string().min(1).optional(),
    limit: limited(500).describe('50 unless told'),
    offset: z.int().min(0).optional(),
  }),
  output: z.looseObject({ objects: z.array(AnyObject), total: z.number() }),
  effect: 'read',
  scope: 'read',
  path: 'objects',
  async run(backend: IobrokerBackend, input) {
    const connection = backend.live;
    const { query, type, role, adapter, limit = 50, offset = 0 } = input;
    const types = type ? [type] : TYPES.slice(0, 5);
    const members = [
      ...(input.room === undefined ? [] : [membersOf(connection, 'rooms', input.room)]),
      ...(input.function === undefined ? [] : [membersOf(connection, 'functions', input.function)]),
    ];
    const word = query?.toLowerCase();
    const hasRole = role === undefined ? undefined : matcherOf(role);
    const stem = type === 'instance' || type === 'adapter' ? 'system.adapter.' : '';
    const from = adapter === undefined ? stem : `${stem}${adapter}${stem === '' ? '.' : ''}`;
    const found = (await objectsOf(connection, types, from)).filter(object => {
      const common = object.common as Record<string, unknown>;
      if (word !== undefined && !textsOf(object.id, common.name).some(text => text.includes(word))) return false;
      if (hasRole && !hasRole(String(common.role ?? ''))) return false;
      return members.every(ids => lineage(object.id).some(id => ids.has(id)));
    });
    found.sort((a, b) => (a.id < b.id ? -1 : 1));
    const page = found.slice(offset, offset + limit);
    const more = offset + page.length < found.length;
    return {
      objects: page.map(({ id, type: of, common }) => {
        const { name, role: its, unit, type: valueType } = common as Record<string, unknown>;
        return {
          id,
          type: of,
          name: nameIn(
            typeof name === 'object' ? (name as Record<string, unknown>) : String(name ?? ''),
            connection.names,
          ),
          ...(typeof its === 'string' && { role: its }),
          ...(of === 'state' && typeof valueType === 'string' && { value_type: valueType }),
          ...(typeof unit === 'string' && { unit }),
          ...(connection.catalogue.states.has(id) && { device: connection.deviceOf(id) }),
        };
      }),
      total: found.length,
      ...(more && { next_offset: offset + page.length }),
    };
  },
});

const textsOf = (id: string, name: unknown): string[] =>
  [id, ...(typeof name === 'object' && name !== null ? Object.values(name) : [name])].map(text =>
    String(text ?? '').toLowerCase(),
  );

/** The room or function of a name or id. @throws NOT_FOUND with those that there are */
export function enumOf(connection: Connection, kind: 'rooms' | 'functions', named: string): Enum {
  const all = connection.catalogue.enumsOf(kind);
  const wanted = named.toLowerCase();
  const found = all.find(({ id, name }) =>
    [id, id.slice(`enum.${kind}.`.length), name].some(text => text.toLowerCase() === wanted),
  );
  if (found) return found;
  const what = kind === 'rooms' ? 'room' : 'function';
  throw new CausewayError('NOT_FOUND', `ioBroker ${connection.backend} has no ${what} "${named}"`, {
    path: what,
    hint: didYouMean(
      named,
      all.map(({ name }) => name),
    ),
  });
}

const membersOf = (connection: Connection, kind: 'rooms' | 'functions', named: string): ReadonlySet<string> =>
  new Set(enumOf(connection, kind, named).members);

/** The end of an object. */
export const deleteObject = defineOperation({
  name: 'delete_iobroker_object',
  title: 'Delete an ioBroker object',
  description:
    'Deletes an object of ioBroker, a state with its value. One with others below it is refused. Only the admin adapter may ' +
    'do it: wants `admin` in the configuration.',
  input: z.strictObject({ id: z.string().min(1), confirm: z.boolean().optional() }),
  output: z.looseObject({ id: z.string(), deleted: z.boolean() }),
  effect: 'destructive',
  scope: 'admin',
  path: 'object/delete',
  async run(backend: IobrokerBackend, { id }, { dryRun }) {
    const connection = backend.live;
    const { type } = await requireObject(connection, id);
    const below = await objectsOf(connection, [...TYPES], `${id}.`);
    if (below.length > 0) {
      throw new CausewayError('INPUT_INVALID', `${id} has ${below.length} objects below it, such as ${below[0]?.id}`, {
        path: 'id',
        hint: 'delete those first',
      });
    }
    const admin = await backend.logs.open();
    if (!dryRun) await admin.ask('delObject', id);
    return { id, type: type ?? null, deleted: !dryRun };
  },
});
