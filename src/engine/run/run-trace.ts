// The trace of a run as it stands, or as it ended.
import type { Trace, TriggerTrace } from '../../model/run.ts';
import type { TriggerData } from '../kind.ts';
import type { Ending, RunRecord } from './record.ts';

const TOLD = ['device', 'attribute', 'value', 'previous', 'topic', 'key', 'count', 'sum'] as const;

/** What a trace says of the trigger. */
export function triggerInfo(trigger: TriggerData, event: string | null = null): TriggerTrace {
  const info: Record<string, unknown> = { id: trigger.id, type: trigger.type };
  for (const name of TOLD) if (trigger[name] !== undefined) info[name] = trigger[name];
  if (event !== null) info.event = event;
  return info as unknown as TriggerTrace;
}

/** @param iso stamps of engine time */
export function traceOf(run: RunRecord, iso: (at: number) => string, ending?: Ending & { ended: string }): Trace {
  const { trigger } = run;
  return {
    run: run.id,
    rule: run.rule,
    revision: run.revision,
    trigger: trigger.id,
    triggerInfo: triggerInfo(trigger, run.cause.parent),
    at: iso(run.triggeredAt),
    ...(run.startedAt !== undefined && { started: iso(run.startedAt) }),
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
