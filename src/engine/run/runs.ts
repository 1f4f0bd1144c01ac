// The table of live runs: starting, queueing, waiting, resuming, ending them, and their records in the store.
import type { Subscription } from 'rxjs';
import { durationMs } from '../../lib/duration.ts';
import { asCausewayError } from '../../lib/errors.ts';
import { type Cause, causedByRule } from '../../model/cause.ts';
import type { ConditionTrace, RunOutcome, Trace } from '../../model/run.ts';
import type { Json } from '../../model/value.ts';
import { type Core, isShadow, keepRuntime, type LiveRule } from '../core.ts';
import { evaluateCondition, watchCondition } from '../evaluate.ts';
import { SLOW_MS, slowed } from '../guard.ts';
import type { Answer, TriggerData } from '../kind.ts';
import { keys } from '../signals.ts';
import type { Timer } from '../timeline.ts';
import { formOf, type HostParts, RunHost } from './host.ts';
import { begin, cancelBranch, type Host, resume } from './interpreter.ts';
import { lastWords } from './last-words.ts';
import { type Ending, type RunRecord, stateOf, type Thread } from './record.ts';
import { traceOf } from './run-trace.ts';
import { localOf, type RunServices } from './step-context.ts';
import { cutShort } from './step-trace.ts';
import { Waits } from './waits.ts';

const RUN_TIMEOUT_MS = 24 * 3_600_000;

/** What a run starts with. */
export interface Start {
  trigger: TriggerData;
  /** Of what started it. */
  cause: Cause;
  /** What it runs upon, as the path of causes names it. */
  on: string;
  args?: Record<string, Json>;
  key: string;
  lateMs: number;
  condition?: ConditionTrace | undefined;
  caller?: string | undefined;
}

/** All live runs. */
export class Runs {
  private readonly core: Core;
  private readonly hostParts: HostParts;
  private readonly byId = new Map<string, { run: RunRecord; live: LiveRule }>();
  private readonly waits: Waits;
  /** Ids that have a row in the store: a run that never waits leaves none. */
  private readonly stored = new Set<string>();
  private readonly guards = new Map<string, { deadline?: Timer; level?: Subscription }>();

  constructor(core: Core, services: RunServices) {
    this.core = core;
    this.waits = new Waits(
      core,
      (run, live) => formOf(run, live).body,
      run => this.keep(run),
    );
    this.hostParts = { core, services, waits: this.waits };
  }

  get(id: string): RunRecord | undefined {
    return this.byId.get(id)?.run;
  }

  all(): RunRecord[] {
    return [...this.byId.values()].map(entry => entry.run);
  }

  /** Makes a run and starts it, or puts it in the queue. */
  start(live: LiveRule, start: Start, queued: boolean): RunRecord {
    const { core } = this;
    const id = core.ids();
    const run: RunRecord = {
      id,
      rule: live.id,
      revision: live.revision,
      status: queued ? 'queued' : 'running',
      key: start.key,
      trigger: start.trigger,
      cause: start.cause,
      out: causedByRule(start.cause, id, live.id, start.on),
      args: start.args ?? {},
      triggeredAt: core.timeline.now(),
      lateMs: start.lateMs,
      shadow: isShadow(live),
      ...(start.condition && { condition: start.condition }),
      threads: [],
      nextThread: 0,
      vars: {},
      bindings: {},
      steps: [],
      stepCount: 0,
      errors: 0,
      ...(start.caller !== undefined && { caller: start.caller }),
    };
    this.byId.set(id, { run, live });
    live.runs.set(id, run);
    if (queued) this.keep(run);
    else this.go(run, live);
    return run;
  }

  private go(run: RunRecord, live: LiveRule): void {
    const { core } = this;
    const { rule } = formOf(run, live);
    const now = core.timeline.now();
    run.status = 'running';
    run.startedAt = now;
    if (now - run.triggeredAt >= SLOW_MS) run.out = slowed(run.out);
    run.deadline =
      now + (rule.limits?.run_timeout === undefined ? RUN_TIMEOUT_MS : durationMs(rule.limits.run_timeout));
    for (const [name, { initial, persist }] of Object.entries(rule.variables ?? {})) {
      if (!persist) run.vars[name] = (initial ?? null) as Json;
    }
    live.runtime.runs++;
    live.runtime.lastRun = core.iso(now);
    keepRuntime(core, live, false);
    core.tx.afterCommit(() => core.sinks.onRule(live.id, 'started', run.id));
    this.move(run, live, host => begin(run, host));
  }

