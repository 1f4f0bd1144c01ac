// Reading YAML 1.2 (core schema: `on`, `08:00` and stamps are text) with the place of every value, bounded aliases and
// no duplicate keys. Changing a text so that its comments stay is in yaml-edit.ts.
import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isScalar,
  LineCounter,
  type Node,
  parseDocument,
  type ScalarTag,
  visit,
  type YAMLError,
} from 'yaml';
import type { ErrorCode } from './errors.ts';
import { type Position, type Problem, problemsError } from './problems.ts';

/** How often aliases may be resolved, nested ones multiplied: enough for people, too few for a "billion laughs". */
const MAX_ALIASES = 500;

/** A YAML text that was read. */
export interface ParsedYaml {
  /** As JSON would have it; null for an empty text. */
  readonly value: unknown;
  readonly document: Document.Parsed;
  /**
   * Where the value at a path stands, or its key (`at: 'key'`). A place that does not exist is at the nearest one above it.
   */
  lineOf(path: readonly PropertyKey[], at?: 'key' | 'value'): Position;
}

/** Where a text comes from, and what else it may hold. */
export interface YamlOptions {
  /** Its name in messages. */
  readonly file: string;
  /** The code of the error; INPUT_INVALID unless given. */
  readonly code?: ErrorCode;
  /** Tags beside those of the core schema; any other tag is an error. */
  readonly tags?: readonly ScalarTag[];
}

/** Reads one document. Throws with all syntax errors, each at its line and column, in `details.problems`. */
export function parseYaml(text: string, { file, code = 'INPUT_INVALID', tags = [] }: YamlOptions): ParsedYaml {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    version: '1.2',
    schema: 'core',
    customTags: [...tags],
    stringKeys: true,
    prettyErrors: false,
    lineCounter: lines,
  });
  const position = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  // A warning is a tag that nobody resolves: the author meant something by it.
  const faults = [...document.errors, ...document.warnings];
  const problems = faults.map(
    (fault): Problem => ({ source: file, ...position(fault.pos[0]), path: '', message: plainWords(fault) }),
  );
  if (problems.length > 0) throw problemsError(code, problems);
  return {
    value: toValue(document, offset => ({ source: file, ...position(offset), path: '' }), code),
    document,
    lineOf: (path, at = 'value') => position(offsetOf(document, path, at)),
  };
}

type PlaceAt = (offset: number) => Omit<Problem, 'message'>;

function toValue(document: Document.Parsed, placeAt: PlaceAt, code: ErrorCode): unknown {
  try {
    return document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    const unknown: Problem[] = [];
    visit(document, {
      Alias(_key, alias) {
        if (alias.resolve(document)) return;
        unknown.push({ ...placeAt(alias.range?.[0] ?? 0), message: `there is no anchor &${alias.source} before this` });
      },
    });
    const bomb = {
      ...placeAt(0),
      message: `aliases are resolved at most ${MAX_ALIASES} times`,
      hint: 'write some of them out',
    };
    throw problemsError(code, unknown.length > 0 ? unknown : [bomb]);
  }
}

/** The library's words, but where they name its own API. */
function plainWords({ code, message }: YAMLError): string {
  switch (code) {
    case 'DUPLICATE_KEY':
      return 'this key stands here twice';
    case 'MULTIPLE_DOCS':
      return 'a second document starts here; only one is read';
    case 'NON_STRING_KEY':
      return 'a key must be text';
    default:
      return message.startsWith('Unresolved tag: ')
        ? `unknown tag ${message.slice('Unresolved tag: '.length)}`
        : `${message.charAt(0).toLowerCase()}${message.slice(1)}`;
  }
}

function offsetOf(document: Document.Parsed, path: readonly PropertyKey[], at: 'key' | 'value'): number {
  let node: Node | null = document.contents;
  let offset = node?.range?.[0] ?? 0;
  for (const [index, key] of path.entries()) {
    if (isAlias(node)) node = node.resolve(document) ?? null;
    if (!isCollection(node)) break;
    const last = index === path.length - 1;
    let child: Node | null | undefined;
    if (isMap(node)) {
      const pair = node.items.find(item => isScalar(item.key) && String(item.key.value) === String(key));
      if (!pair) break;
      child = pair.value as Node | null;
      if ((last && at === 'key') || !hasText(child)) offset = (pair.key as Node).range?.[0] ?? offset;
      else offset = child.range?.[0] ?? offset;
    } else {
      child = node.items[Number(key)] as Node | undefined;
      offset = child?.range?.[0] ?? offset;
    }
    node = child ?? null;
  }
  return offset;
}

// `key:` without a value has a node of no width, which lies behind the next line break.
const hasText = (node: Node | null | undefined): node is Node =>
  node?.range !== undefined && node.range !== null && node.range[1] > node.range[0];
