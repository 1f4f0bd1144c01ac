// What the steps of a rule change, as far as it can be told before they run: from the declared effects of commands.
import { hasTemplate } from '../../lib/expression.ts';
import type { Effect } from '../../model/capability.ts';
import type { Target } from '../../model/target.ts';
import type { Json } from '../../model/value.ts';
import type { Devices } from '../../state/devices.ts';
import type { StepConfig } from '../kind.ts';
import type { Rule } from '../rules/schema.ts';
import { bodyOf } from '../run/body.ts';

/** What is written: a constant; something else each time; or what cannot be told. */
export type Written = { kind: 'constant'; is: Json } | { kind: 'moving' } | { kind: 'unknown' };

/** One change that a step can bring about. */
export type Write = {
  readonly path: string;
  readonly value: Written;
  /** The step runs in every run, at once. */
  readonly isUnconditional: boolean;
} & (
  | { readonly what: 'attribute'; readonly device: string; readonly attribute: string }
  | { readonly what: 'command'; readonly device: string; readonly command: string }
  /** `topic` is absent where it is computed. */
  | { readonly what: 'topic'; readonly topic: string | undefined }
  /** `owner`: the rule whose own kept variable it is; absent for the house's. */
  | { readonly what: 'variable'; readonly name: string; readonly owner?: string }
  | { readonly what: 'mode' }
  /** Its own end, which `rule` triggers hear. */
  | { readonly what: 'run'; readonly rule: string }
  | { readonly what: 'call'; readonly rule: string }
);

const UNKNOWN: Written = { kind: 'unknown' };
const MOVING: Written = { kind: 'moving' };

/** True for a value that is computed, wholly or somewhere inside. */
export function isComputed(value: Json | undefined): boolean {
  if (typeof value === 'string') return hasTemplate(value);
  if (value === null || typeof value !== 'object') return false;
  if (!Array.isArray(value) && typeof value.expr === 'string') return true;
  return Object.values(value).some(isComputed);
}

const literal = (value: Json | undefined): Written =>
  value === undefined || isComputed(value) ? UNKNOWN : { kind: 'constant', is: value };

/** Steps after which what follows need not be a direct consequence any more. */
const WAITS = new Set(['delay', 'wait_for', 'notify', 'http', 'call_rule']);

/** All that a rule's steps can change, `finally` included. */
export function effectsOf(rule: Rule, devices: Devices): Write[] {
  const writes: Write[] = [{ what: 'run', rule: rule.id, path: '', value: UNKNOWN, isUnconditional: false }];
  for (const [list, steps] of bodyOf(rule)) {
    // Steps within others may run or not; after a wait they come later.
    let isUnconditional = list === 'actions';
    for (const [index, step] of steps.entries()) {
      if (step.enabled === false) continue;
      writes.push(...writesOf(step, `${list}/${index}`, isUnconditional, rule, devices));
      if (WAITS.has(step.type)) isUnconditional = false;
    }
  }
  return writes;
}

function writesOf(step: StepConfig, path: string, isUnconditional: boolean, rule: Rule, devices: Devices): Write[] {
  const c = step as StepConfig & Record<string, Json | undefined>;
  const base = { path, isUnconditional };
  switch (step.type) {
    case 'command':
      return devices
        .members(c.device as unknown as Target)
        .flatMap(id => ofCommand(id, String(c.command), c.args, base, devices));
    case 'publish': {
      const topic = typeof c.topic === 'string' && !hasTemplate(c.topic) ? c.topic : undefined;
      return [{ ...base, what: 'topic', topic, value: literal(c.payload ?? '') }];
    }
    case 'set_variable': {
      const name = String(c.name);
      const own = rule.variables && Object.hasOwn(rule.variables, name) ? rule.variables[name] : undefined;
      // One that lives as long as its run starts nothing.
      if (own && !own.persist) return [];
      const adds = typeof c.add === 'number' && c.add !== 0;
      const value = adds || c.append !== undefined ? MOVING : c.value === undefined ? UNKNOWN : literal(c.value);
      return [{ ...base, what: 'variable', name, value, ...(own && { owner: rule.id }) }];
    }
    case 'call_rule':
      return [{ ...base, what: 'call', rule: String(c.rule), value: UNKNOWN }];
    case 'set_mode':
      return [{ ...base, what: 'mode', value: literal(c.mode) }];
    default:
      return [];
  }
}

function ofCommand(
  id: string,
  command: string,
  args: Json | undefined,
  base: { path: string; isUnconditional: boolean },
  devices: Devices,
): Write[] {
  const declared = devices.get(id)?.commands[command];
  const told: Write = { ...base, what: 'command', device: id, command, value: UNKNOWN };
  if (!declared) return [told];
  const byName: Record<string, Json> = Array.isArray(args)
    ? Object.fromEntries(args.map((value, index) => [declared.args[index]?.name ?? '', value]))
    : args !== null && typeof args === 'object'
      ? args
      : {};
  const written = (effect: Effect): Written => {
    if ('value' in effect) return { kind: 'constant', is: effect.value };
    if ('fromArg' in effect) return literal(byName[effect.fromArg]);
    // A toggle makes another value of it each time; a stop does not.
    return declared.idempotent ? UNKNOWN : MOVING;
  };
  const changes = declared.effects.filter(effect => !('fromArg' in effect) || byName[effect.fromArg] !== undefined);
  return [
    told,
    ...changes.map((effect): Write => {
      return { ...base, what: 'attribute', device: id, attribute: effect.attribute, value: written(effect) };
    }),
  ];
}
