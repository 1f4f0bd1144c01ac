// What has come lately, so that what comes twice counts once.
import { createHash } from 'node:crypto';
import type { Clock } from '../../../lib/clock.ts';

/** Keys, each remembered for a time of its own. */
export interface Seen {
  has(key: string): boolean;
  add(key: string, forMs: number): void;
}

/** Beyond these the oldest are forgotten. */
const MOST = 10_000;

/** @param most keys that are remembered */
export function createSeen(clock: Clock, most = MOST): Seen {
  const until = new Map<string, number>();
  // A key may be as long as a body.
  const short = (key: string) => createHash('sha256').update(key).digest('base64');
  return {
    has: key => (until.get(short(key)) ?? 0) > clock.elapsed(),
    add(key, forMs) {
      const hash = short(key);
      until.delete(hash);
      until.set(hash, clock.elapsed() + forMs);
      if (until.size > most) until.delete(until.keys().next().value as string);
    },
  };
}
