// Streams outlive the request that opened them; what let their caller in may be revoked meanwhile. They end then.
import type { ServerResponse } from 'node:http';
import type { Clock } from '../lib/clock.ts';
import type { Caller } from '../ops/op.ts';
import type { Principals } from './auth.ts';

/** Watches the callers of open streams. */
export interface LongLived {
  add(caller: Pick<Caller, 'principal' | 'credential'>, outgoing: ServerResponse): void;
  stop(): void;
}

const CHECK_MS = 15_000;

/** A caller whom what let him in would let in no more is cut off. */
export function createLongLived(principals: Principals, clock: Clock): LongLived {
  const open = new Map<ServerResponse, Pick<Caller, 'principal' | 'credential'>>();
  const check = () => {
    for (const [outgoing, { principal: name, credential }] of open)
      if (!principals.isCurrent({ name, ...(credential !== undefined && { credential }) })) outgoing.destroy();
    cancel = clock.after(CHECK_MS, check);
  };
  let cancel = clock.after(CHECK_MS, check);
  return {
    add(caller, outgoing) {
      open.set(outgoing, caller);
      outgoing.once('close', () => open.delete(outgoing));
    },
    stop: () => cancel(),
  };
}