  /** Moves a run on, and keeps or ends it. A fault of ours ends it as failed rather than leaving it hanging. */
  private move(run: RunRecord, live: LiveRule, step: (host: Host) => Ending | undefined): void {
    let ending: Ending | undefined;
    try {
      ending = step(this.hostOf(live));
    } catch (thrown) {
      const shown = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
      this.core.log.error({ rule: live.id, run: run.id, error: shown }, 'a run met a fault of ours and has ended');
      ending = { outcome: 'failed', error: asCausewayError(thrown).toJSON() };
    }
    if (ending) this.end(run, live, ending);
    else this.settle(run, live);
  }

  /** Goes on with a waiting run. */
  resume(id: string, thread: number, by: Parameters<typeof resume>[2]): void {
    const entry = this.byId.get(id);
    if (!entry) return;
    this.move(entry.run, entry.live, host => resume(entry.run, thread, by, host));
  }

  /** An answer to a command, an effect or a called run. True when a run waited for it. */
  answer(id: string, answer: Answer): boolean {
    const waiting = this.waits.waitingFor(id);
    if (!waiting) return false;
    this.core.resumes.push({ run: waiting.run, thread: waiting.thread, by: { with: 'answer', id, answer } });
    return true;
  }

  /** Answers that will never come: neither what was on its way nor a called run is there to give them. */
  unanswerable(outbox: ReadonlyMap<string, Json>): string[] {
    const called = new Set(this.all().map(run => run.caller));
    return this.waits.awaited().filter(id => !outbox.has(id) && !called.has(id) && !id.endsWith(':answer'));
  }

  /** The answer id of the newest step that waits for a person; of a tag, or an effect's id, where one is given. */
  asking(tag: string | undefined): string | undefined {
    const waiting = this.all().flatMap(run => run.threads.filter(thread => thread.wait));
    const states = waiting.map(thread => stateOf(thread) as { asking?: boolean; id?: string; tag?: string } | null);
    const asked = states.filter(state => state?.asking === true);
    const meant = asked.filter(state => tag === undefined || state?.tag === tag || state?.id === tag);
    const ids = meant.map(state => state?.id ?? '').sort();
    return ids.length === 0 ? undefined : `${ids.at(-1)}:answer`;
  }

  /** Ends a run from outside, with `finally`. */
  stop(id: string, outcome: RunOutcome, reason: string): void {
    const entry = this.byId.get(id);
    if (entry) this.end(entry.run, entry.live, { outcome, reason });
  }

  /** Ends a branch that waits. */
  stopBranch(id: string, thread: number): void {
    const entry = this.byId.get(id);
    if (entry) cancelBranch(entry.run, thread, this.hostOf(entry.live));
  }

  /** Drops a waiting one out of the queue: it has never started. */
  unqueue(id: string): RunRecord | undefined {
    const entry = this.byId.get(id);
    if (!entry) return undefined;
    this.remove(entry.run, entry.live);
    const { caller } = entry.run;
    if (caller !== undefined) {
      this.core.raised.push(() =>
        this.answer(caller, {
          outcome: 'refused',
          error: { code: 'SWITCHED_OFF', message: `${entry.live.id} did not run: overflow` },
        }),
      );
    }
    return entry.run;
  }

  /** Runs that wait under a name, of this rule. */
  named(live: LiveRule, name: string): { run: RunRecord; thread: Thread }[] {
    return [...live.runs.values()].flatMap(run =>
      run.threads.filter(thread => thread.wait?.name === name).map(thread => ({ run, thread })),
    );
  }

  /** After a restart: the run goes on with its original due times. */
  restore(run: RunRecord, live: LiveRule): void {
    this.byId.set(run.id, { run, live });
    this.stored.add(run.id);
    live.runs.set(run.id, run);
    if (run.status === 'queued') return;
    this.waits.restore(run, live);
    this.watchOver(run, live);
  }

  /** Begins a restored run at its first step again (on_crash: restart). */
  again(run: RunRecord, live: LiveRule): void {
    this.waits.drop(run);
    const guard = this.guards.get(run.id);
    guard?.deadline?.cancel();
    guard?.level?.unsubscribe();
    this.guards.delete(run.id);
    Object.assign(run, { threads: [], bindings: {}, vars: {}, steps: [], stepCount: 0, errors: 0, status: 'queued' });
    if (this.byId.has(run.id)) this.go(run, live);
  }

  private hostOf(live: LiveRule): RunHost {
    return new RunHost(this.hostParts, live);
  }

  /** A run that waits is kept, watched over by its deadline and `while`. */
  private settle(run: RunRecord, live: LiveRule): void {
    if (!this.byId.has(run.id)) return;
    this.waits.prune(run);
    this.keep(run);
    this.watchOver(run, live);
  }

