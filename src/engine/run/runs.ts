// The table of live runs: starting, queueing, waiting, resuming, ending them, and their records in the store.
import type { Subscription } from 'rxjs';
import { durationMs } from '../../lib/duration.ts';
import { asCausewayError } from '../../lib/errors.ts';
import { type Cause, causedByRule } from '../../model/cause.ts';
import type { ConditionTrace, RunOutcome, StepTrace, Trace } from '../../model/run.ts';
import type { Json } from '../../model/value.ts';
import { dynamicMs } from '../actions/delay.ts';
import { actions } from '../actions/index.ts';
import { type Core, isShadow, keepRuntime, type LiveRule } from '../core.ts';
import { watchCondition } from '../evaluate.ts';
import { SLOW_MS, slowed } from '../guard.ts';
import type { Answer, StepConfig, TriggerData } from '../kind.ts';
import { waitTrigger } from '../live-rule.ts';
import { keys } from '../signals.ts';
import type { Timer } from '../timeline.ts';
import { begin, type Host, resume, stateOf } from './interpreter.ts';
import type { Ending, RunRecord, Thread } from './record.ts';
import { localOf, type RunServices, stepContext } from './step-context.ts';

const STEPS = 1000;
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
  condition?: ConditionTrace;
  caller?: string;
}

/** All live runs. */
export class Runs {
  private readonly core: Core;
  private readonly services: RunServices;
  private readonly byId = new Map<string, { run: RunRecord; live: LiveRule }>();
  /** Answer id → who waits for it. */
  private readonly answers = new Map<string, { run: string; thread: number }>();
  private readonly waits = new Map<string, { timer?: Timer; watch?: Subscription }>();
  /** Ids that have a row in the store: a run that never waits leaves none. */
  private readonly stored = new Set<string>();
  private readonly guards = new Map<string, { deadline?: Timer; level?: Subscription }>();
  /** Ends with their outcome, for those who wait for a called rule. */
  readonly ended: ((run: RunRecord, ending: Ending) => void)[] = [];

  constructor(core: Core, services: RunServices) {
    this.core = core;
    this.services = services;
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
    const { rule } = this.ruleOf(run, live);
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
    const ending = begin(run, this.hostOf(live));
    if (ending) this.end(run, live, ending);
    else this.settle(run, live);
  }

  /** Goes on with a waiting run. */
  resume(id: string, thread: number, by: Parameters<typeof resume>[2]): void {
    const entry = this.byId.get(id);
    if (!entry) return;
    const ending = resume(entry.run, thread, by, this.hostOf(entry.live));
    if (ending) this.end(entry.run, entry.live, ending);
    else this.settle(entry.run, entry.live);
  }

