// The contracts of kinds: what a trigger, a condition and an action declare, and the narrow contexts that they get.
import type { Observable } from 'rxjs';
import type { z } from 'zod';
import type { Kind } from '../lib/registry.ts';
import type { Cause } from '../model/cause.ts';
import type { Event } from '../model/event.ts';
import type { ConditionTrace, LetGo, Ternary } from '../model/run.ts';
import type { Match, Target } from '../model/target.ts';
import type { Json } from '../model/value.ts';
import type { View } from './reading.ts';

/** A literal, or a CEL expression in its place. */
export type Dynamic<T = Json> = T | { expr: string };

/** What a trigger tells of what fired: the name `trigger` in CEL, stored with the run. */
export interface TriggerData {
  id: string;
  type: string;
  /** ISO 8601, when it fired. */
  at: string;
  device?: string;
  attribute?: string;
  value?: Json;
  previous?: Json;
  event?: Json;
  topic?: string;
  payload?: Json;
  body?: Json;
  query?: Json;
  method?: string;
  flow?: Json;
  key?: string;
  count?: number;
  sum?: number;
  rule?: string;
  outcome?: string;
  command?: string;
  args?: Json;
  note?: string;
}

/** What an attached trigger emits. Instants are engine time. */
export type Edge =
  | {
      /** It became true for a member (a device, a topic, or '' for the whole): it fires, or its hold begins. */
      do: 'enter';
      member: string;
      data: Partial<TriggerData>;
      cause?: Cause;
      /** Begins a running hold anew instead of leaving it. */
      restart?: boolean;
      /** By how much it fires after its time. */
      lateMs?: number;
    }
  | { do: 'leave'; member: string; reason?: LetGo }
  | {
      /** Something about the member was told: a hold whose time passed while it was unknown is looked at again. */
      do: 'look';
      member: string;
      /** The device has just become unavailable. */
      gone?: boolean;
    };

/** An attached trigger. */
export interface Attached {
  edges$: Observable<Edge>;
  /** Whether the level that a hold waits on holds now. Absent for kinds without `for`. */
  level?(member: string, data: Partial<TriggerData>): Ternary;
  /** Whether a member is as it is by whom `by` means, where no event tells. Absent where nobody makes it so. */
  isMeant?(member: string): boolean;
  /** Members for which it is true now (on_startup, on_enable: evaluate). */
  members?(): { member: string; data: Partial<TriggerData> }[];
  /** The occurrence that it waits for, or the first after an instant (epoch ms), for kinds on the clock. */
  next?(after?: number): Upcoming | null;
}

/** An occurrence ahead; `note` says what the trace would (a fallback was taken). */
export interface Upcoming {
  /** Wall time, epoch ms. */
  readonly at: number;
  readonly note?: string;
}

/** Durable memory of one trigger, kept while its meaning stays the same. Writing is part of the turn. */
export interface Memory {
  get<T extends Json>(name: string): T | undefined;
  set(name: string, value: Json | undefined): void;
  names(): string[];
}

/** What an attached trigger may do. */
export interface TriggerContext {
  readonly view: View;
  readonly id: string;
  readonly memory: Memory;
  /** The rule's revision has just been saved or the engine started; used for relative first periods. */
  signal(key: string): Observable<Event>;
  topic(filter: string): Observable<Event>;
  /** Changes of a variable: the rule's own kept one of that name, else the house's. */
  variable(name: string): Observable<Event>;
  /** Merges a stream per member of the target, following its membership; `left` is what is told where one leaves. */
  each<T>(target: Target, of: (device: string) => Observable<T>, left?: (device: string) => T): Observable<T>;
  /** Emits in a turn at an instant of engine time. */
  timer(due: number): Observable<number>;
  /** Emits in a turn once the wall clock shows it. */
  wallTimer(due: number): Observable<number>;
  /** Emits when schedules must be reckoned anew: the wall was stepped, or the zone or place changed. */
  readonly reschedule$: Observable<{ stepMs: number }>;
  /** The current value of a dynamic field; undefined where it cannot be told. */
  value(dynamic: Dynamic, event?: Partial<TriggerData>): Json | undefined;
  /** Emits whenever what a dynamic field reads has changed. */
  changes(dynamic: Dynamic): Observable<Event | undefined>;
  /** The truth of an expression, and what may change it. */
  expression(source: string): { truth(): Ternary; changes$: Observable<Event | undefined> };
  /** Attaches a trigger inside a trigger (sequence, count). */
  nested(config: TriggerConfig, name: string): Observable<{ data: TriggerData; cause: Cause }>;
  /** A rule's own `by` filter on a cause; true without one. */
  by(cause: Cause | null): boolean;
  /** A note in the log and, where a hold let go, in the traces. */
  note(reason: 'late', details: { at: number; note: string }): void;
  /** An event for people: something of what the trigger should hear is lost. Said once an hour. */
  warn(message: string): void;
}

