// The engine: one queue of inputs, taken in turns. A turn applies inputs in memory, commits what they changed in one
// transaction, and only then releases their effects. It never reads the store while it runs.
import { Subject } from 'rxjs';
import { Gate } from '../command/gate.ts';
import { type Clock, iso } from '../lib/clock.ts';
import { type IdSource, idSource } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import { topicMatches } from '../lib/topic.ts';
import { type Cause, rootCause } from '../model/cause.ts';
import type { Backend, BackendSink, CommandResult } from '../model/command.ts';
import type { Event } from '../model/event.ts';
import type { Json } from '../model/value.ts';
import type { Devices } from '../state/devices.ts';
import type { House, HouseValue } from '../state/house.ts';
import type { Reading, Values } from '../state/values.ts';
import type { Store } from '../store/store.ts';
import { TurnTransaction } from '../store/transaction.ts';
import type {
  Authority,
  Core,
  EngineSettings,
  EngineSinks,
  FireRequest,
  LiveRule,
  NewEvent,
  ResumeRequest,
  RuleRuntime,
} from './core.ts';
import { Expressions } from './evaluate.ts';
import { Roots } from './guard.ts';
import { applyMessage, CauseRecords, type InputCounters, type InputParts, setBackend, sinkFor } from './inputs.ts';
import { Judge } from './judge.ts';
import type { Answer, OutgoingEffect } from './kind.ts';
import { restoreRuns } from './restore.ts';
import { RuleTable } from './rule-table.ts';
import type { Rule } from './rules/schema.ts';
import { Runs } from './run/runs.ts';
import { keys, Signals } from './signals.ts';
import { Timeline } from './timeline.ts';
import { Turns } from './turns.ts';
import type { Surroundings } from './view.ts';

/** What an engine is built of. */
export interface EngineParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly store: Store;
  readonly devices: Devices;
  readonly values: Values;
  readonly house: House;
  readonly backends: ReadonlyMap<string, Backend>;
  /** May be changed in place; `reconfigured` then makes rules look at it again. */
  readonly surroundings: Surroundings;
  readonly settings: EngineSettings;
  readonly sinks: EngineSinks;
  /** The backend that owns the mode, with the command that sets it; undefined where the house does. */
  readonly modeOwner?: () => { backend: string; device: string; command: string } | undefined;
  readonly deviceBudget: number;
  /** 0 ≤ x < 1: seeded in simulations. */
  readonly random?: () => number;
  readonly onDiscarded?: InputParts['onDiscarded'];
}

/** A rule to start with. */
export interface StoredRule {
  readonly rule: Rule;
  readonly revision: number;
  readonly authority: Authority;
}

/** The engine. `start` once, `stop` once. */
export class Engine {
  readonly core: Core;
  readonly runs: Runs;
  readonly rules: RuleTable;
  readonly counters: InputCounters & { events: number } = {
    reports: 0,
    duplicates: 0,
    late: 0,
    rejected: 0,
    unknownDevices: 0,
    messages: 0,
    events: 0,
  };
  readonly causes = new CauseRecords();
  readonly turns: Turns;
  readonly judge: Judge;
  private readonly parts: EngineParts;
  private readonly reschedule$ = new Subject<{ stepMs: number }>();
  private readonly tx = new TurnTransaction();
  private readonly inputs: InputParts;
  private readonly deferred: (() => void)[] = [];
  private seq = 0;
  private state: 'stopped' | 'starting' | 'ready' = 'stopped';
  private clockCheck: (() => void) | undefined;
  private readyTimeout: (() => void) | undefined;
  private restoredOutbox = new Map<string, Json>();

