// What tests of the ioBroker mapping share: objects as ioBroker has them, and the devices that come of them.
import { Catalogue } from '../../../../src/backends/iobroker/catalogue.ts';
import { newCounters } from '../../../../src/backends/iobroker/counters.ts';
import type { Mapped } from '../../../../src/backends/iobroker/map.ts';
import { selection } from '../../../../src/backends/iobroker/patterns.ts';
import { readObject } from '../../../../src/backends/iobroker/wire.ts';
import type { Json } from '../../../../src/model/value.ts';

/** A state's object. */
export const state = (type: string, role: string, more: object = {}): object => ({
  type: 'state',
  common: { name: '', type, role, read: true, write: true, ...more },
});

/** A channel or the like. */
export const branch = (type: string, name: unknown): object => ({ type, common: { name } });

/** The catalogue of objects by id. */
export async function catalogueOf(
  objects: Readonly<Record<string, object>>,
  options: { language?: string; states?: string[]; functional?: boolean } = {},
): Promise<Catalogue> {
  const { language = 'en', states = ['*'], functional = true } = options;
  const counters = newCounters();
  const catalogue = new Catalogue({
    backend: 'iobroker',
    languageOf: () => language,
    selects: selection({ states, exclude: [] }),
    functional,
    counters,
  });
  for (const [id, object] of Object.entries(objects)) put(catalogue, id, object);
  await catalogue.remake();
  return catalogue;
}

/** Puts an object. */
export function put(catalogue: Catalogue, id: string, object: object): boolean {
  const read = readObject({ _id: id, ...object }, newCounters());
  return read !== undefined && catalogue.put(read);
}

/** A channel with states, as a device. */
export async function deviceOf(states: Readonly<Record<string, object>>, more: Readonly<Record<string, object>> = {}) {
  const objects = Object.fromEntries(Object.entries(states).map(([name, object]) => [`x.0.d.${name}`, object]));
  const catalogue = await catalogueOf({ 'x.0.d': branch('channel', 'D'), ...more, ...objects });
  return catalogue.devices.get('x.0.d') as Mapped;
}

/** The canonical value of an attribute for native values by the last part of their ids. */
export function valueIn(mapped: Mapped, attribute: string, native: Readonly<Record<string, Json>>): Json | undefined {
  const derived = mapped.blueprint.derived.find(one => one.attribute === attribute);
  return derived?.read(place => native[place.slice(1)]);
}

/** What a command writes, by the last part of the ids. */
export function writesOf(
  mapped: Mapped,
  command: string,
  args: Record<string, Json> = {},
  native: Readonly<Record<string, Json>> = {},
): Record<string, Json> {
  const { plans } = mapped.blueprint;
  const plan = plans.get(command);
  if (!plan) throw new Error(`no command ${command}, but ${[...plans.keys()].join(', ')}`);
  const writes = plan(args, place => native[place.slice(1)]);
  return Object.fromEntries(writes.map(write => [write.state.id.slice(1), write.value]));
}
