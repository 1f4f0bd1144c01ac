// Which entries of a changed list are the old ones.
import { canonical, type Json } from './json.ts';

/** An entry of the old list (`from`), of the new one (`to`), or of both: the same one, perhaps changed. */
export interface Aligned {
  readonly from?: number;
  readonly to?: number;
}

// The table has a cell per pair of entries; lists longer than some hundreds are compared place by place.
const MAX_CELLS = 250_000;

/**
 * Both lists in one order. Entries with an `id` are the same when their ids are, others when they are equal; those between
 * are paired in order where neither has an `id` of its own.
 */
export function align(old: readonly Json[], wanted: readonly Json[]): Aligned[] {
  const plan: Aligned[] = [];
  let from = 0;
  let to = 0;
  const fill = (untilFrom: number, untilTo: number) => {
    while (from < untilFrom && to < untilTo && mayPair(old[from] as Json, wanted[to] as Json))
      plan.push({ from: from++, to: to++ });
    while (from < untilFrom) plan.push({ from: from++ });
    while (to < untilTo) plan.push({ to: to++ });
  };
  for (const [f, t] of common(old.map(identity), wanted.map(identity))) {
    fill(f, t);
    plan.push({ from: from++, to: to++ });
  }
  fill(old.length, wanted.length);
  return plan;
}

function idOf(item: Json): string | undefined {
  if (item === null || typeof item !== 'object' || Array.isArray(item)) return undefined;
  return typeof item.id === 'string' ? item.id : undefined;
}

const identity = (item: Json): string => idOf(item) ?? canonical(item);
const mayPair = (a: Json, b: Json): boolean => idOf(a) === undefined || idOf(b) === undefined;

/** The longest common subsequence, as pairs of indices. */
function common(a: readonly string[], b: readonly string[]): [number, number][] {
  if (a.length * b.length > MAX_CELLS) return a.flatMap((x, i) => (x === b[i] ? [[i, i] as [number, number]] : []));
  const width = b.length + 1;
  const lengths = new Uint32Array((a.length + 1) * width);
  const at = (i: number, j: number): number => lengths[i * width + j] as number;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      lengths[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const pairs: [number, number][] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) pairs.push([i++, j++]);
    else if (at(i + 1, j) >= at(i, j + 1)) i++;
    else j++;
  }
  return pairs;
}
