// What devices that look alike share: attributes, commands, and how values are read and written. A house has dozens of
// lamps and a few kinds of them, so it is made once a kind; states are named by their place in the device.
import type { AttributeDecl, CommandDecl, Effect } from '../../model/capability.ts';
import type { Device } from '../../model/device.ts';
import type { Control } from './functional/detect.ts';
import { type Derived, functionalOf, type Plan, type Reachability } from './functional/index.ts';
import { declarationOf, isButton } from './values.ts';
import type { StateObject } from './wire.ts';

/** Where a state lies: `+on` is of the device itself, `-0.UNREACH` of what is around it. */
export type Place = string;

/** What devices that look alike share. The ids of states in it are places. */
export interface Blueprint {
  readonly look: Pick<Device, 'capabilities' | 'attributes' | 'commands'>;
  /** Native attributes. */
  readonly native: ReadonlyMap<Place, string>;
  readonly derived: readonly Derived[];
  readonly plans: ReadonlyMap<string, Plan>;
  readonly reachability: readonly Reachability[];
  /** Which attributes hear of a state: native ones by name, derived ones by index. */
  readonly hearing: ReadonlyMap<Place, readonly (string | number)[]>;
}

/** The attribute that a state is: the last part of its id. */
export const attributeOf = (stateId: string): string => stateId.slice(stateId.lastIndexOf('.') + 1);

/** The device that a state is of: its id less the last part. */
export const deviceIdOf = (stateId: string): string => stateId.slice(0, Math.max(0, stateId.lastIndexOf('.')));

/** A native attribute whose name a canonical one of another meaning has. */
const raw = (attribute: string): string => `raw:${attribute}`;

/** @param states the device's own, with their places as ids */
export function blueprintOf(states: readonly StateObject[], controls: readonly Control[]): Blueprint {
  const draft = functionalOf(controls);
  const native = new Map<Place, string>();
  const attributes: Record<string, AttributeDecl> = {};
  const commands: Record<string, CommandDecl> = {};
  const plans = new Map(draft.plans);
  for (const [command, declared] of draft.commands) commands[command] = declared;
  for (const { attribute, declared } of draft.derived.values()) attributes[attribute] = declared;
  for (const state of states) {
    const own = state.id.slice(1);
    const canonical = draft.derived.get(own);
    const isOne = canonical?.isPlain === true && canonical.ids[0] === state.id;
    const attribute = canonical && !isOne ? raw(own) : own;
    const declared = declarationOf(state);
    if (!isOne) {
      native.set(state.id, attribute);
      attributes[attribute] = declared;
    }
    if (state.write === false) continue;
    const [command, plan] = isButton(state) ? pressing(attribute, state) : setting(attribute, state);
    plans.set(command, plan);
    commands[command] = isButton(state) ? PRESS : setter(attribute, attributes[attribute] ?? declared, state);
  }
  for (const [command, declared] of Object.entries(commands)) commands[command] = withEffects(declared, attributes);
  const derived = [...draft.derived.values()];
  return {
    look: { capabilities: [...draft.capabilities], attributes, commands },
    native,
    derived,
    plans,
    reachability: draft.reachability,
    hearing: hearingOf(native, derived),
  };
}

function hearingOf(native: ReadonlyMap<Place, string>, derived: readonly Derived[]): Map<Place, (string | number)[]> {
  const hearing = new Map<Place, (string | number)[]>();
  const hear = (place: Place, attribute: string | number) => {
    const all = hearing.get(place);
    if (all) all.push(attribute);
    else hearing.set(place, [attribute]);
  };
  for (const [place, attribute] of native) hear(place, attribute);
  for (const [index, { ids }] of derived.entries()) for (const place of ids) hear(place, index);
  return hearing;
}

const PRESS: CommandDecl = { args: [], effects: [], idempotent: false };

const pressing = (attribute: string, state: StateObject): [string, Plan] => [
  `press:${attribute}`,
  () => [{ state, value: true, isPress: true }],
];

const setting = (attribute: string, state: StateObject): [string, Plan] => [
  `set:${attribute}`,
  ({ value = null }) => [{ state, value }],
];

// Text to be spoken, and what can only be written: twice is not the same as once, and the same again is meant.
const ONCE = /^(media\.tts|media\.url\.announcement|action(\..*)?)$/;

function setter(attribute: string, declared: AttributeDecl, { read, role }: StateObject): CommandDecl {
  const { role: _role, telemetry: _telemetry, momentary: _momentary, ...type } = declared;
  return {
    args: [{ name: 'value', ...type }],
    effects: [{ attribute, fromArg: 'value' }],
    idempotent: read && !ONCE.test(role),
  };
}

/** Without the effects on attributes that the device lacks: they would be waited for in vain. */
function withEffects(declared: CommandDecl, attributes: Readonly<Record<string, AttributeDecl>>): CommandDecl {
  const effects = declared.effects.filter((effect: Effect) => Object.hasOwn(attributes, effect.attribute));
  return effects.length === declared.effects.length ? declared : { ...declared, effects };
}
