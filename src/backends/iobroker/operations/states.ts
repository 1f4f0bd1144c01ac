// States, whether they come in as attributes or not.
import { z } from 'zod';
import { defineOperation } from '../../operation.ts';
import type { IobrokerBackend } from '../index.ts';
import { isPattern, matcherOf } from '../patterns.ts';
import { AnyObject, limited, type ShownState, showState, stateIdsOf, statesOf } from './show.ts';

const MOST = 1_000;

/** Present values. */
export const listStates = defineOperation({
  name: 'list_iobroker_states',
  title: 'ioBroker states',
  description:
    'Values of ioBroker states by id, with * for any characters (hue.0.*.brightness); also those that are no attributes ' +
    'here. `missing` lists what has no object, which is not the same as a value of null.',
  input: z.strictObject({
    ids: z.array(z.string().min(1)).min(1).max(200).describe('Ids or patterns'),
    limit: limited(MOST).describe('200 unless told'),
    offset: z.int().min(0).optional(),
  }),
  output: z.looseObject({ states: z.array(AnyObject), total: z.number(), missing: z.array(z.string()) }),
  effect: 'read',
  scope: 'read',
  path: 'states',
  async run(backend: IobrokerBackend, { ids, limit = 200, offset = 0 }) {
    const connection = backend.live;
    const known = new Map<string, unknown>();
    const missing: string[] = [];
    for (const id of new Set(ids)) {
      const found = await stateIdsOf(connection, id, matcherOf(id));
      const values = await statesOf(connection, [id]);
      for (const one of found) known.set(one, values.get(one));
      if (found.length === 0 && !isPattern(id)) missing.push(id);
    }
    const all = [...known.keys()].sort();
    const states: ShownState[] = all
      .slice(offset, offset + limit)
      .map(id => showState(connection, id, known.get(id) ?? null));
    const more = offset + states.length < all.length;
    return { states, total: all.length, missing, ...(more && { next_offset: offset + states.length }) };
  },
});
