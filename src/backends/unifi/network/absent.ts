// Lists of a console that has just started, or whose answer is not whole, lack what is there all the same. So what a list does
// not have any more is gone only once lists have lacked it for minutes; what is deleted is told by a message, at once.

/** What lists lack. */
export interface Absent {
  /** A list lacks it. @returns whether it is gone */
  isGone(key: string): boolean;
  /** It is there, or was removed. */
  forget(key: string): void;
}

/** As long as consoles were seen to take until their lists are whole. */
export const GONE_MS = 300_000;

/** @param elapsed ms, of the clock */
export function createAbsent(elapsed: () => number): Absent {
  const since = new Map<string, number>();
  return {
    isGone(key) {
      const first = since.get(key) ?? elapsed();
      since.set(key, first);
      return elapsed() - first >= GONE_MS;
    },
    forget: key => void since.delete(key),
  };
}
