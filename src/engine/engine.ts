// The engine: one queue of inputs, taken in turns. A turn applies inputs in memory, commits what they changed in one
// transaction, and only then releases their effects. It never reads the store while it runs.
import { Subject } from 'rxjs';
import { Gate } from '../command/gate.ts';
import type { Clock } from '../lib/clock.ts';
import { type IdSource, idSource } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import type { Cause } from '../model/cause.ts';
import type { Backend, BackendSink, CommandResult } from '../model/command.ts';
import type { Event } from '../model/event.ts';
import type { Json } from '../model/value.ts';
import type { Devices } from '../state/devices.ts';
import type { House } from '../state/house.ts';
import type { Values } from '../state/values.ts';
import type { Store, Tables } from '../store/store.ts';
import { TurnTransaction } from '../store/transaction.ts';
import { sinkFor } from './backend-sink.ts';
import { commandEvent, ResultWaiters } from './commands.ts';
import type { Core, EngineSettings, EngineSinks, FireRequest, LiveRule, NewEvent, ResumeRequest } from './core.ts';
import { Endings } from './endings.ts';
import { Expressions } from './evaluate.ts';
import { Roots } from './guard.ts';
import {
  applyMessage,
  applyWebhook,
  CauseRecords,
  type InputParts,
  inputCounters,
  type WebhookRequest,
} from './inputs.ts';
import { Judge } from './judge.ts';
import type { Answer } from './kind.ts';
import { cancelNamed, controlRule, demandRun, type OperationParts, personAnswered, setPanic } from './operations.ts';
import { RuleTable } from './rule-table.ts';
import { Runs } from './run/runs.ts';
import { keys, Signals } from './signals.ts';
import { firstMoment, type Held, lookAgain, restore, type StartParts, type StoredRule } from './start-up.ts';
import { isoOf, Timeline } from './timeline.ts';
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

/** Smaller movements of the wall may be lost in a power cut. */
const NOTICED_MS = 100;

export type { StoredRule } from './start-up.ts';

/** The engine. `start` once, `stop` once. */
export class Engine implements OperationParts {
  readonly core: Core;
  readonly runs: Runs;
  readonly rules: RuleTable;
  readonly counters = { ...inputCounters(), events: 0 };
  readonly causes = new CauseRecords();
  readonly turns: Turns;
  readonly judge: Judge;
  private readonly parts: EngineParts;
  private readonly reschedule$ = new Subject<{ stepMs: number }>();
  private readonly tx = new TurnTransaction();
  private readonly inputs: InputParts;
  private readonly deferred: (() => void)[] = [];
  private readonly waiters: ResultWaiters;
  seq = 0;
  private state: 'stopped' | 'starting' | 'ready' = 'stopped';
  private clockCheck: (() => void) | undefined;
  private readyTimeout: (() => void) | undefined;
  private held: Held = { outbox: new Map(), atReady: [] };

