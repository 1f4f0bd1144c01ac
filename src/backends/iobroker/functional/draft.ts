// What a functional device comes to have: canonical attributes made of states, and canonical commands that write them.
import { type AttributeDecl, CAPABILITIES, type CapabilityName, type CommandDecl } from '../../../model/capability.ts';
import type { Json } from '../../../model/value.ts';
import type { StateObject } from '../wire.ts';
import { plain, type Scale } from './scales.ts';

/** The last confirmed value of a state; undefined where none is known. */
export type ValueOf = (id: string) => Json | undefined;

/** A canonical attribute. */
export interface Derived {
  readonly attribute: string;
  readonly declared: AttributeDecl;
  /** The states that it is made of. */
  readonly ids: readonly string[];
  /** Undefined: nothing to tell. */
  read(value: ValueOf): Json | undefined;
  /** It is its only state's own value. */
  readonly isPlain: boolean;
}

/** A value for a state. */
export interface Write {
  readonly state: StateObject;
  readonly value: Json;
  /** A button: whatever is confirmed confirms it. */
  readonly isPress?: boolean;
}

/** What a command writes. */
export type Plan = (args: Readonly<Record<string, Json>>, value: ValueOf) => readonly Write[];

/** States that say whether the device can be reached. */
export interface Reachability {
  readonly id: string;
  /** What it says when the device cannot. */
  readonly unreachable: boolean;
}

/** A device in the making; whatever is said first of a name holds. */
export class Draft {
  readonly capabilities = new Set<CapabilityName>();
  readonly derived = new Map<string, Derived>();
  readonly plans = new Map<string, Plan>();
  readonly commands = new Map<string, CommandDecl>();
  readonly reachability: Reachability[] = [];

  /** An attribute of one state. */
  attribute(
    capability: CapabilityName,
    attribute: string,
    state: StateObject | undefined,
    scale: Scale = plain,
    declared?: AttributeDecl,
  ): void {
    if (!state) return;
    const read = (value: ValueOf) => {
      const native = value(state.id);
      return native === undefined ? undefined : scale.read(native);
    };
    this.add(
      capability,
      attribute,
      [state.id],
      read,
      scale.isPlain === true,
      coarse(capability, attribute, scale, declared),
    );
  }

  /** An attribute that several states make. @param step how far what is written may be told back rounded */
  made(
    capability: CapabilityName,
    attribute: string,
    states: readonly StateObject[],
    read: Derived['read'],
    step?: number,
  ): void {
    const ids = states.map(({ id }) => id);
    this.add(
      capability,
      attribute,
      ids,
      read,
      false,
      coarse(capability, attribute, step === undefined ? {} : { step }),
    );
  }

  /**
   * A command of a capability.
   * @param without optional arguments that this device could only ignore
   * @param scales what an argument becomes: only what the state can hold is taken
   */
  command(
    capability: CapabilityName,
    name: string,
    plan: Plan,
    without: readonly string[] = [],
    scales: Readonly<Record<string, Scale>> = {},
  ): void {
    const canonical = CAPABILITIES[capability].commands[name];
    if (canonical) this.declare(capability, name, plan, fitting(less(canonical, without), scales));
  }

  /** A command with words of the device's own. */
  declare(capability: CapabilityName, name: string, plan: Plan, declared: CommandDecl): void {
    if (this.plans.has(name)) return;
    this.capabilities.add(capability);
    this.plans.set(name, plan);
    this.commands.set(name, declared);
  }

  private add(
    capability: CapabilityName,
    attribute: string,
    ids: readonly string[],
    read: Derived['read'],
    isPlain: boolean,
    declared: AttributeDecl | undefined,
  ): void {
    if (!declared || this.derived.has(attribute)) return;
    this.capabilities.add(capability);
    this.derived.set(attribute, { attribute, declared, ids, read, isPlain });
  }
}

/** An attribute, with the coarseness that it has here. */
function coarse(
  capability: CapabilityName,
  attribute: string,
  { step }: Pick<Scale, 'step'>,
  declared = CAPABILITIES[capability].attributes[attribute],
): AttributeDecl | undefined {
  return declared && step !== undefined && declared.type === 'number' ? { ...declared, step } : declared;
}

function fitting(declared: CommandDecl, scales: Readonly<Record<string, Scale>>): CommandDecl {
  if (!declared.args.some(({ name }) => scales[name]?.range)) return declared;
  return { ...declared, args: declared.args.map(arg => ({ ...arg, ...scales[arg.name]?.range })) };
}

function less(declared: CommandDecl, without: readonly string[]): CommandDecl {
  if (without.length === 0) return declared;
  return {
    ...declared,
    args: declared.args.filter(({ name }) => !without.includes(name)),
    effects: declared.effects.filter(effect => !('fromArg' in effect && without.includes(effect.fromArg))),
  };
}
