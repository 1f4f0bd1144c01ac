// What the trace of a run says of its steps.
import type { StepTrace } from '../../model/run.ts';
import type { Progress } from '../kind.ts';
import type { RunRecord, Thread } from './record.ts';

/** What of a thread had not ended counts as cancelled, after the time that it took. */
export function cutShort(run: RunRecord, thread: Thread, now: number): void {
  for (const { step } of thread.frames) {
    const trace = step && run.steps[step.trace];
    if (trace && trace.outcome === undefined) close(trace, 'cancelled', now - step.began);
  }
}

/** What a step has told on its way. */
export function note(trace: StepTrace | undefined, progress: Progress): void {
  if (!trace) return;
  if ('note' in progress && progress.note !== undefined) trace.note = progress.note;
  if ('device' in progress && progress.device !== undefined) trace.device = progress.device;
  if ('command' in progress && progress.command !== undefined) trace.command = progress.command;
  if ('args' in progress && progress.args !== undefined) trace.args = progress.args;
  if ('details' in progress && progress.details !== undefined) trace.details = progress.details;
}

/** The end of a step. */
export function close(trace: StepTrace | undefined, outcome: string, ms: number): void {
  if (!trace) return;
  trace.outcome = outcome;
  trace.ms = Math.round(ms);
}
