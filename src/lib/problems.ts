// What is wrong with a file, a place at a time: the form in which configuration, house and rules report it, and how
// the issues of a zod schema become such problems, in plain words and with the name that was probably meant.
import type { z } from 'zod';
import { CausewayError, type ErrorCode } from './errors.ts';
import { keysAt, metaAt } from './schema.ts';
import { didYouMean, nearest } from './text.ts';

/** Where something stands in a file, counted from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** One thing that is wrong. */
export interface Problem extends Partial<Position> {
  /** The file, or the environment variable that set the value. */
  readonly source: string;
  /** In the path language of rules: `http/port`; empty for the whole. */
  readonly path: string;
  readonly message: string;
  readonly hint?: string | undefined;
}

/** A problem before it is known where the place stands. `at: key` points at the key, not at its value. */
export interface Issue {
  readonly path: readonly PropertyKey[];
  readonly at: 'key' | 'value';
  readonly message: string;
  readonly hint?: string | undefined;
}

/** The path language: `actions/1/choose/0/then/0`. */
export const pathText = (path: readonly PropertyKey[]): string => path.map(String).join('/');

/** One line: `config.yaml:3:5 http/prot: unknown key "prot"; did you mean "port"?` */
export function problemText({ source, line, column, path, message, hint }: Problem): string {
  const where = line === undefined ? source : `${source}:${line}:${column}`;
  return `${where} ${path ? `${path}: ` : ''}${message}${hint ? `; ${hint}` : ''}`;
}

/** All problems as one error, its message readable as it stands, the list in `details.problems`. */
export function problemsError(code: ErrorCode, problems: readonly Problem[]): CausewayError {
  const [first] = problems;
  const lines = problems.map(problemText);
  const message = lines.length === 1 ? (lines[0] as string) : `${lines.length} problems:\n  ${lines.join('\n  ')}`;
  return new CausewayError(code, message, {
    ...(first?.path && { path: first.path }),
    ...(problems.length === 1 && first?.hint && { hint: first.hint }),
    details: { problems },
  });
}

/** What a schema has against a value, in plain words; the value itself when it has nothing. */
export function check<S extends z.ZodType>(
  schema: S,
  input: unknown,
): { ok: true; value: z.output<S> } | { ok: false; issues: Issue[] } {
  const result = schema.safeParse(input, { reportInput: true, error: plainWords });
  if (result.success) return { ok: true, value: result.data };
  return { ok: false, issues: result.error.issues.flatMap(issue => flatten(issue, schema, input)) };
}

const EXPECTED: Record<string, string> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'a map of keys and values',
  record: 'a map of keys and values',
  array: 'a list',
};

const FORMATS: Record<string, string> = { url: 'a URL', email: 'an e-mail address', datetime: 'a stamp' };

/** What an issue of zod says, in plain words; for `error` of a parse with `reportInput`. */
export function plainWords(issue: z.core.$ZodRawIssue): string | undefined {
  const got = issue.input === undefined ? ', got nothing' : `, got ${show(issue.input)}`;
  const than = 'inclusive' in issue && issue.inclusive === false;
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${EXPECTED[issue.expected] ?? issue.expected}${got}`;
    case 'invalid_value':
      return `expected ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.map(String).join(', ')}${got}`;
    case 'too_small':
      if (issue.origin === 'string' && issue.minimum === 1) return 'may not be empty';
      return `expected ${than ? 'more than' : 'at least'} ${issue.minimum}${unitOf(issue.origin)}${got}`;
    case 'too_big':
      return `expected ${than ? 'less than' : 'at most'} ${issue.maximum}${unitOf(issue.origin)}${got}`;
    case 'invalid_format':
      return `expected ${FORMATS[issue.format] ?? issue.format}${got}`;
    case 'invalid_union':
      if (!issue.discriminator) return `none of the forms allowed here${got}`;
      return `unknown ${issue.discriminator} ${show(typeIn(issue))}`;
    default:
      return undefined;
  }
}

const unitOf = (origin: string): string =>
  origin === 'string' ? ' characters' : origin === 'array' || origin === 'set' ? ' entries' : '';

function show(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (value !== null && typeof value === 'object') return 'a map';
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

function flatten(issue: z.core.$ZodIssue, schema: z.ZodType, input: unknown): Issue[] {
  const { path, message } = issue;
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map(key => ({
        path: [...path, key],
        at: 'key',
        message: `unknown key "${key}"`,
        hint: didYouMean(key, keysAt(schema, path, input)),
      }));
    case 'invalid_key':
      return issue.issues.map(inner => ({ path, at: 'key', message: inner.message }));
    case 'invalid_value':
      return [
        { path, at: 'value', message: hide(message, schema, path, input), hint: near(issue.input, issue.values) },
      ];
    case 'invalid_union': {
      if (issue.discriminator) {
        // zod reports them (4.6) but does not declare them.
        const { options = [] } = issue as { options?: readonly unknown[] };
        return [{ path, at: 'value', message, hint: didYouMean(String(typeIn(issue) ?? ''), options.map(String)) }];
      }
      // The form that was meant is of the value's kind, then of its `type`, then the one with the fewest faults.
      const rank = (form: readonly z.core.$ZodIssue[]) => (form.some(isTypeFault) ? 1_000 : 0) + form.length;
      const [meant] = issue.errors.filter(form => !form.some(isRootFault)).sort((a, b) => rank(a) - rank(b));
      if (!meant) return [{ path, at: 'value', message: rootMessage(issue.errors) ?? message }];
      return meant.flatMap(inner => flatten({ ...inner, path: [...path, ...inner.path] }, schema, input));
    }
    default:
      return [{ path, at: 'value', message: hide(message, schema, path, input) }];
  }
}

const KINDS = ['invalid_type', 'invalid_value', 'invalid_union'];
const isRootFault = (issue: z.core.$ZodIssue): boolean => issue.path.length === 0 && KINDS.includes(issue.code);

const isTypeFault = (issue: z.core.$ZodIssue): boolean =>
  issue.path.length === 1 &&
  (issue.code === 'invalid_value' ? issue.values.length === 1 : issue.code === 'invalid_union');

// Where all forms fail at their root and say what they expect, the alternatives can be named.
function rootMessage(forms: readonly (readonly z.core.$ZodIssue[])[]): string | undefined {
  return joined(forms.map(form => form.find(isRootFault)?.message ?? ''));
}

/** `expected a, got x` and `expected b, got x` as `expected a, or b, got x`; undefined where they are of no such form. */
export function joined(messages: readonly string[]): string | undefined {
  const expected = messages.map(message => /^expected (.*), got (.*)$/s.exec(message));
  const got = expected[0]?.[2];
  if (got === undefined || !expected.every(match => match !== null)) return undefined;
  return `expected ${[...new Set(expected.map(match => match?.[1]))].join(', or ')}, got ${got}`;
}

/** The value of the key by which a union is told apart. */
const typeIn = (issue: { discriminator?: string; input?: unknown }): unknown =>
  (issue.input as Record<string, unknown> | undefined)?.[issue.discriminator ?? ''];

/** The name that was probably meant; the message names all that are known. */
function near(input: unknown, known: readonly unknown[]): string | undefined {
  const name = typeof input === 'string' ? nearest(input, known.map(String)) : undefined;
  return name && `did you mean "${name}"?`;
}

const hide = (message: string, schema: z.ZodType, path: readonly PropertyKey[], input: unknown): string =>
  metaAt(schema, path, input)?.kind === 'secret' ? message.replace(/, got (?!nothing$).*$/s, '') : message;
