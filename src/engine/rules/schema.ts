// The schema of a rule as a whole: the frame of the model joined with the tables of kinds.
import { z } from 'zod';
import { CausewayError } from '../../lib/errors.ts';
import { joined, plainWords } from '../../lib/problems.ts';
import { didYouMean } from '../../lib/text.ts';
import { ruleSchema } from '../../model/rule.ts';
import { Action, actions } from '../actions/index.ts';
import { Condition, conditions } from '../conditions/index.ts';
import type { ConditionConfig, StepConfig, TriggerConfig } from '../kind.ts';
import { Trigger, triggers } from '../triggers/index.ts';

/** Scenarios of a rule are checked by the runner, which knows their format. */
const Scenario = z.looseObject({ name: z.string().optional() });

/** Steps that `finally` may hold (FORMATS §2.7). */
const FINALLY_TYPES = ['command', 'set_variable', 'notify', 'log'];
const IDS = /^t(\d+)$/;

/** The schema of a rule. */
export const RuleSchema = ruleSchema({
  trigger: Trigger,
  condition: Condition,
  action: Action,
  scenario: Scenario,
}).superRefine((rule, context) => {
  const seen = new Set<string>();
  for (const [index, trigger] of (rule.triggers as TriggerConfig[]).entries()) {
    const id = trigger.id ?? `t${index + 1}`;
    if (seen.has(id))
      context.addIssue({
        code: 'custom',
        path: ['triggers', index, 'id'],
        message: `another trigger has the id ${id}`,
      });
    seen.add(id);
  }
  for (const [index, step] of ((rule.finally ?? []) as StepConfig[]).entries()) {
    if (!FINALLY_TYPES.includes(step.type)) {
      context.addIssue({
        code: 'custom',
        path: ['finally', index, 'type'],
        message: `finally may hold ${FINALLY_TYPES.join(', ')}; a ${step.type} step could not be trusted to end`,
      });
    }
  }
  if (rule.mode?.overflow === 'coalesce' && rule.mode.type !== 'queued') {
    context.addIssue({ code: 'custom', path: ['mode', 'overflow'], message: 'coalesce is for queued only' });
  }
  if (rule.use !== undefined)
    context.addIssue({ code: 'custom', path: ['use'], message: 'templates are reserved and not built yet' });
});

/** A parsed rule. */
export type Rule = Omit<z.infer<typeof RuleSchema>, 'triggers' | 'condition' | 'while' | 'actions' | 'finally'> & {
  triggers: TriggerConfig[];
  condition?: ConditionConfig | undefined;
  while?: ConditionConfig | undefined;
  actions: StepConfig[];
  finally?: StepConfig[] | undefined;
};

/** The id of a trigger: its own, or `t1`, `t2` … by its place. */
export const triggerId = (rule: Pick<Rule, 'triggers'>, index: number): string =>
  rule.triggers[index]?.id ?? `t${index + 1}`;

/** One thing that is wrong with a rule, in the path language. */
export interface RuleIssue {
  path: string;
  message: string;
  hint?: string;
}

/** A rule, or all that is wrong with it. */
export type ParsedRule = { rule: Rule } | { issues: RuleIssue[] };

/** Checks the shape of a rule. */
export function parseRule(input: unknown): ParsedRule {
  const parsed = RuleSchema.safeParse(input, { reportInput: true, error: plainWords });
  if (parsed.success) return { rule: parsed.data as Rule };
  return { issues: parsed.error.issues.flatMap(issue => readable(issue, input)) };
}

/** @throws RULE_INVALID with the path of the first issue and all of them in `details` */
export function requireRule(input: unknown): Rule {
  const parsed = parseRule(input);
  if ('rule' in parsed) return parsed.rule;
  throw invalidRule(parsed.issues);
}

