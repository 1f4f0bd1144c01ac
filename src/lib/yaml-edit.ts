// Changing a YAML text to a new value so that only what differs is touched: comments, order, quotes and spacing of all
// else stay byte for byte. (The library's own Document.toString() keeps comments but lays out the whole text anew.)
//
// The text of every collection is taken apart into its entries, each with the text that leads to it (line breaks,
// comments, indentation, comma), changed entry by entry, and put together again.
import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  parseDocument,
  visit,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { type Json, jsonEqual } from './json.ts';
import { align } from './sequence.ts';
import { parseYaml } from './yaml.ts';
import { blockText, entryText, flowText, joinBlock, joinFlow, type Part, valueText } from './yaml-text.ts';

/**
 * The text with `value` (JSON) in it: reading the result gives exactly `value`. Throws INPUT_INVALID when `text` does not
 * parse. What cannot be changed in place (explicit keys `? x`, tags) makes all but the head comment be written anew.
 */
export function updateYaml(text: string, value: unknown): string {
  const wanted = JSON.parse(JSON.stringify(value ?? null)) as Json;
  if (jsonEqual(parseYaml(text, { file: 'the old text' }).value, wanted)) return text;
  const crlf = /\r\n/.test(text) && !/[^\r]\n/.test(text);
  const lines = crlf ? text.replaceAll('\r\n', '\n') : text;
  const closed = lines === '' || lines.endsWith('\n');
  const changed = edited(closed ? lines : `${lines}\n`, wanted);
  const shorter = changed.replace(/\n$/, '');
  const result = !closed && reads(shorter, wanted) ? shorter : changed;
  return crlf ? result.replaceAll('\n', '\r\n') : result;
}

