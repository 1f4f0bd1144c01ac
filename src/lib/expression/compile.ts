// From text to something that can be evaluated: parse, inspect, check types, build.
import type { ASTNode } from '@marcbachmann/cel-js';
import { parseDuration } from '../duration.ts';
import type { Json } from '../json.ts';
import { invalid, type Origin, plain, retell } from './complain.ts';
import { build } from './evaluate.ts';
import { Fault, type Frame, LIMITS, type Place } from './frame.ts';
import { parse } from './language.ts';
import { inspect, type Names } from './policy.ts';
import { FIELDS, isFreeName, ROOTS, type RootName, type Scope } from './scope.ts';
import { asBool, asNumber, asText, isDuration, kindOf, toJson, toText } from './values.ts';

/** What the result has to be. A `duration` may also be its text. */
export type Expected = 'any' | 'bool' | 'number' | 'string' | 'duration';

/** How an expression is compiled. */
export interface ExpressionOptions {
  /** `any` unless told; a static type that cannot fit is refused, a dynamic one is checked at each evaluation. */
  readonly expect?: Expected;
  /** Names that `as` may have bound. */
  readonly bindings?: readonly string[];
  /** The root names that may be used; all unless told. */
  readonly allow?: readonly RootName[];
}

/** A result, or why there is none: for a condition that is "unknown". */
export type Evaluation = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly error: string };

/** A compiled expression. It holds no state of its evaluations and may be shared. */
export interface Expression {
  readonly source: string;
  /** The static CEL type: bool, int, double, string, list, map, timestamp, duration, null, or dyn (known only at run time). */
  readonly type: string;
  readonly names: Names;
  /**
   * Never throws. Numbers come as JS numbers, a timestamp as ISO 8601 text, a duration as its stored form (`5m`); with
   * `expect: 'duration'` the value is milliseconds.
   */
  evaluate(scope: Scope): Evaluation;
  /** The result as it stands in text. */
  evaluateText(scope: Scope): Evaluation;
}

/** Compiles CEL. Throws EXPRESSION_INVALID with the place of the fault, `details: { line, column }`. */
export const compileExpression = (source: string, options: ExpressionOptions = {}): Expression =>
  compileAt(source, options, { text: source, offset: 0 });

/** Compiles an expression that stands inside a longer text, in whose lines and columns a fault is told. */
export function compileAt(source: string, options: ExpressionOptions, origin: Origin): Expression {
  const whole = { start: 0, end: source.length };
  if (source.trim() === '') throw invalid(origin, whole, 'the expression is empty');
  if (source.length > LIMITS.source) {
    throw invalid(origin, whole, `the expression is longer than ${LIMITS.source} characters`);
  }
  const reject = (node: ASTNode, message: string, hint?: string): never => {
    // The library's `pos` of a field is the field, not the path before it.
    throw invalid(origin, { start: node.pos, end: node.end }, message, hint);
  };
  const parsed = told(() => parse(source), source, origin);
  const names = inspect(parsed.ast, knownNames(options), reject);
  const type = told(parsed.check, source, origin);
  const expected = options.expect ?? 'any';
  if (!fits(type, expected)) throw invalid(origin, whole, `a ${expected} is wanted here, this is ${plain(type)}`);
  const run = build(parsed.ast, reject);

  function evaluate(scope: Scope, convert: (value: unknown, frame: Frame) => Json): Evaluation {
    const frame: Frame = { scope, left: LIMITS.work, item: undefined, at: whole };
    try {
      const value = run(frame);
      frame.at = whole;
      return { ok: true, value: convert(value, frame) };
    } catch (thrown) {
      const at = (thrown instanceof Fault && thrown.at) || frame.at;
      return { ok: false, error: `${messageOf(thrown)}, in ${excerpt(source, at)}` };
    }
  }
  return {
    source,
    type: Object.hasOwn(FIELDS, type) ? 'map' : plain(type).replace(/<.*>$/, ''),
    names,
    evaluate: scope => evaluate(scope, CONVERT[expected]),
    evaluateText: scope => evaluate(scope, toText),
  };
}

function told<T>(step: () => T, source: string, origin: Origin): T {
  try {
    return step();
  } catch (thrown) {
    throw retell(thrown, source, origin);
  }
}

function knownNames({ allow, bindings }: ExpressionOptions): Set<string> {
  return new Set([...(allow ?? Object.keys(ROOTS)), ...(bindings ?? []).filter(isFreeName)]);
}

const FITTING: Readonly<Record<Expected, readonly string[]>> = {
  any: [],
  bool: ['bool'],
  number: ['int', 'double'],
  string: ['string'],
  duration: ['google.protobuf.Duration', 'string'],
};

const fits = (type: string, expected: Expected): boolean =>
  expected === 'any' || type === 'dyn' || FITTING[expected].includes(type);

const CONVERT: Readonly<Record<Expected, (value: unknown, frame: Frame) => Json>> = {
  any: toJson,
  bool: asBool,
  number: asNumber,
  string: asText,
  duration: toMs,
};

function toMs(value: unknown): number {
  if (isDuration(value)) return value.ms;
  const ms = typeof value === 'string' ? parseDuration(value) : undefined;
  if (ms !== undefined) return ms;
  if (typeof value === 'number') throw new Fault('a number has no unit; write duration("5m"), or string(n) + "s"');
  throw new Fault(
    `a duration is wanted, this is ${typeof value === 'string' ? `"${value.slice(0, 40)}"` : kindOf(value)}`,
  );
}

function messageOf(thrown: unknown): string {
  // Data nested thousands deep ends the recursion, not the process.
  if (thrown instanceof RangeError) return 'the data is nested too deep';
  return thrown instanceof Fault || thrown instanceof Error ? thrown.message : String(thrown);
}

function excerpt(source: string, at: Place): string {
  const text = source.slice(at.start, at.end).replace(/\s+/g, ' ').trim();
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}
