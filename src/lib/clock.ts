// Time, the only place that touches the process's timers. Everything else is given a Clock, so that a test or a
// simulation can hold the hands.

/** Undoes a pending timer; harmless after it ran. */
export type Cancel = () => void;

/** A source of time. Wall time may be stepped by an administrator or NTP; elapsed time never is. */
export interface Clock {
  /** Wall time, milliseconds since the Unix epoch (UTC). */
  now(): number;
  /** Elapsed milliseconds since an arbitrary origin; only differences mean something. */
  elapsed(): number;
  /**
   * Runs `fn` once after `delayMs` of elapsed time, of any length (0 or less: as soon as possible).
   * @param order of `instants`, for a timer that was made earlier
   */
  after(delayMs: number, fn: () => void, order?: number): Cancel;
  /** Where it matters what comes first at one instant (virtual clocks): the order of creation over all timers. */
  readonly instants?: Instants;
}

/** The order of timers that are due at one instant. */
export interface Instants {
  /** Of a timer that is made now. */
  order(): number;
  /** Of the timer that runs now; Infinity while none does. */
  running(): number;
  /** Whether another timer of the clock comes before one that is due then (elapsed ms) with that order. */
  isPreceded(due: number, order: number): boolean;
}

// setTimeout keeps its delay in a signed 32-bit integer and fires at once beyond it (nodejs/node#3512). One hour per
// slice also lets the process follow a suspended machine.
const SLICE_MS = 3_600_000;

/** The process's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after(delayMs, fn) {
    const due = performance.now() + delayMs;
    let handle: NodeJS.Timeout;
    const arm = () => {
      const left = due - performance.now();
      // A timer may fire up to a millisecond early by rounding.
      if (left <= 0.5) return fn();
      handle = setTimeout(arm, Math.min(Math.ceil(left), SLICE_MS));
    };
    handle = setTimeout(arm, Math.min(Math.max(0, Math.ceil(delayMs)), SLICE_MS));
    return () => clearTimeout(handle);
  },
};

/** Yields to I/O between pieces of long work. */
export const yieldToIo = (): Promise<void> => new Promise(resolve => setImmediate(resolve));

/** Resolves after `delayMs` on `clock`; rejects with the signal's reason when it is aborted first. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => {
      cancel();
      reject(signal?.reason);
    };
    const cancel = clock.after(delayMs, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** ISO 8601 in UTC with milliseconds, for envelopes, traces and logs. */
export const iso = (ms: number): string => new Date(ms).toISOString();
