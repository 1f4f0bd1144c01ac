// Values: what a state's object declares, and what adapters write, as ours.
import { type Json, parseJson } from '../../lib/json.ts';
import type { AttributeDecl } from '../../model/capability.ts';
import { coerce, type Quality } from '../../model/value.ts';
import type { StateObject } from './wire.ts';

const TYPES: Readonly<Record<string, AttributeDecl['type']>> = {
  number: 'number',
  boolean: 'boolean',
  string: 'string',
};

const CHATTER = /^value\.(power|current|voltage|frequency|rssi|signal|snr)(\.|$)|(^|[.+])(rssi|lqi|link_?quality)$/i;

/** A press: nothing is left of it. */
export const isButton = ({ role }: Pick<StateObject, 'role'>): boolean => /^button(\.|$)/.test(role);

/** An attribute as a state's object declares it. */
export function declarationOf(state: StateObject): AttributeDecl {
  const { id, type, role, unit, min, max, step, labels } = state;
  const isChatter = CHATTER.test(role) || CHATTER.test(id);
  return {
    type: TYPES[type] ?? 'json',
    ...(role !== '' && { role }),
    ...(unit !== undefined && { unit }),
    ...(min !== undefined && { min }),
    ...(max !== undefined && { max }),
    ...(step !== undefined && { step }),
    ...(labels && { labels }),
    ...(isButton(state) && { momentary: true }),
    ...(isChatter && { telemetry: true }),
  };
}

/** A state's value as ours; undefined where it is none of the declared type. */
export function readValue({ type }: Pick<StateObject, 'type'>, val: Json): Json | undefined {
  if (val === null) return null;
  const ours = TYPES[type];
  // Lists and objects are written as text.
  if (ours === undefined) return typeof val === 'string' && type !== 'mixed' ? (parseJson(val) ?? val) : val;
  const coerced = coerce(val, { type: ours });
  return coerced.ok ? coerced.value : undefined;
}

// Codes of js-controller: bit 2 is "not connected", whoever says so; all others but 0 make a value doubtful.
const NOT_CONNECTED = 0x02;

/** How far a value can be trusted, by ioBroker's quality code. */
export function qualityOf(q: number): Quality {
  if (q === 0) return 'good';
  return (q & NOT_CONNECTED) !== 0 ? 'unavailable' : 'unknown';
}

// js-controller makes "_" of all others on the way, and writes to that id (its FORBIDDEN_CHARS).
const NOT_WRITABLE = /[^\p{Ll}\p{Lu}\p{Nd}._\-/ :!#$%&()+=@^{}|~]/u;

/** Why a value may not be written to a state; undefined when it may. ioBroker itself takes anything. */
export function misfitOf(state: StateObject, value: Json): string | undefined {
  const { id, type, min, max, labels, write } = state;
  const shown = JSON.stringify(value);
  if (write === false) return `${id} cannot be written`;
  if (NOT_WRITABLE.test(id)) return `${id} has a character for which ioBroker would write to another id`;
  if (TYPES[type] !== undefined && typeof value !== type) return `${shown} is no ${type}, which ${id} is`;
  if (type === 'array' && !Array.isArray(value)) return `${shown} is no list, which ${id} is`;
  if (typeof value === 'number' && (value < (min ?? value) || value > (max ?? value))) {
    return `${value} is not within ${min ?? '…'} to ${max ?? '…'}, the range of ${id}`;
  }
  if (labels && type !== 'boolean' && value !== null && !Object.hasOwn(labels, String(value))) {
    return `${shown} is none of the values of ${id}: ${Object.keys(labels).join(', ')}`;
  }
  return undefined;
}

/** A value as ioBroker stores it: lists and objects are text. */
export const storedValue = (value: Json): Json =>
  value !== null && typeof value === 'object' ? JSON.stringify(value) : value;
