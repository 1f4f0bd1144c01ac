// The steps of a rule by the path of their list, so that a position in it is a few small values.
import { actions } from '../actions/index.ts';
import type { StepConfig } from '../kind.ts';
import type { Body } from './record.ts';

/** All lists of steps of a rule, by path; `finally` beside `actions`. */
export function bodyOf(rule: { actions: readonly StepConfig[]; finally?: readonly StepConfig[] | undefined }): Body {
  const body = new Map<string, readonly StepConfig[]>();
  const add = (list: string, steps: readonly StepConfig[]) => {
    body.set(list, steps);
    for (const [index, step] of steps.entries()) {
      const lists = actions.get(step.type).lists?.(step) ?? {};
      for (const [name, inner] of Object.entries(lists)) add(`${list}/${index}/${name}`, inner);
      if (Array.isArray(step.on_error)) add(`${list}/${index}/on_error`, step.on_error);
    }
  };
  add('actions', rule.actions);
  if (rule.finally) add('finally', rule.finally);
  return body;
}

/** Names that `as` binds anywhere in a rule. */
export function bindingsOf(body: Body): string[] {
  const names = new Set<string>();
  for (const steps of body.values()) for (const step of steps) if (step.as !== undefined) names.add(step.as);
  return [...names];
}
