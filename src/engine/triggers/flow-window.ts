// What has come within a sliding time, as little of it as decides: bounded, whatever comes. A flood of conversations adds a
// few rows to it and never grows one.
import type { Json } from '../../model/value.ts';

/** When, and what: null for a count, the value for different ones, the amount for a sum. Oldest first. */
export type Entry = [at: number, what: Json];

/** What is asked of a window. */
export type Asked =
  | { readonly of: 'count' | 'distinct'; readonly count: number }
  | { readonly of: 'sum'; readonly above: number };

/** A sum tells apart what lies this part of the window apart: what came closer together leaves it together. */
export const SUM_STEPS = 250;

const young = (entries: readonly Entry[], at: number, within: number): Entry[] =>
  entries.filter(([then]) => at - then < within);

/** Those of the last `within` ms with one more, which may be older than others, as few of them as decide. */
export function withAdded(entries: readonly Entry[], [at, what]: Entry, within: number, asked: Asked): Entry[] {
  const newest = Math.max(at, entries.at(-1)?.[0] ?? at);
  const left = young(entries, newest, within);
  if (newest - at >= within) return left;
  if (asked.of === 'sum') {
    const amount = amountOf(what);
    if (amount === 0) return left;
    const index = left.findLastIndex(([then]) => then <= at);
    const before = left[index];
    const isNear = before !== undefined && at - before[0] < within / SUM_STEPS;
    const entry: Entry = isNear ? [before[0], amountOf(before[1]) + amount] : [at, amount];
    return left.toSpliced(isNear ? index : index + 1, isNear ? 1 : 0, entry);
  }
  const text = JSON.stringify(what);
  const isSame = ([, other]: Entry) => asked.of === 'distinct' && JSON.stringify(other) === text;
  if (left.some(one => isSame(one) && one[0] > at)) return left;
  const others = left.filter(one => !isSame(one));
  // Of those that reach the number, the newest reach it for longest.
  return others.toSpliced(others.findLastIndex(([then]) => then <= at) + 1, 0, [at, what]).slice(-asked.count);
}

/** How many are in it, or how much. */
export const measureOf = (entries: readonly Entry[], asked: Asked): number =>
  asked.of === 'sum' ? entries.reduce((total, [, amount]) => total + amountOf(amount), 0) : entries.length;

/** Whether it has come to what is asked. */
export const isReached = (measure: number, asked: Asked): boolean =>
  asked.of === 'sum' ? measure > asked.above : measure >= asked.count;

/** True when nothing in it counts any more. */
export const isOver = (entries: readonly Entry[], at: number, within: number): boolean =>
  entries.every(([then]) => at - then >= within);

const amountOf = (what: Json): number => (typeof what === 'number' ? what : 0);
