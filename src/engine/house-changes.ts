// Changes of the house's own state — variables, mode, scenes — and the events that tell of them.
import { CausewayError } from '../lib/errors.ts';
import type { Cause } from '../model/cause.ts';
import { coerce, type Json, type ValueType, valuesEqual } from '../model/value.ts';
import type { Core, LiveRule } from './core.ts';
import { keys } from './signals.ts';

/** How a variable changes. `add` and `append` read and write in one go. */
export type VariableChange = { value: Json } | { add: number } | { append: Json };

const MAX_LIST = 10_000;
const MAX_TEXT = 65_536;

/** The value after a change. @throws VALUE_INVALID */
export function changed(name: string, old: Json, change: VariableChange): Json {
  if ('value' in change) return change.value;
  if ('add' in change) {
    if (typeof old !== 'number' && old !== null) {
      throw new CausewayError(
        'VALUE_INVALID',
        `variable "${name}" is ${JSON.stringify(old)}, to which no number can be added`,
      );
    }
    return (old ?? 0) + change.add;
  }
  if (Array.isArray(old) || old === null) return [...(old ?? []), change.append].slice(-MAX_LIST);
  if (typeof old === 'string') return (old + String(change.append)).slice(-MAX_TEXT);
  throw new CausewayError('VALUE_INVALID', `variable "${name}" is neither a list nor text, nothing can be appended`);
}

/** Sets a variable of the house. @throws VARIABLE_UNKNOWN, VALUE_INVALID */
export function setHouseVariable(core: Core, name: string, change: VariableChange, cause: Cause): void {
  const old = core.house.variables.get(name)?.value ?? null;
  const value = core.house.checkVariable(name, changed(name, old, change));
  const isChange = !valuesEqual(value, old);
  const now = core.timeline.now();
  core.house.variables.set(name, {
    value,
    lastChanged: isChange ? now : (core.house.variables.get(name)?.lastChanged ?? now),
  });
  core.tx.put('variables', name, core.house.variables.get(name));
  core.raised.push(() =>
    core.news(() =>
      core.raise(keys.variable(name), {
        kind: 'state',
        backend: 'house',
        device: 'house:variables',
        attribute: name,
        value,
        previous: old,
        quality: 'good',
        change: isChange ? 'changed' : 'reported',
        cause,
      }),
    ),
  );
}

/** A value fitted to a variable's type. @throws VALUE_INVALID */
export function fitted(name: string, value: Json, type: ValueType['type'] | undefined): Json {
  if (type === undefined) return value;
  const coerced = coerce(value, { type });
  if (!coerced.ok) throw new CausewayError('VALUE_INVALID', `variable "${name}": ${coerced.reason}`);
  return coerced.value;
}

/** Sets a persisted variable of the rule's own. */
export function setOwnVariable(
  core: Core,
  live: LiveRule,
  name: string,
  change: VariableChange,
  cause: Cause,
  type?: ValueType['type'],
): void {
  const old = live.own.get(name)?.value ?? null;
  const value = fitted(name, changed(name, old, change), type);
  const entry = { value, lastChanged: core.timeline.now() };
  live.own.set(name, entry);
  core.tx.put('variables', `${live.id}/${name}`, entry);
  if (!core.signals.has(keys.own(live.id, name))) return;
  core.raised.push(() =>
    core.raise(keys.own(live.id, name), {
      kind: 'state',
      backend: 'house',
      device: `rule:${live.id}`,
      attribute: name,
      value,
      previous: old,
      quality: 'good',
      change: valuesEqual(value, old) ? 'reported' : 'changed',
      cause,
    }),
  );
}

/** The mode becomes another, by us or as the backend that owns it reports. */
export function setMode(core: Core, mode: string, cause: Cause, change: 'changed' | 'resync' = 'changed'): void {
  const old = core.house.mode.value;
  if (old === mode) return;
  core.house.mode = { value: mode, lastChanged: core.timeline.now() };
  core.tx.put('modes', 'mode', core.house.mode);
  const tell = () =>
    core.raise(keys.mode, {
      kind: 'state',
      backend: 'house',
      device: 'house:house',
      attribute: 'mode',
      value: mode,
      previous: old,
      quality: 'good',
      change,
      cause,
    });
  core.raised.push(() => (change === 'resync' ? void tell() : core.news(tell)));
}

/** Stores what devices are set to: the attributes that some command can bring back. */
export function captureScene(core: Core, name: string, devices: readonly string[]): void {
  const scene: Record<string, Record<string, Json>> = {};
  for (const id of devices) {
    const device = core.devices.get(id);
    if (!device) continue;
    const settable = new Set(
      Object.values(device.commands).flatMap(command =>
        command.idempotent ? command.effects.map(e => e.attribute) : [],
      ),
    );
    for (const attribute of settable) {
      const reading = core.values.get(id, attribute);
      if (reading?.quality !== 'good' || reading.value === null) continue;
      scene[id] = { ...scene[id], [attribute]: reading.value };
    }
  }
  core.scenes.set(name, scene);
  core.tx.put('scenes', name, scene);
}

/** Forgets what was captured under a name. */
export function forgetScene(core: Core, name: string): void {
  core.scenes.delete(name);
  core.tx.put('scenes', name, undefined);
}