  constructor(parts: EngineParts, loaded: { skew: number }) {
    this.parts = parts;
    const { clock, log } = parts;
    const ids: IdSource = idSource(clock, parts.random);
    const boot = ids();
    const timeline = new Timeline(clock, loaded.skew, () => this.turns.schedule());
    this.turns = new Turns({
      clock,
      log,
      store: parts.store,
      tx: this.tx,
      timeline: () => timeline,
      settle: () => this.settle(),
      isReady: () => this.state === 'ready',
    });
    const signals = new Signals();
    const fires: FireRequest[] = [];
    const resumes: ResumeRequest[] = [];
    const raised: (() => void)[] = [];
    const gate = new Gate({
      devices: parts.devices,
      values: parts.values,
      backends: parts.backends,
      clock,
      now: () => timeline.now(),
      ids,
      budget: parts.deviceBudget,
      onPassed: command => {
        this.causes.keep(command.id, command.cause);
        raised.push(() =>
          this.core.raise(keys.command(command.device), {
            kind: 'system',
            backend: command.device.slice(0, command.device.indexOf(':')),
            device: command.device,
            attribute: command.command,
            value: { ...command.args, $command: command.id } as Json,
            previous: null,
            quality: 'good',
            change: 'reported',
            cause: command.cause,
          }),
        );
      },
      onResult: (result, device) => this.push('result', undefined, () => this.onResult(result, device)),
    });
    this.core = {
      values: parts.values,
      devices: parts.devices,
      house: parts.house,
      timeline,
      surroundings: parts.surroundings,
      boot,
      log,
      ids,
      signals,
      expressions: new Expressions(),
      tx: this.tx,
      gate,
      settings: parts.settings,
      sinks: parts.sinks,
      rules: new Map(),
      scenes: new Map(),
      fires,
      resumes,
      raised,
      isReady: () => this.state === 'ready',
      iso: at => iso(timeline.toWall(at)),
      raise: (key, event) => this.raise(event, made => signals.emit(key, made)),
      raiseTopic: (topic, event) => this.raise(event, made => signals.emitTopic(topic, made), event.id),
    };
    this.inputs = {
      counters: this.counters,
      causes: this.causes,
      onDiscarded: parts.onDiscarded ?? (() => {}),
      modeOwner: () => parts.modeOwner?.()?.backend,
    };
    this.runs = new Runs(this.core, {
      startRule: (rule, args, by, wait) =>
        this.callRule(rule, args, by.out, wait ? `${by.id}:${this.core.ids()}` : undefined),
      controlRule: (rule, what) => this.controlRule(rule, what),
      cancelNamed: (run, name) => this.cancelNamed(run.rule, run.id, name),
      modeOwner: () => parts.modeOwner?.(),
    });
    this.rules = new RuleTable(this.core, this.runs, this.reschedule$);
    this.judge = new Judge(this.core, this.runs, new Roots(), (live, suspension) =>
      this.rules.suspend(live, suspension),
    );
  }

  private raise(event: NewEvent & { id?: string }, emit: (event: Event) => void, id = this.core.ids()): Event {
    const cause = event.cause.root === '' ? { ...event.cause, root: id } : event.cause;
    const made: Event = {
      ...event,
      v: 1,
      id,
      ts: this.core.timeline.wall(),
      boot: this.core.boot,
      seq: ++this.seq,
      cause,
    };
    this.counters.events++;
    this.causes.keep(id, cause);
    this.tx.afterCommit(() => this.parts.sinks.onEvent(made));
    emit(made);
    return made;
  }

  // --- starting and stopping ---------------------------------------------------------------------------------------

  /** Restores what the store held and begins to take inputs. Backends are started by the caller, into `sink(id)`. */
  async start(stored: readonly StoredRule[]): Promise<void> {
    const { tables } = await this.parts.store.load();
    const { core } = this;
    this.state = 'starting';
    for (const [id, device] of tables.devices) core.devices.put({ ...(device as object), id } as never);
    for (const [key, reading] of tables.state) {
      const [device = '', attribute = ''] = key.split('\n');
      // Restored values decide nothing until their backend has told them anew.
      core.values.set(device, attribute, { ...(reading as unknown as Reading), epoch: 0 });
    }
    for (const [name, scene] of tables.scenes) core.scenes.set(name, scene as never);
    const own = new Map<string, Map<string, Json>>();
    for (const [key, entry] of tables.variables) {
      const slash = key.indexOf('/');
      if (slash < 0) core.house.variables.set(key, entry as unknown as HouseValue);
      else own.set(key.slice(0, slash), (own.get(key.slice(0, slash)) ?? new Map()).set(key.slice(slash + 1), entry));
    }
    const mode = tables.modes.get('mode');
    if (mode !== undefined) core.house.mode = mode as unknown as HouseValue;
    core.gate.panic = tables.meta.get('panic') === true;
    for (const id of this.parts.backends.keys())
      setBackend(core, id, { state: 'offline', ready: false, reason: 'starting' });
    this.rules.loadMemories(tables.memory);
    for (const { rule, revision, authority } of stored) {
      const runtime = tables.rules.get(rule.id) as unknown as RuleRuntime | undefined;
      try {
        this.rules.put(rule, revision, authority, runtime, own.get(rule.id));
      } catch (error) {
        core.log.error({ rule: rule.id, error: String(error) }, 'a rule could not be started and stands still');
      }
    }
    this.rules.dropOrphans();
    await restoreRuns(core, this.runs, this.parts.store, tables.runs);
    this.restoredOutbox = tables.outbox;
    if (this.parts.settings.readyTimeoutMs > 0) {
      this.readyTimeout = this.parts.clock.after(this.parts.settings.readyTimeoutMs, () =>
        this.push('system', undefined, () => this.becomeReady()),
      );
    }
    this.checkClock();
    if (this.parts.backends.size === 0) this.push('system', undefined, () => this.becomeReady());
    this.turns.schedule();
  }

