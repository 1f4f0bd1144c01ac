// The start of an engine: what the store held is put back; once the backends have told their snapshots, what became due
// meanwhile happens first, then what wants to look at the start, then `startup` (FORMATS §3).
import { type Cause, rootCause, sharedParts } from '../model/cause.ts';
import type { Json } from '../model/value.ts';
import type { HouseValue } from '../state/house.ts';
import type { Reading } from '../state/values.ts';
import type { Store, Tables } from '../store/store.ts';
import type { Authority, Core, RuleRuntime } from './core.ts';
import { setBackend } from './inputs.ts';
import type { Answer, OutgoingEffect } from './kind.ts';
import { restoreRuns } from './restore.ts';
import type { RuleTable } from './rule-table.ts';
import type { Rule } from './rules/schema.ts';
import type { Runs } from './run/runs.ts';
import { keys } from './signals.ts';
import { takeUnsound } from './stored.ts';

/** A rule to start with. */
export interface StoredRule {
  readonly rule: Rule;
  readonly revision: number;
  readonly authority: Authority;
}

/** What a start works on. */
export interface StartParts {
  readonly core: Core;
  readonly runs: Runs;
  readonly rules: RuleTable;
  /** Follows up what was done until nothing follows any more. */
  readonly settle: () => void;
}

/** What has to wait until the backends have told their snapshots. */
export interface Held {
  /** What was on its way when the process ended. */
  readonly outbox: ReadonlyMap<string, Json>;
  /** Runs that end or begin again because of the crash. */
  readonly atReady: readonly (() => void)[];
}

/** Puts back what the store held. */
export async function restore(
  { core, runs, rules }: StartParts,
  store: Store,
  tables: Tables,
  backends: Iterable<string>,
  stored: readonly StoredRule[],
): Promise<Held> {
  for (const row of takeUnsound(tables)) {
    core.log.warn(row, 'a stored row cannot be understood and is dropped');
    core.tx.put(row.table, row.key, undefined);
  }
  restorePresent(core, tables);
  for (const id of backends) setBackend(core, id, { state: 'offline', ready: false, reason: 'starting' });
  rules.loadMemories(tables.memory);
  const own = ownVariables(core, tables.variables);
  for (const { rule, revision, authority } of stored) {
    const runtime = tables.rules.get(rule.id) as unknown as RuleRuntime | undefined;
    try {
      rules.put(rule, revision, authority, runtime, own.get(rule.id));
    } catch (error) {
      core.log.error({ rule: rule.id, error: String(error) }, 'a rule could not be started and stands still');
    }
  }
  rules.dropOrphans();
  const atReady = await restoreRuns(core, runs, store, tables.runs);
  return { outbox: tables.outbox, atReady };
}

function restorePresent(core: Core, tables: Tables): void {
  for (const [id, device] of tables.devices) core.devices.put({ ...(device as object), id } as never);
  const shared = sharedParts();
  for (const [key, row] of tables.state) {
    const [device = '', attribute = ''] = key.split('\n');
    const reading = row as unknown as Reading;
    const cause = reading.cause && shared(reading.cause);
    // Restored values decide nothing until their backend has told them anew.
    core.values.set(device, attribute, { ...reading, cause, epoch: 0 });
  }
  for (const [name, scene] of tables.scenes) core.scenes.set(name, scene as never);
  for (const [topic, payload] of tables.topics) core.house.setTopic(topic, payload as unknown as HouseValue);
  const mode = tables.modes.get('mode');
  if (mode !== undefined) core.house.mode = mode as unknown as HouseValue;
  core.gate.panic = tables.meta.get('panic') === true;
}

/** Variables of the house go to the house; those of rules are returned by rule (`<rule>/<name>`). */
function ownVariables(core: Core, rows: ReadonlyMap<string, Json>): Map<string, Map<string, Json>> {
  const own = new Map<string, Map<string, Json>>();
  for (const [key, entry] of rows) {
    const slash = key.indexOf('/');
    if (slash < 0) core.house.variables.set(key, entry as unknown as HouseValue);
    else own.set(key.slice(0, slash), (own.get(key.slice(0, slash)) ?? new Map()).set(key.slice(slash + 1), entry));
  }
  return own;
}

const IN_DOUBT: Answer = {
  outcome: 'in_doubt',
  error: { code: 'BACKEND_TIMEOUT', message: 'the gateway stopped while it was on its way' },
};

/** The first moment in which rules may run. Inside a turn, the engine being ready already. */
export function firstMoment(
  { core, runs, settle }: StartParts,
  { outbox, atReady }: Held,
  onAnswer: (id: string, answer: Answer) => void,
): void {
  core.gate.restore(outbox);
  core.endings.restore(outbox);
  restoreEffects(core, outbox, onAnswer);
  for (const id of runs.unanswerable(outbox)) onAnswer(id, IN_DOUBT);
  // A fault in one must not keep the others from their start.
  const safely = (work: () => void) => {
    try {
      work();
      settle();
    } catch (error) {
      core.log.error({ error: error instanceof Error ? error.stack : String(error) }, 'something of a start failed');
    }
  };
  for (const call of atReady) safely(call);
  safely(() => lookAgain(core));
  for (let call = core.timeline.takeDue(); call; call = core.timeline.takeDue()) safely(call);
  for (const live of core.rules.values()) {
    for (const { config, pipeline } of live.triggers) {
      if (config.on_startup === 'evaluate') pipeline.evaluate();
      if (config.on_startup === 'compare') pipeline.compare();
    }
  }
  settle();
  core.raise(keys.startup, {
    kind: 'system',
    backend: 'house',
    device: 'house:house',
    attribute: 'startup',
    value: core.boot,
    previous: null,
    quality: 'good',
    change: 'reported',
    cause: rootCause('', { kind: 'startup' }, 'system'),
  });
  runs.drainQueues();
  settle();
}

/** Holds, waits and `while` after a snapshot. */
export function lookAgain(core: Core): void {
  for (const live of core.rules.values()) for (const trigger of live.triggers) trigger.pipeline.look();
  core.signals.look$.next();
}

function restoreEffects(
  core: Core,
  outbox: ReadonlyMap<string, Json>,
  onAnswer: (id: string, answer: Answer) => void,
): void {
  for (const [id, row] of outbox) {
    const { kind, effect, cause, once } = row as unknown as {
      kind: string;
      effect: OutgoingEffect;
      cause: Cause;
      once: boolean;
    };
    if (kind !== 'effect') continue;
    if (!once) core.tx.afterCommit(() => core.sinks.onEffect(id, effect, cause));
    else onAnswer(id, IN_DOUBT);
  }
}
