// What waiting runs listen to: timers, answers, levels and triggers. None of it is stored; it is armed anew from the
// records of the runs.
import { Subscription } from 'rxjs';
import type { Json } from '../../model/value.ts';
import { actions } from '../actions/index.ts';
import type { Core, LiveRule } from '../core.ts';
import { watchCondition } from '../evaluate.ts';
import type { Memory, Resumption, WatchContext } from '../kind.ts';
import type { Timer } from '../timeline.ts';
import { waitTrigger } from '../trigger-context.ts';
import type { Body, Frame, RunRecord, Thread } from './record.ts';
import { localOf } from './step-context.ts';

/** A step that has begun. */
type Held = NonNullable<Frame['step']>;

/** One ear of a step. */
interface Ear {
  subscription: Subscription;
  /** The step waits: what is heard goes on with it. Before, it is kept for when it will. */
  isWaiting: boolean;
}

/** All of one run. Most have one timer and nothing else. */
interface Listening {
  /** By thread. */
  timers?: Map<number, Timer>;
  /** By the step, as long as it has not ended: another one may follow in its frame. */
  ears?: Map<Held, Ear>;
  limits?: Map<Held, Timer>;
}

/** The ears and timers of all runs. */
export class Waits {
  private readonly core: Core;
  private readonly bodyOf: (run: RunRecord, live: LiveRule) => Body;
  private readonly keep: (run: RunRecord) => void;
  private readonly byRun = new Map<string, Listening>();
  /** Answer id → who waits for it. */
  private readonly answers = new Map<string, { run: string; thread: number }>();

  constructor(core: Core, bodyOf: (run: RunRecord, live: LiveRule) => Body, keep: (run: RunRecord) => void) {
    this.core = core;
    this.bodyOf = bodyOf;
    this.keep = keep;
  }

  /** Who waits for an answer. */
  waitingFor(id: string): { run: string; thread: number } | undefined {
    return this.answers.get(id);
  }

  /** All answers that somebody waits for. */
  awaited(): string[] {
    return [...this.answers.keys()];
  }

  private of(run: RunRecord): Listening {
    let mine = this.byRun.get(run.id);
    if (!mine) this.byRun.set(run.id, (mine = {}));
    return mine;
  }

  /** A thread begins to wait at its innermost step. */
  begin(run: RunRecord, live: LiveRule, thread: Thread): void {
    const { wait } = thread;
    if (!wait || wait.join) return;
    const mine = this.of(run);
    const { due } = wait;
    if (due !== undefined) {
      const by: Resumption = { with: 'due' };
      const wake = () => this.core.resumes.push({ run: run.id, thread: thread.id, by });
      const timer = this.core.timeline.at(due, wake, wait.since);
      (mine.timers ??= new Map()).set(thread.id, timer);
    }
    for (const id of wait.answers ?? []) this.answers.set(id, { run: run.id, thread: thread.id });
    if (wait.retry) return;
    const held = thread.frames.at(-1)?.step;
    const ear = held && mine.ears?.get(held);
    if (ear) ear.isWaiting = true;
    else this.listen(run, live, thread, thread.frames.length - 1, true);
  }

  /** A wait ends, or its thread does. */
  end(run: RunRecord, thread: Thread): void {
    const mine = this.byRun.get(run.id);
    mine?.timers?.get(thread.id)?.cancel();
    mine?.timers?.delete(thread.id);
    for (const id of thread.wait?.answers ?? []) this.answers.delete(id);
    const held = thread.frames.at(-1)?.step;
    if (mine && held) deafen(mine, held);
  }

  /** The innermost step of a thread listens while steps inside it run. */
  listenWithin(run: RunRecord, live: LiveRule, thread: Thread): void {
    this.listen(run, live, thread, thread.frames.length - 1, false);
  }

