// Values of attributes: declared types, coercion where they enter, equality.
import { type Json, jsonEqual } from '../lib/json.ts';

export type { Json } from '../lib/json.ts';

/** How far a value can be trusted. */
export type Quality = 'good' | 'unknown' | 'unavailable';

/** The declared type of an attribute or argument. */
export interface ValueType {
  readonly type: 'number' | 'enum' | 'boolean' | 'string' | 'json';
  /** The words of an enum. */
  readonly values?: readonly string[];
  /** What values are called, where a number or text has only some; by the value as text. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly unit?: string;
  /** Smallest difference that counts, for numbers. */
  readonly step?: number;
  readonly min?: number;
  readonly max?: number;
}

/** A coerced value, or why there is none. */
export type Coerced = { ok: true; value: Json } | { ok: false; reason: string };

const TRUE_WORDS = new Set(['true', '1', 'on', 'yes']);
const FALSE_WORDS = new Set(['false', '0', 'off', 'no']);
// A decimal number as devices write it; neither hex nor empty text, both of which Number() takes.
const DECIMAL = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** Fits a reported value to its declared type ("10" → 10). NaN and infinities are refused. null means "no value". */
export function coerce(raw: unknown, declared: ValueType): Coerced {
  if (raw === null) return { ok: true, value: null };
  switch (declared.type) {
    case 'number': {
      const n = typeof raw === 'string' && DECIMAL.test(raw.trim()) ? Number(raw) : raw;
      if (typeof n === 'number' && Number.isFinite(n)) return { ok: true, value: n };
      return { ok: false, reason: `${JSON.stringify(raw)} is no finite number` };
    }
    case 'boolean': {
      if (typeof raw === 'boolean') return { ok: true, value: raw };
      const word = String(raw).toLowerCase();
      if (TRUE_WORDS.has(word)) return { ok: true, value: true };
      if (FALSE_WORDS.has(word)) return { ok: true, value: false };
      return { ok: false, reason: `${JSON.stringify(raw)} is no boolean` };
    }
    case 'enum': {
      const values = declared.values ?? [];
      const word = typeof raw === 'boolean' ? wordOf(raw, values) : String(raw);
      const exact = values.find(v => v === word) ?? values.find(v => v.toLowerCase() === word.toLowerCase());
      if (exact !== undefined) return { ok: true, value: exact };
      return { ok: false, reason: `${JSON.stringify(raw)} is none of ${values.join(', ')}` };
    }
    case 'string':
      return typeof raw === 'object'
        ? { ok: false, reason: 'an object where text is declared' }
        : { ok: true, value: String(raw) };
    case 'json':
      return raw === undefined ? { ok: false, reason: 'no value' } : { ok: true, value: raw as Json };
  }
}

// Devices that speak true/false of a two-word attribute mean its "active" word, which the table lists first or second.
function wordOf(raw: boolean, values: readonly string[]): string {
  const active = ['on', 'open', 'active', 'present', 'unlocked', 'wet', 'detected', 'online'].find(w =>
    values.includes(w),
  );
  const inactive = ['off', 'closed', 'inactive', 'not present', 'locked', 'dry', 'clear', 'offline'].find(w =>
    values.includes(w),
  );
  return (raw ? active : inactive) ?? String(raw);
}

/** Equality as rules mean it: numbers within half a step (or 1e-9 relative), all else deep. */
export function valuesEqual(a: Json, b: Json, step = 0): boolean {
  if (typeof a === 'number' && typeof b === 'number') {
    if (a === b) return true;
    return Math.abs(a - b) <= Math.max(step / 2, 1e-9 * Math.max(Math.abs(a), Math.abs(b)));
  }
  return jsonEqual(a, b);
}

/** Why a value written in a rule cannot be a value of the type; undefined when it fits. Nothing is coerced here. */
export function misfit(value: Json, declared: ValueType): string | undefined {
  if (value === null) return undefined;
  const shown = JSON.stringify(value);
  switch (declared.type) {
    case 'number':
      return typeof value === 'number' ? undefined : `${shown} is no number`;
    case 'boolean':
      return typeof value === 'boolean' ? undefined : `${shown} is no boolean; write true or false`;
    case 'enum':
      return typeof value === 'string' && declared.values?.includes(value)
        ? undefined
        : `${shown} is no value of this attribute; valid are ${(declared.values ?? []).map(v => JSON.stringify(v)).join(', ')}`;
    case 'string':
      return typeof value === 'string' ? undefined : `${shown} is no text`;
    case 'json':
      return undefined;
  }
}
