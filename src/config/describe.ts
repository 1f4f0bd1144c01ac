// The pages and examples that are generated from the schemas: every key with type, default and variable, and commented
// example files.
import { stringify } from 'yaml';
import { z } from 'zod';
import { defaultOf, definitionOf, metaOf, unwrap } from '../lib/schema.ts';
import { variableOf } from './environment.ts';
import { houseSchema } from './house.ts';
import { configSchema } from './schema.ts';

type Schema = z.core.$ZodType;

/** One key of config.yaml. */
export interface ConfigKey {
  /** `http/port`; `<id>` stands for names of yours. */
  readonly path: string;
  /** In words: `number, 0–65535`. */
  readonly type: string;
  /** As YAML; undefined where there is none. */
  readonly default: string | undefined;
  readonly description: string;
  /** The variable that overrides it. */
  readonly env: string;
}

/** All keys, in the order of the file. */
export function describeConfig(backends: readonly z.ZodObject[] = []): ConfigKey[] {
  return mergeForms(keysBelow(configSchema(backends), []));
}

function keysBelow(schema: Schema, path: string[]): ConfigKey[] {
  const def = definitionOf(unwrap(schema));
  if (def.type === 'object')
    return Object.entries(def.shape ?? {}).flatMap(([key, child]) => keysBelow(child, [...path, key]));
  if (def.type === 'union') return (def.options ?? []).flatMap(form => keysBelow(form, path));
  if (def.type === 'record' && def.valueType) {
    const below = keysBelow(def.valueType, [...path, '<name>']);
    const description = metaOf(schema).description ?? '';
    return below.map(key => ({ ...key, description: key.description || description }));
  }
  const preset = defaultOf(schema);
  return [
    {
      path: path.join('/'),
      type: typeText(schema),
      default: preset === undefined ? undefined : inline(preset),
      description: metaOf(schema).description ?? '',
      env: variableOf(path),
    },
  ];
}

/** The forms of a union have keys in common, `type` at least: one row each. */
function mergeForms(keys: readonly ConfigKey[]): ConfigKey[] {
  const rows = new Map<string, ConfigKey>();
  for (const key of keys) {
    const row = rows.get(key.path);
    const type = row && row.type !== key.type ? `${row.type} · ${key.type}` : key.type;
    rows.set(key.path, { ...(row ?? key), type });
  }
  return [...rows.values()];
}

function typeText(schema: Schema): string {
  const { kind, range } = metaOf(schema);
  const inner = unwrap(schema);
  const def = definitionOf(inner);
  if (kind === 'secret') return 'text (secret)';
  if (kind) return range ? `${kind}, ${range}` : String(kind);
  switch (def.type) {
    case 'string':
      return inner instanceof z.ZodURL ? 'URL' : 'text';
    case 'number': {
      const { minValue, maxValue } = inner as z.ZodNumber;
      return minValue === null || maxValue === null ? 'number' : `number, ${minValue}–${maxValue}`;
    }
    case 'boolean':
      return 'true or false';
    case 'enum':
      return (inner as z.ZodEnum).options.join(' · ');
    case 'literal':
      return String((inner as z.ZodLiteral).value);
    case 'array':
      return `list of ${typeText(def.element as Schema)}`;
    default:
      return def.type;
  }
}

const inline = (value: unknown): string => stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trim();

/** A config.yaml with every key, its default and what it is for. */
export function exampleConfig(backends: readonly z.ZodObject[] = []): string {
  const sections = Object.entries(definitionOf(unwrap(configSchema(backends))).shape ?? {});
  const head = [
    ...comment('Causeway’s configuration: copy it to config.yaml and keep what you change.'),
    ...comment('All keys are optional; what stands here is the default, what is commented out has none.'),
    ...comment(
      'Any value may be `!secret name` (from secrets.yaml) or `!env NAME`. Any key can be set by a variable of the environment ' +
        'as well: CAUSEWAY_HTTP__PORT=8480, or CAUSEWAY_MQTT__PASSWORD_FILE=/run/secrets/mqtt for the content of a file.',
    ),
  ];
  return [...head, ...sections.flatMap(([key, schema]) => ['', ...entry(key, schema, 0)])].join('\n').concat('\n');
}

/** A house.yaml with an example of every key, commented out. */
export function exampleHouse(): string {
  const shape = definitionOf(unwrap(houseSchema(z.unknown()))).shape ?? {};
  const head = comment('What your household calls its things: copy it to house.yaml. All keys are optional.');
  return [...head, ...Object.entries(shape).flatMap(([key, schema]) => ['', ...entry(key, schema, 0, true)])]
    .join('\n')
    .concat('\n');
}

/**
 * The lines of a key: what it is for, then the key with its default, or with an example and commented out. A `#` right before
 * a key is one to remove, a `# ` begins prose.
 */
function entry(key: string, schema: Schema, depth: number, off = false): string[] {
  const indent = '  '.repeat(depth);
  const about = comment(metaOf(schema).description ?? '', depth);
  const { type, shape = {} } = definitionOf(unwrap(schema));
  const example = exampleOf(schema);
  if (type === 'object' && example === undefined) {
    const optional = definitionOf(schema).type === 'optional';
    const children = Object.entries(shape);
    if (!optional)
      return [...about, `${indent}${key}:`, ...children.flatMap(([name, child]) => entry(name, child, depth + 1))];
    const lines = children.map(([name, child]) => `  ${name}: ${value(child)}   # ${metaOf(child).description}`);
    return [...about, ...[`${key}:`, ...lines].map(line => `${indent}#${line}`)];
  }
  const preset = defaultOf(schema);
  if (!off && preset !== undefined && example === undefined) return [...about, `${indent}${key}: ${inline(preset)}`];
  const lines = withTags(stringify({ [key]: example ?? preset }, { lineWidth: 0 }))
    .trimEnd()
    .split('\n');
  return [...about, ...lines.map(line => `${indent}#${line}`)];
}

/** An example, where the default (if there is one) says less. */
function exampleOf(schema: Schema): unknown {
  const [example] = (metaOf(schema).examples ?? []) as unknown[];
  const preset = defaultOf(schema);
  return preset === undefined || isEmpty(preset) ? example : undefined;
}

const value = (schema: Schema): string => inline(exampleOf(schema) ?? defaultOf(schema));

const isEmpty = (value: unknown): boolean =>
  value !== null && typeof value === 'object' && Object.keys(value).length === 0;

// An example such as '!secret hub_token' is text to `stringify`, a tag to whoever reads the file.
const withTags = (text: string): string => text.replace(/"(!(?:secret|env) \w+)"/g, '$1');

/** Lines of at most 110 characters. */
function comment(text: string, depth = 0): string[] {
  const start = `${'  '.repeat(depth)}# `;
  const lines: string[] = [];
  for (const word of text.split(' ').filter(Boolean)) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + word.length < 110) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(start + word);
  }
  return lines;
}
