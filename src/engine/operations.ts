// What is asked of the engine beside its triggers: by steps of rules, and by operations. All of it inside a turn.
import { type Cause, rootCause } from '../model/cause.ts';
import type { Refusal } from '../model/run.ts';
import type { Json } from '../model/value.ts';
import type { Core } from './core.ts';
import type { Judge } from './judge.ts';
import type { RuleTable } from './rule-table.ts';
import type { Runs } from './run/runs.ts';
import { keys } from './signals.ts';

/** The device of the house that tells answers. */
const NOTIFY = 'house:notify';

/** What operations work on. */
export interface OperationParts {
  readonly core: Core;
  readonly runs: Runs;
  readonly rules: RuleTable;
  readonly judge: Judge;
}

/**
 * Asks for a run, by a `call_rule` step (`call_rule`) or by somebody (`run`). `caller` is the answer id of who waits.
 * @throws RULE_NOT_FOUND
 */
export function demandRun(
  { core, rules, judge }: OperationParts,
  as: 'call_rule' | 'run',
  request: { rule: string; args: Record<string, Json>; cause: Cause; caller?: string },
): { id: string } | { refused: Refusal } {
  const { args, cause, caller } = request;
  const { run, refused } = judge.demand({
    live: rules.require(request.rule),
    trigger: { id: as, type: as, at: core.iso(core.timeline.now()), args },
    cause,
    args,
    ...(caller !== undefined && { caller }),
  });
  return refused ? { refused } : { id: run?.id ?? '' };
}

/** What a `control_rule` step does. @throws RULE_NOT_FOUND */
export function controlRule(
  { runs, rules }: OperationParts,
  id: string,
  what: 'enable' | 'disable' | 'resume' | 'cancel_runs',
): void {
  const live = rules.require(id);
  if (what === 'resume') rules.resume(id);
  else if (what === 'cancel_runs')
    for (const run of [...live.runs.keys()]) runs.stop(run, 'cancelled', 'cancelled by a rule');
  else rules.override(id, what === 'enable');
}

/** Ends the runs of a rule that wait under a name, or all but the one that asks; how many. */
export function cancelNamed(
  { core, runs }: OperationParts,
  rule: string,
  self: string,
  name: string | undefined,
): number {
  const live = core.rules.get(rule);
  if (!live) return 0;
  if (name === undefined) {
    const others = [...live.runs.keys()].filter(id => id !== self);
    for (const id of others) runs.stop(id, 'cancelled', 'cancelled by its rule');
    return others.length;
  }
  const waiting = runs.named(live, name);
  for (const { run, thread } of waiting) {
    // Of its own run only the branch that waits ends.
    if (run.id === self) runs.stopBranch(run.id, thread.id);
    else runs.stop(run.id, 'cancelled', `cancelled by name (${name})`);
  }
  return waiting.length;
}

/** Panic: rules do nothing until it is ended; their runs are cancelled, with `finally`. */
export function setPanic({ core, runs }: OperationParts, isOn: boolean): void {
  if (core.gate.panic === isOn) return;
  core.gate.panic = isOn;
  core.tx.put('meta', 'panic', isOn ? true : undefined);
  if (isOn) for (const run of runs.all()) runs.stop(run.id, 'cancelled', 'panic');
  core.log.warn({ panic: isOn }, isOn ? 'panic: rules do nothing until it is ended' : 'panic has ended');
}

/**
 * A person answered a notification: the newest step that waits for this tag (or effect id; without one the newest that
 * waits at all) goes on, and `house:notify` tells it to whoever listens.
 */
export function personAnswered(
  { core, runs }: OperationParts,
  tag: string | undefined,
  value: Json,
  client: string,
): void {
  const id = runs.asking(tag);
  if (id !== undefined) runs.answer(id, { outcome: 'ok', bind: value });
  core.raise(keys.attribute(NOTIFY, 'answered'), {
    kind: 'device',
    backend: 'house',
    device: NOTIFY,
    attribute: 'answered',
    value,
    previous: null,
    quality: 'good',
    change: 'reported',
    cause: rootCause('', { kind: 'user', ref: client }, 'user'),
    ...(tag !== undefined && { tag }),
  });
}