  private listen(run: RunRecord, live: LiveRule, thread: Thread, depth: number, isWaiting: boolean): void {
    const { core } = this;
    const frame = thread.frames[depth];
    const step = frame && this.bodyOf(run, live).get(frame.list)?.[frame.i];
    const kind = step && actions.get(step.type);
    const held = frame?.step;
    if (!held || !step || !kind?.watch) return;
    const mine = this.of(run);
    deafen(mine, held);
    const ear: Ear = { subscription: new Subscription(), isWaiting };
    (mine.ears ??= new Map()).set(held, ear);
    const local = () => localOf(run, thread, live);
    const context: WatchContext = {
      view: live.view,
      path: `${frame.list}/${frame.i}`,
      level: (condition, at) => watchCondition(condition, at, live.view, core, local),
      trigger: (config, at) => waitTrigger(core, live, config, at, this.memoryOf(run, held)),
    };
    const heard = (by: Extract<Resumption, { with: 'level' | 'trigger' }>) => {
      // While the backends tell their snapshots nothing is news; the level is looked at again at ready.
      if (!core.isReady() || (by.with === 'level' && by.met !== true)) return;
      if (ear.isWaiting) core.resumes.push({ run: run.id, thread: thread.id, by });
      else if (kind.hear) {
        held.state = kind.hear(held.state, by);
        this.keep(run);
      }
    };
    const failed = (error: unknown) =>
      core.log.error({ rule: live.id, run: run.id, error: String(error) }, 'a wait failed; it ends by its timeout');
    ear.subscription.add(kind.watch(step, held.state, context).subscribe({ next: heard, error: failed }));
  }

  private memoryOf(run: RunRecord, held: Held): Memory {
    return {
      get: <T extends Json>(name: string) => held.memory?.[name] as T | undefined,
      set: (name, value) => {
        held.memory ??= {};
        if (value === undefined) delete held.memory[name];
        else held.memory[name] = value;
        this.keep(run);
      },
      names: () => Object.keys(held.memory ?? {}),
    };
  }

  /** A step with steps inside has to end by its timeout. */
  limit(run: RunRecord, thread: Thread, depth: number, due: number): void {
    const held = thread.frames[depth]?.step;
    if (!held) return;
    const by: Resumption = { with: 'expired', depth };
    const wake = () => this.core.resumes.push({ run: run.id, thread: thread.id, by });
    const timer = this.core.timeline.at(due, wake, held.began);
    const mine = this.of(run);
    (mine.limits ??= new Map()).set(held, timer);
  }

  /** After a restart: everything that the threads of a run wait for. */
  restore(run: RunRecord, live: LiveRule): void {
    for (const thread of run.threads) {
      for (const [depth, frame] of thread.frames.entries()) {
        if (frame.step?.listens) this.listen(run, live, thread, depth, false);
        if (frame.step?.limit !== undefined) this.limit(run, thread, depth, frame.step.limit);
      }
      this.begin(run, live, thread);
    }
  }

  /** Lets go of what belongs to steps that have ended meanwhile. */
  prune(run: RunRecord): void {
    const mine = this.byRun.get(run.id);
    if (!mine?.ears && !mine?.limits) return;
    const begun = new Set(run.threads.flatMap(thread => thread.frames.map(frame => frame.step)));
    for (const held of heldIn(mine)) if (!begun.has(held)) deafen(mine, held);
  }

  /** The run is over. */
  drop(run: RunRecord): void {
    for (const thread of run.threads) this.end(run, thread);
    const mine = this.byRun.get(run.id);
    if (!mine) return;
    for (const held of heldIn(mine)) deafen(mine, held);
    this.byRun.delete(run.id);
  }
}

const heldIn = ({ ears, limits }: Listening): Held[] => [...(ears?.keys() ?? []), ...(limits?.keys() ?? [])];

function deafen(mine: Listening, held: Held): void {
  mine.ears?.get(held)?.subscription.unsubscribe();
  mine.ears?.delete(held);
  mine.limits?.get(held)?.cancel();
  mine.limits?.delete(held);
}
