// The interpreter: moves a run's threads through its steps until all wait or the run ends. It knows nothing of timers,
// stores or subscriptions; those it asks of its host.

import { durationMs } from '../../lib/duration.ts';
import { asCausewayError, CausewayError } from '../../lib/errors.ts';
import type { Json } from '../../model/value.ts';
import { actions } from '../actions/index.ts';
import { SLOW_MS } from '../guard.ts';
import type { Progress, Resumption, StepConfig, StepContext } from '../kind.ts';
import type { Body, Ending, Frame, RunRecord, Thread } from './record.ts';
import { close, cutShort, note } from './step-trace.ts';

/** What the interpreter asks of the engine. */
export interface Host {
  now(): number;
  iso(at: number): string;
  context(run: RunRecord, thread: Thread, path: string): StepContext;
  body(run: RunRecord): Body;
  maxSteps(run: RunRecord): number;
  /** ms of a step's `timeout`, undefined where there is none. */
  timeoutOf(step: StepConfig, context: StepContext): number | undefined;
  /** A thread begins to wait at its innermost step. */
  waits(run: RunRecord, thread: Thread): void;
  /** A wait ends, or its thread does. */
  unwaits(run: RunRecord, thread: Thread): void;
  /** The innermost step of a thread listens while steps inside it run. */
  listens(run: RunRecord, thread: Thread): void;
  /** The step of a frame has to end by then, though steps inside it run. */
  limits(run: RunRecord, thread: Thread, depth: number, due: number): void;
  /** Ten seconds or more went by in a wait: what follows is not a direct consequence any more. */
  slow(run: RunRecord): void;
}

// Steps beyond this stay uncounted in the trace, so that no run grows without end.
const MAX_TRACED_STEPS = 300;

/** Steps whose own `timeout` is part of their kind. */
const OWN_TIMEOUT = new Set(['wait_for', 'http']);

/** Starts the run at its first action. Returns how it ended, or undefined while it waits. */
export function begin(run: RunRecord, host: Host): Ending | undefined {
  run.threads = [{ id: 0, frames: [{ list: 'actions', i: 0 }] }];
  run.nextThread = 1;
  return advance(run, 0, host);
}

/** Goes on with a thread that waits. */
export function resume(run: RunRecord, threadId: number, by: Resumption, host: Host): Ending | undefined {
  const thread = run.threads.find(one => one.id === threadId);
  if (thread && by.with === 'expired') return expire(run, thread, by.depth, host);
  if (!thread?.wait) return undefined;
  const { wait } = thread;
  if (by.with === 'answer' && !wait.answers?.includes(by.id)) return undefined;
  const frame = thread.frames.at(-1);
  const step = frame && stepAt(run, frame, host);
  if (!frame?.step || !step) return undefined;
  host.unwaits(run, thread);
  delete thread.wait;
  if (host.now() - wait.since >= SLOW_MS) host.slow(run);
  const path = `${frame.list}/${frame.i}`;
  if (wait.retry) {
    frame.step.attempt++;
    frame.step.attemptBegan = host.now();
    delete frame.step.memory;
    return settle(run, thread, start(run, thread, frame, step, path, host), host);
  }
  if (by.with === 'due' && wait.isLimit) {
    const error = timeoutError(path);
    return settle(run, thread, { do: 'fail', outcome: 'timed_out', error }, host);
  }
  const kind = actions.get(step.type);
  const progress = kind.resume?.(step, frame.step.state, by, host.context(run, thread, path)) ?? { do: 'done' };
  return settle(run, thread, progress, host);
}

/** The time of a step with steps inside is over: they end where they are, and it fails. */
function expire(run: RunRecord, thread: Thread, depth: number, host: Host): Ending | undefined {
  const frame = thread.frames[depth];
  if (!frame?.step) return undefined;
  if (thread.wait) host.unwaits(run, thread);
  delete thread.wait;
  dropBranches(run, thread.id, host);
  for (const inner of thread.frames.splice(depth + 1)) {
    const trace = inner.step && run.steps[inner.step.trace];
    if (trace && trace.outcome === undefined) close(trace, 'cancelled', host.now() - (inner.step?.began ?? host.now()));
  }
  const error = timeoutError(`${frame.list}/${frame.i}`);
  return settle(run, thread, { do: 'fail', outcome: 'timed_out', error }, host);
}

