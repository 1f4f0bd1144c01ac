// Text with `{{ expr }}` inside. A literal "{{" is written {{ "{{" }}.
import { CausewayError } from '../errors.ts';
import { compileAt, type Expression, type ExpressionOptions } from './compile.ts';
import { invalid } from './complain.ts';
import type { Names } from './policy.ts';
import type { Scope } from './scope.ts';

/** A compiled text. */
export interface Template {
  readonly source: string;
  /** Literal text and expressions in their order. One expression alone may be evaluated for its value. */
  readonly parts: readonly (string | Expression)[];
  /** What all expressions read. */
  readonly names: Names;
  /** Never throws. The first expression without a result ends it. */
  evaluate(scope: Scope): { readonly ok: true; readonly text: string } | { readonly ok: false; readonly error: string };
}

// Of a template; each expression has its own bounds beside them.
const MAX_SOURCE = 65_536;
const MAX_EXPRESSIONS = 50;

/** Whether the text has an expression in it. */
export const hasTemplate = (text: string): boolean => text.includes('{{');

/** Compiles a text. Throws EXPRESSION_INVALID with the place of the fault in the whole text. */
export function compileTemplate(text: string, options: Omit<ExpressionOptions, 'expect'> = {}): Template {
  if (text.length > MAX_SOURCE) {
    throw invalid({ text, offset: 0 }, { start: 0, end: 0 }, `the text is longer than ${MAX_SOURCE} characters`);
  }
  const parts: (string | Expression)[] = [];
  let at = 0;
  for (let open = text.indexOf('{{'); open >= 0; open = text.indexOf('{{', at)) {
    if (open > at) parts.push(text.slice(at, open));
    const close = closing(text, open + 2);
    if (close < 0) {
      throw invalid(
        { text, offset: open },
        { start: 0, end: 2 },
        'the "{{" is not closed',
        'end the expression with }}',
      );
    }
    parts.push(compileAt(text.slice(open + 2, close), options, { text, offset: open + 2 }));
    at = close + 2;
  }
  if (at < text.length) parts.push(text.slice(at));

  const expressions = parts.filter(part => typeof part !== 'string');
  if (expressions.length > MAX_EXPRESSIONS) {
    throw new CausewayError('EXPRESSION_INVALID', `the text has more than ${MAX_EXPRESSIONS} expressions`);
  }
  return { source: text, parts, names: merge(expressions.map(expression => expression.names)), evaluate: fill(parts) };
}

function fill(parts: readonly (string | Expression)[]): Template['evaluate'] {
  return scope => {
    let text = '';
    for (const part of parts) {
      const result = typeof part === 'string' ? { ok: true as const, value: part } : part.evaluateText(scope);
      if (!result.ok) return result;
      text += result.value;
    }
    return { ok: true, text };
  };
}

/** The index of the `}}` that ends the expression: not one in a text literal, nor one that closes maps. */
function closing(text: string, from: number): number {
  let quote = '';
  let depth = 0;
  for (let i = from; i < text.length; i++) {
    const character = text[i] as string;
    if (quote) {
      if (character === '\\') i++;
      else if (character === quote) quote = '';
    } else if (character === '"' || character === "'") {
      quote = character;
    } else if (character === '{') {
      depth++;
    } else if (character === '}') {
      if (depth === 0 && text[i + 1] === '}') return i;
      depth--;
    }
  }
  return -1;
}

function merge(all: readonly Names[]): Names {
  const states = all.flatMap(names => names.states);
  return {
    states: [...new Map(states.map(state => [`${state.device}\n${state.attribute}`, state])).values()],
    variables: [...new Set(all.flatMap(names => names.variables))],
    mode: all.some(names => names.mode),
    now: all.some(names => names.now),
    sun: all.some(names => names.sun),
    dynamic: all.some(names => names.dynamic),
  };
}
