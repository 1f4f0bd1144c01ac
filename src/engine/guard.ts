// The guard: refuses runs that loop or flood (DESIGN §9). First the path of causes, then a sliding window as a net.
import { durationMs } from '../lib/duration.ts';
import { memoByObject } from '../lib/memo.ts';
import type { Cause, PathStep } from '../model/cause.ts';
import type { Rule } from './rules/schema.ts';

/** Why a rule stands still, and what would mend it. */
export interface Suspension {
  readonly reason: 'loop' | 'storm' | 'limits';
  /** ISO 8601. */
  readonly at: string;
  readonly message: string;
  /** The way round: each rule with what it ran upon. */
  readonly cycle: readonly PathStep[];
  readonly hints: readonly string[];
  /** ISO 8601, when it resumes by itself. */
  readonly resumeAt?: string;
  /** The same in engine time: a stepped clock does not move it. */
  readonly resumeDue?: number;
}

/** The house's bounds for rules that do not set their own. */
export interface GuardSettings {
  /** Runs within `perMs`. */
  readonly runs: number;
  readonly perMs: number;
  /** Rules that may cause each other in one chain. */
  readonly depth: number;
  /** Runs that one first cause may lead to. */
  readonly descendants: number;
}

/** What a house has that says nothing. */
export const GUARD_DEFAULTS: GuardSettings = { runs: 30, perMs: 60_000, depth: 16, descendants: 200 };

/** What is told when the guard steps in. */
export interface GuardNotice {
  readonly rule: string;
  readonly reason: 'loop' | 'storm' | 'budget';
  readonly suspended: boolean;
  readonly at: string;
  readonly message: string;
  readonly cycle: readonly PathStep[];
  readonly hints: readonly string[];
}

/** The guard's memory of one rule. Instants are engine time. */
export interface GuardWindow {
  /** Runs that count, oldest first. */
  starts: { at: number; byRule: boolean; from: string }[];
  /** When the present stretch of refusals was first noticed. */
  throttledUntil: number;
  /** Windows in a row with refusals, the start of the last. */
  stormWindows: number;
  stormWindowAt: number;
  /** Until when commands of the rule stay refused for want of a device's budget, as far as is known. */
  budgetUntil: number;
}

/** A fresh memory. */
export const guardWindow = (): GuardWindow => ({
  starts: [],
  throttledUntil: 0,
  stormWindows: 0,
  stormWindowAt: 0,
  budgetUntil: 0,
});

const STORM_WINDOWS = 5;
const ROOTS = 5_000;

/** After a wait this long what follows is no direct consequence any more: the chain is told, but not stopped as a loop. */
export const SLOW_MS = 10_000;

/** The cause of what comes after such a wait. */
export function slowed(cause: Cause): Cause {
  if (cause.path.length === 0) return cause;
  return {
    ...cause,
    path: cause.path.map((step, i) => (i === cause.path.length - 1 ? { ...step, slow: true } : step)),
  };
}

/** The rules passed since the last such wait. */
const directPath = (cause: Cause): readonly PathStep[] =>
  cause.path.slice(cause.path.findLastIndex(step => step.slow === true) + 1);

/** Counts what came of each root in one go; the oldest roots are forgotten. */
export class Roots {
  private readonly counts = new Map<string, { n: number; at: number }>();

  /** @param now engine time */
  add(root: string, now: number): number {
    const known = this.counts.get(root);
    // A cycle with a period of minutes goes on for days from one root, and is no flood.
    const n = known && now - known.at < SLOW_MS ? known.n + 1 : 1;
    this.counts.delete(root);
    this.counts.set(root, { n, at: now });
    if (this.counts.size > ROOTS) this.counts.delete(this.counts.keys().next().value as string);
    return n;
  }
}

/** What the guard says of a run that would start. */
export type Verdict =
  | { ok: true }
  | { ok: false; reason: 'guard'; cycle: readonly PathStep[]; message: string }
  /** `notice`: the first refusal of this stretch. `suspend`: too often in a row, or the rule wishes it so. */
  | { ok: false; reason: 'throttled'; notice: boolean; suspend: boolean; message: string }
  | { ok: false; reason: 'guard'; net: true; cycle: readonly PathStep[]; message: string };

