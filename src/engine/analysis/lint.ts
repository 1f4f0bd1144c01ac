// What a rule says of itself without a look at the house: what never happens, what always holds, what is likely forgotten.
import { durationMs } from '../../lib/duration.ts';
import { canonical } from '../../lib/json.ts';
import { parseWindow } from '../../lib/time/window.ts';
import type { Finding } from '../../model/finding.ts';
import type { Json } from '../../model/value.ts';
import type { StepConfig } from '../kind.ts';
import { type Rule, triggerId } from '../rules/schema.ts';
import { bodyOf } from '../run/body.ts';
import { covering, excluding } from './certainties.ts';
import { isComputed } from './writes.ts';

type Config = Record<string, Json | undefined>;

/** Findings that need nothing but the rule. */
export function lint(rule: Rule): Finding[] {
  const findings: Finding[] = [];
  visit(rule.triggers as unknown as Json, 'triggers', (config, path) => findings.push(...ofTrigger(config, path)));
  for (const part of ['condition', 'while', 'actions'] as const) {
    visit((rule[part] ?? null) as unknown as Json, part, (config, path) =>
      findings.push(...ofCondition(config, path, rule)),
    );
  }
  for (const [list, steps] of bodyOf(rule))
    for (const [index, step] of steps.entries()) findings.push(...ofStep(step, `${list}/${index}`));
  return [...findings, ...waitsOnItself(rule), ...withoutFinally(rule)];
}

/** Calls for every configuration below a place. */
function visit(value: Json, path: string, look: (config: Config, path: string) => void): void {
  if (value === null || typeof value !== 'object') return;
  if (!Array.isArray(value) && typeof value.type === 'string') look(value, path);
  for (const [key, item] of Object.entries(value)) visit(item, `${path}/${key}`, look);
}

function ofTrigger(c: Config, path: string): Finding[] {
  if (c.type === 'cron') return skipsMonths(String(c.cron), path);
  if (c.type === 'state') {
    const to = [c.to ?? []].flat();
    const isNowhere = (field: Json | undefined) =>
      to.length > 0 &&
      field !== undefined &&
      to.every(value => [field].flat().some(one => canonical(one) === canonical(value)));
    if (isNowhere(c.not_to)) return [never(`${path}/to`, 'every value of to is one of not_to')];
    if (isNowhere(c.from) && to.length === 1 && [c.from].flat().length === 1)
      return [never(`${path}/to`, 'from and to are the same value, and a change is from one value to another')];
  }
  return [];
}

const never = (path: string, message: string, hint?: string): Finding => ({
  code: 'never_fires',
  severity: 'warning',
  path,
  message,
  ...(hint !== undefined && { hint }),
});

/** A day of the month that some of its months do not have. */
function skipsMonths(cron: string, path: string): Finding[] {
  const fields = cron.trim().split(/\s+/);
  const [day = '*', month = '*', weekday = '*'] = fields.slice(-3);
  const days = day.split(',').map(Number);
  if (weekday !== '*' || !days.every(one => one >= 29 && one <= 31)) return [];
  const least = Math.min(...days);
  const lacking = least === 29 ? ['2'] : least === 30 ? ['2'] : ['2', '4', '6', '9', '11'];
  const months = month === '*' ? undefined : month.split(',');
  // On 29 February alone somebody means the leap day.
  if (months && !months.some(one => lacking.includes(one) && months.length > 1)) return [];
  const message = `day ${day} does not happen in every month; those without it are passed over`;
  return [
    { code: 'skips_months', severity: 'warning', path: `${path}/cron`, message, hint: 'L is the last day of a month' },
  ];
}

function ofCondition(c: Config, path: string, rule: Rule): Finding[] {
  if (c.type === 'time' && (typeof c.after === 'string' || typeof c.before === 'string')) return ofWindow(c, path);
  if (c.type === 'expression' && typeof c.expr === 'string' && c.expr.trim() === 'true')
    return [{ code: 'always_true', severity: 'info', path, message: 'this condition always holds' }];
  if ((c.type === 'and' || c.type === 'or') && Array.isArray(c.conditions)) {
    const conditions = c.conditions as Config[];
    const excluded = c.type === 'and' ? excluding(conditions) : undefined;
    if (excluded !== undefined) return [never(path, `these conditions exclude each other on ${excluded}`)];
    const covered = c.type === 'or' ? covering(conditions) : undefined;
    if (covered !== undefined)
      return [
        { code: 'always_true', severity: 'info', path, message: `one of these always holds, whatever ${covered} is` },
      ];
  }
  if (c.type === 'trigger' && c.id !== undefined && !path.startsWith('triggers')) {
    const ids = rule.triggers.map((_, index) => triggerId(rule, index));
    const unknown = [c.id].flat().filter(id => typeof id === 'string' && !ids.includes(id));
    if (unknown.length > 0)
      return [never(`${path}/id`, `the rule has no trigger ${unknown.join(', ')}; it has ${ids.join(', ')}`)];
  }
  if (c.type === 'choose' && Array.isArray(c.choose)) {
    const seen = new Set<string>();
    return c.choose.flatMap((option, index): Finding[] => {
      const key = canonical((option as Config).condition);
      if (!seen.has(key)) {
        seen.add(key);
        return [];
      }
      const message = 'an option above has the same condition, so this one is never chosen';
      return [{ code: 'shadowed', severity: 'warning', path: `${path}/choose/${index}`, message }];
    });
  }
  return [];
}

