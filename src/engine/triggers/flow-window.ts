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

/** Those of the last `within` ms with one more, as few of them as decide. */
export function withAdded(entries: readonly Entry[], [at, what]: Entry, within: number, asked: Asked): Entry[] {
  const left = young(entries, at, within);
  if (asked.of === 'sum') {
    const amount = amountOf(what);
    const last = left.at(-1);
    if (amount === 0) return left;
    if (!last || at - last[0] >= within / SUM_STEPS) return [...left, [at, amount]];
    return [...left.slice(0, -1), [last[0], amountOf(last[1]) + amount]];
  }
  const text = JSON.stringify(what);
  const others = asked.of === 'distinct' ? left.filter(([, other]) => JSON.stringify(other) !== text) : left;
  // Of those that reach the number, the newest reach it for longest.
  return [...others, [at, what] as Entry].slice(-asked.count);
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