/** The path test: would this run close a loop? */
export function pathTest(rule: string, on: string, cause: Cause, descendants: number, house: GuardSettings): Verdict {
  const direct = directPath(cause);
  const before = direct.filter(step => step.rule === rule);
  const seen = before.some(step => step.on === on);
  if (before.length > 1 || (before.length === 1 && seen)) {
    const from = direct.findIndex(step => step.rule === rule);
    const cycle = [...direct.slice(from), { rule, on }];
    const names = [...new Set(cycle.map(step => step.rule))];
    const way = names.length === 1 ? `${rule} starts itself` : `${names.join(' → ')} → ${rule}`;
    return {
      ok: false,
      reason: 'guard',
      cycle,
      message: `${way}: it ran upon ${before.map(step => step.on).join(', then ')} and now would upon ${on}`,
    };
  }
  if (direct.length >= house.depth) {
    return { ok: false, reason: 'guard', cycle: direct, message: `a chain of more than ${house.depth} rules` };
  }
  if (descendants > house.descendants) {
    return {
      ok: false,
      reason: 'guard',
      cycle: direct,
      message: `more than ${house.descendants} runs came of one cause (${cause.root})`,
    };
  }
  return { ok: true };
}

/** The net: how often a rule may run. What is admitted is to be told to `countRun`. */
export function netTest(
  window: GuardWindow,
  rule: Rule,
  cause: Cause,
  now: number,
  house: { runs: number; perMs: number },
): Verdict {
  const { runs, per } = limitsOf(rule, house);
  const { starts } = window;
  forget(starts, now - per, starts.length >= runs);
  if (starts.length < runs) return { ok: true };
  const byRule = isByRule(cause);
  const rate = `${runs} runs in ${per / 1000} s`;
  // What rules pass on from many first causes outside is a storm, not a loop.
  if (byRule && starts.filter(start => start.byRule && start.from === outsideOf(cause)).length >= runs / 2) {
    const cycle = [...cause.path];
    return { ok: false, reason: 'guard', net: true, cycle, message: `more than ${rate}, caused by rules` };
  }
  const notice = now >= window.throttledUntil;
  if (notice) {
    // Refusals in the very next window make it a row.
    window.stormWindows = now - window.stormWindowAt <= 2 * per ? window.stormWindows + 1 : 1;
    window.stormWindowAt = now;
    window.throttledUntil = now + per;
  }
  const suspend = rule.limits?.on_exceed === 'suspend' || window.stormWindows >= STORM_WINDOWS;
  return {
    ok: false,
    reason: 'throttled',
    notice: notice && window.stormWindows === 1,
    suspend,
    message: `more than ${rate}`,
  };
}

const FEW = 64;

/** Drops what is out of the window; of many only half at a time, since each removal moves all that stay. */
function forget(starts: GuardWindow['starts'], until: number, isFull: boolean): void {
  const isDue = starts.length < FEW || isFull || (starts[starts.length >> 1] as { at: number }).at <= until;
  if (!isDue) return;
  let gone = 0;
  while (gone < starts.length && (starts[gone] as { at: number }).at <= until) gone++;
  if (gone > 0) starts.splice(0, gone);
}

const isByRule = (cause: Cause): boolean => directPath(cause).length > 0;

/** The first cause, where it is one of the outside: schedules and starts are the house's own. */
const outsideOf = ({ origin, root }: Cause): string =>
  ['schedule', 'startup', 'system'].includes(origin.kind) ? '' : root;

/** A run was admitted: a refused one fills no window (FORMATS §2.13). */
export function countRun(window: GuardWindow, cause: Cause, now: number): void {
  window.starts.push({ at: now, byRule: isByRule(cause), from: outsideOf(cause) });
}

/** Whether what is over the limits is being refused now: it has been, and the window is still full. */
export function isThrottled(
  window: GuardWindow,
  rule: Rule,
  now: number,
  house: { runs: number; perMs: number },
): boolean {
  if (now < window.budgetUntil) return true;
  if (now >= window.throttledUntil) return false;
  const { runs, per } = limitsOf(rule, house);
  return window.starts.filter(start => start.at > now - per).length >= runs;
}

const perMs = memoByObject(({ per }: NonNullable<Rule['limits']>) => (per === undefined ? undefined : durationMs(per)));

const limitsOf = ({ limits }: Rule, house: { runs: number; perMs: number }) => ({
  runs: limits?.runs ?? house.runs,
  per: (limits && perMs(limits)) ?? house.perMs,
});

/** What would mend a loop. */
export function hintsFor(cycle: readonly PathStep[]): string[] {
  const rules = [...new Set(cycle.map(step => step.rule))];
  return [
    'add from and to, so that the trigger fires on the one change that is meant',
    'add a condition that is false once the work is done',
    ...(cycle.some(step => /=-?\d/.test(step.on))
      ? ['add a hysteresis, or wait for the value to settle with for']
      : []),
    ...(rules.length > 1 ? [`let one rule do the work of ${rules.join(' and ')}`] : []),
    'let the trigger look away from the rule’s own doing: by: not:rule',
  ];
}
