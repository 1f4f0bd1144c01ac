// Streams outlive the request that opened them; who opened one may be removed meanwhile. His streams end then.
import type { ServerResponse } from 'node:http';
import type { Clock } from '../lib/clock.ts';
import type { Principals } from './auth.ts';

/** Watches the callers of open streams. */
export interface LongLived {
  add(principal: string, outgoing: ServerResponse): void;
  stop(): void;
}

const CHECK_MS = 15_000;

/** A caller who is no principal any more, and not the open gateway's `local` either, is cut off. */
export function createLongLived(principals: Principals, clock: Clock): LongLived {
  const open = new Map<ServerResponse, string>();
  const check = () => {
    for (const [outgoing, name] of open) {
      const isKnown = principals.find(name) !== undefined || principals.anonymous(true)?.name === name;
      if (!isKnown) outgoing.destroy();
    }
    cancel = clock.after(CHECK_MS, check);
  };
  let cancel = clock.after(CHECK_MS, check);
  return {
    add(principal, outgoing) {
      open.set(outgoing, principal);
      outgoing.once('close', () => open.delete(outgoing));
    },
    stop: () => cancel(),
  };
}
