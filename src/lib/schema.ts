// Looking into zod schemas: what stands at a path, which keys a place knows. For messages that name the nearest key,
// for environment overrides, and for the pages and examples that are generated from a schema.
import { z } from 'zod';

type Schema = z.core.$ZodType;

/** The parts of zod's own definitions (zod 4, `schema._zod.def`) that are looked at here. */
interface Definition {
  type: string;
  innerType?: Schema;
  in?: Schema;
  out?: Schema;
  getter?: () => Schema;
  shape?: Record<string, Schema>;
  catchall?: Schema;
  valueType?: Schema;
  element?: Schema;
  options?: readonly Schema[];
  discriminator?: string;
  values?: readonly unknown[];
  defaultValue?: unknown;
}

/** zod's definition of a schema. */
export const definitionOf = (schema: Schema): Definition => schema._zod.def as unknown as Definition;

/** What a wrapper (optional, default, transform, lazy) wraps; undefined for all else. */
function wrapped(schema: Schema): Schema | undefined {
  const def = definitionOf(schema);
  if (def.innerType) return def.innerType;
  if (def.type === 'lazy') return def.getter?.();
  if (def.type !== 'pipe' || !def.in) return undefined;
  return definitionOf(def.in).type === 'transform' ? def.out : def.in;
}

/** The schema below all wrappers. */
export function unwrap(schema: Schema): Schema {
  const inner = wrapped(schema);
  return inner ? unwrap(inner) : schema;
}

/** The `.meta()` of a schema and of what it wraps; the outer one wins. */
export function metaOf(schema: Schema): z.core.GlobalMeta {
  const inner = wrapped(schema);
  const { id: _, ...own } = z.globalRegistry.get(schema) ?? {};
  return { ...(inner && metaOf(inner)), ...own };
}

/** The default that a schema declares, by itself or by what it wraps; undefined where there is none. */
export function defaultOf(schema: Schema): unknown {
  const def = definitionOf(schema);
  if (def.type === 'default') return def.defaultValue;
  const inner = wrapped(schema);
  return inner && defaultOf(inner);
}

/** The schema of a child; `input` (the parent's value) chooses among the forms of a union. */
export function childOf(parent: Schema, key: PropertyKey, input?: unknown): Schema | undefined {
  const schema = unwrap(parent);
  const def = definitionOf(schema);
  switch (def.type) {
    case 'object':
      return Object.hasOwn(def.shape ?? {}, key) ? def.shape?.[String(key)] : openValue(def.catchall);
    case 'record':
      return def.valueType;
    case 'array':
      return def.element;
    case 'union':
      for (const option of formsFor(def, input)) {
        const child = childOf(option, key, input);
        if (child) return child;
      }
      return undefined;
    case 'unknown':
    case 'any':
      return schema;
    default:
      return undefined;
  }
}

const openValue = (catchall: Schema | undefined): Schema | undefined =>
  catchall && definitionOf(catchall).type !== 'never' ? catchall : undefined;

/** The forms of a union that a value may have: by its discriminator, else by being a list, a map or neither. */
function formsFor(def: Definition, input: unknown): readonly Schema[] {
  const options = def.options ?? [];
  const { discriminator } = def;
  if (discriminator === undefined || input === null || typeof input !== 'object') {
    return options.filter(option => (definitionOf(unwrap(option)).type === 'array') === Array.isArray(input));
  }
  const wanted = (input as Record<string, unknown>)[discriminator];
  return options.filter(option => {
    const literal = childOf(option, discriminator);
    return literal !== undefined && (literal as z.ZodType).safeParse(wanted).success;
  });
}

/** The schema at a path below `root`; undefined where the path leads nowhere. */
export function schemaAt(root: Schema, path: readonly PropertyKey[], input: unknown): Schema | undefined {
  let schema: Schema | undefined = root;
  let value = input;
  for (const key of path) {
    if (!schema) return undefined;
    schema = childOf(schema, key, value);
    value = value !== null && typeof value === 'object' ? (value as Record<PropertyKey, unknown>)[key] : undefined;
  }
  return schema;
}

/** The `.meta()` at a path. */
export function metaAt(root: Schema, path: readonly PropertyKey[], input: unknown): z.core.GlobalMeta | undefined {
  const schema = schemaAt(root, path, input);
  return schema && metaOf(schema);
}

/** The keys that the map at a path declares. */
export function keysAt(root: Schema, path: readonly PropertyKey[], input: unknown): string[] {
  const schema = schemaAt(root, path, input);
  if (!schema) return [];
  let value = input;
  for (const key of path) value = (value as Record<PropertyKey, unknown> | undefined)?.[key];
  return keysOf(schema, value);
}

/** The keys that a map declares. */
export function keysOf(schema: Schema, input: unknown): string[] {
  const def = definitionOf(unwrap(schema));
  if (def.type === 'union') return formsFor(def, input).flatMap(option => keysOf(option, input));
  return Object.keys(def.shape ?? {});
}