function edited(text: string, wanted: Json): string {
  // A change at an anchor shows at its aliases too: first those are left alone, then those that should not have followed
  // are written out, and where an anchor goes, all of them.
  const followed = inPlace(text, wanted, 'leave') ?? text;
  for (const attempt of [
    () => followed,
    () => inPlace(followed, wanted, 'write'),
    () => inPlace(text, wanted, 'write all'),
  ]) {
    const result = attempt();
    if (result !== undefined && reads(result, wanted)) return result;
  }
  const head = /^(?:[ \t]*(?:#[^\n]*)?\n)*/.exec(text)?.[0] ?? '';
  return head + blockText(wanted);
}

function reads(text: string, wanted: Json): boolean {
  try {
    return jsonEqual(parseYaml(text, { file: '' }).value, wanted);
  } catch {
    return false;
  }
}

/** A text and its nodes. */
interface Source {
  readonly text: string;
  readonly document: Document.Parsed;
  readonly aliases: AliasPolicy;
}

/** Aliases whose value should differ: leave them, write their value out; or write out all of them. */
type AliasPolicy = 'leave' | 'write' | 'write all';

/** Where an entry stands: its start, the end of `key:` or `-`, its value, the value's end. */
interface Entry {
  readonly start: number;
  readonly head: number;
  readonly node: Node | undefined;
  readonly end: number;
}

/** Thrown and caught here for what cannot be edited in place. */
class NotInPlace extends Error {}

function inPlace(text: string, wanted: Json, aliases: AliasPolicy): string | undefined {
  const document = parseDocument(text, { version: '1.2', schema: 'core', stringKeys: true, keepSourceTokens: true });
  if (document.errors.length > 0) return undefined;
  const source = { text, document, aliases };
  const root = document.contents as Node | null;
  if (!hasText(root)) return text + blockText(wanted);
  try {
    const inner = collectionText(source, root, document.toJS() as Json, wanted);
    const head = text.slice(0, root.range?.[0]);
    return inner === undefined ? head + blockText(wanted) : head + inner + text.slice(endOf(source, root));
  } catch (error) {
    // The library's error for an alias whose anchor an earlier attempt removed.
    if (error instanceof NotInPlace || error instanceof ReferenceError) return undefined;
    throw error;
  }
}

/** The new text of a collection; undefined when it becomes something of another kind. */
function collectionText(source: Source, node: Node, old: Json, wanted: Json): string | undefined {
  if (isMap(node) && isObject(old) && isObject(wanted)) {
    if (node.items.length === 0 || Object.keys(wanted).length === 0) return undefined;
    return mapText(source, node, old, wanted);
  }
  if (isSeq(node) && Array.isArray(old) && Array.isArray(wanted)) {
    if (node.items.length === 0 || wanted.length === 0) return undefined;
    return seqText(source, node, old, wanted);
  }
  return undefined;
}

type Fields = { [key: string]: Json };

function mapText(source: Source, map: YAMLMap, old: Fields, wanted: Fields): string {
  const entries = entriesOf(source, map);
  const column = columnOf(source, entries);
  const flow = map.flow ?? prefersFlow(map.items.map(pair => pair.value));
  const keys = map.items.map(pair => keyOf(pair as Pair));
  const parts = entries.map((entry, index): Part => {
    const key = keys[index] as string;
    const value = Object.hasOwn(wanted, key) ? wanted[key] : undefined;
    return partOf(source, map, entries, entry, old[key] as Json, value, column);
  });
  // New keys stand behind the one that precedes them in the new value.
  let after = parts.length - 1;
  for (const [key, value] of Object.entries(wanted)) {
    const at = keys.indexOf(key);
    if (at >= 0) {
      after = at;
      continue;
    }
    after++;
    keys.splice(after, 0, key);
    const added = map.flow
      ? { lead: ', ', body: flowText({ [key]: value }).slice(2, -2) }
      : entryText({ [key]: value }, column, flow);
    parts.splice(after, 0, added);
  }
  return joined(source, map, entries, parts, column);
}

function seqText(source: Source, seq: YAMLSeq, old: Json[], wanted: Json[]): string {
  const entries = entriesOf(source, seq);
  const column = columnOf(source, entries);
  const flow = seq.flow ?? prefersFlow(seq.items);
  const parts = align(old, wanted).map(({ from, to }): Part => {
    const value = to === undefined ? undefined : (wanted[to] as Json);
    if (from !== undefined)
      return partOf(source, seq, entries, entries[from] as Entry, old[from] as Json, value, column);
    return seq.flow ? { lead: ', ', body: flowText(value as Json) } : entryText([value as Json], column, flow);
  });
  return joined(source, seq, entries, parts, column);
}

/** What becomes of an entry that was there before; `wanted: undefined` removes it. */
function partOf(
  source: Source,
  collection: YAMLMap | YAMLSeq,
  entries: readonly Entry[],
  entry: Entry,
  old: Json,
  wanted: Json | undefined,
  column: number,
): Part {
  const before = entries[entries.indexOf(entry) - 1];
  if (collection.flow) {
    const lead = before ? source.text.slice(before.end, entry.start) : '';
    return { lead, body: wanted === undefined ? undefined : flowEntry(source, entry, old, wanted) };
  }
  const lead = before
    ? source.text.slice(lineEnd(source, before.end), entry.start)
    : ' '.repeat(column) + source.text.slice(startOf(source, collection), entry.start);
  return { lead, body: wanted === undefined ? undefined : blockEntry(source, entry, column, old, wanted) };
}

function blockEntry(
  source: Source,
  { start, head, node, end }: Entry,
  column: number,
  old: Json,
  wanted: Json,
): string {
  const { text } = source;
  const line = lineEnd(source, end);
  if (unchanged(source, node, old, wanted)) return text.slice(start, line);
  const inner = node && collectionText(source, node, old, wanted);
  if (inner !== undefined) return text.slice(start, startOf(source, node as Node)) + inner + text.slice(end, line);
  const like = isAlias(node) ? node.resolve(source.document) : node;
  const flow = isCollection(like) && like.flow === true;
  const value = valueText(wanted, column, flow, node);
  if (isInlineScalar(node) && value.indexOf('\n') === value.length - 1) {
    return text.slice(start, node.range?.[0]) + value.trim() + text.slice(end, line);
  }
  const comment = COMMENT.exec(text.slice(head, node?.range?.[0] ?? line)) ?? COMMENT.exec(text.slice(end, line));
  return text.slice(start, head) + (comment ? value.replace('\n', () => ` ${comment[1]}\n`) : value);
}

function flowEntry(source: Source, { start, head, node, end }: Entry, old: Json, wanted: Json): string {
  const { text } = source;
  if (unchanged(source, node, old, wanted)) return text.slice(start, end);
  if (!node) return `${text.slice(start, head)}${text[head - 1] === ':' ? '' : ':'} ${flowText(wanted)}`;
  const inner = collectionText(source, node, old, wanted);
  if (inner !== undefined) return text.slice(start, startOf(source, node)) + inner;
  return text.slice(start, node.range?.[0]) + flowText(wanted, isInlineScalar(node) ? node : undefined);
}

const COMMENT = /^[ \t]*(#[^\n]*)/;

/** Puts a collection together again, in its brackets if it has some. */
function joined(
  source: Source,
  collection: YAMLMap | YAMLSeq,
  entries: Entry[],
  parts: Part[],
  column: number,
): string {
  if (!collection.flow) return joinBlock(parts, column);
  const start = startOf(source, collection);
  // A pair in a flow sequence, `[a: 1]`, is a map without braces.
  if (source.text[start] !== (isMap(collection) ? '{' : '[')) throw new NotInPlace();
  const open = source.text.slice(start, entries[0]?.start);
  return open + joinFlow(parts) + source.text.slice(entries.at(-1)?.end, endOf(source, collection));
}

function entriesOf(source: Source, collection: YAMLMap | YAMLSeq): Entry[] {
  if (isMap(collection)) return collection.items.map(pair => pairEntry(source, pair as Pair, collection.flow === true));
  if (collection.flow) {
    return collection.items.map(item => {
      const node = item as Node;
      const start = node.range?.[0] ?? 0;
      return { start, head: start, node, end: endOf(source, node) };
    });
  }
  const token = collection.srcToken;
  if (token?.type !== 'block-seq') throw new NotInPlace();
  const dashes = token.items.flatMap(item => item.start.find(part => part.type === 'seq-item-ind') ?? []);
  return collection.items.map((item, index) => {
    const start = dashes[index]?.offset;
    if (start === undefined) throw new NotInPlace();
    return { start, head: start + 1, ...withValue(source, item, start + 1) };
  });
}

function pairEntry(source: Source, pair: Pair, flow: boolean): Entry {
  const key = pair.key as Node | null;
  if (!hasText(key) || !key.range) throw new NotInPlace();
  const [start, end] = key.range;
  const colon = /^\s*:/.exec(source.text.slice(end, end + 200));
  if (!colon && !flow) throw new NotInPlace();
  const head = end + (colon?.[0].length ?? 0);
  return { start, head, ...withValue(source, pair.value, head) };
}

const withValue = (source: Source, value: unknown, head: number): { node: Node | undefined; end: number } => {
  const node = value as Node | null;
  return hasText(node) ? { node, end: endOf(source, node) } : { node: undefined, end: head };
};

/** The start of a node's text; of a block below a key that of the comments directly above its first entry. */
function startOf(source: Source, node: Node): number {
  const start =
    isCollection(node) && !node.flow ? entriesOf(source, node as YAMLMap | YAMLSeq)[0]?.start : node.range?.[0];
  if (start === undefined) throw new NotInPlace();
  // What stands above the first entry of the whole file is about the file.
  if (!isCollection(node) || node.flow || node === source.document.contents) return start;
  const column = columnAt(source, start);
  const comments = new RegExp(`\\n((?: {${column}}#[^\\n]*\\n)+) {${column}}$`).exec(source.text.slice(0, start));
  return comments ? start - column - (comments[1] as string).length + column : start;
}

/** The end of a node's text; of a block collection the end of the last line of its last entry. */
function endOf(source: Source, node: Node): number {
  if (!isCollection(node) || node.flow) return node.range?.[1] ?? 0;
  return lineEnd(source, entriesOf(source, node as YAMLMap | YAMLSeq).at(-1)?.end ?? 0);
}

function lineEnd({ text }: Source, offset: number): number {
  if (text[offset - 1] === '\n') return offset;
  const end = text.indexOf('\n', offset);
  return end < 0 ? text.length : end + 1;
}

const columnAt = ({ text }: Source, offset: number): number => offset - (text.lastIndexOf('\n', offset - 1) + 1);
const columnOf = (source: Source, entries: readonly Entry[]): number => columnAt(source, entries[0]?.start ?? 0);

const isObject = (value: Json): value is Fields => value !== null && typeof value === 'object' && !Array.isArray(value);
const keyOf = (pair: Pair): string => String((pair.key as { value?: unknown }).value);

// `key:` without a value has a node of no width.
const hasText = (node: Node | null | undefined): node is Node => !!node?.range && node.range[1] > node.range[0];

/** A scalar within a line, without a tag that a new value would have to obey. */
const isInlineScalar = (node: Node | undefined): node is Node =>
  isScalar(node) && node.tag === undefined && !node.type?.startsWith('BLOCK');

const prefersFlow = (siblings: readonly unknown[]): boolean => {
  const collections = siblings.filter(isCollection);
  return collections.length > 0 && collections.every(sibling => sibling.flow);
};

function unchanged({ aliases }: Source, node: Node | undefined, old: Json, wanted: Json): boolean {
  if (aliases === 'leave' && isAlias(node)) return true;
  return jsonEqual(old, wanted) && !(aliases === 'write all' && hasAlias(node));
}

function hasAlias(node: Node | undefined): boolean {
  let found = isAlias(node);
  if (isCollection(node)) {
    visit(node, {
      Alias() {
        found = true;
        return visit.BREAK;
      },
    });
  }
  return found;
}
