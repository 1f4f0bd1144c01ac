// JSON Schema of an operation's input as MCP clients bear it: one flat object without `$ref`, cut where it recurses or
// where it would cost the model too much. Several clients refuse or drop tools with root unions or references.
import { z } from 'zod';

/** A JSON Schema (2020-12). */
export type JsonSchema = Record<string, unknown>;

/** How much of a schema is shown. */
export interface InlineOptions {
  /** Longest JSON text of the result; deeper levels are cut until it fits. */
  readonly maxChars: number;
  /** Added to the description of whatever is cut. */
  readonly hint: string;
}

const MAX_DEPTH = 8;

/** The whole schema of what a caller may send, with `$defs` where it recurses. */
export function wholeSchema(schema: z.ZodType, io: 'input' | 'output' = 'input'): JsonSchema {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as JsonSchema;
  return rest;
}

/** The same without references, as deep as `maxChars` allows; what is cut becomes an open value with a description. */
export function inlineSchema(schema: JsonSchema, options: InlineOptions): JsonSchema {
  let flat: JsonSchema = {};
  for (let depth = MAX_DEPTH; depth >= 1; depth--) {
    flat = inline(schema, { root: schema, hint: options.hint, path: [] }, depth);
    if (JSON.stringify(flat).length <= options.maxChars) break;
  }
  return flat;
}

interface Walk {
  readonly root: JsonSchema;
  readonly hint: string;
  /** References that we are inside of. */
  readonly path: readonly string[];
}

function inline(schema: JsonSchema, walk: Walk, depth: number): JsonSchema {
  const reference = schema.$ref;
  if (typeof reference === 'string') {
    const target = resolve(walk.root, reference);
    if (!target || walk.path.includes(reference)) return cut({ ...target, ...schema }, walk.hint);
    const { $ref: _ref, ...beside } = schema;
    return inline({ ...target, ...beside }, { ...walk, path: [...walk.path, reference] }, depth);
  }
  const nested = ['properties', 'items', 'prefixItems', 'anyOf', 'oneOf', 'allOf'].some(key => key in schema);
  if (nested && depth === 0) return cut(schema, walk.hint);
  const out: JsonSchema = {};
  for (const [key, value] of Object.entries(schema)) {
    if (key === '$defs' || key === 'id' || key === '$id') continue;
    out[key] = isSchemaMap(key, value)
      ? Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, inline(inner, walk, depth - 1)]))
      : inlineValue(key, value, walk, depth);
  }
  return out;
}

/** `properties` holds schemas by name, so its keys must not be read as keywords. */
const isSchemaMap = (key: string, value: unknown): value is Record<string, JsonSchema> =>
  (key === 'properties' || key === 'patternProperties') && isSchema(value);

function inlineValue(key: string, value: unknown, walk: Walk, depth: number): unknown {
  if (key === 'examples' || key === 'default' || key === 'enum' || key === 'const') return value;
  if (Array.isArray(value)) return value.map(item => (isSchema(item) ? inline(item, walk, depth - 1) : item));
  return isSchema(value) ? inline(value, walk, depth - 1) : value;
}

const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function resolve(root: JsonSchema, reference: string): JsonSchema | undefined {
  let here: unknown = root;
  for (const part of reference.replace(/^#\/?/, '').split('/').filter(Boolean)) {
    here = isSchema(here) ? here[part.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined;
  }
  return isSchema(here) ? here : undefined;
}

function cut(schema: JsonSchema, hint: string): JsonSchema {
  const description = [schema.description, hint].filter(Boolean).join(' ');
  if (schema.type === 'array') return { type: 'array', description };
  if ('anyOf' in schema || 'allOf' in schema) return { description };
  return { type: 'object', description };
}