/** The error of a rule that cannot be saved. */
export function invalidRule(issues: readonly RuleIssue[]): CausewayError {
  const [first] = issues;
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : '';
  return new CausewayError('RULE_INVALID', `${first?.path || 'the rule'}: ${first?.message ?? 'is invalid'}${more}`, {
    path: first?.path ?? '',
    ...(first?.hint !== undefined && { hint: first.hint }),
    details: { issues },
  });
}

const typesAt = (path: readonly PropertyKey[]): string[] => {
  const list = path.filter(part => typeof part === 'string').at(-1);
  const all = (table: { kinds: readonly { type: string }[] }) => table.kinds.map(kind => kind.type);
  if (list === 'triggers' || list === 'steps' || list === 'of' || list === 'without') return all(triggers);
  if (list === 'condition' || list === 'conditions' || list === 'while') return all(conditions);
  if (list === 'until') return [...all(conditions), ...all(triggers)];
  return all(actions);
};

const at = (input: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (value, part) =>
      value !== null && typeof value === 'object' ? (value as Record<PropertyKey, unknown>)[part] : undefined,
    input,
  );

function readable(issue: z.core.$ZodIssue, input: unknown, base: readonly PropertyKey[] = []): RuleIssue[] {
  const path = [...base, ...issue.path];
  const where = path.map(String).join('/');
  if (issue.code === 'invalid_union') {
    if (issue.discriminator !== undefined && issue.errors.length === 0) {
      const holder = path.slice(0, -1);
      const type = at(input, path);
      const known = typesAt(holder);
      if (type === undefined) return [{ path: where, message: `a type is missing; ${didYouMean('', known)}` }];
      return [{ path: where, message: `there is no type "${String(type)}" here; ${didYouMean(String(type), known)}` }];
    }
    // Of several shapes the one that was meant is the one that fits best: its issues lie deepest.
    const branches = issue.errors.map(errors => errors.flatMap(inner => readable(inner, input, path)));
    const depth = (issues: RuleIssue[]) => Math.max(0, ...issues.map(i => i.path.split('/').length));
    const best = branches.sort((a, b) => depth(b) - depth(a) || a.length - b.length)[0];
    if (!best || depth(best) <= path.length) {
      const messages = [...new Set(branches.flat().map(i => i.message))];
      return [told(where, path, messages.length > 0 ? (joined(messages) ?? messages.join('; or ')) : issue.message)];
    }
    return best;
  }
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map(key => {
      const hint = hintFor(key, input, path);
      const message = `there is no field "${key}" here`;
      return { path: [where, key].filter(Boolean).join('/'), message, ...(hint !== undefined && { hint }) };
    });
  }
  if (issue.code === 'invalid_type' && issue.input === undefined && at(input, path) === undefined) {
    return [{ path: where, message: `is missing (${issue.expected})` }];
  }
  return [told(where, path, issue.message)];
}

/** Fields that take a duration; a bare number is the most frequent mistake of all. */
const DURATIONS = new Set(
  'for within every timeout debounce throttle per resume_after run_timeout backoff shift offset window'.split(' '),
);

function told(where: string, path: readonly PropertyKey[], message: string): RuleIssue {
  const number = DURATIONS.has(String(path.at(-1))) ? /got (\d+)$/.exec(message)?.[1] : undefined;
  return {
    path: where,
    message,
    ...(number !== undefined && { hint: `a duration has a unit: ${number}s, ${number}m` }),
  };
}

function hintFor(key: string, input: unknown, path: readonly PropertyKey[]): string | undefined {
  const holder = at(input, path) as { type?: unknown } | undefined;
  const tables = [triggers, conditions, actions];
  const kinds = tables.flatMap(table => table.kinds.filter(kind => kind.type === holder?.type));
  const known =
    path.length === 0 ? Object.keys(RuleSchema.shape) : kinds.flatMap(kind => Object.keys(kind.schema.shape));
  return known.length === 0 ? undefined : didYouMean(key, new Set(known));
}

/** True for an id that a trigger gets by its place. */
export const isPlaceId = (id: string): boolean => IDS.test(id);
