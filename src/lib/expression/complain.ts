// How a fault in an expression is told: one sentence, line and column, the line with a caret, what to write instead.
import type { ASTNode } from '@marcbachmann/cel-js';
import { CausewayError } from '../errors.ts';
import { LIMITS, type Place } from './frame.ts';
import { FUNCTIONS } from './functions.ts';
import { type Complaint, isComplaint } from './language.ts';
import { METHODS } from './methods.ts';

/** The text that the author sees, and where in it the expression begins (it may stand inside a template). */
export interface Origin {
  readonly text: string;
  readonly offset: number;
}

// As much of a long line as is shown on each side of the fault.
const AROUND = 60;

/** The error EXPRESSION_INVALID, with `details: { line, column }`, both from 1, in the author's text. */
export function invalid(origin: Origin, place: Place, message: string, hint?: string): CausewayError {
  const at = Math.min(origin.offset + place.start, origin.text.length);
  const lineStart = origin.text.slice(0, at).lastIndexOf('\n') + 1;
  const lineEnd = origin.text.indexOf('\n', at);
  const line = origin.text.slice(0, lineStart).split('\n').length;
  const column = at - lineStart + 1;
  const from = Math.max(lineStart, at - AROUND);
  const shown = origin.text.slice(from, Math.min(lineEnd < 0 ? origin.text.length : lineEnd, at + AROUND));
  const excerpt = `  ${shown.replace(/\t/g, ' ')}\n  ${' '.repeat(at - from)}^`;
  return new CausewayError('EXPRESSION_INVALID', `${message} (line ${line}, column ${column})\n${excerpt}`, {
    ...(hint !== undefined && { hint }),
    details: { line, column },
  });
}

const TOKENS: Readonly<Record<string, string>> = {
  EOF: 'the end',
  RPAREN: '")"',
  RBRACKET: '"]"',
  RBRACE: '"}"',
  COLON: '":"',
  IDENTIFIER: 'a name',
};

// What people write of other languages.
const INSTEAD = new Map([
  ['and', 'write && for "and"'],
  ['or', 'write || for "or"'],
  ['not', 'write ! for "not"'],
  ['is', 'write == for "is"'],
  ['=', 'write == to compare'],
  ['&', 'write && for "and"'],
  ['|', 'write || for "or"'],
]);

const BOUNDS: Readonly<Record<string, string>> = {
  maxAstNodes: `it has more than ${LIMITS.nodes} parts`,
  maxDepth: `it is nested deeper than ${LIMITS.depth}`,
  maxListElements: `a list is written with more than ${LIMITS.literal} elements`,
  maxMapEntries: `a map is written with more than ${LIMITS.literal} entries`,
  maxCallArguments: `a call has more than ${LIMITS.callArguments} arguments`,
};

/** What the library throws of a source, as our error. */
export function retell(thrown: unknown, source: string, origin: Origin): CausewayError {
  // Thousands of signs in a row end the parser's recursion before its count of parts.
  if (!isComplaint(thrown)) return invalid(origin, { start: 0, end: 0 }, 'the expression cannot be read');
  const place = thrown.range ?? { start: 0, end: 0 };
  const [message, hint] = told(thrown, source.slice(place.start, place.end));
  return invalid(origin, place, message, hint);
}

function told(complaint: Complaint, found: string): [message: string, hint?: string] {
  const summary = complaint.summary;
  switch (complaint.code) {
    case 'unexpected_character':
    case 'unexpected_token':
      if (!found) return ['the expression ends too early'];
      return [`"${found}" is not expected here`, INSTEAD.get(found)];
    case 'expected_token': {
      const wanted = /Expected (\w+)/.exec(summary)?.[1] ?? '';
      return [
        `${TOKENS[wanted] ?? wanted} is expected here, not ${found ? `"${found}"` : 'the end'}`,
        INSTEAD.get(found),
      ];
    }
    case 'limit_exceeded': {
      const limit = Object.keys(BOUNDS).find(key => summary.includes(key)) ?? '';
      return [`the expression is too large: ${BOUNDS[limit] ?? summary}`, 'split it, for example over variables'];
    }
    case 'no_such_overload':
      return [
        `these types do not go together: ${plain(summary.replace('no such overload: ', ''))}`,
        typesHint(summary),
      ];
    case 'no_matching_overload':
      return callTold(plain(summary), complaint.node as ASTNode | undefined);
    case 'incompatible_ternary_branches':
      return [
        `the two branches of ?: have different types: ${plain(/'.*'/.exec(summary)?.[0] ?? summary)}`,
        'make them alike, or put dyn(…) around one',
      ];
    case 'invalid_macro_argument':
      return ['has() wants a field of a name', 'for example has(args.level)'];
    default:
      return [plain(summary.charAt(0).toLowerCase() + summary.slice(1))];
  }
}

const typesHint = (summary: string): string | undefined =>
  summary.includes('string') ? 'num("6") makes a number of a text, string(6) a text of a number' : undefined;

function callTold(summary: string, node: ASTNode | undefined): [message: string, hint?: string] {
  const table = node?.op === 'call' ? FUNCTIONS : METHODS;
  const called = node?.op === 'call' || node?.op === 'rcall' ? table.get(node.args[0]) : undefined;
  const signature = /'(.*)'/.exec(summary)?.[1] ?? summary;
  return [`it cannot be called like this: ${signature}`, called && `it is written ${called.usage}: ${called.text}`];
}

/** CEL's names of types as people say them. */
export const plain = (text: string): string =>
  text.replaceAll('google.protobuf.Timestamp', 'timestamp').replaceAll('google.protobuf.Duration', 'duration');
