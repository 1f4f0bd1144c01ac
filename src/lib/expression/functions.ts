// The functions of expressions, an entry each. What CEL's library declares needs no signatures of ours; what it declares
// and is not here (`matches` with its runaway patterns, bytes, uint) cannot be called.
import { DateTime } from 'luxon';
import { parseDuration } from '../duration.ts';
import { type Callable, COST, Fault, type Frame, spend } from './frame.ts';
import { like } from './like.ts';
import { sizeOf, zoned } from './methods.ts';
import {
  asInt,
  asNumber,
  asText,
  asTimestamp,
  type Duration,
  duration,
  finite,
  isDuration,
  isList,
  isTimestamp,
  kindOf,
  payItems,
  type Timestamp,
  timestamp,
  toText,
} from './values.ts';

const TIME = 'google.protobuf.Timestamp';
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** The number that a value is or spells; undefined for all else. */
function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (typeof value !== 'string' || value.length > 400 || !NUMBER.test(value.trim())) return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

function numberOr(value: unknown, fallback: unknown): unknown {
  const number = numberOf(value) ?? fallback;
  if (number !== undefined) return number;
  throw new Fault(typeof value === 'string' ? 'the text is no number' : `${kindOf(value)} is no number`);
}

function toDuration(value: unknown): Duration {
  if (isDuration(value)) return value;
  const ms = parseDuration(asText(value));
  if (ms === undefined) throw new Fault('the text is no duration; write 250ms, 5m, 1d2h, PT5M or 00:05:00');
  return duration(ms);
}

// Without a zone the text would mean another instant on another machine.
const STAMP = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$/;

function toTimestamp(frame: Frame, value: unknown): Timestamp {
  spend(frame, COST.parse);
  if (isTimestamp(value)) return value;
  if (typeof value === 'number') return timestamp(value * 1000);
  const text = asText(value);
  const stamp = STAMP.test(text) ? DateTime.fromISO(text, { zone: 'utc' }) : undefined;
  if (stamp?.isValid) return timestamp(stamp.toMillis());
  throw new Fault('the text is no instant; write 2026-01-31T18:00:00Z or with an offset, +01:00');
}

function toInt(value: unknown): number {
  if (typeof value === 'string' && !/^[+-]?\d{1,16}$/.test(value)) throw new Fault('the text is no whole number');
  return asInt(Math.trunc(typeof value === 'string' ? Number(value) : asNumber(value)) || 0);
}

function toBool(value: unknown): boolean {
  if (value === true || value === 'true') return true;
  if (value === false || value === 'false') return false;
  throw new Fault(`${kindOf(value)} is neither true nor false`);
}

/** Half away from zero, in the decimal digits that one sees: 1.005 to two digits is 1.01. */
function round(value: unknown, digits: unknown = 0): number {
  const places = asInt(digits);
  if (places < -15 || places > 15) throw new Fault('digits are between -15 and 15');
  const number = asNumber(value);
  const [mantissa = '0', exponent = '0'] = String(Math.abs(number)).split('e');
  const shifted = Math.round(Number(`${mantissa}e${Number(exponent) + places}`));
  // So large that it has no such digits.
  if (!Number.isFinite(shifted)) return number;
  const [digitsOf = '0', shift = '0'] = String(shifted).split('e');
  return finite(Math.sign(number) * Number(`${digitsOf}e${Number(shift) - places}`)) || 0;
}

function extreme(frame: Frame, choose: (a: number, b: number) => number, args: readonly unknown[]): number {
  const items = args.length === 1 && isList(args[0]) ? args[0] : args;
  payItems(frame, items.length);
  if (items.length === 0) throw new Fault('the list is empty');
  return items.map(asNumber).reduce(choose);
}

const numeric = (name: string): string[] => [`${name}(double): double`, `${name}(int): double`];
const twoNumbers = (name: string): string[] => [
  `${name}(double, double): double`,
  `${name}(int, int): int`,
  `${name}(int, double): double`,
  `${name}(double, int): double`,
  `${name}(list): dyn`,
];

const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
const local = (frame: Frame, value: unknown) => zoned(frame, asTimestamp(value).ms, frame.scope.timezone ?? 'UTC');

