// A clock to turn by hand, for the tests of this folder.
import type { Clock } from '../../../broker/types.ts';

/** Stands still until it is told to go on. */
export interface HandClock extends Clock {
  advance(ms: number): void;
  /** Calls that are still due. */
  pending(): number;
}

/** A clock at `start` milliseconds. */
export function handClock(start = 1_000): HandClock {
  let now = start;
  const due = new Set<{ at: number; fn: () => void }>();
  return {
    now: () => now,
    elapsed: () => now,
    after(delayMs, fn) {
      const call = { at: now + delayMs, fn };
      due.add(call);
      return () => due.delete(call);
    },
    advance(ms) {
      const end = now + ms;
      for (;;) {
        const [next] = [...due].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
        if (!next) break;
        due.delete(next);
        now = Math.max(now, next.at);
        next.fn();
      }
      now = end;
    },
    pending: () => due.size,
  };
}

/** The end of the present turn of the loop, and of what it began. */
export const turn = (): Promise<void> => new Promise(resolve => setImmediate(() => setImmediate(resolve)));
