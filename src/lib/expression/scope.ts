// What an expression may see: the names, their fields, and the interface through which they are read.

/** What started the run. Fields that a kind of trigger does not have are absent, so `has(trigger.payload)` tells. */
export interface TriggerScope {
  readonly id: string;
  readonly type: string;
  /** Epoch ms; a timestamp inside the expression. */
  readonly at: number;
  readonly device?: string;
  readonly attribute?: string;
  readonly value?: unknown;
  readonly previous?: unknown;
  /** The envelope. */
  readonly event?: unknown;
  readonly topic?: string;
  readonly payload?: unknown;
  readonly body?: unknown;
  readonly query?: unknown;
  readonly method?: string;
  readonly flow?: unknown;
  readonly key?: unknown;
  readonly count?: number;
  readonly sum?: number;
  readonly rule?: string;
  readonly outcome?: string;
  readonly command?: string;
  readonly args?: unknown;
}

/** An attribute with what is known about it. Instants are epoch ms, timestamps inside the expression. */
export interface AttributeReading {
  readonly value: unknown;
  readonly quality: string;
  readonly lastChanged: number | null;
  readonly lastReported: number | null;
}

/** What one evaluation sees. Values are JSON; only what the expression names is read, so members may be getters. */
export interface Scope {
  readonly trigger?: TriggerScope;
  /** What call_rule, run or REST gave. */
  readonly args?: Readonly<Record<string, unknown>>;
  /** The rule's own variable of this name, then the house's; undefined when there is none. */
  vars(name: string): unknown;
  readonly repeat?: { readonly index: number; readonly item?: unknown };
  readonly mode: string | null;
  /** Epoch ms. */
  readonly now: number;
  readonly sun?: { readonly elevation: number; readonly azimuth: number; readonly up: boolean };
  /** Zone of `hour()`, `weekday()`, `date()`, `time()`: the rule's. UTC when absent. */
  readonly timezone?: string;
  /** The last good value, null if unknown. */
  state(device: string, attribute: string): unknown;
  attr(device: string, attribute: string): AttributeReading | null;
  /** What `as` has bound so far. */
  readonly bindings?: Readonly<Record<string, unknown>>;
}

/** The names that every expression knows. */
export type RootName = 'trigger' | 'args' | 'vars' | 'repeat' | 'mode' | 'now' | 'sun';

/** Root name → its CEL type; the capitalised ones are in `FIELDS`. */
export const ROOTS: Readonly<Record<RootName, string>> = {
  trigger: 'Trigger',
  args: 'map<string, dyn>',
  vars: 'map<string, dyn>',
  repeat: 'Repeat',
  mode: 'string',
  now: 'google.protobuf.Timestamp',
  sun: 'Sun',
};

/** The objects with a closed set of fields, each field with its CEL type: a misspelt one is found at save. */
export const FIELDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Trigger: {
    id: 'dyn',
    type: 'dyn',
    device: 'dyn',
    attribute: 'dyn',
    value: 'dyn',
    previous: 'dyn',
    at: 'google.protobuf.Timestamp',
    event: 'dyn',
    topic: 'dyn',
    payload: 'dyn',
    body: 'dyn',
    query: 'dyn',
    method: 'dyn',
    flow: 'dyn',
    key: 'dyn',
    count: 'dyn',
    sum: 'dyn',
    rule: 'dyn',
    outcome: 'dyn',
    command: 'dyn',
    args: 'dyn',
  },
  Repeat: { index: 'dyn', item: 'dyn' },
  Sun: { elevation: 'double', azimuth: 'double', up: 'bool' },
  Attribute: {
    value: 'dyn',
    quality: 'string',
    lastChanged: 'google.protobuf.Timestamp',
    lastReported: 'google.protobuf.Timestamp',
  },
};

// Words that CEL keeps for itself (the library's list) or that stand for types.
const KEPT = new Set(
  (
    'as in break const continue else for function if import let loop package namespace return var void while in true false ' +
    'null __proto__ prototype constructor cel google optional bool bytes double int list map null_type string type uint'
  ).split(' '),
);

/** Whether `as`, or the variable of a macro, may have this name. */
export const isFreeName = (name: string): boolean =>
  /^[A-Za-z_]\w*$/.test(name) && !Object.hasOwn(ROOTS, name) && !KEPT.has(name);
