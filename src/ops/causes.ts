// The cause of what a caller does: a chain that he names, or a new one.
import type { Cause } from '../model/cause.ts';
import type { Gateway } from './gateway.ts';
import type { Caller } from './op.ts';

/** The cause of an operation's effects. */
export function causeOf(gateway: Gateway, caller: Caller): Cause {
  const kind = caller.by === 'mqtt' ? 'mqtt' : 'user';
  return gateway.engine.causes.follow(caller.causeId, gateway.engine.core.ids(), caller.by, {
    kind,
    ref: `${caller.via}:${caller.principal}`,
  });
}