const TABLE: Readonly<Record<string, Callable>> = {
  state: {
    usage: 'state(id, attribute)',
    text: 'the last good value of a device’s attribute, null if unknown',
    signatures: ['state(string, string): dyn'],
    run: (frame, id, attribute) => frame.scope.state(asText(id), asText(attribute)) ?? null,
  },
  attr: {
    usage: 'attr(id, attribute)',
    text: '.value, .quality, .lastChanged and .lastReported of a device’s attribute, null if unknown',
    signatures: ['attr(string, string): Attribute'],
    run: (frame, id, attribute) => {
      const reading = frame.scope.attr(asText(id), asText(attribute));
      if (!reading) return null;
      const { lastChanged, lastReported } = reading;
      return {
        value: reading.value ?? null,
        quality: reading.quality,
        lastChanged: lastChanged === null ? null : timestamp(lastChanged),
        lastReported: lastReported === null ? null : timestamp(lastReported),
      };
    },
  },
  num: {
    usage: 'num(x, default)',
    text: 'x as a number, also from text; the default, or a fault without one, where it is none',
    signatures: ['num(dyn): double', 'num(dyn, double): double', 'num(dyn, int): double'],
    run: (_frame, value, fallback) => numberOr(value, fallback === undefined ? undefined : asNumber(fallback)),
  },
  duration: {
    usage: 'duration("5m")',
    text: 'a duration: 250ms, 5m, 1d2h, PT5M, 00:05:00',
    run: (_frame, value) => toDuration(value),
  },
  timestamp: {
    usage: 'timestamp("2026-01-31T18:00:00Z")',
    text: 'an instant, of ISO 8601 text with a zone or of seconds since 1970',
    signatures: [`timestamp(double): ${TIME}`],
    run: (frame, value) => toTimestamp(frame, value),
  },
  int: { usage: 'int(x)', text: 'a whole number, cut towards zero', run: (_frame, value) => toInt(value) },
  double: { usage: 'double(x)', text: 'a number, also from text', run: (_frame, value) => numberOr(value, undefined) },
  string: {
    usage: 'string(x)',
    text: 'x as it stands in a text',
    signatures: [`string(${TIME}): string`, 'string(google.protobuf.Duration): string'],
    run: (frame, value) => toText(value, frame),
  },
  bool: { usage: 'bool(x)', text: 'of "true" or "false"', run: (_frame, value) => toBool(value) },
  dyn: { usage: 'dyn(x)', text: 'x, with its type unchecked at save', run: (_frame, value) => value },
  size: { usage: 'size(x)', text: 'characters of a text, elements of a list or map', run: sizeOf },
  round: {
    usage: 'round(x, digits)',
    text: 'x rounded, half away from zero; digits 0 unless told',
    signatures: [...numeric('round'), 'round(double, int): double', 'round(int, int): double'],
    run: (_frame, value, digits) => round(value, digits),
  },
  floor: {
    usage: 'floor(x)',
    text: 'the whole number below',
    signatures: numeric('floor'),
    run: (_frame, value) => Math.floor(asNumber(value)) || 0,
  },
  ceil: {
    usage: 'ceil(x)',
    text: 'the whole number above',
    signatures: numeric('ceil'),
    run: (_frame, value) => Math.ceil(asNumber(value)) || 0,
  },
  abs: {
    usage: 'abs(x)',
    text: 'without its sign',
    signatures: ['abs(double): double', 'abs(int): int'],
    run: (_frame, value) => Math.abs(asNumber(value)),
  },
  min: {
    usage: 'min(a, b) or min(list)',
    text: 'the smallest number',
    signatures: twoNumbers('min'),
    run: (frame, ...args) => extreme(frame, (a, b) => Math.min(a, b), args),
  },
  max: {
    usage: 'max(a, b) or max(list)',
    text: 'the largest number',
    signatures: twoNumbers('max'),
    run: (frame, ...args) => extreme(frame, (a, b) => Math.max(a, b), args),
  },
  like: {
    usage: 'like(text, pattern)',
    text: 'whether the whole text fits a pattern in which * is any text and ? one character',
    signatures: ['like(string, string): bool'],
    run: (frame, text, pattern) => like(asText(text), asText(pattern), frame),
  },
  hour: {
    usage: 'hour(timestamp)',
    text: '0 to 23, in the rule’s time zone',
    signatures: [`hour(${TIME}): int`],
    run: (frame, value) => local(frame, value).hour,
  },
  minute: {
    usage: 'minute(timestamp)',
    text: '0 to 59, in the rule’s time zone',
    signatures: [`minute(${TIME}): int`],
    run: (frame, value) => local(frame, value).minute,
  },
  weekday: {
    usage: 'weekday(timestamp)',
    text: 'mon, tue, wed, thu, fri, sat or sun, in the rule’s time zone',
    signatures: [`weekday(${TIME}): string`],
    run: (frame, value) => WEEKDAYS[local(frame, value).weekday - 1],
  },
  date: {
    usage: 'date(timestamp)',
    text: '2026-01-31, in the rule’s time zone',
    signatures: [`date(${TIME}): string`],
    run: (frame, value) => local(frame, value).toFormat('yyyy-MM-dd'),
  },
  time: {
    usage: 'time(timestamp)',
    text: '18:05, in the rule’s time zone',
    signatures: [`time(${TIME}): string`],
    run: (frame, value) => local(frame, value).toFormat('HH:mm'),
  },
};

/** Function name → what it does. */
export const FUNCTIONS: ReadonlyMap<string, Callable> = new Map(Object.entries(TABLE));