  private checkClock(): void {
    const every = this.parts.settings.clockCheckMs;
    if (every <= 0) return;
    this.clockCheck = this.parts.clock.after(every, () => {
      this.push('system', undefined, () => this.followClock());
      this.checkClock();
    });
  }

  /** Where a backend tells what happens. */
  sink(backend: string): BackendSink {
    return sinkFor(
      this.core,
      this.inputs,
      backend,
      (key, run, isNews) =>
        this.push(backend, key, () => {
          // News of a backend that was quicker than the others waits for the engine.
          if (isNews && this.state !== 'ready' && this.core.devices.backend(backend)?.ready) this.deferred.push(run);
          else run();
        }),
      () => {
        const all = [...this.parts.backends.keys()].every(id => this.core.devices.backend(id)?.ready);
        if (this.state === 'starting' && all) this.becomeReady();
        else if (this.state === 'ready') this.lookAgain();
      },
    );
  }

  /** Overdue timers by due time, then on_startup, then `startup`, then what came meanwhile (FORMATS §3). */
  private becomeReady(): void {
    if (this.state !== 'starting') return;
    const { core } = this;
    this.state = 'ready';
    this.readyTimeout?.();
    core.gate.restore(this.restoredOutbox);
    this.restoreEffects();
    this.restoredOutbox = new Map();
    this.lookAgain();
    this.settle();
    for (let call = core.timeline.takeDue(); call; call = core.timeline.takeDue()) {
      call();
      this.settle();
    }
    for (const live of core.rules.values()) {
      for (const trigger of live.triggers) {
        if (trigger.config.on_startup === 'evaluate') trigger.pipeline.evaluate();
        if (trigger.config.on_startup === 'compare') trigger.pipeline.compare();
      }
    }
    this.settle();
    core.raise(keys.startup, {
      kind: 'system',
      backend: 'house',
      device: 'house:house',
      attribute: 'startup',
      value: core.boot,
      previous: null,
      quality: 'good',
      change: 'reported',
      cause: rootCause('', { kind: 'startup' }, 'system'),
    });
    this.runs.drainQueues();
    this.settle();
    for (const run of this.deferred.splice(0)) {
      run();
      this.settle();
    }
  }

  /** Holds, waits and `while` after a snapshot. */
  private lookAgain(): void {
    for (const live of this.core.rules.values()) for (const trigger of live.triggers) trigger.pipeline.look();
    this.runs.recheck();
  }

  private restoreEffects(): void {
    for (const [id, row] of this.restoredOutbox) {
      const { kind, effect, cause, once } = row as unknown as {
        kind: string;
        effect: OutgoingEffect;
        cause: Cause;
        once: boolean;
      };
      if (kind !== 'effect') continue;
      if (!once) this.tx.afterCommit(() => this.parts.sinks.onEffect(id, effect, cause));
      else
        this.onAnswer(id, {
          outcome: 'in_doubt',
          error: { code: 'BACKEND_TIMEOUT', message: 'the gateway stopped while it was on its way' },
        });
    }
  }

  /** Takes no more inputs. What was committed stays; timers and waits go on at the next start. */
  async stop(): Promise<void> {
    this.end();
    await this.turns.stop();
  }

  /** Ends as a killed process does (simulations): nothing more is stored. */
  kill(): void {
    this.end();
    this.turns.kill();
  }

  private end(): void {
    this.state = 'stopped';
    this.core.timeline.disarm();
    this.clockCheck?.();
    this.readyTimeout?.();
    this.core.gate.stop();
    for (const live of this.core.rules.values()) live.detach();
  }

  // --- inputs ------------------------------------------------------------------------------------------------------

  /** Does something inside a turn; resolves with its result once the turn is committed. */
  do<T>(work: () => T): Promise<T> {
    return this.turns.do(work);
  }

  private push(source: string, key: string | undefined, run: () => void): void {
    this.turns.push(source, key, run);
  }

  /** All that follows from one input within the turn. */
  private settle(): void {
    const { fires, resumes, raised } = this.core;
    for (;;) {
      if (fires.length > 0) this.judge.fired(fires.splice(0));
      else if (resumes.length > 0) {
        const { run, thread, by } = resumes.shift() as ResumeRequest;
        this.runs.resume(run, thread, by);
      } else if (raised.length > 0) (raised.shift() as () => void)();
      else return;
    }
  }

