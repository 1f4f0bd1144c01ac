// JSON values: equality, canonical text, and parsing of what comes from outside.
import { createHash } from 'node:crypto';

/** Anything that JSON can carry. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** Deep equality of JSON values; object keys in any order. */
export function jsonEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    return (
      Array.isArray(a) &&
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((item, index) => jsonEqual(item, b[index]))
    );
  }
  const left = Object.entries(a);
  const right = b as Record<string, unknown>;
  return (
    left.length === Object.keys(right).length &&
    left.every(([key, value]) => Object.hasOwn(right, key) && jsonEqual(value, right[key]))
  );
}

/** JSON text with sorted keys: equal values give equal text. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    item !== null && typeof item === 'object' && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  );
}

/** A short stable digest of a JSON value (80 bits), for "has the meaning changed", never for security. */
export const digest = (value: unknown): string =>
  createHash('sha256')
    .update(canonical(value) ?? '')
    .digest('base64url')
    .slice(0, 14);

/** Parses JSON from outside, undefined when it is none. `__proto__` stays an ordinary key of no effect. */
export function parseJson(text: string): Json | undefined {
  try {
    // To be asked for every key costs ten times the parsing. A key may be written with escapes, too.
    if (!text.includes('__proto__') && !text.includes('\\u')) return JSON.parse(text) as Json;
    return JSON.parse(text, (key, item: Json) => (key === '__proto__' ? undefined : item)) as Json;
  } catch {
    return undefined;
  }
}

/** JSON merge patch (RFC 7396): null removes a key, objects merge, all else replaces. */
export function mergePatch(target: Json | undefined, patch: Json): Json {
  if (patch === null || typeof patch !== 'object' || Array.isArray(patch)) return patch;
  const base = target !== null && typeof target === 'object' && !Array.isArray(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete base[key];
    else base[key] = mergePatch(base[key], value);
  }
  return base;
}

const PLAIN_NAME = /^[^./$]+$/;

const partsOf = (path: string): string[] =>
  path
    .replace(/^[/$]\.?/, '')
    .split(/[./]/)
    .filter(Boolean);

/** The value at a path such as `a.b.0` or `/a/b/0` inside a JSON value; undefined where there is none. */
export function atPath(value: Json | undefined, path: string): Json | undefined {
  const parts = PLAIN_NAME.test(path) ? [path] : partsOf(path);
  let here: Json | undefined = value;
  for (const part of parts) {
    if (here === null || typeof here !== 'object') return undefined;
    if (Array.isArray(here)) here = here[Number(part)];
    else here = Object.hasOwn(here, part) ? here[part] : undefined;
  }
  return here;
}