/** Fields common to all triggers, beside those of the kind. */
export interface TriggerConfig {
  type: string;
  id?: string | undefined;
  enabled?: boolean | undefined;
  on_startup?: 'ignore' | 'evaluate' | 'compare' | undefined;
  debounce?: string | undefined;
  throttle?: string | undefined;
  unavailable?: 'bridge' | 'cancel' | undefined;
  by?: string | undefined;
  catch_up?: 'none' | 'once' | 'latest' | { type: 'none' | 'once' | 'latest'; within?: string | undefined } | undefined;
  for?: Dynamic<string> | undefined;
  match?: Match | undefined;
}

/** A kind of trigger. */
export interface TriggerKind extends Kind {
  /** The English sentence that CLI, MCP, trace and page show: "when the lamp’s switch becomes on". */
  describe(config: object): string;
  attach(config: object, context: TriggerContext): Attached;
  /** The next wall-clock occurrence after an instant (epoch ms), for kinds that have one. */
  next?(config: object, view: View, after: number): Upcoming | null;
}

/** What a condition may look at. */
export interface ConditionContext {
  readonly view: View;
  /** What started the run, where there is one. */
  readonly trigger: TriggerData | undefined;
  /** Evaluates a condition inside this one. */
  evaluate(condition: ConditionConfig, path: string): ConditionTrace;
  expression(source: string): { met: Ternary; note?: string };
  value(dynamic: Dynamic): Json | undefined;
  /** It may become otherwise at this instant of engine time with nothing else happening. */
  recheckAt(at: number): void;
  /** The same on the wall clock. */
  recheckAtWall(wall: number): void;
  /** A `by` filter on the cause of a value's last change. */
  by(filter: string, cause: Cause | null): boolean;
}

/** A parsed condition. */
export interface ConditionConfig {
  type: string;
}

/** A kind of condition. */
export interface ConditionKind extends Kind {
  describe(config: object): string;
  /** Three-valued: null is "cannot be told". */
  evaluate(config: object, context: ConditionContext, path: string): Omit<ConditionTrace, 'path' | 'type'>;
}

/** Fields common to all steps. */
export interface StepConfig {
  type: string;
  id?: string | undefined;
  enabled?: boolean | undefined;
  on_error?: 'fail' | 'continue' | StepConfig[] | undefined;
  retry?: { times: number; backoff: string; factor?: number | undefined } | undefined;
  timeout?: Dynamic<string> | undefined;
  as?: string | undefined;
}

/** What comes of starting or resuming a step. */
export type Progress =
  | {
      do: 'done';
      outcome?: string;
      note?: string;
      /** What `as` binds. */
      bind?: Json;
      details?: Json;
      device?: string;
      command?: string;
      /** What the command was sent with. */
      args?: Json;
    }
  | {
      do: 'fail';
      error: unknown;
      bind?: Json;
      details?: Json;
      device?: string;
      command?: string;
      /** What the command was sent with. */
      args?: Json;
      outcome?: string;
      /** False for what must not be tried again. */
      retryable?: boolean;
    }
  /** Runs a list of steps below this one, then `resume`s it with `child`. */
  | {
      do: 'enter';
      list: string;
      state: Json;
      repeat?: { index: number; item?: Json };
      note?: string;
      bind?: Json;
      /** It listens (`watch`) while the list runs; what comes is put into its state by `hear`. */
      listens?: boolean;
    }
  /** Runs several lists side by side, then resumes with `joined`. */
  | { do: 'fork'; lists: string[]; state: Json; outputs?: readonly string[] }
  | {
      do: 'wait';
      state: Json;
      /** Resumes with `due` at this engine time. */
      due?: number;
      /** Resumes with `answer` for each of these ids (commands, effects, runs). */
      answers?: readonly string[];
      /** Finds the wait for `cancel`. */
      name?: string;
      device?: string;
      command?: string;
      /** What the command was sent with. */
      args?: Json;
    }
  /** Ends the run. */
  | { do: 'end'; outcome: 'completed' | 'failed' | 'cancelled'; reason?: string; error?: unknown; result?: Json };

/** What resumes a step. */
export type Resumption =
  | { with: 'child' }
  | { with: 'joined' }
  | { with: 'due' }
  | { with: 'answer'; id: string; answer: Answer }
  | { with: 'level'; met: Ternary }
  | { with: 'trigger'; data: TriggerData }
  | { with: 'cancel' }
  /** The time of the step of that frame is over, though steps inside it run. */
  | { with: 'expired'; depth: number };

/** The end of a command, an effect or a called run. */
export interface Answer {
  outcome: string;
  error?: { code: string; message: string };
  ms?: number;
  bind?: Json;
}

