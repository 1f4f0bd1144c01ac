// Ids that sort by time of creation.
import { monotonicFactory } from 'ulid';
import type { Clock } from './clock.ts';

/** Makes ULIDs (26 characters of Crockford base 32) from the clock's wall time, strictly rising within one source. */
export type IdSource = () => string;

/** @param random 0 ≤ x < 1; a seeded one makes simulations repeat to the letter */
export function idSource(clock: Clock, random?: () => number): IdSource {
  const next = monotonicFactory(random);
  return () => next(clock.now());
}

/** A small seeded generator (mulberry32), for the demo house and simulations; never for secrets. */
export function seededRandom(seed: number): () => number {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
