// Arithmetic on what a value was over time: the aggregations that ioBroker's history adapters know, per interval. A value
// holds until the next one; null is a gap, which counts for nothing.

/** A value at an instant (epoch ms). */
export interface Point {
  readonly ts: number;
  readonly value: number | null;
}

/** What can be made of an interval. */
export const AGGREGATES = [
  'min',
  'max',
  'avg',
  'sum',
  'count',
  'minmax',
  'percentile',
  'quantile',
  'integral',
] as const;
/** A name of `AGGREGATES`. */
export type Aggregate = (typeof AGGREGATES)[number];

/** What is asked. */
export interface Aggregation {
  readonly aggregate: Aggregate;
  /** The first interval begins here; the last one ends at `to`, which may cut it short. Epoch ms, from ≤ ts < to. */
  readonly from: number;
  readonly to: number;
  readonly intervalMs: number;
  /** 0–1; of percentile and quantile. */
  readonly quantile?: number;
  /** Of integral: value times this time is 1. */
  readonly unitMs?: number;
}

/** An interval, named by its beginning. `minmax` has both ends in the place of a value. */
export interface Interval {
  readonly ts: number;
  readonly value?: number | null;
  readonly min?: number | null;
  readonly max?: number | null;
  /** Points in it. */
  readonly points: number;
}

/** A value as a number: true and false are 1 and 0; null for what is none. */
export function numberOf(value: unknown): number | null {
  if (typeof value === 'boolean') return value ? 1 : 0;
  const n = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof n === 'number' && Number.isFinite(n) ? n : null;
}

/**
 * Aggregates points per interval.
 * @param points oldest first; one before `from` tells what held at the beginning, for integrals
 */
export function aggregate(points: readonly Point[], asked: Aggregation): Interval[] {
  const { from, to, intervalMs } = asked;
  const intervals: Interval[] = [];
  let next = 0;
  /** What holds; null while nothing is known. */
  let held: number | null = null;
  for (; next < points.length && (points[next] as Point).ts < from; next++) held = (points[next] as Point).value;
  for (let start = from; start < to; start += intervalMs) {
    const end = Math.min(start + intervalMs, to);
    const inside: Point[] = [];
    for (; next < points.length && (points[next] as Point).ts < end; next++) inside.push(points[next] as Point);
    const values = inside.flatMap(({ value }) => (value === null ? [] : [value]));
    const of = { start, end, inside, values, held };
    intervals.push({ ts: start, ...made(asked, of), points: inside.length });
    held = inside.length > 0 ? (inside.at(-1) as Point).value : held;
  }
  return intervals;
}

interface Content {
  readonly start: number;
  readonly end: number;
  readonly inside: readonly Point[];
  readonly values: readonly number[];
  readonly held: number | null;
}

function made(asked: Aggregation, content: Content): Pick<Interval, 'value' | 'min' | 'max'> {
  const { values } = content;
  const { aggregate: what, quantile = 0.5 } = asked;
  const least = values.length === 0 ? null : values.reduce((a, b) => Math.min(a, b));
  const most = values.length === 0 ? null : values.reduce((a, b) => Math.max(a, b));
  const sum = values.reduce((a, b) => a + b, 0);
  switch (what) {
    case 'min':
      return { value: least };
    case 'max':
      return { value: most };
    case 'minmax':
      return { min: least, max: most };
    case 'count':
      return { value: values.length };
    case 'sum':
      return { value: values.length === 0 ? null : sum };
    case 'avg':
      return { value: values.length === 0 ? null : sum / values.length };
    case 'percentile':
    case 'quantile':
      return { value: quantileOf(values, quantile) };
    case 'integral':
      return { value: integralOf(content, asked.unitMs ?? 60_000) };
  }
}

/** The smallest value that this part of all does not exceed; between two of them, their mean. */
function quantileOf(values: readonly number[], q: number): number | null {
  const sorted = [...values].sort((a, b) => a - b);
  if (sorted.length === 0) return null;
  const at = sorted.length * q;
  const below = sorted[Math.max(0, Math.ceil(at) - 1)] as number;
  const isBetween = Number.isInteger(at) && at > 0 && at < sorted.length;
  return isBetween ? (below + (sorted[at] as number)) / 2 : below;
}

/** Value times duration; null where nothing was known all the time. */
function integralOf({ start, end, inside, held }: Content, unitMs: number): number | null {
  let area = 0;
  let isKnown = false;
  let value = held;
  let since = start;
  const until = (ts: number) => {
    if (value !== null) {
      area += value * (ts - since);
      isKnown = true;
    }
    since = ts;
  };
  for (const point of inside) {
    until(point.ts);
    value = point.value;
  }
  until(end);
  return isKnown ? area / unitMs : null;
}