/** What a step may do. All of it is part of the turn. */
export interface StepContext {
  readonly view: View;
  readonly path: string;
  readonly rule: string;
  readonly run: string;
  readonly trigger: TriggerData;
  readonly shadow: boolean;
  /** Which attempt this is, from 1. */
  readonly attempt: number;
  value(dynamic: Dynamic): Json | undefined;
  /** A text with `{{ … }}`. @throws EXPRESSION_INVALID */
  text(template: string): string;
  /** All `{ expr }` and `{{ … }}` inside a JSON value. @throws EXPRESSION_INVALID */
  deep(value: Json): Json;
  evaluate(condition: ConditionConfig, path: string): ConditionTrace;
  command(request: { device: string; command: string; args: Json | undefined; force: boolean; timeoutMs?: number }): {
    id: string;
    outcome: 'sent' | 'unchanged' | 'shadow' | 'refused';
    error?: unknown;
    retryable?: boolean;
  };
  /** An effect other than a command; `once` ones end in_doubt over a crash. */
  effect(effect: OutgoingEffect): { id: string; outcome: 'sent' | 'shadow' };
  setVariable(name: string, change: { value: Json } | { add: number } | { append: Json }): 'done' | 'shadow';
  setMode(mode: string): { id: string; outcome: 'sent' | 'done' | 'shadow' | 'unchanged' };
  captureScene(name: string, devices: readonly string[]): void;
  scene(name: string, from: 'capture' | 'house'): Readonly<Record<string, Readonly<Record<string, Json>>>> | undefined;
  startRule(rule: string, args: Record<string, Json>, wait: boolean): { id?: string; refused?: string };
  controlRule(rule: string, what: 'enable' | 'disable' | 'resume' | 'cancel_runs'): void;
  /** Cancels the pending delays and waits of this rule with a name (all of them without); how many. */
  cancel(name: string | undefined): number;
  log(level: 'debug' | 'info' | 'warn' | 'error', message: string): void;
}

/** An effect that leaves the gateway otherwise than as a device's command. */
export type OutgoingEffect =
  | { type: 'publish'; topic: string; payload: string; qos: 0 | 1 | 2; retain: boolean }
  | {
      type: 'notify';
      message: string;
      title?: string;
      to?: string;
      priority?: string;
      tag?: string;
      ask?: { answers: string[] };
    }
  | { type: 'http'; url: string; method: string; headers: Record<string, string>; body?: string; timeoutMs: number };

/** A kind of action. */
export interface ActionKind extends Kind {
  describe(config: object): string;
  /** Lists of steps below it, by their path below the step: `then`, `choose/0/then`. */
  lists?(config: object): Record<string, readonly StepConfig[]>;
  start(config: object, context: StepContext): Progress;
  resume?(config: object, state: Json, by: Resumption, context: StepContext): Progress;
  /** Its state, after something came while steps inside it ran. */
  hear?(state: Json, by: Extract<Resumption, { with: 'level' | 'trigger' }>): Json;
  /** While it waits: what it listens to. Unsubscribed when the wait ends; called again after a restart. */
  watch?(
    config: object,
    state: Json,
    context: WatchContext,
  ): Observable<Extract<Resumption, { with: 'level' | 'trigger' }>>;
}

/** What a waiting step may listen to. */
export interface WatchContext {
  readonly view: View;
  readonly path: string;
  /** The truth of a condition, first now and then whenever it may have changed. */
  level(condition: ConditionConfig, path: string): Observable<ConditionTrace>;
  /** A trigger attached for the wait. */
  trigger(config: TriggerConfig, name: string): Observable<{ data: TriggerData; cause: Cause }>;
}

/** Types a trigger by its schema. */
export const defineTrigger = <S extends z.ZodObject>(kind: {
  type: string;
  schema: S;
  describe(config: z.infer<S> & TriggerConfig): string;
  attach(config: z.infer<S> & TriggerConfig, context: TriggerContext): Attached;
  next?(config: z.infer<S> & TriggerConfig, view: View, after: number): Upcoming | null;
}): TriggerKind => kind as unknown as TriggerKind;

/** Types a condition by its schema. */
export const defineCondition = <S extends z.ZodObject>(kind: {
  type: string;
  schema: S;
  describe(config: z.infer<S>): string;
  evaluate(config: z.infer<S>, context: ConditionContext, path: string): Omit<ConditionTrace, 'path' | 'type'>;
}): ConditionKind => kind as unknown as ConditionKind;

/** Types an action by its schema. */
export const defineAction = <S extends z.ZodObject>(kind: {
  type: string;
  schema: S;
  describe(config: z.infer<S> & StepConfig): string;
  lists?(config: z.infer<S> & StepConfig): Record<string, readonly StepConfig[]>;
  start(config: z.infer<S> & StepConfig, context: StepContext): Progress;
  resume?(config: z.infer<S> & StepConfig, state: Json, by: Resumption, context: StepContext): Progress;
  hear?(state: Json, by: Extract<Resumption, { with: 'level' | 'trigger' }>): Json;
  watch?(
    config: z.infer<S> & StepConfig,
    state: Json,
    context: WatchContext,
  ): Observable<Extract<Resumption, { with: 'level' | 'trigger' }>>;
}): ActionKind => kind as unknown as ActionKind;
