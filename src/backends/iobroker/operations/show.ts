// How states and objects are shown, and where they are asked for.
import { z } from 'zod';
import { iso } from '../../../lib/clock.ts';
import { CausewayError } from '../../../lib/errors.ts';
import { didYouMean } from '../../../lib/text.ts';
import type { Json } from '../../../model/value.ts';
import type { Connection } from '../connection.ts';
import { stemOf } from '../patterns.ts';
import { view } from '../snapshot.ts';
import { type Anything, readObject, readState } from '../wire.ts';

/** Any object. */
export const AnyObject = z.looseObject({});

/** How many are answered at once. */
export const limited = (most: number) => z.int().min(1).max(most).optional();

/** A state as it is shown. */
export interface ShownState {
  readonly id: string;
  readonly [key: string]: Json;
}

/** A state; without a value where its object has none yet. */
export function showState(connection: Connection, id: string, raw: unknown): ShownState {
  const state = readState(raw, connection.counters);
  const object = connection.catalogue.states.get(id);
  const { lc } = (raw ?? {}) as { lc?: unknown };
  return {
    id,
    value: state?.val ?? null,
    ...(state && { ack: state.ack, ts: iso(state.ts), q: state.q, from: state.from }),
    ...(typeof lc === 'number' && lc !== state?.ts && { changed: iso(lc) }),
    ...(object && {
      name: object.name,
      type: object.type,
      role: object.role,
      ...(object.unit !== undefined && { unit: object.unit }),
      device: connection.deviceOf(id),
    }),
  };
}

/** The object of an id. @throws NOT_FOUND with the nearest known */
export async function requireObject(connection: Connection, id: string): Promise<Record<string, Json>> {
  const object = await connection.socket.ask('getObject', id);
  if (object !== null && typeof object === 'object' && !Array.isArray(object)) return object;
  throw new CausewayError('NOT_FOUND', `ioBroker ${connection.backend} has no object "${id}"`, {
    path: 'id',
    hint: didYouMean(id, connection.catalogue.states.keys()),
  });
}

/** Objects of some types whose ids begin with a text. */
export async function objectsOf(
  connection: Connection,
  types: readonly string[],
  stem = '',
): Promise<(Anything & { raw: Record<string, Json> })[]> {
  const all = await Promise.all(types.map(type => view(connection.snapshotParts, type, stem)));
  return all.flat().flatMap(raw => {
    const object = readObject(raw, connection.counters);
    return object ? [{ ...object, raw: raw as Record<string, Json> }] : [];
  });
}

/** Present states by patterns, each once. */
export async function statesOf(connection: Connection, patterns: readonly string[]): Promise<Map<string, Json>> {
  const found = new Map<string, Json>();
  for (const pattern of patterns) {
    const answer = (await connection.socket.ask('getStates', pattern)) as Record<string, Json> | null;
    for (const [id, state] of Object.entries(answer ?? {})) if (state !== null) found.set(id, state);
  }
  return found;
}

/** Ids of the objects of states that fit a pattern. */
export async function stateIdsOf(connection: Connection, pattern: string, matches: (id: string) => boolean) {
  const objects = await objectsOf(connection, ['state'], stemOf(pattern));
  return objects.map(({ id }) => id).filter(matches);
}

const SECRET = /pass(word|phrase|wd)?$|secret|token|api_?key|private_?key|credential|^pin$|^auth$|cookie|certificate/i;

/** An object without what it keeps secret: adapters keep passwords in their own settings, some of them plain. */
export function redacted(object: Readonly<Record<string, Json>>): Record<string, Json> {
  const listed = [object.protectedNative, object.encryptedNative].flatMap(names => (Array.isArray(names) ? names : []));
  const hide = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(hide);
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => {
        const isSecret = (SECRET.test(key) || listed.includes(key)) && item !== '' && typeof item !== 'boolean';
        return [key, isSecret ? '***' : hide(item)];
      }),
    );
  };
  return hide(object as Record<string, Json>) as Record<string, Json>;
}
