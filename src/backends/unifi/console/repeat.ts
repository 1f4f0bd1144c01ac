// What a console is asked for every few seconds: one question after the other, seldom while its version does not know it.
import type { Cancel, Clock } from '../../../lib/clock.ts';
import { asCausewayError, type CausewayError } from '../../../lib/errors.ts';

/** After an update it may know it. */
const MISSING_MS = 600_000;

/**
 * Asks until it is ended.
 * @param look `isOver` is true once it is; what it finds then is not to be told
 * @param onTrouble not called once it is over; `isMissing`: the console does not know the question
 */
export function repeat(
  clock: Clock,
  everyMs: number,
  look: (isOver: () => boolean) => Promise<void>,
  onTrouble: (error: CausewayError, isMissing: boolean) => void,
): Cancel {
  let isOver = false;
  let cancelTimer: Cancel = () => {};
  const later = (ms: number) => {
    if (!isOver) cancelTimer = clock.after(ms, () => void tick());
  };
  const tick = async () => {
    let wait = everyMs;
    try {
      await look(() => isOver);
    } catch (thrown) {
      const error = asCausewayError(thrown);
      const isMissing = error.code === 'BACKEND_REJECTED';
      if (isMissing) wait = MISSING_MS;
      if (!isOver) onTrouble(error, isMissing);
    }
    later(wait);
  };
  later(everyMs);
  return () => {
    isOver = true;
    cancelTimer();
  };
}

/** Adds what was told, and forgets the oldest beyond so many. */
export function remember(seen: Set<string>, ids: Iterable<string>, most: number): void {
  for (const id of ids) seen.add(id);
  for (const id of seen) {
    if (seen.size <= most) break;
    seen.delete(id);
  }
}
