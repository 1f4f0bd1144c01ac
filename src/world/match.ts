// Partial matching: what a matcher does not name may be anything.
import { parseJson } from '../lib/json.ts';
import type { Json } from '../model/value.ts';

/** Whether `seen` has all that `wanted` names. Lists are compared whole, numbers and their text are the same. */
export function matches(wanted: unknown, seen: unknown): boolean {
  if (wanted === null) return seen === null || seen === undefined;
  if (Array.isArray(wanted)) {
    return (
      Array.isArray(seen) && wanted.length === seen.length && wanted.every((item, index) => matches(item, seen[index]))
    );
  }
  if (typeof wanted === 'object') {
    if (seen === null || typeof seen !== 'object' || Array.isArray(seen)) return false;
    return Object.entries(wanted).every(([key, item]) => matches(item, (seen as Record<string, unknown>)[key]));
  }
  if (typeof wanted === 'number' && typeof seen === 'number') return near(wanted, seen);
  return wanted === seen || (typeof seen === 'string' && typeof wanted !== 'string' && String(wanted) === seen);
}

const near = (a: number, b: number): boolean => Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a), Math.abs(b));

/** The same for what goes over a wire as text: the text itself, or the JSON that it holds. */
export function matchesContent(wanted: Json, text: string | undefined): boolean {
  if (text === undefined) return wanted === null;
  if (matches(wanted, text)) return true;
  const json = parseJson(text);
  return json !== undefined && matches(wanted, json);
}

/** A value in a failure: short, in one line. */
export function show(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value, (_key, item: unknown) => (item === undefined ? null : item)) ?? String(value);
  const plain = text.replace(/"([A-Za-z_$][\w$]*)":/g, '$1: ').replace(/,(?=\S)/g, ', ');
  return plain.length > 300 ? `${plain.slice(0, 299)}…` : plain;
}
