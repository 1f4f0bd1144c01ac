// What is known and good before the engine starts, as the store would hold it.
import { durationMs } from '../lib/duration.ts';
import { CausewayError } from '../lib/errors.ts';
import type { Json } from '../model/value.ts';
import type { VariableDecl } from '../state/house.ts';
import type { Change, Store } from '../store/store.ts';
import { givenValue } from './cast.ts';
import type { Scenario } from './scenario.ts';

/** The variables of the house: declared ones, and those that are given or set. */
export function variablesOf(scenario: Scenario): Record<string, VariableDecl> {
  const named = scenario.timeline.flatMap(entry => (entry.variable ? [entry.variable.name] : []));
  return {
    ...Object.fromEntries(named.map(name => [name, { type: 'json', initial: null } satisfies VariableDecl])),
    ...Object.fromEntries(
      Object.entries(scenario.given.variables).map(([name, value]) => [name, { type: typeOf(value), initial: value }]),
    ),
    ...(scenario.house.variables as Record<string, VariableDecl>),
  };
}

function typeOf(value: Json): VariableDecl['type'] {
  const type = typeof value;
  return type === 'number' || type === 'boolean' || type === 'string' ? type : 'json';
}

/** Writes it. `start` is epoch ms. */
export async function initialStore(
  store: Store,
  scenario: Scenario,
  start: number,
  resolve: (ref: string) => string,
): Promise<void> {
  const { given } = scenario;
  const changes: Change[] = [];
  for (const [ref, values] of Object.entries(given.devices)) {
    for (const [attribute, entry] of Object.entries(values)) {
      const { value, since } = givenValue(entry);
      if (value === null) continue;
      const lastChanged = start + (since === undefined ? 0 : offsetOf(since, `given/${ref}/${attribute}/since`));
      const reading = { value, quality: 'good', lastChanged, lastReported: start, seq: 0, cause: null, epoch: 0 };
      changes.push({ table: 'state', key: `${resolve(ref)}\n${attribute}`, value: reading });
    }
  }
  const known = (value: Json) => ({ value, lastChanged: start });
  for (const [name, value] of Object.entries(given.variables))
    changes.push({ table: 'variables', key: name, value: known(value) });
  if (given.mode !== undefined) changes.push({ table: 'modes', key: 'mode', value: known(given.mode) });
  await store.commit(changes, 'full');
}

/** `-8h` before the start. */
function offsetOf(since: string, path: string): number {
  try {
    return -Math.abs(durationMs(since));
  } catch (cause) {
    throw new CausewayError('INPUT_INVALID', `"${since}" is no duration; write -8h`, { path, cause });
  }
}
