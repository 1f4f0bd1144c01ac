// The house's own state: its mode, its variables, and the last payloads of outside topics that rules name.
import { CausewayError } from '../lib/errors.ts';
import { didYouMean } from '../lib/text.ts';
import { coerce, type Json, type ValueType } from '../model/value.ts';

/** A variable as house.yaml declares it. */
export interface VariableDecl {
  type: ValueType['type'];
  initial: Json;
}

/** A value and when it last changed, in engine time. */
export interface HouseValue {
  value: Json;
  lastChanged: number;
}

const MAX_TOPICS = 50_000;

/** Mode, variables and outside topics. */
export class House {
  readonly variables = new Map<string, HouseValue>();
  readonly topics = new Map<string, HouseValue>();
  mode: HouseValue = { value: null, lastChanged: 0 };
  private modeNames: readonly string[] | undefined = [];
  private declared: Readonly<Record<string, VariableDecl>> = {};

  /** Takes the declarations of house.yaml; values that are known stay. Without `modes` every mode is one (scenarios). */
  declare(modes: readonly string[] | undefined, variables: Readonly<Record<string, VariableDecl>>, now: number): void {
    this.modeNames = modes;
    this.declared = variables;
    if (this.mode.value === null && modes?.[0] !== undefined) this.mode = { value: modes[0], lastChanged: now };
    for (const [name, { initial }] of Object.entries(variables)) {
      if (!this.variables.has(name)) this.variables.set(name, { value: initial, lastChanged: now });
    }
  }

  /** Those of house.yaml; empty where any name is a mode. */
  modes(): readonly string[] {
    return this.modeNames ?? [];
  }

  hasMode(mode: string): boolean {
    return !this.modeNames || this.modeNames.includes(mode);
  }

  declarations(): Readonly<Record<string, VariableDecl>> {
    return this.declared;
  }

  /** @throws MODE_UNKNOWN */
  checkMode(mode: string): void {
    if (this.hasMode(mode)) return;
    throw new CausewayError('MODE_UNKNOWN', `the house has no mode "${mode}"`, {
      hint: `${didYouMean(mode, this.modes())} (modes are declared in house.yaml)`,
    });
  }

  /** The value fitted to the variable's type. @throws VARIABLE_UNKNOWN, VALUE_INVALID */
  checkVariable(name: string, value: Json): Json {
    const declared = this.declared[name];
    if (!declared) {
      throw new CausewayError('VARIABLE_UNKNOWN', `the house has no variable "${name}"`, {
        hint: `${didYouMean(name, Object.keys(this.declared))} (variables are declared in house.yaml)`,
      });
    }
    const coerced = coerce(value, { type: declared.type });
    if (!coerced.ok) throw new CausewayError('VALUE_INVALID', `variable "${name}": ${coerced.reason}`);
    return coerced.value;
  }

  /** Keeps the last payload of a topic; the oldest topic goes when there are too many. */
  setTopic(topic: string, value: HouseValue): void {
    this.topics.delete(topic);
    this.topics.set(topic, value);
    if (this.topics.size > MAX_TOPICS) this.topics.delete(this.topics.keys().next().value as string);
  }
}
