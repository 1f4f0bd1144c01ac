// Chance that can be asked again: the same seed, name and number give the same answer, in whatever order they are asked.
import { seededRandom } from '../../../lib/ids.ts';

/** Seeded chance. */
export interface Chance {
  /** 0 ≤ x < 1 for the `n`-th time of something. */
  at(what: string, n: number): number;
  /** A number between two for the `n`-th time of something. */
  between(what: string, n: number, low: number, high: number): number;
  /** A smooth wandering between -1 and 1, new every `periodMs`. */
  drift(what: string, ms: number, periodMs: number): number;
}

/** @param seed any whole number */
export function chanceOf(seed: number): Chance {
  const at = (what: string, n: number) => seededRandom(hash(`${seed} ${what} ${n}`))();
  return {
    at,
    between: (what, n, low, high) => low + at(what, n) * (high - low),
    drift(what, ms, periodMs) {
      const slot = Math.floor(ms / periodMs);
      const t = ms / periodMs - slot;
      const from = at(what, slot) * 2 - 1;
      const to = at(what, slot + 1) * 2 - 1;
      return from + (to - from) * t * t * (3 - 2 * t);
    },
  };
}

// FNV-1a, 32 bits.
function hash(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  return h >>> 0;
}
