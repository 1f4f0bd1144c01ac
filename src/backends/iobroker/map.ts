// The states of one device as a device of ours: its own attributes, and canonical ones beside them.
import type { AttributeDecl, CommandDecl, Effect } from '../../model/capability.ts';
import type { Device } from '../../model/device.ts';
import type { Control } from './functional/detect.ts';
import { type Derived, functionalOf, type Plan, type Reachability } from './functional/index.ts';
import { declarationOf, isButton } from './values.ts';
import type { StateObject } from './wire.ts';

/** A device with what is needed to read its states and to command it. */
export interface Mapped {
  readonly device: Device;
  /** Native attributes by the id of their state. */
  readonly native: ReadonlyMap<string, { readonly attribute: string; readonly state: StateObject }>;
  readonly derived: readonly Derived[];
  readonly plans: ReadonlyMap<string, Plan>;
  readonly reachability: readonly Reachability[];
}

/** What a device is made of. */
export interface Material {
  /** The backend's id. */
  readonly backend: string;
  /** The states' ids less their last part. */
  readonly id: string;
  readonly name: string;
  readonly room: string | undefined;
  readonly states: readonly StateObject[];
  readonly controls: readonly Control[];
}

/** Declarations that many states share: twenty thousand states have a few hundred between them. */
export interface Pool {
  readonly attributes: Map<string, AttributeDecl>;
  readonly commands: Map<string, CommandDecl>;
}

/** Nothing yet. */
export const newPool = (): Pool => ({ attributes: new Map(), commands: new Map() });

/** The device that a state is of: its id less the last part. */
export const deviceIdOf = (stateId: string): string => stateId.slice(0, Math.max(0, stateId.lastIndexOf('.')));

/** The attribute that a state is: the last part of its id. */
export const attributeOf = (stateId: string): string => stateId.slice(stateId.lastIndexOf('.') + 1);

/** A native attribute whose name a canonical one of another meaning has. */
const raw = (attribute: string): string => `raw:${attribute}`;

/** A device as ours. */
export function mapDevice({ backend, id, name, room, states, controls }: Material, pool: Pool): Mapped {
  const draft = functionalOf(controls);
  const native = new Map<string, { attribute: string; state: StateObject }>();
  const attributes: Record<string, AttributeDecl> = {};
  const commands: Record<string, CommandDecl> = {};
  const plans = new Map<string, Plan>();
  for (const [command, declared] of draft.commands) {
    const plan = draft.plans.get(command);
    if (plan) plans.set(command, plan);
    commands[command] = declared;
  }
  for (const { attribute, declared } of draft.derived.values()) attributes[attribute] = declared;
  for (const state of states) {
    const canonical = draft.derived.get(attributeOf(state.id));
    const isOne = canonical?.isPlain === true && canonical.ids[0] === state.id;
    const attribute = canonical && !isOne ? raw(attributeOf(state.id)) : attributeOf(state.id);
    const declared = declarationOf(state, pool.attributes);
    if (!isOne) {
      native.set(state.id, { attribute, state });
      attributes[attribute] = declared;
    }
    if (state.write === false) continue;
    const [command, plan] = isButton(state) ? pressing(attribute, state) : setting(attribute, state);
    plans.set(command, plan);
    commands[command] = isButton(state) ? PRESS : setter(attribute, attributes[attribute] ?? declared, state, pool);
  }
  for (const [command, declared] of Object.entries(commands)) commands[command] = withEffects(declared, attributes);
  return {
    device: {
      id: `${backend}:${id}`,
      name,
      ...(room !== undefined && { room }),
      capabilities: [...draft.capabilities],
      attributes,
      commands,
    },
    native,
    derived: [...draft.derived.values()],
    plans,
    reachability: draft.reachability,
  };
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

function setter(attribute: string, declared: AttributeDecl, { read, role }: StateObject, pool: Pool): CommandDecl {
  const isOnce = !read || ONCE.test(role);
  const key = JSON.stringify([attribute, declared, isOnce]);
  let command = pool.commands.get(key);
  if (!command) {
    const { role: _role, telemetry: _telemetry, momentary: _momentary, ...type } = declared;
    command = {
      args: [{ name: 'value', ...type }],
      effects: [{ attribute, fromArg: 'value' }],
      idempotent: !isOnce,
    };
    pool.commands.set(key, command);
  }
  return command;
}

/** Without the effects on attributes that the device lacks: they would be waited for in vain. */
function withEffects(declared: CommandDecl, attributes: Readonly<Record<string, AttributeDecl>>): CommandDecl {
  const effects = declared.effects.filter((effect: Effect) => Object.hasOwn(attributes, effect.attribute));
  return effects.length === declared.effects.length ? declared : { ...declared, effects };
}
