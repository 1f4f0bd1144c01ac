// Reads config.yaml, and house.yaml and safety.yaml beside it: YAML, then !secret and !env, then the environment, then the
// schema. All that is wrong is told at once, with its place and the nearest right name.
import { readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { CausewayError } from '../lib/errors.ts';
import { check, type Issue, type Position, type Problem, pathText, problemsError } from '../lib/problems.ts';
import { type ParsedYaml, parseYaml } from '../lib/yaml.ts';
import { type Environment, override } from './environment.ts';
import { type Config, configSchema } from './schema.ts';
import { Secret } from './secret.ts';
import { settle, TAGS, type Texts } from './tags.ts';

/** What a start needs to know. */
export interface LoadedConfig {
  readonly config: Config;
  /** config.yaml as it was found; undefined where there is none (then all is default and environment). */
  readonly file: string | undefined;
  /** The folder of config.yaml, house.yaml, safety.yaml and secrets.yaml. */
  readonly dir: string;
  readonly secrets: ReadonlyMap<string, Secret>;
  /** What is odd but stops nothing, for the log. */
  readonly warnings: readonly string[];
}

/** Where to look. */
export interface LoadOptions {
  /** A config.yaml that must exist. */
  readonly file?: string | undefined;
  /** Else the folder in which one may be. */
  readonly dir: string;
  readonly environment: Environment;
  /** The schemas of the types of backend that are built. */
  readonly backends?: readonly z.ZodObject[];
}

/** The folder of the configuration: `CAUSEWAY_HOME`, or the current one. */
export const configDir = (environment: Environment, cwd: string): string =>
  resolve(cwd, environment.CAUSEWAY_HOME || '.');

/** Reads the configuration; relative folders become absolute. Throws CONFIG_INVALID with all problems. */
export function loadConfig({ file, dir, environment, backends = [] }: LoadOptions): LoadedConfig {
  const path = file === undefined ? join(dir, 'config.yaml') : resolve(dir, file);
  const folder = dirname(path);
  const text = readIfThere(path);
  if (text === undefined && file !== undefined) {
    throw new CausewayError('CONFIG_INVALID', `there is no ${path}`, {
      hint: 'Copy config.example.yaml, or leave the option out.',
    });
  }
  const { secrets, warnings } = loadSecrets(folder);
  const schema = configSchema(backends);
  const config = readFile(path, text, schema, { environment, secrets }, true);
  return {
    config: withAbsolutePaths(config, folder),
    file: text === undefined ? undefined : path,
    dir: folder,
    secrets,
    warnings,
  };
}

/**
 * Reads a file beside config.yaml (house.yaml, safety.yaml) with `!secret` and `!env`; a missing or empty one is what the
 * schema makes of nothing. Throws CONFIG_INVALID with all problems.
 */
export const loadFile = <S extends z.ZodType>(file: string, schema: S, texts: Texts): z.output<S> =>
  readFile(file, readIfThere(file), schema, texts, false);

function readFile<S extends z.ZodType>(
  file: string,
  text: string | undefined,
  schema: S,
  texts: Texts,
  overridable: boolean,
): z.output<S> {
  const source = basename(file);
  const yaml = text === undefined ? undefined : parseYaml(text, { file: source, code: 'CONFIG_INVALID', tags: TAGS });
  const missing: Issue[] = [];
  const settled = withoutEmptySections(settle(yaml?.value ?? undefined, schema, texts, issue => missing.push(issue)));
  const { value, sources, problems } = overridable
    ? override(settled, schema, texts.environment)
    : { value: settled, sources: new Map<string, string>(), problems: [] };
  const checked = check(schema, value);
  if (checked.ok && missing.length === 0 && problems.length === 0) return checked.value;
  const silenced = new Set(missing.map(issue => pathText(issue.path)));
  const found = checked.ok ? [] : checked.issues.filter(issue => !silenced.has(pathText(issue.path)));
  const placed = [...missing, ...found].map((issue): Problem => {
    const path = pathText(issue.path);
    const variable = sources.get(path);
    const place = variable ? { source: variable } : { source, ...lineOf(yaml, issue) };
    return { ...place, path, message: issue.message, hint: issue.hint };
  });
  throw problemsError('CONFIG_INVALID', [...placed.sort(byLine), ...problems]);
}

const lineOf = (yaml: ParsedYaml | undefined, { path, at }: Issue): Position | undefined => yaml?.lineOf(path, at);
const byLine = (a: Problem, b: Problem): number => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0);

/** `http:` with all its keys commented out is an empty section, not a null. */
function withoutEmptySections(value: unknown): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, section]) => section !== null));
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw new CausewayError('CONFIG_INVALID', `${file} cannot be read (${code})`, { cause: error });
  }
}

const SecretsFile = z.record(z.string(), z.union([z.string().min(1), z.number().transform(String)])).prefault({});

/** secrets.yaml of a folder: name → text. */
function loadSecrets(dir: string): { secrets: ReadonlyMap<string, Secret>; warnings: string[] } {
  const file = join(dir, 'secrets.yaml');
  const text = readIfThere(file);
  if (text === undefined) return { secrets: new Map(), warnings: [] };
  const yaml = parseYaml(text, { file: 'secrets.yaml', code: 'CONFIG_INVALID' });
  const checked = check(SecretsFile, yaml.value ?? undefined);
  if (!checked.ok) {
    // Without the value that was got: it is a secret.
    const problems = checked.issues.map(issue => ({
      source: 'secrets.yaml',
      ...yaml.lineOf(issue.path, issue.at),
      path: pathText(issue.path),
      message: 'expected a name and its text',
    }));
    throw problemsError('CONFIG_INVALID', problems);
  }
  const open = process.platform !== 'win32' && (statSync(file).mode & 0o004) !== 0;
  return {
    secrets: new Map(Object.entries(checked.value).map(([name, secret]) => [name, new Secret(secret)])),
    warnings: open ? [`secrets.yaml can be read by everybody on this machine; chmod 600 ${file}`] : [],
  };
}

/** Keys of backends that name files end so, at any depth. */
const NAMES_FILE = /_file$/;

function filesAt<T>(value: T, at: (path: string) => string): T {
  if (value === null || typeof value !== 'object' || value instanceof Secret || Array.isArray(value)) return value;
  const entries = Object.entries(value).map(([key, item]: [string, unknown]) =>
    typeof item === 'string' && NAMES_FILE.test(key) ? [key, at(item)] : [key, filesAt(item, at)],
  );
  return Object.fromEntries(entries) as T;
}

function withAbsolutePaths(config: Config, dir: string): Config {
  const at = (path: string) => resolve(dir, path);
  const tls = <T extends { cert_file: string; key_file: string; ca_file?: string | undefined }>(files: T | undefined) =>
    files && {
      ...files,
      cert_file: at(files.cert_file),
      key_file: at(files.key_file),
      ...(files.ca_file !== undefined && { ca_file: at(files.ca_file) }),
    };
  return {
    ...config,
    http: { ...config.http, tls: tls(config.http.tls) },
    mqtt: {
      ...config.mqtt,
      tls: tls(config.mqtt.tls),
      ...(config.mqtt.ca_file !== undefined && { ca_file: at(config.mqtt.ca_file) }),
    },
    backends: filesAt(config.backends, at),
    data: { ...config.data, dir: at(config.data.dir) },
    rules: { ...config.rules, dir: at(config.rules.dir) },
  };
}