function ofWindow(c: Config, path: string): Finding[] {
  const bounds = {
    ...(typeof c.after === 'string' && { after: c.after }),
    ...(typeof c.before === 'string' && { before: c.before }),
  };
  if (c.after === c.before)
    return [{ code: 'always_true', severity: 'info', path, message: 'a window with equal bounds is the whole day' }];
  if (parseWindow(bounds).endsDaysLater === 0) return [];
  const message = `the window from ${c.after} until ${c.before} goes over midnight`;
  return [{ code: 'wraps_midnight', severity: 'info', path, message }];
}

/** Steps that only hold others. */
const BLOCKS = new Set(['if', 'choose', 'repeat', 'parallel', 'sequence']);

function ofStep(step: StepConfig, path: string): Finding[] {
  if (step.retry !== undefined && BLOCKS.has(step.type)) {
    const message = `retry does nothing on ${step.type}: a step is tried again, not what it holds`;
    return [never(`${path}/retry`, message, 'put retry on the steps inside')];
  }
  if (step.type !== 'wait_for' || step.timeout !== undefined) return [];
  const message = 'without a timeout the wait ends after an hour';
  return [
    {
      code: 'no_timeout',
      severity: 'warning',
      path,
      message,
      hint: 'write timeout, and what is to be done then in on_timeout',
    },
  ];
}

/** A wait on what a step before it has just commanded: in a backtest nothing answers. */
function waitsOnItself(rule: Rule): Finding[] {
  const findings: Finding[] = [];
  for (const [list, steps] of bodyOf(rule)) {
    for (const [index, step] of steps.entries()) {
      const until = (step as unknown as Config).until as Config | undefined;
      if (step.type !== 'wait_for' || until?.device === undefined) continue;
      const inside = ((step as unknown as { do?: StepConfig[] }).do ?? []) as StepConfig[];
      const commanded = [...steps.slice(0, index), ...inside].filter(one => one.type === 'command');
      const isOwn = commanded.some(one => canonical((one as unknown as Config).device) === canonical(until.device));
      if (!isOwn) continue;
      const message = 'it waits for a device that this rule has just commanded';
      findings.push({ code: 'wait_depends_on_self', severity: 'info', path: `${list}/${index}`, message });
    }
  }
  return findings;
}

const UNDOES: Readonly<Record<string, string>> = {
  on: 'off',
  open: 'close',
  unlock: 'lock',
  siren: 'off',
  strobe: 'off',
  both: 'off',
};

/** Switched on, then off after a wait: what ends the run between leaves it on. */
function withoutFinally(rule: Rule): Finding[] {
  if (rule.finally?.length) return [];
  const open = new Map<string, { path: string; off: string; waited: boolean }>();
  for (const [index, step] of rule.actions.entries()) {
    const c = step as unknown as Config;
    const isLong = step.type === 'delay' && (isComputed(c.for) || durationMs(String(c.for)) >= 10_000);
    if (isLong || step.type === 'wait_for') for (const one of open.values()) one.waited = true;
    if (step.type !== 'command') continue;
    const key = canonical(c.device);
    const before = open.get(key);
    if (before?.waited && c.command === before.off) {
      const message = `whatever ends the run before actions/${index} leaves ${key} as actions/${before.path.split('/')[1]} put it`;
      const hint = `write finally: [ { type: command, device: ${key}, command: "${before.off}" } ]`;
      return [{ code: 'no_finally', severity: 'info', path: before.path, message, hint }];
    }
    const off = UNDOES[String(c.command)];
    if (off !== undefined) open.set(key, { path: `actions/${index}`, off, waited: false });
  }
  return [];
}

/** The command that undoes one that puts something to work; undefined for others. */
export const undoes = (command: string): string | undefined => UNDOES[command];
