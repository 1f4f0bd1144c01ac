// The operators of CEL on values. A mismatch of types is a fault here only where the checker could not know the types.
import { Fault, type Frame, spend, spendText } from './frame.ts';
import {
  asText,
  duration,
  finite,
  isDuration,
  isFields,
  isList,
  isTimestamp,
  kindOf,
  payItems,
  payText,
  timestamp,
} from './values.ts';

/** A binary operator that evaluates both of its sides. */
export type Operator = (left: unknown, right: unknown, frame: Frame) => unknown;

function mismatch(left: unknown, operator: string, right: unknown): never {
  throw new Fault(`${kindOf(left)} ${operator} ${kindOf(right)} has no meaning`);
}

function add(left: unknown, right: unknown, frame: Frame): unknown {
  if (typeof left === 'number' && typeof right === 'number') return finite(left + right);
  if (typeof left === 'string' && typeof right === 'string') {
    payText(frame, left.length + right.length);
    return left + right;
  }
  if (isList(left) && isList(right)) {
    payItems(frame, left.length + right.length);
    return [...left, ...right];
  }
  if (isDuration(right)) {
    if (isTimestamp(left)) return timestamp(left.ms + right.ms);
    if (isDuration(left)) return duration(left.ms + right.ms);
  }
  if (isDuration(left) && isTimestamp(right)) return timestamp(left.ms + right.ms);
  if (typeof left === 'string' || typeof right === 'string')
    throw new Fault(`${kindOf(left)} + ${kindOf(right)} has no meaning; write string(x)`);
  return mismatch(left, '+', right);
}

function subtract(left: unknown, right: unknown): unknown {
  if (typeof left === 'number' && typeof right === 'number') return finite(left - right);
  if (isTimestamp(left) && isTimestamp(right)) return duration(left.ms - right.ms);
  if (isTimestamp(left) && isDuration(right)) return timestamp(left.ms - right.ms);
  if (isDuration(left) && isDuration(right)) return duration(left.ms - right.ms);
  return mismatch(left, '-', right);
}

function multiply(left: unknown, right: unknown): unknown {
  if (typeof left === 'number' && typeof right === 'number') return finite(left * right);
  return mismatch(left, '*', right);
}

// A double divided by zero is infinite in CEL; here "more than 5" of it is unknown, not true.
function divide(left: unknown, right: unknown): number {
  if (typeof left !== 'number' || typeof right !== 'number') return mismatch(left, '/', right);
  if (right === 0) throw new Fault('division by zero');
  return finite(left / right);
}

function remainder(left: unknown, right: unknown): unknown {
  if (typeof left !== 'number' || typeof right !== 'number') return mismatch(left, '%', right);
  if (right === 0) throw new Fault('division by zero');
  return finite(left % right);
}

/** Division as CEL has it between two ints: towards zero. */
export const divideInts: Operator = (left, right) => Math.trunc(divide(left, right));

/** The negated number. */
export function negate(value: unknown): unknown {
  if (typeof value === 'number') return -value || 0;
  throw new Fault(`-${kindOf(value)} has no meaning`);
}

/** Negative, zero or positive, as left is before, like or after right. */
function order(left: unknown, right: unknown, operator: string, frame: Frame): number {
  if (typeof left === 'number' && typeof right === 'number')
    return left < right ? -1 : left > right ? 1 : finite(left - left);
  if (typeof left === 'string' && typeof right === 'string') {
    spendText(frame, Math.min(left.length, right.length));
    return left < right ? -1 : left > right ? 1 : 0;
  }
  if (typeof left === 'boolean' && typeof right === 'boolean') return Number(left) - Number(right);
  if (isTimestamp(left) && isTimestamp(right)) return left.ms - right.ms;
  if (isDuration(left) && isDuration(right)) return left.ms - right.ms;
  return mismatch(left, operator, right);
}

/** Deep equality; values of different kinds are unequal. */
function equal(left: unknown, right: unknown, frame: Frame): boolean {
  spend(frame, 1);
  if (left === right) {
    if (typeof left === 'string') spendText(frame, left.length);
    return true;
  }
  if (typeof left === 'string' && typeof right === 'string') {
    if (left.length === right.length) spendText(frame, left.length);
    return false;
  }
  if (isTimestamp(left)) return isTimestamp(right) && left.ms === right.ms;
  if (isDuration(left)) return isDuration(right) && left.ms === right.ms;
  if (isList(left)) {
    return isList(right) && left.length === right.length && left.every((item, i) => equal(item, right[i], frame));
  }
  if (!isFields(left) || !isFields(right)) return false;
  const keys = Object.keys(left);
  spend(frame, keys.length);
  return (
    keys.length === Object.keys(right).length &&
    keys.every(key => Object.hasOwn(right, key) && equal(left[key], right[key], frame))
  );
}

function isIn(left: unknown, right: unknown, frame: Frame): boolean {
  if (isList(right)) return right.some(item => equal(left, item, frame));
  if (isFields(right)) return Object.hasOwn(right, asText(left));
  return mismatch(left, 'in', right);
}

/** Operator → what it does. `||`, `&&` and `?:` are not here: they do not evaluate all of their sides. */
export const OPERATORS = {
  '+': add,
  '-': subtract,
  '*': multiply,
  '/': divide,
  '%': remainder,
  '==': equal,
  '!=': (left, right, frame) => !equal(left, right, frame),
  '<': (left, right, frame) => order(left, right, '<', frame) < 0,
  '<=': (left, right, frame) => order(left, right, '<=', frame) <= 0,
  '>': (left, right, frame) => order(left, right, '>', frame) > 0,
  '>=': (left, right, frame) => order(left, right, '>=', frame) >= 0,
  in: isIn,
} as const satisfies Record<string, Operator>;