/** Ends a branch that waits, as if it had come to its end (a `cancel` by a branch beside it). */
export function cancelBranch(run: RunRecord, threadId: number, host: Host): void {
  const thread = run.threads.find(one => one.id === threadId);
  if (!thread || thread.parent === undefined) return;
  if (thread.wait) host.unwaits(run, thread);
  cutShort(run, thread, host.now());
  dropBranches(run, thread.id, host);
  run.threads = run.threads.filter(one => one !== thread);
}

const timeoutError = (path: string) => new CausewayError('BACKEND_TIMEOUT', `${path} did not end within its timeout`);

function stepAt(run: RunRecord, frame: Frame, host: Host): StepConfig | undefined {
  return host.body(run).get(frame.list)?.[frame.i];
}

/** Runs a thread until it waits or the run ends. */
function advance(run: RunRecord, threadId: number, host: Host): Ending | undefined {
  for (;;) {
    const thread = run.threads.find(one => one.id === threadId);
    if (!thread || thread.wait) return undefined;
    const frame = thread.frames.at(-1);
    if (!frame) return endThread(run, thread, host);
    const step = stepAt(run, frame, host);
    if (!step) {
      thread.frames.pop();
      const outer = thread.frames.at(-1);
      if (!outer) continue;
      const outerStep = stepAt(run, outer, host);
      if (!outer.step || !outerStep) continue;
      if (frame.isErrorPath) {
        next(outer);
        continue;
      }
      const path = `${outer.list}/${outer.i}`;
      const kind = actions.get(outerStep.type);
      const progress = kind.resume?.(
        outerStep,
        outer.step.state,
        { with: 'child' },
        host.context(run, thread, path),
      ) ?? { do: 'done' };
      const ending = apply(run, thread, progress, host);
      if (ending) return ending;
      continue;
    }
    if (step.enabled === false) {
      frame.i++;
      continue;
    }
    if (++run.stepCount > host.maxSteps(run)) {
      return { outcome: 'budget_exceeded', reason: `more than ${host.maxSteps(run)} steps` };
    }
    const path = `${frame.list}/${frame.i}`;
    frame.step = { state: null, trace: traceStep(run, path, step, host), attempt: 1, began: host.now() };
    const ending = apply(run, thread, start(run, thread, frame, step, path, host), host);
    if (ending) return ending;
  }
}

function start(run: RunRecord, thread: Thread, _frame: Frame, step: StepConfig, path: string, host: Host): Progress {
  const context = host.context(run, thread, path);
  try {
    return actions.get(step.type).start(step, context);
  } catch (error) {
    return { do: 'fail', error };
  }
}

function settle(run: RunRecord, thread: Thread, progress: Progress, host: Host): Ending | undefined {
  return apply(run, thread, progress, host) ?? advance(run, thread.id, host);
}

function traceStep(run: RunRecord, path: string, step: StepConfig, host: Host): number {
  if (run.steps.length >= MAX_TRACED_STEPS) return -1;
  run.steps.push({ path, type: step.type, at: host.iso(host.now()) });
  return run.steps.length - 1;
}

function next(frame: Frame): void {
  delete frame.step;
  frame.i++;
}

