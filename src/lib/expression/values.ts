// Values inside an expression: JSON, and timestamps and durations that JSON cannot forge. Numbers are JS numbers, so
// int and double mix; what becomes of a value outside is decided here.
import { iso } from '../clock.ts';
import { formatDuration } from '../duration.ts';
import type { Json } from '../json.ts';
import { Fault, type Frame, LIMITS, spend, spendText } from './frame.ts';

const TIMESTAMP = Symbol('timestamp');
const DURATION = Symbol('duration');

/** An instant, epoch ms. */
export interface Timestamp {
  readonly tag: typeof TIMESTAMP;
  readonly ms: number;
}

/** A length of time, ms. */
export interface Duration {
  readonly tag: typeof DURATION;
  readonly ms: number;
}

/** A map: what JSON calls an object. Only its own keys count. */
export type Fields = Readonly<Record<string, unknown>>;

// Years 1 to 9999, as CEL has it; beyond them ISO text has another shape.
const FIRST_MS = -62_135_596_800_000;
const LAST_MS = 253_402_300_799_999;

/** The instant `ms` after the epoch; a fault outside the years 1 to 9999. */
export function timestamp(ms: number): Timestamp {
  if (ms >= FIRST_MS && ms <= LAST_MS) return { tag: TIMESTAMP, ms };
  throw new Fault('the time is outside the years 1 to 9999');
}

/** A duration of `ms`. */
export const duration = (ms: number): Duration => ({ tag: DURATION, ms: finite(ms) });

const tagOf = (value: unknown): unknown =>
  typeof value === 'object' && value !== null ? (value as Timestamp).tag : null;

export const isTimestamp = (value: unknown): value is Timestamp => tagOf(value) === TIMESTAMP;
export const isDuration = (value: unknown): value is Duration => tagOf(value) === DURATION;
export const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);
export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isTimestamp(value) && !isDuration(value);

/** What a value is, in the words of CEL. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (value === undefined) return 'nothing';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value !== 'object') return typeof value;
  if (isTimestamp(value)) return 'timestamp';
  if (isDuration(value)) return 'duration';
  return Array.isArray(value) ? 'list' : 'map';
}

/** The number, which is neither NaN nor infinite: JSON has neither, and a comparison with NaN would lie. */
export function finite(value: number): number {
  if (Number.isFinite(value)) return value;
  throw new Fault('the result is no finite number');
}

function wrong(value: unknown, wanted: string): never {
  throw new Fault(`${wanted} is wanted, this is ${kindOf(value)}`);
}

export const asBool = (value: unknown): boolean => (typeof value === 'boolean' ? value : wrong(value, 'a bool'));
export const asText = (value: unknown): string => (typeof value === 'string' ? value : wrong(value, 'a string'));
export const asNumber = (value: unknown): number =>
  typeof value === 'number' ? finite(value) : wrong(value, 'a number');
export const asTimestamp = (value: unknown): Timestamp => (isTimestamp(value) ? value : wrong(value, 'a timestamp'));

/** A whole number that may serve as an index or a count. */
export const asInt = (value: unknown): number =>
  Number.isSafeInteger(value) ? (value as number) : wrong(value, 'a whole number');

/** Checks that a list that the expression makes or runs over is short enough, and pays for it. */
export function payItems(frame: Frame, count: number): void {
  if (count > LIMITS.items)
    throw new Fault(`a list of ${count} elements; at most ${LIMITS.items} can be worked on`, true);
  spend(frame, count);
}

/** Checks that a text that the expression makes is short enough, and pays for it. */
export function payText(frame: Frame, length: number): void {
  if (length > LIMITS.text) throw new Fault(`a text of ${length} characters; at most ${LIMITS.text} can be made`, true);
  spendText(frame, length);
}

/** The value at a key or index; undefined when a map has no such key. A fault for all that has no fields. */
export function fieldOf(value: unknown, key: unknown): unknown {
  if (isList(value) && typeof key === 'number') {
    const index = asInt(key);
    if (index >= 0 && index < value.length) return value[index];
    throw new Fault(`no element ${index}: the list has ${value.length}`);
  }
  if (!isFields(value)) throw new Fault(`${kindOf(value)} has no fields`);
  return Object.hasOwn(value, asText(key)) ? value[key as string] : undefined;
}

// A map made here must not get another prototype or look like an object with a class, wherever it is merged later.
const FORBIDDEN_KEYS = new Set(['__proto__', 'constructor', 'prototype']);

/** Whether a map literal may have this key. */
export const isForbiddenKey = (key: string): boolean => FORBIDDEN_KEYS.has(key);

/** The value as JSON, copied: a timestamp is ISO 8601 text in UTC, a duration its stored form (`1m30s`). */
export function toJson(value: unknown, frame: Frame): Json {
  spend(frame, 1);
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'number') return finite(value);
  if (typeof value === 'string') {
    spendText(frame, value.length);
    return value;
  }
  if (isTimestamp(value)) return iso(value.ms);
  if (isDuration(value)) return formatDuration(value.ms);
  if (isList(value)) return value.map(item => toJson(item, frame));
  if (!isFields(value)) throw new Fault(`${kindOf(value)} is no value`);
  const copy: { [key: string]: Json } = {};
  for (const key of Object.keys(value)) {
    if (key !== '__proto__' && value[key] !== undefined) copy[key] = toJson(value[key], frame);
  }
  return copy;
}

/**
 * The value as it stands in text: a whole number without a fraction (others to 15 digits, which hides `0.1 + 0.2`),
 * null empty, lists and maps as JSON.
 */
export function toText(value: unknown, frame: Frame): string {
  const json = toJson(value, frame);
  const text = typeof json === 'number' ? numberText(json) : textOf(json);
  payText(frame, text.length);
  return text;
}

const textOf = (json: Json): string => {
  if (json === null) return '';
  return typeof json === 'string' ? json : JSON.stringify(json);
};

const numberText = (n: number): string => String(Number.isInteger(n) ? n : Number(n.toPrecision(15)));
