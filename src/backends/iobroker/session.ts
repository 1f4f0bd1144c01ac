// A socket that is logged in, and stays so: the token is renewed before it expires, on the same socket.
import type { Cancel, Clock } from '../../lib/clock.ts';
import { asCausewayError, CausewayError } from '../../lib/errors.ts';
import type { Json } from '../../lib/json.ts';
import type { Counters } from './counters.ts';
import { type Credentials, logIn, type Token } from './login.ts';
import { type IobSocket, openSocket } from './socket.ts';

/** What a session needs. */
export interface SessionParts {
  readonly url: string;
  readonly credentials: Credentials | undefined;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly counters: Counters;
  /** Given up when it is aborted. */
  readonly signal: AbortSignal;
  onEvent(name: string, args: readonly Json[]): void;
  onLost(error: CausewayError): void;
}

/** A token is renewed when this part of its life is over. */
const RENEW_AT = 0.8;

/** Logs in and connects. @throws BACKEND_AUTH, BACKEND_OFFLINE, BACKEND_TIMEOUT, BACKEND_REJECTED */
export async function openSession(parts: SessionParts): Promise<IobSocket> {
  const { credentials, clock, signal, onLost } = parts;
  let token = credentials && (await logIn(parts, credentials));
  signal.throwIfAborted();
  let cancelRenewal: Cancel = () => {};
  const lost = (error: CausewayError) => {
    cancelRenewal();
    onLost(error);
  };
  const socket = await openSocket({ ...parts, token: token?.access, onLost: lost });
  const close = () => {
    cancelRenewal();
    socket.close();
  };
  if (signal.aborted) {
    close();
    signal.throwIfAborted();
  }

  const renewLater = ({ lastsMs }: Token) => {
    cancelRenewal = clock.after(lastsMs * RENEW_AT, () => {
      renew().catch(error => {
        if (signal.aborted) return;
        close();
        lost(asCausewayError(error));
      });
    });
  };
  const renew = async () => {
    if (!credentials) return;
    // A refresh token that has had its time is no reason to be lost: there is the password.
    const again = await logIn(parts, credentials, token?.refresh).catch(() => logIn(parts, credentials));
    if (!again || signal.aborted) return;
    const [error] = await socket.call('updateTokenExpiration', again.access);
    if (error) throw new CausewayError('BACKEND_OFFLINE', 'ioBroker did not take the renewed login; we connect anew');
    token = again;
    renewLater(again);
  };
  if (token) renewLater(token);
  return { ...socket, close };
}
