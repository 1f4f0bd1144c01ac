// Whether the expressions of a rule compile, and to the type that their place wants.

import { asCausewayError } from '../../lib/errors.ts';
import { compileExpression, compileTemplate, type Expected } from '../../lib/expression.ts';
import type { Finding } from '../../model/finding.ts';
import type { Json } from '../../model/value.ts';
import type { Rule } from '../rules/schema.ts';
import type { References } from './references.ts';

const NUMBERS = /\/(above|below|hysteresis|count|add)\/expr$/;
const DURATIONS = /\/(for|timeout)\/expr$/;

/** What stands at the path above an expression. */
function holderOf(rule: Rule, path: string): Record<string, Json> {
  const parts = path.split('/').slice(0, -1);
  return parts.reduce<unknown>((value, part) => (value as Record<string, unknown>)[part], rule) as Record<string, Json>;
}

function expectedAt(rule: Rule, path: string): Expected {
  if (NUMBERS.test(path)) return 'number';
  if (DURATIONS.test(path)) return 'duration';
  if (/\/mode\/expr$/.test(path)) return 'string';
  return holderOf(rule, path).type === 'expression' ? 'bool' : 'any';
}

/** Findings of severity `error`, each at its expression. */
export function checkExpressions(rule: Rule, { expressions, bindings }: References): Finding[] {
  const found = expressions.flatMap(({ path, source, isTemplate }): Finding[] => {
    // Only what runs after a step has what the step bound.
    const names = path.startsWith('triggers') || path.startsWith('condition') ? [] : bindings;
    return complain(path, () => {
      const { names: read } = isTemplate
        ? compileTemplate(source, { bindings: names })
        : compileExpression(source, { bindings: names, expect: expectedAt(rule, path) });
      const isTrigger = path.startsWith('triggers') && holderOf(rule, path).type === 'expression';
      if (!isTrigger || !read.dynamic) return undefined;
      return 'an expression of a trigger names devices and variables by literals, so that it is known when to look again';
    });
  });
  const { key } = rule.mode ?? {};
  if (key === undefined) return found;
  return [...found, ...complain('mode/key', () => void compileExpression(key))];
}

function complain(path: string, look: () => string | undefined): Finding[] {
  try {
    const message = look();
    return message === undefined ? [] : [{ code: 'type_mismatch', severity: 'error', path, message }];
  } catch (error) {
    const { message, hint } = asCausewayError(error);
    return [{ code: 'type_mismatch', severity: 'error', path, message, ...(hint !== undefined && { hint }) }];
  }
}
