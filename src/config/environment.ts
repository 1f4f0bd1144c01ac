// Overrides from the environment: CAUSEWAY_<SECTION>__<KEY>, deeper keys after further `__`, and the same with _FILE for
// the content of a file (Docker secrets, systemd credentials).
//
// Only variables with a `__` are overrides: Kubernetes sets CAUSEWAY_SERVICE_HOST, CAUSEWAY_PORT_1883_TCP and more on its
// own for a service of our name.
import { readFileSync } from 'node:fs';
import type { z } from 'zod';
import { CausewayError } from '../lib/errors.ts';
import { type Problem, pathText } from '../lib/problems.ts';
import { childOf, definitionOf, keysOf, schemaAt, unwrap } from '../lib/schema.ts';
import { didYouMean } from '../lib/text.ts';
import { readAs } from './reading.ts';
import { Secret } from './secret.ts';

/** Environment variables, as `process.env` has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

const PREFIX = 'CAUSEWAY_';
const FILE = '_FILE';

/** The variable that overrides a path. */
export const variableOf = (path: readonly string[]): string =>
  PREFIX + path.map(key => key.toUpperCase().replaceAll('-', '_')).join('__');

/** A value as overridden, and the variable that each overridden path came from. */
export interface Overridden {
  readonly value: unknown;
  readonly sources: ReadonlyMap<string, string>;
  readonly problems: Problem[];
}

/** Puts the overrides into a value (which is changed). An empty variable counts as not set (Compose passes `${X:-}` so). */
export function override(value: unknown, schema: z.ZodType, environment: Environment): Overridden {
  const result = { root: value ?? {} };
  const sources = new Map<string, string>();
  const problems: Problem[] = [];
  for (const [name, text] of Object.entries(environment)) {
    if (!name.startsWith(PREFIX) || !name.includes('__') || !text) continue;
    const fault = (message: string, hint?: string) => problems.push({ source: name, path: '', message, hint });
    const segments = name.slice(PREFIX.length).split('__');
    const found = resolve(schema, result.root, segments);
    if (!('path' in found)) {
      fault(`there is no key "${found.unknown.toLowerCase()}"${found.below && ` in ${found.below}`}`, found.hint);
      continue;
    }
    const path = pathText(found.path);
    const twin = sources.get(path);
    if (twin) fault(`${twin} sets the same key`, 'keep one of them');
    sources.set(path, name);
    const content = found.file ? readContent(text, fault) : text;
    if (content === undefined) continue;
    put(result, found.path, readAs(schemaAt(schema, found.path, result.root), content));
  }
  return { value: result.root, sources, problems };
}

type Found = { path: string[]; file: boolean } | { unknown: string; below: string; hint: string };

function resolve(root: z.ZodType, value: unknown, segments: readonly string[]): Found {
  const path: string[] = [];
  let schema: z.core.$ZodType = root;
  let here = value;
  let file = false;
  for (const [index, segment] of segments.entries()) {
    const last = index === segments.length - 1;
    const isFile = last && segment.endsWith(FILE);
    const whole = keyFor(schema, here, segment);
    const key = whole.declared || !isFile ? whole.key : keyFor(schema, here, segment.slice(0, -FILE.length)).key;
    const child: z.core.$ZodType | undefined = key === undefined ? undefined : childOf(schema, key, here);
    if (key === undefined || !child) {
      const known = keysOf(schema, here).map(name => variableOf([...path, name]));
      return { unknown: segment, below: pathText(path), hint: didYouMean(variableOf([...path, segment]), known) };
    }
    file = isFile && !whole.declared;
    path.push(key);
    schema = child;
    here = here !== null && typeof here === 'object' ? (here as Record<string, unknown>)[key] : undefined;
  }
  return { path, file };
}

/** The key that an upper-case segment means: a declared one, or in an open map one that is there, or a new one. */
function keyFor(
  schema: z.core.$ZodType,
  value: unknown,
  segment: string,
): { key: string | undefined; declared: boolean } {
  const same = (key: string) => variableOf([key]) === PREFIX + segment;
  const declared = keysOf(schema, value).find(same);
  if (declared !== undefined) return { key: declared, declared: true };
  const { type, catchall } = definitionOf(unwrap(schema));
  const open =
    type === 'record' || type === 'union' || (catchall !== undefined && definitionOf(catchall).type !== 'never');
  if (!open || segment === '') return { key: undefined, declared: false };
  const present = value !== null && typeof value === 'object' ? Object.keys(value).find(same) : undefined;
  return { key: present ?? segment.toLowerCase(), declared: false };
}

function put(holder: { root: unknown }, path: readonly string[], value: unknown): void {
  let parent = holder as Record<string, unknown>;
  let key = 'root';
  for (const next of path) {
    const child = parent[key];
    if (child === null || typeof child !== 'object' || Array.isArray(child)) parent[key] = {};
    parent = parent[key] as Record<string, unknown>;
    key = next;
  }
  parent[key] = value;
}

function readContent(file: string, fault: (message: string) => void): string | undefined {
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    fault(`${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? String(error)})`);
    return undefined;
  }
}

const MIN_TOKEN = 16;

/** `CAUSEWAY_ADMIN_TOKEN` or the content of `CAUSEWAY_ADMIN_TOKEN_FILE`: a credential that is stored nowhere. */
export function adminToken(environment: Environment): Secret | undefined {
  const { CAUSEWAY_ADMIN_TOKEN: direct, CAUSEWAY_ADMIN_TOKEN_FILE: file } = environment;
  const refuse = (message: string): never => {
    throw new CausewayError(
      'CONFIG_INVALID',
      `${direct ? 'CAUSEWAY_ADMIN_TOKEN' : 'CAUSEWAY_ADMIN_TOKEN_FILE'}: ${message}`,
    );
  };
  const token = direct || (file && readContent(file, refuse));
  if (!token) return undefined;
  if (token.length < MIN_TOKEN)
    refuse(`a token has at least ${MIN_TOKEN} characters; make one with openssl rand -base64 32`);
  return new Secret(token);
}
