// Runs that waited when the process ended go on; one that cannot is told, and stops nothing else.
import type { Json } from '../model/value.ts';
import type { Store } from '../store/store.ts';
import { actions } from './actions/index.ts';
import type { Core, LiveRule } from './core.ts';
import { parseRule } from './rules/schema.ts';
import { bindingsOf, bodyOf } from './run/body.ts';
import type { Body, RunRecord, Thread } from './run/record.ts';
import type { Runs } from './run/runs.ts';

/**
 * Takes the stored runs up again, each by its rule's `on_crash`. Returns what has to wait until the backends are ready:
 * the ends of abandoned runs, whose `finally` may command devices, and the starts of those that begin again.
 */
export async function restoreRuns(
  core: Core,
  runs: Runs,
  store: Store,
  rows: ReadonlyMap<string, Json>,
): Promise<(() => void)[]> {
  const atReady: (() => void)[] = [];
  for (const [id, row] of rows) {
    const run = row as unknown as RunRecord;
    const live = core.rules.get(run.rule);
    if (!live) {
      core.log.warn({ run: id, rule: run.rule }, 'a stored run belongs to no rule any more and is abandoned');
      core.tx.put('runs', id, undefined);
      continue;
    }
    const isKnown = await findRevision(store, live, run);
    const form = live.older.get(run.revision) ?? live;
    const fault = isKnown ? positionFault(run, form.body) : 'its revision of the rule is not known any more';
    if (fault !== undefined) {
      core.log.warn({ run: id, rule: run.rule, revision: run.revision, fault }, 'a stored run is abandoned');
      runs.restore({ ...run, ...(!isKnown && { revision: live.revision }), threads: [] }, live);
      atReady.push(() => runs.stop(id, 'abandoned', fault));
      continue;
    }
    const policy = form.rule.on_crash ?? 'resume';
    runs.restore(run, live);
    if (run.status !== 'running') continue;
    if (policy === 'abandon') atReady.push(() => runs.stop(id, 'abandoned', 'the gateway stopped; on_crash: abandon'));
    if (policy === 'restart') atReady.push(() => runs.again(run, live));
  }
  return atReady;
}

/** Has the revision that a run follows at hand; false where there is none. */
async function findRevision(store: Store, live: LiveRule, { rule, revision }: RunRecord): Promise<boolean> {
  if (revision === live.revision || live.older.has(revision)) return true;
  const old = await store.revision(rule, revision);
  const parsed = old && parseRule(old.body);
  if (!parsed || !('rule' in parsed)) return false;
  const body = bodyOf(parsed.rule);
  live.older.set(revision, { rule: parsed.rule, body, bindings: bindingsOf(body) });
  return true;
}

/** Why a run cannot go on from where it stands; its record is sound in itself. */
function positionFault(run: RunRecord, body: Body): string | undefined {
  if (run.status === 'running' && run.threads.length === 0) return 'it stands nowhere';
  for (const thread of run.threads) {
    for (const { list, i } of thread.frames)
      if (!body.get(list)?.[i]) return `it stands at ${list}/${i}, where its rule has no step`;
    if (!canWake(run, thread, body)) return 'it waits for nothing that could come';
  }
  return undefined;
}

function canWake(run: RunRecord, { id, wait, frames }: Thread, body: Body): boolean {
  if (wait?.join) return run.threads.some(other => other.parent === id);
  const { list = '', i = 0 } = frames.at(-1) ?? {};
  const step = body.get(list)?.[i];
  const listens = step !== undefined && actions.get(step.type).watch !== undefined;
  return wait?.due !== undefined || (wait?.answers ?? []).length > 0 || listens;
}