  constructor(parts: EngineParts, loaded: { skew: number }) {
    this.parts = parts;
    const { clock, log } = parts;
    this.waiters = new ResultWaiters(clock);
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
      onPassed: (command, device) => {
        this.causes.keep(command.id, command.cause);
        this.core.endings.passed(command, device);
        raised.push(() => this.core.raise(keys.command(command.device), commandEvent(command)));
      },
      onLeft: command => parts.sinks.onCommand?.(command),
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
      endings: new Endings({ timeline, tx: this.tx, devices: parts.devices, gate, log }),
      settings: parts.settings,
      sinks: parts.sinks,
      rules: new Map(),
      scenes: new Map(),
      fires,
      resumes,
      raised,
      isReady: () => this.state === 'ready',
      news: tell => (this.state === 'ready' ? tell() : void this.deferred.push(tell)),
      iso: isoOf(at => timeline.toWall(at)),
      raise: (key, event) => this.raise(event, made => signals.emit(key, made)),
      raiseTopic: (topic, event) => this.raise(event, made => signals.emitTopic(topic, made), event.id),
    };
    this.inputs = {
      counters: this.counters,
      causes: this.causes,
      onDiscarded: parts.onDiscarded ?? (() => {}),
      modeOwner: () => parts.modeOwner?.(),
      onPlace: () => this.reconfigured(),
    };
    this.runs = new Runs(this.core, {
      startRule: (rule, args, by, wait) => {
        const caller = wait ? `${by.id}:${ids()}` : undefined;
        const said = demandRun(this, 'call_rule', { rule, args, cause: by.out, ...(caller && { caller }) });
        return 'id' in said && caller ? { id: caller } : said;
      },
      controlRule: (rule, what) => controlRule(this, rule, what),
      cancelNamed: (run, name) => cancelNamed(this, run.rule, run.id, name),
      modeOwner: () => parts.modeOwner?.(),
    });
    this.rules = new RuleTable(this.core, this.runs, this.reschedule$);
    this.judge = new Judge(this.core, this.runs, new Roots(), (live, suspension) =>
      this.rules.suspend(live, suspension),
    );
  }

  private raise(event: NewEvent & { id?: string }, emit: (event: Event) => void, id = this.core.ids()): Event {
    const cause = event.cause.root === '' ? { ...event.cause, root: id } : event.cause;
    // A key that is new after a leading spread costs V8 a microsecond; hence `v` comes before.
    const made: Event = {
      v: 1,
      ...event,
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

  /** Restores what the store held (`tables`, of which it takes what is sound) and begins to take inputs. Backends are started by the caller, into `sink(id)`. */
  async start(stored: readonly StoredRule[], tables: Tables): Promise<void> {
    const { backends, clock, settings, store } = this.parts;
    this.state = 'starting';
    this.held = await restore(this.startParts(), store, tables, backends.keys(), stored);
    const ready = () => this.push('system', undefined, () => this.becomeReady());
    if (settings.readyTimeoutMs > 0) this.readyTimeout = clock.after(settings.readyTimeoutMs, ready);
    this.checkClock();
    if (backends.size === 0) ready();
    this.turns.schedule();
  }

  private startParts(): StartParts {
    return { core: this.core, runs: this.runs, rules: this.rules, settle: () => this.settle() };
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
        else if (this.state === 'ready') lookAgain(this.core);
      },
    );
  }

  private becomeReady(): void {
    if (this.state !== 'starting') return;
    this.state = 'ready';
    this.readyTimeout?.();
    firstMoment(this.startParts(), this.held, (id, answer) => this.onAnswer(id, answer));
    this.held = { outbox: new Map(), atReady: [] };
    for (const run of this.deferred.splice(0)) {
      run();
      this.settle();
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
    return this.core.signals.wantsTopic(topic);
  }

  /** A message of the outside, or of a rule of ours (then with its cause). */
  message(message: { topic: string; payload: string; retained: boolean; client: string; cause?: Cause }): void {
    if (!message.retained && !this.wantsTopic(message.topic)) return;
    const apply = () => applyMessage(this.core, this.inputs, message);
    this.push('mqtt', undefined, () => (message.retained ? apply() : this.core.news(apply)));
  }

  /** A request at /hooks/<id>. False when no rule listens. */
  webhook(id: string, request: WebhookRequest): boolean {
    if (!this.core.signals.has(keys.webhook(id))) return false;
    this.push('webhook', undefined, () => this.core.news(() => applyWebhook(this.core, this.inputs, id, request)));
    return true;
  }

  /** An effect of ours has ended. */
  answered(id: string, answer: Answer): void {
    this.push('result', undefined, () => this.onAnswer(id, answer));
  }

  /**
   * Somebody answered a notification: who waits for it goes on, and `house:notify` tells it as an event.
   * @param tag the notification's; the newest one of it that waits is meant (without: the newest of all)
   */
  personAnswered(tag: string | undefined, value: Json, client: string): void {
    this.push('answer', undefined, () => personAnswered(this, tag, value, client));
  }

  private onAnswer(id: string, answer: Answer): void {
    this.tx.put('outbox', id, undefined);
    this.runs.answer(id, answer);
  }

  /** The end of a sent command; undefined when it did not come in time. */
  resultOf(id: string, timeoutMs: number, signal: AbortSignal): Promise<CommandResult | undefined> {
    return this.waiters.wait(id, timeoutMs, signal);
  }

  /** The device and command that set the mode where a backend owns it. */
  modeOwner(): { device: string; command: string } | undefined {
    return this.parts.modeOwner?.();
  }

  /** Stops all that rules do, or lets them again. To be called inside a turn. */
  setPanic(isOn: boolean): void {
    setPanic(this, isOn);
  }

  private onResult(result: CommandResult, device: string): void {
    this.tx.put('outbox', result.id, undefined);
    this.core.endings.ended(result);
    this.tx.afterCommit(() => {
      this.waiters.ended(result);
      this.parts.sinks.onResult(result, device);
    });
    this.runs.answer(result.id, {
      outcome: result.outcome,
      ms: result.ms,
      ...(result.error && { error: { code: result.error.code, message: result.error.message } }),
    });
  }

  /** The configuration of the house, the zone or the place has changed. */
  reconfigured(): void {
    this.rules.attachAll();
    this.reschedule$.next({ stepMs: 0 });
    lookAgain(this.core);
  }

  /** Compares the wall clock with elapsed time; a step makes schedules be reckoned anew. */
  followClock(): void {
    const { timeline } = this.core;
    const before = timeline.offset;
    const step = timeline.follow();
    // What waits must not have moved after a restart, neither by a step nor by drift that has added up.
    const moved = Math.abs(timeline.offset - before);
    if (moved >= NOTICED_MS) this.tx.put('meta', 'skew', timeline.offset);
    else if (moved > 0) this.tx.putLazily('meta', 'skew', timeline.offset);
    if (step === 0) return;
    this.core.log.warn({ stepMs: Math.round(step) }, 'the wall clock was stepped');
    this.reschedule$.next({ stepMs: step });
    lookAgain(this.core);
  }

  get isReady(): boolean {
    return this.state === 'ready';
  }

  /** Live rules by id. */
  get live(): ReadonlyMap<string, LiveRule> {
    return this.core.rules;
  }
}
