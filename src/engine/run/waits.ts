// What waiting runs listen to: timers, answers, levels and triggers. None of it is stored; it is armed anew from the
// records of the runs.
import { Subscription } from 'rxjs';
import { actions } from '../actions/index.ts';
import type { Core, LiveRule } from '../core.ts';
import { watchCondition } from '../evaluate.ts';
import type { Resumption, WatchContext } from '../kind.ts';
import { waitTrigger } from '../live-rule.ts';
import type { Timer } from '../timeline.ts';
import type { Body, RunRecord, Thread } from './record.ts';
import { localOf } from './step-context.ts';

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
  /** By `<thread>/<depth>` of the step's frame. */
  ears?: Map<string, Ear>;
  limits?: Map<string, Timer>;
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
      const timer = this.core.timeline.at(due, () => this.core.resumes.push({ run: run.id, thread: thread.id, by }));
      (mine.timers ??= new Map()).set(thread.id, timer);
    }
    for (const id of wait.answers ?? []) this.answers.set(id, { run: run.id, thread: thread.id });
    if (wait.retry) return;
    const depth = thread.frames.length - 1;
    const ear = mine.ears?.get(nameOf(thread, depth));
    if (ear) ear.isWaiting = true;
    else this.listen(run, live, thread, depth, true);
  }

  /** A wait ends, or its thread does. */
  end(run: RunRecord, thread: Thread): void {
    const mine = this.byRun.get(run.id);
    mine?.timers?.get(thread.id)?.cancel();
    mine?.timers?.delete(thread.id);
    for (const id of thread.wait?.answers ?? []) this.answers.delete(id);
    if (mine) deafen(mine, nameOf(thread, thread.frames.length - 1));
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
    if (!frame?.step || !step || !kind?.watch) return;
    const name = nameOf(thread, depth);
    const mine = this.of(run);
    deafen(mine, name);
    const ear: Ear = { subscription: new Subscription(), isWaiting };
    (mine.ears ??= new Map()).set(name, ear);
    const local = () => localOf(run, thread, live);
    const context: WatchContext = {
      view: live.view,
      path: `${frame.list}/${frame.i}`,
      level: (condition, at) => watchCondition(condition, at, live.view, core, local),
      trigger: (config, at) => waitTrigger(core, live, config, at),
    };
    const heard = (by: Extract<Resumption, { with: 'level' | 'trigger' }>) => {
      // While the backends tell their snapshots nothing is news; the level is looked at again at ready.
      if (!core.isReady() || (by.with === 'level' && by.met !== true)) return;
      if (ear.isWaiting) core.resumes.push({ run: run.id, thread: thread.id, by });
      else if (frame.step && kind.hear) {
        frame.step.state = kind.hear(frame.step.state, by);
        this.keep(run);
      }
    };
    const failed = (error: unknown) =>
      core.log.error({ rule: live.id, run: run.id, error: String(error) }, 'a wait failed; it ends by its timeout');
    ear.subscription.add(kind.watch(step, frame.step.state, context).subscribe({ next: heard, error: failed }));
  }

  /** A step with steps inside has to end by its timeout. */
  limit(run: RunRecord, thread: Thread, depth: number, due: number): void {
    const by: Resumption = { with: 'expired', depth };
    const timer = this.core.timeline.at(due, () => this.core.resumes.push({ run: run.id, thread: thread.id, by }));
    const mine = this.of(run);
    (mine.limits ??= new Map()).set(nameOf(thread, depth), timer);
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
    for (const name of [...(mine?.ears?.keys() ?? []), ...(mine?.limits?.keys() ?? [])]) {
      const [thread, depth] = name.split('/').map(Number);
      const found = run.threads.find(one => one.id === thread);
      if (mine && found?.frames[depth as number]?.step === undefined) deafen(mine, name);
    }
  }

  /** The run is over. */
  drop(run: RunRecord): void {
    for (const thread of run.threads) this.end(run, thread);
    const mine = this.byRun.get(run.id);
    if (!mine) return;
    for (const name of [...(mine.ears?.keys() ?? []), ...(mine.limits?.keys() ?? [])]) deafen(mine, name);
    this.byRun.delete(run.id);
  }
}

const nameOf = (thread: Thread, depth: number) => `${thread.id}/${depth}`;

function deafen(mine: Listening, name: string): void {
  mine.ears?.get(name)?.subscription.unsubscribe();
  mine.ears?.delete(name);
  mine.limits?.get(name)?.cancel();
  mine.limits?.delete(name);
}
