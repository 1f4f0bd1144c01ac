// How a rule stands, as lists show it: ok, or the gravest of dormant, degraded, throttled, suspended (DESIGN §7).
import { memoByObject } from '../lib/memo.ts';
import { formatLocal } from '../lib/time/zone.ts';
import { backendOf } from '../model/device.ts';
import type { Target } from '../model/target.ts';
import { type References, referencesOf } from './analysis/references.ts';
import { type Core, isEnabled, type LiveRule } from './core.ts';
import { isThrottled } from './guard.ts';
import { nextOccurrences } from './next.ts';
import type { Rule } from './rules/schema.ts';

/** A status; `reason` says why, in one line, where it is not ok. */
export interface RuleStatus {
  readonly status: 'ok' | 'dormant' | 'degraded' | 'throttled' | 'suspended';
  readonly reason?: string;
}

/** A sun that stays away for longer than this makes a rule dormant. */
const DORMANT_MS = 48 * 3_600_000;
const ON_THE_CLOCK = new Set(['time', 'cron', 'sun']);

const references = memoByObject((rule: Rule): References => referencesOf(rule));

/** The status of a live rule now. */
export function statusOf(core: Core, live: LiveRule): RuleStatus {
  const { suspended } = live.runtime;
  if (suspended) return { status: 'suspended', reason: `${suspended.reason}: ${suspended.message}` };
  if (isThrottled(live.window, live.rule, core.timeline.now(), core.settings.guard))
    return { status: 'throttled', reason: 'it runs more often than its limits allow; what is over them is refused' };
  const missing = missingOf(core, live.rule);
  if (missing.length > 0) return { status: 'degraded', reason: missing.join(', ') };
  const dormant = isEnabled(live) ? dormantUntil(core, live) : undefined;
  return dormant === undefined ? { status: 'ok' } : { status: 'dormant', reason: dormant };
}

/** Whether a rule names a device of a backend by id or alias. */
export const namesBackend = ({ devices }: Pick<Core, 'devices'>, rule: Rule, backend: string): boolean =>
  references(rule).devices.some(({ target }) => idsOf(target).some(ref => backendOf(devices.resolve(ref)) === backend));

/** What the rule names and the house does not have, or cannot reach. */
function missingOf(core: Core, rule: Rule): string[] {
  const found = references(rule);
  const named = [...new Set(found.devices.flatMap(({ target }) => idsOf(target)))];
  const away = named.flatMap(ref => {
    const backend = backendOf(core.devices.resolve(ref));
    return core.devices.isAway(backend) ? [backend] : [];
  });
  const own = rule.variables ?? {};
  const variables = found.variables
    .map(variable => variable.name)
    .filter(name => !Object.hasOwn(own, name) && !core.house.variables.has(name));
  return [
    ...named.filter(ref => !core.devices.get(ref)).map(ref => `there is no device ${ref}`),
    ...[...new Set(away)].map(backend => `${backend} is offline`),
    ...[...new Set(variables)].map(name => `there is no variable ${name}`),
  ];
}

const idsOf = (target: Target): readonly string[] =>
  typeof target === 'string' ? [target] : Array.isArray(target) ? target : [];

/** Why no trigger of the rule fires for long, all of them being on the clock; undefined when one does. */
function dormantUntil(core: Core, live: LiveRule): string | undefined {
  const { triggers } = live;
  if (triggers.length === 0 || triggers.some(trigger => !ON_THE_CLOCK.has(trigger.config.type))) return undefined;
  const wall = core.timeline.wall();
  const nexts = triggers.map(trigger => ({ trigger, at: nextOccurrences(trigger, 1)[0]?.at }));
  const awake = nexts.some(
    ({ trigger, at }) => at !== undefined && (trigger.config.type !== 'sun' || at - wall <= DORMANT_MS),
  );
  if (awake) return undefined;
  const first = Math.min(...nexts.map(({ at }) => at ?? Number.POSITIVE_INFINITY));
  return Number.isFinite(first)
    ? `dormant until ${formatLocal(first, live.view.zone)}: the sun event does not happen before`
    : 'dormant: none of its times lies ahead';
}