  /** Resolves when nothing is left to do now (tests and simulations). */
  idle(): Promise<void> {
    return this.turns.idle();
  }

  /** True when a message on the topic would change or start anything. */
  wantsTopic(topic: string): boolean {
    if (this.core.signals.wantsTopic(topic)) return true;
    for (const filters of this.rules.topics.values())
      if (filters.some(filter => topicMatches(filter, topic))) return true;
    return false;
  }

  /** A message of the outside, or of a rule of ours (then with its cause). */
  message(message: { topic: string; payload: string; retained: boolean; client: string; cause?: Cause }): void {
    if (!message.retained && !this.wantsTopic(message.topic)) return;
    this.push('mqtt', undefined, () => {
      if (this.state !== 'ready' && !message.retained)
        this.deferred.push(() => applyMessage(this.core, this.inputs, message));
      else applyMessage(this.core, this.inputs, message);
    });
  }

  /** A request at /hooks/<id>. False when no rule listens. */
  webhook(id: string, request: { method: string; body: Json; query: Json; causeId?: string; client: string }): boolean {
    if (!this.core.signals.has(keys.webhook(id))) return false;
    this.push('webhook', undefined, () => {
      const fresh = this.core.ids();
      this.core.raise(keys.webhook(id), {
        kind: 'input',
        backend: 'webhook',
        device: id,
        attribute: request.method,
        value: { body: request.body, query: request.query },
        previous: null,
        quality: 'good',
        change: 'reported',
        cause: this.causes.follow(request.causeId, fresh, 'user', { kind: 'webhook', ref: request.client }),
      });
    });
    return true;
  }

  /** An effect of ours has ended. */
  answered(id: string, answer: Answer): void {
    this.push('result', undefined, () => this.onAnswer(id, answer));
  }

  private onAnswer(id: string, answer: Answer): void {
    this.tx.put('outbox', id, undefined);
    this.runs.answer(id, answer);
  }

  private onResult(result: CommandResult, device: string): void {
    this.tx.put('outbox', result.id, undefined);
    this.tx.afterCommit(() => this.parts.sinks.onResult(result, device));
    this.runs.answer(result.id, {
      outcome: result.outcome,
      ms: result.ms,
      ...(result.error && { error: { code: result.error.code, message: result.error.message } }),
    });
  }

  /** The configuration of the house, the zone or the place has changed. */
  reconfigured(): void {
    this.reschedule$.next({ stepMs: 0 });
    this.lookAgain();
  }

  /** Compares the wall clock with elapsed time; a step makes schedules be reckoned anew. */
  followClock(): void {
    const step = this.core.timeline.follow();
    if (step === 0) return;
    this.core.log.warn({ stepMs: Math.round(step) }, 'the wall clock was stepped');
    this.tx.put('meta', 'skew', this.core.timeline.offset);
    this.reschedule$.next({ stepMs: step });
  }

  private callRule(
    id: string,
    args: Record<string, Json>,
    cause: Cause,
    caller: string | undefined,
  ): { id?: string; refused?: string } {
    const live = this.rules.require(id);
    const { run, refused } = this.judge.demand({
      live,
      trigger: { id: 'call_rule', type: 'call_rule', at: this.core.iso(this.core.timeline.now()), args },
      cause,
      args,
      ...(caller !== undefined && { caller }),
    });
    if (refused) return { refused };
    return { id: caller ?? run?.id ?? '' };
  }

  private controlRule(id: string, what: 'enable' | 'disable' | 'resume' | 'cancel_runs'): void {
    const live = this.rules.require(id);
    if (what === 'resume') this.rules.resume(id);
    else if (what === 'cancel_runs')
      for (const run of [...live.runs.keys()]) this.runs.stop(run, 'cancelled', 'cancelled by a rule');
    else this.rules.override(id, what === 'enable');
  }

  private cancelNamed(rule: string, self: string, name: string | undefined): number {
    const live = this.core.rules.get(rule);
    if (!live) return 0;
    const targets =
      name === undefined
        ? [...live.runs.values()].filter(run => run.id !== self).map(run => run.id)
        : this.runs
            .named(live, name)
            .map(({ run }) => run.id)
            .filter(id => id !== self);
    for (const id of new Set(targets))
      this.runs.stop(id, 'cancelled', name === undefined ? 'cancelled by its rule' : `cancelled by name (${name})`);
    return new Set(targets).size;
  }

  get isReady(): boolean {
    return this.state === 'ready';
  }

  /** Live rules by id. */
  get live(): ReadonlyMap<string, LiveRule> {
    return this.core.rules;
  }
}
