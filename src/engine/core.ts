// What the parts of the engine share: the present, the signals, the turn's transaction, and where things go.

import type { Gate } from '../command/gate.ts';
import type { IdSource } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import type { Cause } from '../model/cause.ts';
import type { Command, CommandResult } from '../model/command.ts';
import type { Event } from '../model/event.ts';
import type { Trace } from '../model/run.ts';
import type { Json } from '../model/value.ts';
import type { BackendStatus } from '../state/devices.ts';
import type { HouseValue } from '../state/house.ts';
import type { TurnTransaction } from '../store/transaction.ts';
import type { Endings } from './endings.ts';
import type { Expressions } from './evaluate.ts';
import type { GuardNotice, GuardSettings, GuardWindow, Suspension } from './guard.ts';
import type { OutgoingEffect, Resumption, TriggerConfig, TriggerData } from './kind.ts';
import type { Rule } from './rules/schema.ts';
import type { Mode } from './run/admit.ts';
import type { Body, RunRecord } from './run/record.ts';
import type { Signals } from './signals.ts';
import type { Fired, Pipeline } from './triggers/pipeline.ts';
import type { EngineView, ViewParts } from './view.ts';

/** Limits and habits of the house. */
export interface EngineSettings {
  readonly guard: GuardSettings;
  /** How long the engine waits for the backends' snapshots at a start. */
  readonly readyTimeoutMs: number;
  /** How often the wall clock is compared with elapsed time; 0 for never by itself (virtual clocks). */
  readonly clockCheckMs: number;
  /** Authority that rule files have. */
  readonly fileAuthority: Authority;
}

/** What a rule may do: that of its last saver. */
export interface Authority {
  readonly name: string;
  readonly devices: boolean;
  readonly house: boolean;
  readonly rules: boolean;
}

/** The runtime side of a rule: in the store, never in its file. */
export interface RuleRuntime {
  /** Set by MQTT, another rule or an operation; the file stays. */
  override?: boolean | 'shadow';
  suspended?: Suspension;
  runs: number;
  refused: number;
  failed: number;
  /** ISO 8601. */
  lastTriggered?: string;
  lastRun?: string;
  lastOutcome?: string;
}

/** A trigger that listens. */
export interface LiveTrigger {
  readonly id: string;
  readonly index: number;
  readonly config: TriggerConfig;
  /** Digest of its meaning: what it remembers is kept while this stays. */
  readonly hash: string;
  pipeline: Pipeline;
}

/** A rule as the engine holds it. */
export interface LiveRule {
  readonly id: string;
  rule: Rule;
  revision: number;
  authority: Authority;
  body: Body;
  bindings: readonly string[];
  view: EngineView;
  mode: Mode;
  triggers: LiveTrigger[];
  detach: () => void;
  readonly runs: Map<string, RunRecord>;
  readonly runtime: RuleRuntime;
  /** Persisted variables of the rule's own. */
  readonly own: Map<string, HouseValue>;
  readonly window: GuardWindow;
  /** Older revisions that a live run still follows. */
  readonly older: Map<number, { rule: Rule; body: Body; bindings: readonly string[] }>;
}

/** A trigger fired: to be judged when all rules have seen the event. */
export interface FireRequest {
  readonly live: LiveRule;
  readonly trigger: LiveTrigger;
  readonly fired: Fired;
}

/** Something a waiting run goes on with. */
export interface ResumeRequest {
  readonly run: string;
  readonly thread: number;
  readonly by: Resumption;
}

/** Where the engine tells what happens. Called after the turn is committed, in order. */
export interface EngineSinks {
  /** Every event that the engine saw, in its order. */
  onEvent(event: Event): void;
  onTrace(trace: Trace): void;
  /** A device was declared, otherwise than before, or is gone. */
  onDevice?(device: string): void;
  /** A backend came, went, or became ready. */
  onBackend?(backend: string, status: BackendStatus): void;
  onGuard(notice: GuardNotice): void;
  /** Something about a rule changed that its views show. */
  onRule(rule: string, what: string, details?: Json): void;
  /** An effect of a rule other than a command: publishing, notifying, requesting. Ends with `answered`. */
  onEffect(id: string, effect: OutgoingEffect, cause: Cause): void;
  /** A command leaves for its backend, once for each attempt. */
  onCommand?(command: Command): void;
  /** A command that was sent has ended. */
  onResult(result: CommandResult, device: string): void;
  onLog(line: { rule: string; run: string; level: string; message: string }): void;
}

/** What the parts share. */
export interface Core extends ViewParts {
  readonly boot: string;
  readonly log: Log;
  readonly ids: IdSource;
  readonly signals: Signals;
  readonly expressions: Expressions;
  readonly tx: TurnTransaction;
  readonly gate: Gate;
  /** Commands that end by themselves. */
  readonly endings: Endings;
  readonly settings: EngineSettings;
  readonly sinks: EngineSinks;
  readonly rules: Map<string, LiveRule>;
  readonly scenes: Map<string, Record<string, Record<string, Json>>>;
  /** Collected while an event is dispatched. */
  readonly fires: FireRequest[];
  readonly resumes: ResumeRequest[];
  /** Events of the engine's own making that wait for their turn within the turn. */
  readonly raised: (() => void)[];
  /** Tells what is no part of a snapshot: at ready, where that is still to come. */
  news(tell: () => void): void;
  isReady(): boolean;
  iso(at: number): string;
  /** Makes an event, tells it to the sinks and to those who listen on the key. A root cause without id gets the event's. */
  raise(key: string, event: NewEvent): Event;
  /** The same for a message on a topic. */
  raiseTopic(topic: string, event: NewEvent & { id: string }): Event;
}

/** An event that is about to get its id, time and seq. */
export type NewEvent = Omit<Event, 'v' | 'id' | 'ts' | 'boot' | 'seq'>;

/** True where effects of the rule are recorded only. */
export const isShadow = (live: LiveRule): boolean => (live.runtime.override ?? live.rule.enabled ?? true) === 'shadow';

/** True where its triggers listen. */
export const isEnabled = (live: LiveRule): boolean => (live.runtime.override ?? live.rule.enabled ?? true) !== false;

/** Stores the runtime side of a rule; counts may be lost in a power cut, a suspension or override may not. */
export function keepRuntime(core: Core, live: LiveRule, durably: boolean): void {
  if (durably) core.tx.put('rules', live.id, live.runtime);
  else core.tx.putSometime('rules', live.id, live.runtime);
}

/** The whole `trigger` of a firing. */
export function triggerData(core: Core, request: FireRequest): TriggerData {
  const { data } = request.fired;
  return { type: request.trigger.config.type, ...data, id: request.trigger.id, at: core.iso(core.timeline.now()) };
}
