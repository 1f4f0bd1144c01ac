// Rule files: one YAML file a rule, in any subfolder. The file is the truth of what its author said; one that does not
// parse stays listed with its error and never stops the others.
import { type Dirent, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { stringify } from 'yaml';
import { systemClock } from '../../lib/clock.ts';
import { asCausewayError, CausewayError } from '../../lib/errors.ts';
import { digest, jsonEqual } from '../../lib/json.ts';
import { watchFolder } from '../../lib/watch-folder.ts';
import { type ParsedYaml, parseYaml } from '../../lib/yaml.ts';
import { updateYaml } from '../../lib/yaml-edit.ts';
import type { Json } from '../../model/value.ts';
import { parseRule, type Rule } from './schema.ts';

/** A fault of a file, at its place. */
export interface FileFault {
  message: string;
  line: number;
  column: number;
  path: string;
  hint?: string;
}

/** A file as it was read. */
export interface RuleFile {
  /** Below the rules folder, with `/`. */
  readonly file: string;
  /** Of the rule; of a file that does not parse, its name without the ending. */
  readonly id: string;
  readonly text: string;
  /** The digest of the text, where the text says nothing beyond what JSON can say. */
  readonly source?: string;
  /** As written, before defaults and normalising. */
  readonly body?: Json;
  readonly rule?: Rule;
  readonly faults: readonly FileFault[];
}

const isRuleFile = (name: string) => /\.ya?ml$/.test(name) && !name.startsWith('.');
/** Ours, to be copied from. */
const EXAMPLES = 'examples';
const MAX_BYTES = 1_048_576;
const NONE_KNOWN: KnownBodies = new Map();

/** Bodies of texts that were read before, by the digest of the text. */
export type KnownBodies = ReadonlyMap<string, Json>;

/** Reads the text of a rule file. Never throws. */
export function readRuleText(file: string, text: string, known: KnownBodies = NONE_KNOWN): RuleFile {
  const source = digest(text);
  const body = known.get(source);
  if (body === undefined) return parseRuleText(file, text, source);
  const result = parseRule(body);
  // What the schema says against it is told with its line.
  if (!('rule' in result)) return parseRuleText(file, text, source);
  return { file, id: result.rule.id, text, source, body, rule: result.rule, faults: [] };
}

function parseRuleText(file: string, text: string, source: string): RuleFile {
  const named = (file.split('/').at(-1) ?? file).replace(/\.ya?ml$/, '');
  let parsed: ParsedYaml;
  try {
    parsed = parseYaml(text, { file, code: 'RULE_INVALID' });
  } catch (thrown) {
    const error = asCausewayError(thrown);
    const problems = (error.details as { problems?: FileFault[] } | undefined)?.problems ?? [];
    const faults = problems.map(({ message, line, column }) => ({
      message,
      line: line ?? 1,
      column: column ?? 1,
      path: '',
    }));
    return {
      file,
      // Where the rest does not parse, this line mostly does: the rule goes on under its own id.
      id: /^id:\s*["']?([a-z0-9][a-z0-9_-]*)["']?\s*(?:#.*)?$/m.exec(text)?.[1] ?? named,
      text,
      faults: faults.length > 0 ? faults : [{ message: error.message, line: 1, column: 1, path: '' }],
    };
  }
  const body = parsed.value as Json;
  const id =
    body !== null && typeof body === 'object' && !Array.isArray(body) && typeof body.id === 'string' ? body.id : named;
  const result = parseRule(body);
  if ('rule' in result) {
    const isJson = jsonEqual(JSON.parse(JSON.stringify(body)), body);
    return { file, id: result.rule.id, text, ...(isJson && { source }), body, rule: result.rule, faults: [] };
  }
  const faults = result.issues.map(({ path, message, hint }) => {
    const place = parsed.lineOf(
      path
        .split('/')
        .filter(Boolean)
        .map(part => (/^\d+$/.test(part) ? Number(part) : part)),
    );
    return { message, path, ...place, ...(hint !== undefined && { hint }) };
  });
  return { file, id, text, body, faults };
}

/** The digest of a text that was written for a body, where the text says just that. */
export function sourceOf(file: string, text: string, body: Json): string | undefined {
  const read = readRuleText(file, text);
  return read.body !== undefined && jsonEqual(read.body, body) ? read.source : undefined;
}

/** All rule files below a folder, those of `examples/` left out; `wanted` picks by name. */
export function readRuleFiles(
  dir: string,
  { wanted = () => true, known }: { wanted?: (file: string) => boolean; known?: KnownBodies } = {},
): RuleFile[] {
  let entries: Dirent[];
  try {
    entries = readdirSync(dir, { withFileTypes: true, recursive: true });
  } catch {
    return [];
  }
  return entries
    .filter(entry => entry.isFile() && isRuleFile(entry.name))
    .map(entry => relative(dir, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .filter(file => !file.startsWith(`${EXAMPLES}/`) && wanted(file))
    .sort()
    .map(file => readRuleFile(dir, file, known));
}

/** One rule file. */
export function readRuleFile(dir: string, file: string, known?: KnownBodies): RuleFile {
  const id = (file.split('/').at(-1) ?? file).replace(/\.ya?ml$/, '');
  try {
    const text = readFileSync(join(dir, file), 'utf8');
    if (text.length > MAX_BYTES)
      return {
        file,
        id,
        text: '',
        faults: [{ message: 'the file is larger than 1 MiB', line: 1, column: 1, path: '' }],
      };
    return readRuleText(file, text, known);
  } catch (error) {
    return {
      file,
      id,
      text: '',
      faults: [{ message: `it cannot be read: ${(error as Error).message}`, line: 1, column: 1, path: '' }],
    };
  }
}

/** The name of a new rule's file: that of its id, unless that is the file of something else. */
export function freeFile(dir: string, id: string): string {
  for (let n = 1; ; n++) {
    const file = n === 1 ? `${id}.yaml` : `${id}-${n}.yaml`;
    if (!existsSync(join(dir, file))) return file;
  }
}

/** The text of a rule: the old text with only what differs changed; a fresh one where the old one does not parse. */
export function ruleText(rule: Json, old: string | undefined): string {
  const fresh = () => stringify(rule, { version: '1.2', lineWidth: 120 });
  if (old === undefined || old.trim() === '') return fresh();
  try {
    return updateYaml(old, rule);
  } catch {
    return fresh();
  }
}

/** Writes temp file, fsync, rename: a crash leaves the old file or the new one. @throws DATA_UNWRITABLE */
export async function writeRuleFile(dir: string, file: string, text: string): Promise<void> {
  const path = join(dir, file);
  const temp = join(dirname(path), `.${file.split('/').at(-1)}.tmp`);
  try {
    mkdirSync(dirname(path), { recursive: true });
    const handle = await open(temp, 'w');
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temp, path);
    const folder = await open(dirname(path), 'r');
    await folder.sync().finally(() => folder.close());
  } catch (error) {
    rmSync(temp, { force: true });
    throw new CausewayError('DATA_UNWRITABLE', `${path} cannot be written: ${(error as Error).message}`, {
      cause: error,
      hint: 'free disk space, or let the gateway write into the folder of the rules',
    });
  }
}

/** Removes a rule's file. */
export function removeRuleFile(dir: string, file: string): void {
  rmSync(join(dir, file), { force: true });
}

/** Tells which files have changed, until the returned function is called. */
export function watchRuleFiles(
  dir: string,
  onChange: (file: string, exists: boolean) => void,
  onError: (error: Error) => void,
): () => void {
  mkdirSync(dir, { recursive: true });
  return watchFolder({
    dir,
    clock: systemClock,
    ignores(path) {
      const name = basename(path);
      if (name.startsWith('.') || path === join(dir, EXAMPLES)) return true;
      return !isRuleFile(name) && statSync(path, { throwIfNoEntry: false })?.isFile() === true;
    },
    onChange: (path, exists) => onChange(relative(dir, path).split(sep).join('/'), exists),
    onError,
  });
}
