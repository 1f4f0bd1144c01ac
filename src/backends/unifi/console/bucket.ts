// A token bucket: so many at once, so many a minute.
import { type Clock, sleep } from '../../../lib/clock.ts';

/** Tokens that come back with time. */
export interface Bucket {
  /** Takes one if there is one. */
  tryTake(): boolean;
  /** Waits for one. @param signal aborted: nothing is taken */
  take(signal: AbortSignal): Promise<void>;
}

/** @param size tokens at most, and at the beginning */
export function createBucket(clock: Clock, size: number, perMinute: number): Bucket {
  const msPerToken = 60_000 / perMinute;
  let tokens = size;
  let countedAt = clock.elapsed();
  const count = () => {
    const now = clock.elapsed();
    tokens = Math.min(size, tokens + (now - countedAt) / msPerToken);
    countedAt = now;
  };
  return {
    tryTake() {
      count();
      if (tokens < 1) return false;
      tokens--;
      return true;
    },
    async take(signal) {
      signal.throwIfAborted();
      count();
      // Below zero it is owed: whoever comes later waits longer.
      tokens--;
      if (tokens >= 0) return;
      try {
        await sleep(clock, -tokens * msPerToken, signal);
      } catch (error) {
        tokens++;
        throw error;
      }
    },
  };
}