  private watchOver(run: RunRecord, live: LiveRule): void {
    if (this.guards.has(run.id)) return;
    const { core } = this;
    const { rule } = formOf(run, live);
    const entry: { deadline?: Timer; level?: Subscription } = {};
    this.guards.set(run.id, entry);
    if (run.deadline !== undefined) {
      entry.deadline = core.timeline.at(run.deadline, () =>
        this.stop(run.id, 'timed_out', 'it took longer than limits.run_timeout'),
      );
    }
    if (rule.while) {
      entry.level = watchCondition(rule.while, 'while', live.view, core, () => localOf(run, undefined, live)).subscribe(
        trace => {
          // Unknown does not cancel; what falls before the snapshots are told is looked at again at ready.
          if (trace.met === false && core.isReady()) core.raised.push(() => this.stop(run.id, 'cancelled', 'while'));
        },
      );
    }
  }

  private keep(run: RunRecord): void {
    this.stored.add(run.id);
    this.core.tx.put('runs', run.id, run);
  }

  private remove(run: RunRecord, live: LiveRule): void {
    this.waits.drop(run);
    const guard = this.guards.get(run.id);
    guard?.deadline?.cancel();
    guard?.level?.unsubscribe();
    this.guards.delete(run.id);
    this.byId.delete(run.id);
    live.runs.delete(run.id);
    if (this.stored.delete(run.id)) this.core.tx.put('runs', run.id, undefined);
    if (live.older.size === 0) return;
    if (![...live.runs.values()].some(other => other.revision === run.revision)) live.older.delete(run.revision);
  }

  private end(run: RunRecord, live: LiveRule, ending: Ending): void {
    const { core } = this;
    if (!this.byId.has(run.id)) return;
    const wasRunning = run.status === 'running';
    const at = core.iso(core.timeline.now());
    for (const thread of run.threads) cutShort(run, thread, core.timeline.now());
    for (const step of run.steps) step.outcome ??= 'cancelled';
    if (wasRunning && ending.outcome !== 'completed' && ending.outcome !== 'completed_with_errors') {
      const host = this.hostOf(live);
      const contextOf = (path: string) => host.context(run, undefined, path, true);
      lastWords(run, formOf(run, live).body.get('finally') ?? [], at, contextOf);
    }
    this.remove(run, live);
    live.runtime.lastOutcome = ending.outcome;
    if (ending.outcome === 'failed' || ending.outcome === 'timed_out' || ending.outcome === 'budget_exceeded')
      live.runtime.failed++;
    keepRuntime(core, live, false);
    const trace = traceOf(run, core.iso, { ended: at, ...ending });
    core.tx.afterCommit(() => core.sinks.onTrace(trace));
    // Told after this step: one that ends at once must not answer before its caller waits.
    const { caller } = run;
    if (caller !== undefined) {
      core.raised.push(() =>
        this.answer(caller, { outcome: ending.outcome, ...(ending.result !== undefined && { bind: ending.result }) }),
      );
    }
    const isFailure = ['failed', 'timed_out', 'budget_exceeded', 'in_doubt'].includes(ending.outcome);
    this.tellRule(live, isFailure ? 'failed' : 'finished', ending.outcome, run.out);
    if (wasRunning) this.next(live, run.key);
  }

  /** The event that `rule` triggers listen to, and the views. */
  tellRule(live: LiveRule, what: string, value: string, cause: Cause): void {
    const { core } = this;
    core.tx.afterCommit(() => core.sinks.onRule(live.id, what, value));
    if (!core.signals.has(keys.rule(live.id))) return;
    core.raised.push(() =>
      core.raise(keys.rule(live.id), {
        kind: 'system',
        backend: 'house',
        device: `rule:${live.id}`,
        attribute: what,
        value,
        previous: null,
        quality: 'good',
        change: 'reported',
        cause,
      }),
    );
  }

  private hasFallen(run: RunRecord, live: LiveRule): boolean {
    const { while: level } = formOf(run, live).rule;
    const { core } = this;
    if (!level) return false;
    return evaluateCondition(level, 'while', live.view, core.expressions, localOf(run, undefined, live)).met === false;
  }

  /** The next one in the queue of a key, unless one of its kind still runs. */
  private next(live: LiveRule, key: string): void {
    const mine = [...live.runs.values()].filter(run => run.key === key);
    const waiting = mine.find(run => run.status === 'queued');
    if (!waiting || (live.mode.type === 'queued' && mine.some(run => run.status === 'running'))) return;
    this.core.raised.push(() => {
      if (!this.byId.has(waiting.id) || waiting.status !== 'queued') return;
      if (!this.hasFallen(waiting, live)) return this.go(waiting, live);
      // `while` fell while it waited: it has never started.
      this.end(waiting, live, { outcome: 'cancelled', reason: 'while' });
      this.next(live, key);
    });
  }

  /** Starts what still waits in queues whose runner is gone (after a restart). */
  drainQueues(): void {
    for (const { run, live } of this.byId.values()) if (run.status === 'queued') this.next(live, run.key);
  }

  /** The trace of a run as it stands. */
  traceOf(run: RunRecord): Trace {
    return traceOf(run, this.core.iso);
  }
}