  /** An answer to a command, an effect or a called run. True when a run waited for it. */
  answer(id: string, answer: Answer): boolean {
    const waiting = this.answers.get(id);
    if (!waiting) return false;
    this.core.resumes.push({ run: waiting.run, thread: waiting.thread, by: { with: 'answer', id, answer } });
    return true;
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

  /** Drops a waiting one out of the queue: it has never started. */
  unqueue(id: string): RunRecord | undefined {
    const entry = this.byId.get(id);
    if (!entry) return undefined;
    this.remove(entry.run, entry.live);
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
    for (const thread of run.threads) {
      const frame = thread.frames.at(-1);
      const step = frame && this.ruleOf(run, live).body.get(frame.list)?.[frame.i];
      if (thread.wait && step && frame) this.listen(run, live, thread, step, `${frame.list}/${frame.i}`);
    }
    this.watchOver(run, live);
  }

  /** Begins a restored run at its first step again (on_crash: restart). */
  again(run: RunRecord, live: LiveRule): void {
    for (const thread of run.threads) this.unlisten(run, thread);
    Object.assign(run, { threads: [], bindings: {}, vars: {}, steps: [], stepCount: 0, errors: 0, status: 'queued' });
    this.core.raised.push(() => {
      if (this.byId.has(run.id)) this.go(run, live);
    });
  }

  private ruleOf(run: RunRecord, live: LiveRule) {
    return live.older.get(run.revision) ?? live;
  }

  private hostOf(live: LiveRule): Host {
    const { core } = this;
    return {
      now: () => core.timeline.now(),
      iso: at => core.iso(at),
      context: (run, thread, path) => stepContext(core, this.services, live, run, thread, path),
      body: run => this.ruleOf(run, live).body,
      maxSteps: live.rule.limits?.steps ?? STEPS,
      timeoutOf(step, context) {
        try {
          return step.timeout === undefined ? undefined : dynamicMs(step.timeout, context);
        } catch {
          return undefined;
        }
      },
      waits: (run, thread, step, path) => this.listen(run, live, thread, step, path),
      unwaits: (run, thread) => this.unlisten(run, thread),
      slow(run) {
        run.out = slowed(run.out);
      },
    };
  }

  private listen(run: RunRecord, live: LiveRule, thread: Thread, step: StepConfig, path: string): void {
    const { core } = this;
    const { wait } = thread;
    if (!wait || wait.join) return;
    const name = `${run.id}/${thread.id}`;
    const entry: { timer?: Timer; watch?: Subscription } = {};
    this.waits.set(name, entry);
    const wake = (by: Parameters<typeof resume>[2]) => core.resumes.push({ run: run.id, thread: thread.id, by });
    if (wait.due !== undefined) entry.timer = core.timeline.at(wait.due, () => wake({ with: 'due' }));
    for (const id of wait.answers ?? []) this.answers.set(id, { run: run.id, thread: thread.id });
    const kind = actions.get(step.type);
    if (wait.retry || !kind.watch) return;
    entry.watch = kind
      .watch(step, stateOf(thread), {
        view: live.view,
        path,
        level: (condition, at) => watchCondition(condition, at, live.view, core, () => localOf(run, thread, live)),
        trigger: (config, at) => waitTrigger(core, live, config, at),
      })
      .subscribe({
        next: by => {
          // While the backends tell their snapshots nothing is news; the level is looked at again at ready.
          if (by.with === 'level' ? by.met === true && core.isReady() : core.isReady()) wake(by);
        },
        error: error =>
          core.log.error({ rule: live.id, run: run.id, error: String(error) }, 'a wait failed; it ends by its timeout'),
      });
  }

  private unlisten(run: RunRecord, thread: Thread): void {
    const name = `${run.id}/${thread.id}`;
    const entry = this.waits.get(name);
    entry?.timer?.cancel();
    entry?.watch?.unsubscribe();
    this.waits.delete(name);
    for (const id of thread.wait?.answers ?? []) this.answers.delete(id);
  }

  /** A run that waits is kept, watched over by its deadline and `while`. */
  private settle(run: RunRecord, live: LiveRule): void {
    if (!this.byId.has(run.id)) return;
    this.keep(run);
    this.watchOver(run, live);
  }

  private watchOver(run: RunRecord, live: LiveRule): void {
    if (this.guards.has(run.id)) return;
    const { core } = this;
    const { rule } = this.ruleOf(run, live);
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

  /** After the backends' snapshots: levels are looked at again. */
  recheck(): void {
    for (const { run, live } of [...this.byId.values()]) {
      if (run.status !== 'running') continue;
      const guard = this.guards.get(run.id);
      guard?.level?.unsubscribe();
      guard?.deadline?.cancel();
      this.guards.delete(run.id);
      this.watchOver(run, live);
      for (const thread of run.threads) {
        const frame = thread.frames.at(-1);
        const step = frame && this.ruleOf(run, live).body.get(frame.list)?.[frame.i];
        if (!thread.wait || !step || !frame || thread.wait.join) continue;
        this.unlisten(run, thread);
        this.listen(run, live, thread, step, `${frame.list}/${frame.i}`);
      }
    }
  }

  private keep(run: RunRecord): void {
    this.stored.add(run.id);
    this.core.tx.put('runs', run.id, run);
  }

  private remove(run: RunRecord, live: LiveRule): void {
    for (const thread of run.threads) this.unlisten(run, thread);
    const guard = this.guards.get(run.id);
    guard?.deadline?.cancel();
    guard?.level?.unsubscribe();
    this.guards.delete(run.id);
    this.byId.delete(run.id);
    live.runs.delete(run.id);
    if (this.stored.delete(run.id)) this.core.tx.put('runs', run.id, undefined);
    if (![...live.runs.values()].some(other => other.revision === run.revision)) live.older.delete(run.revision);
  }

  private end(run: RunRecord, live: LiveRule, ending: Ending): void {
    const { core } = this;
    if (!this.byId.has(run.id)) return;
    const wasRunning = run.status === 'running';
    this.remove(run, live);
    for (const step of run.steps) step.outcome ??= 'cancelled';
    if (wasRunning && ending.outcome !== 'completed' && ending.outcome !== 'completed_with_errors')
      this.lastWords(run, live);
    const at = core.iso(core.timeline.now());
    live.runtime.lastOutcome = ending.outcome;
    if (ending.outcome === 'failed' || ending.outcome === 'timed_out' || ending.outcome === 'budget_exceeded')
      live.runtime.failed++;
    keepRuntime(core, live, false);
    const trace = this.traceOf(run, { ...ending, ended: at });
    core.tx.afterCommit(() => core.sinks.onTrace(trace));
    for (const listener of this.ended) listener(run, ending);
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

  /** The next one in the queue of a key, unless one of its kind still runs. */
  private next(live: LiveRule, key: string): void {
    const mine = [...live.runs.values()].filter(run => run.key === key);
    const waiting = mine.find(run => run.status === 'queued');
    if (!waiting || (live.mode.type === 'queued' && mine.some(run => run.status === 'running'))) return;
    this.core.raised.push(() => {
      if (this.byId.has(waiting.id) && waiting.status === 'queued') this.go(waiting, live);
    });
  }

  /** Starts what still waits in queues whose runner is gone (after a restart). */
  drainQueues(): void {
    for (const { run, live } of this.byId.values()) if (run.status === 'queued') this.next(live, run.key);
  }

  /** `finally`: all of its steps at once, in the transaction of the ending; their commands are in the outbox. */
  private lastWords(run: RunRecord, live: LiveRule): void {
    const { core } = this;
    const { body } = this.ruleOf(run, live);
    for (const [index, step] of (body.get('finally') ?? []).entries()) {
      if (step.enabled === false) continue;
      const path = `finally/${index}`;
      const trace: StepTrace = { path, type: step.type, at: core.iso(core.timeline.now()) };
      run.steps.push(trace);
      try {
        const progress = actions
          .get(step.type)
          .start(step, stepContext(core, this.services, live, run, undefined, path, true));
        if ('device' in progress && progress.device !== undefined) trace.device = progress.device;
        if ('command' in progress && progress.command !== undefined) trace.command = progress.command;
        if ('note' in progress && progress.note !== undefined) trace.note = progress.note;
        trace.outcome =
          progress.do === 'wait' ? 'sent' : progress.do === 'done' ? (progress.outcome ?? 'ok') : 'failed';
        if (progress.do === 'fail') trace.error = asCausewayError(progress.error).toJSON();
      } catch (error) {
        trace.outcome = 'failed';
        trace.error = asCausewayError(error).toJSON();
      }
    }
  }

  /** The trace of a run as it stands. */
  traceOf(run: RunRecord, ending?: Ending & { ended: string }): Trace {
    const { core } = this;
    const { trigger } = run;
    return {
      run: run.id,
      rule: run.rule,
      revision: run.revision,
      trigger: trigger.id,
      triggerInfo: {
        id: trigger.id,
        type: trigger.type,
        ...(trigger.device !== undefined && { device: trigger.device }),
        ...(trigger.attribute !== undefined && { attribute: trigger.attribute }),
        ...(trigger.value !== undefined && { value: trigger.value }),
        ...(trigger.previous !== undefined && { previous: trigger.previous }),
        ...(run.cause.parent !== null && { event: run.cause.parent }),
      },
      at: core.iso(run.triggeredAt),
      ...(run.startedAt !== undefined && { started: core.iso(run.startedAt) }),
      ...(ending && { ended: ending.ended }),
      outcome: ending?.outcome ?? (run.status === 'queued' ? 'waiting' : 'running'),
      ...(ending?.reason !== undefined && { reason: ending.reason }),
      lateMs: run.lateMs,
      ...(run.condition && { condition: run.condition }),
      by: run.cause.by,
      cause: run.cause,
      ...(ending?.error && { error: ending.error }),
      ...(trigger.note !== undefined && { note: trigger.note }),
      ...(ending?.result !== undefined && { result: ending.result }),
      ...(run.shadow && { shadow: true }),
      steps: run.steps,
    };
  }
}
