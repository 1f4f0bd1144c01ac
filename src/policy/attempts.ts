// Failed sign-ins by address: five in a minute, then the address waits.
import type { Clock } from '../lib/clock.ts';
import { CausewayError } from '../lib/errors.ts';

const ALLOWED = 5;
const WINDOW_MS = 60_000;
// An attacker with many addresses must not fill the memory; the oldest are forgotten.
const ADDRESSES = 10_000;
const WAITING = 64;

/** Counts failures. */
export interface Attempts {
  /** @throws RATE_LIMITED with `details.retryAfterMs` while the address has failed too often */
  check(address: string): void;
  failed(address: string): void;
  /**
   * Runs `work` once all earlier ones of the address have ended: a hundred guesses at once get no further than five, and
   * the many clients of one machine that come back after a restart all get in. @throws RATE_LIMITED
   */
  inTurn<T>(address: string, work: () => Promise<T>): Promise<T>;
}

/** @param clock its elapsed time, which nobody steps, is what counts */
export function attempts(clock: Clock): Attempts {
  const failures = new Map<string, number[]>();
  const queues = new Map<string, { length: number; last: Promise<unknown> }>();

  const recent = (address: string): number[] =>
    (failures.get(address) ?? []).filter(at => at + WINDOW_MS > clock.elapsed());

  const self: Attempts = {
    check(raw) {
      const address = plain(raw);
      const [first, ...rest] = recent(address).slice(-ALLOWED);
      if (first === undefined || rest.length < ALLOWED - 1) return;
      const retryAfterMs = Math.ceil(first + WINDOW_MS - clock.elapsed());
      throw new CausewayError('RATE_LIMITED', `too many failed sign-ins from ${address}`, {
        hint: `Try again in ${Math.ceil(retryAfterMs / 1_000)} seconds.`,
        details: { retryAfterMs },
      });
    },

    failed(raw) {
      const address = plain(raw);
      const now = [...recent(address), clock.elapsed()].slice(-ALLOWED);
      failures.delete(address);
      failures.set(address, now);
      if (failures.size > ADDRESSES) failures.delete(failures.keys().next().value as string);
    },

    async inTurn(raw, work) {
      const address = plain(raw);
      self.check(address);
      const queue = queues.get(address) ?? { length: 0, last: Promise.resolve() };
      if (queue.length >= WAITING) {
        const details = { retryAfterMs: 1_000 };
        throw new CausewayError('RATE_LIMITED', `too many sign-ins at once from ${address}`, { details });
      }
      queue.length++;
      queues.set(address, queue);
      const turn = queue.last.then(() => {
        self.check(address);
        return work();
      });
      queue.last = turn.catch(() => {});
      try {
        return await turn;
      } finally {
        if (--queue.length === 0) queues.delete(address);
      }
    },
  };
  return self;
}

/** An IPv4 address in its IPv6 spelling is the same address. */
const plain = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '');
