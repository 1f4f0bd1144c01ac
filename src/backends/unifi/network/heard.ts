// Lists take their time: what a message or event told after one was asked for is newer than what the list says of it.

/** What was told of, and when. */
export interface Heard {
  hear(key: string): void;
  /** True: it was told of since then (elapsed ms), so a list that was asked for at that time is older. */
  isSince(key: string, askedAt: number): boolean;
  /** Forgets what no list can be older than any more: lists follow each other. */
  sweep(askedAt: number): void;
}

/** @param elapsed ms, of the clock */
export function createHeard(elapsed: () => number): Heard {
  const heard = new Map<string, number>();
  return {
    hear(key) {
      heard.set(key, elapsed());
    },
    isSince: (key, askedAt) => (heard.get(key) ?? Number.NEGATIVE_INFINITY) >= askedAt,
    sweep(askedAt) {
      for (const [key, at] of heard) if (at < askedAt) heard.delete(key);
    },
  };
}
