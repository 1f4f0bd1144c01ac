// Ids that sort by time of creation. Every event, run and command gets one, so they cost little: random digits once a
// millisecond, and a counter within it.
import { randomFillSync } from 'node:crypto';
import type { Clock } from './clock.ts';

/** Makes ULIDs (26 characters of Crockford base 32) from the clock's wall time, strictly rising within one source. */
export type IdSource = () => string;

const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const PAIRS = Array.from({ length: 1024 }, (_, n) => `${DIGITS[n >> 5]}${DIGITS[n & 31]}`);

/** The ten lowest base 32 digits of a whole number below 2^50. */
function tenDigits(n: number): string {
  const high = Math.floor(n / 2 ** 30);
  const low = n % 2 ** 30;
  return `${PAIRS[high >> 10]}${PAIRS[high & 1023]}${PAIRS[low >> 20]}${PAIRS[(low >> 10) & 1023]}${PAIRS[low & 1023]}`;
}

/** @param random 0 ≤ x < 1; a seeded one makes simulations repeat to the letter */
export function idSource(clock: Clock, random: () => number = secureRandom()): IdSource {
  let last = -1;
  let head = '';
  let counter = 0;
  return () => {
    const now = Math.floor(clock.now());
    // A clock that was set back: the old time goes on.
    if (now > last) {
      last = now;
      head = tenDigits(now) + tenDigits(Math.floor(random() * 2 ** 30)).slice(4);
      // Half of what fits, so that it never overflows.
      counter = Math.floor(random() * 2 ** 49);
    }
    return head + tenDigits(counter++);
  };
}

/** Random numbers that nobody can guess, 48 bits each, drawn from the system in pages. */
function secureRandom(): () => number {
  const page = Buffer.alloc(6 * 512);
  let at = page.length;
  return () => {
    if (at === page.length) {
      randomFillSync(page);
      at = 0;
    }
    at += 6;
    return page.readUIntBE(at - 6, 6) / 2 ** 48;
  };
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