function apply(run: RunRecord, thread: Thread, progress: Progress, host: Host): Ending | undefined {
  const frame = thread.frames.at(-1) as Frame;
  const step = stepAt(run, frame, host) as StepConfig;
  const held = frame.step as NonNullable<Frame['step']>;
  const path = `${frame.list}/${frame.i}`;
  const trace = run.steps[held.trace];
  note(trace, progress);
  switch (progress.do) {
    case 'done':
      close(trace, progress.outcome ?? 'ok', host.now() - held.began);
      bind(run, thread, step, progress.bind);
      next(frame);
      return undefined;
    case 'enter':
      held.state = progress.state;
      if (progress.repeat) held.repeat = progress.repeat;
      bind(run, thread, step, progress.bind);
      if (progress.listens && !held.listens) {
        held.listens = true;
        host.listens(run, thread);
      }
      limit(run, thread, step, path, host);
      thread.frames.push({
        list: `${path}/${progress.list}`,
        i: 0,
        ...(progress.repeat ? { repeat: progress.repeat } : frame.repeat && { repeat: frame.repeat }),
      });
      return undefined;
    case 'fork': {
      held.state = progress.state;
      limit(run, thread, step, path, host);
      thread.wait = { join: true, since: host.now() };
      const children = progress.lists.map((list): Thread => {
        const child: Thread = {
          id: run.nextThread++,
          parent: thread.id,
          frames: [{ list: `${path}/${list}`, i: 0, ...(frame.repeat && { repeat: frame.repeat }) }],
          vars: { ...(thread.vars ?? run.vars) },
          bindings: { ...(thread.bindings ?? run.bindings) },
          ...(progress.outputs && { outputs: [...progress.outputs] }),
        };
        return child;
      });
      run.threads.push(...children);
      for (const child of children) {
        const ending = advance(run, child.id, host);
        if (ending) return ending;
      }
      return undefined;
    }
    case 'wait': {
      held.state = progress.state;
      const timeout = OWN_TIMEOUT.has(step.type) ? undefined : host.timeoutOf(step, host.context(run, thread, path));
      const limit = timeout === undefined ? Number.POSITIVE_INFINITY : (held.attemptBegan ?? held.began) + timeout;
      const own = progress.due ?? Number.POSITIVE_INFINITY;
      const due = Math.min(own, limit);
      thread.wait = {
        since: host.now(),
        ...(Number.isFinite(due) && { due }),
        ...(limit < own && { isLimit: true }),
        ...(progress.answers && { answers: [...progress.answers] }),
        ...(progress.name !== undefined && { name: progress.name }),
      };
      host.waits(run, thread);
      return undefined;
    }
    case 'end':
      close(trace, 'ok', host.now() - held.began);
      return {
        outcome: progress.outcome === 'completed' && run.errors > 0 ? 'completed_with_errors' : progress.outcome,
        ...(progress.reason !== undefined && { reason: progress.reason }),
        ...(progress.result !== undefined && { result: progress.result }),
      };
    case 'fail':
      return fail(run, thread, progress, host);
  }
}

/** Sets the time by which a step with steps inside has to end; once, when it begins. */
function limit(run: RunRecord, thread: Thread, step: StepConfig, path: string, host: Host): void {
  const held = thread.frames.at(-1)?.step;
  if (!held || held.limit !== undefined || step.timeout === undefined || OWN_TIMEOUT.has(step.type)) return;
  const timeout = host.timeoutOf(step, host.context(run, thread, path));
  if (timeout === undefined) return;
  held.limit = held.began + timeout;
  host.limits(run, thread, thread.frames.length - 1, held.limit);
}

function fail(
  run: RunRecord,
  thread: Thread,
  progress: Extract<Progress, { do: 'fail' }>,
  host: Host,
): Ending | undefined {
  const frame = thread.frames.at(-1) as Frame;
  const step = stepAt(run, frame, host) as StepConfig;
  const held = frame.step as NonNullable<Frame['step']>;
  const error = asCausewayError(progress.error);
  const trace = run.steps[held.trace];
  const again =
    step.retry && progress.outcome !== 'in_doubt' && progress.retryable !== false && held.attempt <= step.retry.times;
  if (again && step.retry) {
    const factor = step.retry.factor ?? 2;
    const due = host.now() + durationMs(step.retry.backoff) * factor ** (held.attempt - 1);
    thread.wait = { due, retry: true, since: host.now() };
    if (trace) trace.note = `attempt ${held.attempt} failed: ${error.message}`;
    host.waits(run, thread);
    return undefined;
  }
  close(trace, progress.outcome ?? 'failed', host.now() - held.began);
  if (trace) trace.error = error.toJSON();
  bind(run, thread, step, progress.bind);
  return handle(run, thread, error, progress.outcome, host);
}

