// What a benchmark is and gives, and the little arithmetic that all share.

/** One number of the result. */
export interface Figure {
  /** Its name in the JSON line. */
  readonly key: string;
  readonly value: number;
  /** What must not be exceeded; left out where the number is only told. */
  readonly target?: number;
  readonly unit?: string;
  /** What it is, for people. */
  readonly what: string;
}

/** What a benchmark is run with. */
export interface Setting {
  /** The compiled product. */
  readonly dist: string;
  /** A folder of its own, removed afterwards. */
  readonly dir: string;
  /** Fewer rounds and events. */
  readonly quick: boolean;
}

/** Measures some figures that need the same processes. */
export type Benchmark = (setting: Setting) => Promise<Figure[]>;

/** The middle one; of an even number the mean of both. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length / 2;
  const [low, high] = [sorted[Math.ceil(half) - 1], sorted[Math.floor(half)]];
  return low === undefined || high === undefined ? Number.NaN : (low + high) / 2;
}

/** The value below which a part (0 … 1) of all lies. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

/**
 * Measures all of them, round by round, each round the other way about: a machine that others use as well is quick at
 * one time and slow at another, and so must meet all of them alike.
 * @returns for each name its values, one a round
 */
export async function interleaved<K extends string>(
  rounds: number,
  measures: Readonly<Record<K, () => Promise<number>>>,
): Promise<Record<K, number[]>> {
  const names = Object.keys(measures) as K[];
  const values = Object.fromEntries(names.map(name => [name, []])) as unknown as Record<K, number[]>;
  for (let round = 0; round < rounds; round++) {
    for (const name of round % 2 === 0 ? names : [...names].reverse()) values[name].push(await measures[name]());
  }
  return values;
}

/** The median of the ratios of each round. */
export const ratio = (values: readonly number[], to: readonly number[]): number =>
  median(values.map((value, round) => value / (to[round] ?? Number.NaN)));
