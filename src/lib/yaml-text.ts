// YAML text for values that are new in a document, and the joining of a collection's entries. See yaml-edit.ts.
import { Document, isScalar, type Node, Scalar, visit } from 'yaml';
import type { Json } from './json.ts';

const WIDTH = 120;
const LAYOUT = { lineWidth: 0, doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER } as const;

/** In one line, as it may stand anywhere; text in the quotes of `like`. */
export function flowText(value: Json, like?: Node): string {
  const document = new Document({ k: quotedLike(value, like) }, { aliasDuplicateObjects: false });
  visit(document, {
    Collection(_key, collection) {
      collection.flow = true;
    },
  });
  return document
    .toString(LAYOUT)
    .replace(/^\{\s*k:\s*/, '')
    .replace(/\s*\}\n$/, '');
}

/** A whole value over several lines, from column 0. */
export const blockText = (value: Json, flow = false): string => rendered(value, flow);

/** What stands behind `key:` or `-` (and begins with a blank or a line break), further lines from `column` on. */
export function valueText(value: Json, column: number, flow: boolean, like?: Node): string {
  return indented(rendered({ k: quotedLike(value, like) }, flow).slice('k:'.length), column);
}

/** A new entry of a block collection at `column`, with its indentation. */
export function entryText(entry: { [key: string]: Json } | [Json], column: number, flow: boolean): Part {
  return { lead: ' '.repeat(column), body: indented(rendered(entry, flow), column) };
}

/** With `flow`, the collections inside stand in one line each if they fit. */
function rendered(value: unknown, flow: boolean): string {
  const document = new Document(value, { aliasDuplicateObjects: false });
  if (flow) {
    visit(document, {
      Collection(key, collection) {
        if (key !== null && flowText(collection.toJS(document) as Json).length <= WIDTH) collection.flow = true;
      },
    });
  }
  return document.toString(LAYOUT);
}

function quotedLike(value: Json, like: Node | undefined): unknown {
  if (typeof value !== 'string' || !isScalar(like) || like.type === undefined || like.type === 'PLAIN') return value;
  if (like.type.startsWith('BLOCK') && !value.includes('\n')) return value;
  const scalar = new Scalar(value);
  scalar.type = like.type;
  return scalar;
}

const indented = (text: string, column: number): string =>
  column === 0 ? text : text.replace(/\n(?=[^\n])/g, `\n${' '.repeat(column)}`);

/** An entry of a collection: the text that leads to it, and its own (undefined: it is removed). */
export interface Part {
  /** In a block: whole lines (blank ones, comments), then the indentation. In a flow: the comma and what surrounds it. */
  readonly lead: string;
  readonly body: string | undefined;
}

/** The entries of a block, from its first entry (or the comment above that) on. */
export function joinBlock(parts: readonly Part[], column: number): string {
  let text = '';
  let carried = '';
  for (const { lead, body } of parts) {
    if (body === undefined) {
      carried += keptComments(lead, column);
      continue;
    }
    // The indentation or `- ` of the first entry stands before the collection.
    text += (text === '' ? (carried + lead).trimStart() : carried + lead) + body;
    carried = '';
  }
  return text + carried;
}

/** The comments before a removed entry, but for those that stand directly above it at its own indentation. */
function keptComments(lead: string, column: number): string {
  const lines = lead.split('\n').slice(0, -1);
  while (lines.at(-1)?.startsWith(`${' '.repeat(column)}#`)) lines.pop();
  return lines.some(line => line.includes('#')) ? `${lines.join('\n')}\n` : '';
}

/** The entries of a flow collection, without its brackets and the spaces inside them. */
export function joinFlow(parts: readonly Part[]): string {
  let text = '';
  let carried = '';
  for (const { lead, body } of parts) {
    if (body === undefined) {
      // A comment behind the comma is about the entry before it, and stays when this one goes.
      if (lead.includes('#')) carried += carried || !text ? withoutComma(lead) : lead;
      continue;
    }
    const comma = COMMA.test(lead) ? lead : ', ';
    text += (text && !carried ? comma : carried + withoutComma(comma).trimStart()) + body;
    carried = '';
  }
  return text + carried;
}

const COMMA = /^((?:\s|#[^\n]*\n)*),[ \t]*/;
const withoutComma = (lead: string): string => lead.replace(COMMA, '$1');
