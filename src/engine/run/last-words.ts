// `finally`: what a run that did not complete leaves behind. All of its steps at once, in the transaction of the ending;
// their commands are in the outbox.
import { asCausewayError } from '../../lib/errors.ts';
import type { StepTrace } from '../../model/run.ts';
import { actions } from '../actions/index.ts';
import type { StepConfig, StepContext } from '../kind.ts';
import type { RunRecord } from './record.ts';

/** Does the steps, none of which keeps another from being done. */
export function lastWords(
  run: RunRecord,
  steps: readonly StepConfig[],
  at: string,
  contextOf: (path: string) => StepContext,
): void {
  for (const [index, step] of steps.entries()) {
    if (step.enabled === false) continue;
    const path = `finally/${index}`;
    const trace: StepTrace = { path, type: step.type, at };
    run.steps.push(trace);
    try {
      const progress = actions.get(step.type).start(step, contextOf(path));
      if ('device' in progress && progress.device !== undefined) trace.device = progress.device;
      if ('command' in progress && progress.command !== undefined) trace.command = progress.command;
      if ('note' in progress && progress.note !== undefined) trace.note = progress.note;
      trace.outcome = progress.do === 'wait' ? 'sent' : progress.do === 'done' ? (progress.outcome ?? 'ok') : 'failed';
      if (progress.do === 'fail') trace.error = asCausewayError(progress.error).toJSON();
    } catch (error) {
      trace.outcome = 'failed';
      trace.error = asCausewayError(error).toJSON();
    }
  }
}
