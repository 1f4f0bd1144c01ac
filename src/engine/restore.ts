// Runs that waited when the process ended go on; a row that cannot be understood is told and stops nothing.
import type { Json } from '../model/value.ts';
import type { Store } from '../store/store.ts';
import type { Core } from './core.ts';
import { parseRule } from './rules/schema.ts';
import { bindingsOf, bodyOf } from './run/body.ts';
import type { RunRecord } from './run/record.ts';
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
    if (!live || !Array.isArray(run.threads)) {
      core.log.warn({ run: id, rule: run.rule }, 'a stored run belongs to no rule any more and is abandoned');
      core.tx.put('runs', id, undefined);
      continue;
    }
    if (run.revision !== live.revision && !live.older.has(run.revision)) {
      const old = await store.revision(run.rule, run.revision);
      const parsed = old && parseRule(old.body);
      if (parsed && 'rule' in parsed) {
        const body = bodyOf(parsed.rule);
        live.older.set(run.revision, { rule: parsed.rule, body, bindings: bindingsOf(body) });
      } else {
        core.log.warn(
          { run: id, rule: run.rule, revision: run.revision },
          'the revision of a stored run is not known; it is abandoned',
        );
        runs.restore({ ...run, revision: live.revision, threads: [] }, live);
        atReady.push(() => runs.stop(id, 'abandoned', 'its revision of the rule is not known any more'));
        continue;
      }
    }
    const policy = (live.older.get(run.revision) ?? live).rule.on_crash ?? 'resume';
    runs.restore(run, live);
    if (run.status !== 'running') continue;
    if (policy === 'abandon') atReady.push(() => runs.stop(id, 'abandoned', 'the gateway stopped; on_crash: abandon'));
    if (policy === 'restart') atReady.push(() => runs.again(run, live));
  }
  return atReady;
}
