// A credential that the hub refused is not offered again at once, whoever asks: a command, a poll, a stop that clears up.
import type { Clock } from '../../lib/clock.ts';
import { CausewayError } from '../../lib/errors.ts';

const REST_MS = 60_000;

/** Remembers the last refusal of one credential. */
export interface Refusal {
  /** @throws the error of a refusal within the last minute, without asking the hub */
  check(): void;
  /** The hub refused it just now. */
  note(error: CausewayError): void;
}

/** None yet. */
export function createRefusal(clock: Clock): Refusal {
  let last: { readonly error: CausewayError; readonly at: number } | undefined;
  return {
    check() {
      if (!last || clock.elapsed() - last.at >= REST_MS) return;
      const { code, message, hint } = last.error;
      throw new CausewayError(code, message, { ...(hint !== undefined && { hint }) });
    },
    note(error) {
      last = { error, at: clock.elapsed() };
    },
  };
}