/** Finds who takes the error: the step's own `on_error`, else that of a step around it, else nobody and the run fails. */
function handle(
  run: RunRecord,
  thread: Thread,
  error: CausewayError,
  outcome: string | undefined,
  host: Host,
): Ending | undefined {
  // A failed `on_error` is no error that it could take itself: the step fails with it.
  for (let hasTaken = false; ; ) {
    const frame = thread.frames.at(-1);
    const step = frame && stepAt(run, frame, host);
    if (!frame || !step) break;
    if (step.on_error === 'continue') {
      run.errors++;
      next(frame);
      return undefined;
    }
    if (Array.isArray(step.on_error) && !hasTaken) {
      run.errors++;
      // The step is over: neither its timeout nor what it listened to concerns the steps that take its place.
      const { trace, attempt, began } = frame.step as NonNullable<Frame['step']>;
      frame.step = { state: null, trace, attempt, began };
      const { repeat } = frame;
      thread.frames.push({
        list: `${frame.list}/${frame.i}/on_error`,
        i: 0,
        isErrorPath: true,
        ...(repeat && { repeat }),
      });
      return undefined;
    }
    hasTaken = frame.isErrorPath === true;
    thread.frames.pop();
    const around = thread.frames.at(-1);
    const outer = around?.step && run.steps[around.step.trace];
    if (outer && outer.outcome === undefined) close(outer, 'failed', host.now() - (around?.step?.began ?? host.now()));
  }
  if (thread.parent !== undefined) {
    const parent = run.threads.find(one => one.id === thread.parent);
    dropBranches(run, thread.parent, host);
    if (parent) {
      delete parent.wait;
      const forked = parent.frames.at(-1)?.step;
      const trace = forked && run.steps[forked.trace];
      if (trace) close(trace, 'failed', host.now() - forked.began);
      const ending = handle(run, parent, error, outcome, host);
      return ending ?? advance(run, parent.id, host);
    }
  }
  return { outcome: outcome === 'in_doubt' ? 'in_doubt' : 'failed', error: error.toJSON() };
}

/** Binds an answer. A branch keeps its own, whatever one beside it binds under the same name. */
function bind(run: RunRecord, thread: Thread, step: StepConfig, answer: Json | undefined): void {
  if (step.as === undefined || answer === undefined) return;
  run.bindings[step.as] = answer;
  if (thread.bindings) thread.bindings[step.as] = answer;
}

/** Sets a variable of the run, or of the branch that a thread is. */
export function setVariable(run: RunRecord, thread: Thread | undefined, name: string, value: Json): void {
  if (!thread?.vars) {
    run.vars[name] = value;
    return;
  }
  thread.vars[name] = value;
  if (!thread.set?.includes(name)) thread.set = [...(thread.set ?? []), name];
}

/** Ends the branches below a thread. */
function dropBranches(run: RunRecord, parent: number, host: Host): void {
  for (const child of run.threads.filter(one => one.parent === parent)) {
    dropBranches(run, child.id, host);
    cutShort(run, child, host.now());
    if (child.wait) host.unwaits(run, child);
  }
  run.threads = run.threads.filter(one => one.parent !== parent);
}

function endThread(run: RunRecord, thread: Thread, host: Host): Ending | undefined {
  run.threads = run.threads.filter(one => one !== thread);
  const parent = run.threads.find(one => one.id === thread.parent);
  if (!parent) return { outcome: run.errors > 0 ? 'completed_with_errors' : 'completed' };
  if (parent.bindings) Object.assign(parent.bindings, thread.bindings);
  // A branch brings back what it has set; its untouched copies must not undo what another did.
  for (const name of thread.outputs ?? []) {
    const value = thread.vars?.[name];
    if (value !== undefined && thread.set?.includes(name)) setVariable(run, parent, name, value);
  }
  if (run.threads.some(one => one.parent === parent.id)) return undefined;
  delete parent.wait;
  const frame = parent.frames.at(-1);
  const step = frame && stepAt(run, frame, host);
  if (!frame?.step || !step) return undefined;
  const path = `${frame.list}/${frame.i}`;
  const progress = actions
    .get(step.type)
    .resume?.(step, frame.step.state, { with: 'joined' }, host.context(run, parent, path)) ?? { do: 'done' };
  return settle(run, parent, progress, host);
}
