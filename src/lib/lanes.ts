// At most so many requests at once (Hubitat.s own advice is four), and one at a time to a device, so that `on` and `off`
// of one moment arrive in that order.

/** Runs tasks under both bounds, first come first served. */
export interface Lanes {
  /**
   * @param lane tasks of one lane follow each other; undefined: none
   * @param signal aborted while waiting: the task is never begun
   */
  run<T>(lane: string | undefined, signal: AbortSignal, task: () => Promise<T>): Promise<T>;
}

interface Waiting {
  readonly lane: string | undefined;
  readonly begin: () => void;
}

/** @param max tasks at once */
export function createLanes(max: number): Lanes {
  const waiting: Waiting[] = [];
  const busy = new Set<string>();
  let running = 0;

  const next = () => {
    for (let i = 0; i < waiting.length && running < max; ) {
      const { lane, begin } = waiting[i] as Waiting;
      if (lane !== undefined && busy.has(lane)) {
        i++;
        continue;
      }
      waiting.splice(i, 1);
      running++;
      if (lane !== undefined) busy.add(lane);
      begin();
    }
  };

  return {
    async run(lane, signal, task) {
      signal.throwIfAborted();
      await new Promise<void>((resolve, reject) => {
        const entry: Waiting = {
          lane,
          begin: () => {
            signal.removeEventListener('abort', onAbort);
            resolve();
          },
        };
        const onAbort = () => {
          waiting.splice(waiting.indexOf(entry), 1);
          reject(signal.reason);
        };
        signal.addEventListener('abort', onAbort, { once: true });
        waiting.push(entry);
        next();
      });
      try {
        return await task();
      } finally {
        running--;
        if (lane !== undefined) busy.delete(lane);
        next();
      }
    },
  };
}
