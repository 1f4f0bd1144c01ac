// Waiting for what happens elsewhere: polls quickly, fails with the last state. Never a fixed sleep.
import { setTimeout as pause } from 'node:timers/promises';

type Seen<T> = T | undefined | false;

/** Resolves with the first value of `look` that is not undefined or false. */
export async function eventually<T>(
  look: () => Seen<T> | Promise<Seen<T>>,
  what = 'it',
  timeoutMs = 5_000,
): Promise<T> {
  const end = performance.now() + timeoutMs;
  for (;;) {
    const value = await look();
    if (value !== undefined && value !== false) return value;
    if (performance.now() > end) throw new Error(`${what} did not happen within ${timeoutMs} ms`);
    await pause(5);
  }
}
