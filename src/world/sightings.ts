// What expectations look through: all that was seen of one kind, and whether one of it is what a matcher means.
import { madeBy } from '../engine/evaluate.ts';
import type { Cause, Maker } from '../model/cause.ts';
import type { StepTrace, Trace } from '../model/run.ts';
import type { Json } from '../model/value.ts';
import { matches, matchesContent } from './match.ts';
import type { Expect, SeenKind } from './scenario-expect.ts';
import type { SeenSave, SeenTrace, Sight } from './seen.ts';
import type { World } from './world.ts';

/** One of what was seen. `at` is when it counts, `also` when it was there besides (the start and end of a run). */
export interface Sighting {
  readonly at: number;
  readonly also: readonly number[];
  readonly fields: Record<string, unknown>;
}

interface TraceSighting extends Sighting {
  readonly trace: SeenTrace;
}
interface SaveSighting extends Sighting {
  readonly save: SeenSave;
}

const plain = (sights: readonly Sight[]): Sighting[] => sights.map(({ at, fields }) => ({ at, also: [], fields }));

/** All of one kind, oldest first. */
export function sightingsOf({ seen }: World, kind: SeenKind): Sighting[] {
  switch (kind) {
    case 'run':
      return plain(seen.runs);
    case 'command':
      return plain(seen.commands);
    case 'notify':
      return plain(seen.notifies);
    case 'publish':
      return plain(seen.publishes);
    case 'http':
      return plain(seen.https);
    case 'log':
      return plain(seen.logs);
    case 'guard':
      return plain(seen.guards);
    case 'finding':
      return plain(seen.findings);
    case 'trace':
      return [...seen.traces.values()].map((trace): TraceSighting => {
        const also = [trace.started, ...(trace.ended === undefined ? [] : [trace.ended])];
        return { at: trace.at, also, fields: summary(trace.trace), trace };
      });
    case 'save':
      return seen.saves.map((save): SaveSighting => {
        const { id, outcome, paths, message, findings } = save;
        const fields = {
          id,
          save: outcome,
          ...(paths.length > 0 && { paths }),
          message,
          findings: findings.map(one => one.code),
        };
        return { at: save.at, also: [], fields, save };
      });
  }
}

const summary = ({ rule, trigger, outcome, reason, lateMs, note, steps }: Trace) => ({
  rule,
  trigger,
  outcome,
  ...(reason !== undefined && { reason }),
  ...(lateMs !== undefined && { lateMs }),
  ...(note !== undefined && { note }),
  ...(steps.length > 0 && { steps: steps.map(step => `${step.path} ${step.type} ${step.outcome ?? ''}`.trim()) }),
});

/** Whether a sighting is what an expectation means, its moment aside. */
export function found(
  world: World,
  wanted: Expect | NonNullable<Expect['no']>,
  kind: SeenKind,
  sighting: Sighting,
): boolean {
  if (kind === 'trace') return isTrace(world, wanted.trace ?? {}, (sighting as TraceSighting).trace);
  if (kind === 'save') return isSave(wanted, (sighting as SaveSighting).save);
  const { by, device, payload, body, message, ...rest } = (wanted[kind] ?? {}) as Record<string, Json | undefined>;
  const { fields } = sighting;
  if (by !== undefined && !isBy(String(by), fields.by)) return false;
  if (device !== undefined && world.resolve(String(device)) !== fields.device) return false;
  if (payload !== undefined && !matchesContent(payload, fields.payload as string | undefined)) return false;
  if (body !== undefined && !matchesContent(body, fields.body as string | undefined)) return false;
  if (message !== undefined && !isMessage(kind, message, fields.message)) return false;
  return matches(rest, fields);
}

// The words of the guard and of findings are ours to choose; a part of them is enough.
const isMessage = (kind: SeenKind, wanted: Json, seen: unknown): boolean =>
  kind === 'guard' || kind === 'finding' ? String(seen).includes(String(wanted)) : matches(wanted, seen);

function isBy(filter: string, by: unknown): boolean {
  return madeBy(filter, { by: by as Maker } as Cause);
}

function isSave(wanted: Pick<Expect, 'save' | 'path' | 'code' | 'id' | 'finding'>, save: SeenSave): boolean {
  const { path, code, id, finding } = wanted;
  if (wanted.save !== save.outcome) return false;
  if (code !== undefined && code !== save.code) return false;
  if (id !== undefined && id !== save.id) return false;
  if (path !== undefined && !save.paths.some(one => one === path || one.startsWith(`${path}/`))) return false;
  return finding === undefined || save.findings.some(one => matches(finding, { rule: save.id, ...one }));
}

type TraceMatch = NonNullable<Expect['trace']>;

function isTrace(world: World, wanted: TraceMatch, { trace, at }: SeenTrace): boolean {
  const { path, type, ms, device, command, error, note, steps, by, at: when, outcome, ...rest } = wanted;
  if (by !== undefined && !isBy(by, trace.by)) return false;
  if (!matches(rest, trace)) return false;
  if (path === undefined && [type, ms, device, command].every(field => field === undefined)) {
    return (
      (outcome === undefined || trace.outcome === outcome) &&
      (error === undefined || isError(error, trace.error)) &&
      (note === undefined || (trace.note ?? '').includes(note)) &&
      (when === undefined || world.elapsed(when) === at) &&
      (steps === undefined || hasSteps(world, steps, trace.steps))
    );
  }
  const step = { path, type, ms, device, command, error, note, outcome, at: when };
  return trace.steps.some(one => isStep(world, step, one));
}

type StepMatch = Partial<
  Pick<TraceMatch, 'path' | 'type' | 'ms' | 'device' | 'command' | 'error' | 'note' | 'outcome' | 'at'>
>;

function isStep(world: World, wanted: StepMatch, step: StepTrace): boolean {
  const { error, note, device, at, ...rest } = wanted;
  const named = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  return (
    matches(named, step) &&
    (device === undefined || world.resolve(device) === step.device) &&
    (note === undefined || (step.note ?? '').includes(note)) &&
    (at === undefined || world.elapsed(at) === world.elapsedAt(step.at)) &&
    (error === undefined || isError(error, step.error))
  );
}

/** An error by its code, or by any of its fields. */
function isError(wanted: Json, error: unknown): boolean {
  if (wanted === null) return error === undefined;
  if (typeof wanted === 'string') return (error as { code?: string } | undefined)?.code === wanted;
  return matches(wanted, error);
}

/** Whether all wanted steps are there, in their order, others between them or not. */
function hasSteps(world: World, wanted: Json, steps: readonly StepTrace[]): boolean {
  if (!Array.isArray(wanted)) return false;
  let from = 0;
  for (const one of wanted) {
    const index = steps.findIndex((step, i) => i >= from && isStep(world, one as StepMatch, step));
    if (index < 0) return false;
    from = index + 1;
  }
  return true;
}
