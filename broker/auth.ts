// The answer to a CONNECT. Every refusal is a CONNACK code and a closed socket: aedes' own `preConnect` refusal does
// neither and leaks the socket, so all of it happens in `authenticate`.
import type { Clock, NoticeKind, Peer, Principal } from './types.ts';

/** CONNACK return codes of MQTT 3.1.1 §3.2.2.3 that we use. */
const IDENTIFIER_REJECTED = 2;
const SERVER_UNAVAILABLE = 3;
const BAD_CREDENTIALS = 4;

/** A refusal as aedes wants it. */
export type Refusal = Error & { returnCode: number; kind: NoticeKind };

/** The CONNECT of one client and what it would take. */
export interface Login {
  readonly peer: Peer;
  /** Whether the packet named a client id. */
  readonly hasId: boolean;
  readonly clean: boolean;
  readonly username: string | undefined;
  readonly password: string | undefined;
  /** The name of the principal that has this id now, connected or in a stored session. */
  holder(): string | undefined;
  /** Takes one of the places for clients. */
  admit(): boolean;
  /** From here on the id is the principal's. False: there are too many stored sessions. */
  claim(principal: Principal): boolean;
}

const MAX_ID_LENGTH = 256;
const MAX_FAILURES = 5;
const FAILURE_WINDOW_MS = 60_000;
const FAILURE_DELAY_MS = 2_000;
const ANSWER_TIMEOUT_MS = 10_000;
const ADDRESSES_KEPT = 1_000;

const refusal = (returnCode: number, kind: NoticeKind, text: string): Refusal =>
  Object.assign(new Error(text), { returnCode, kind });

type Authenticate = (
  peer: Peer,
  username: string | undefined,
  password: string | undefined,
) => Promise<Principal | null> | Principal | null;

/** Judges logins. Resolves with the principal, or rejects with a `Refusal`. */
export function createAuthenticator(clock: Clock, authenticate: Authenticate): (login: Login) => Promise<Principal> {
  const failures = new Map<string, number[]>();

  const delay = (ms: number) => new Promise<void>(resolve => clock.after(ms, resolve));
  const recentFailures = (address: string) =>
    (failures.get(address) ?? []).filter(at => clock.elapsed() - at < FAILURE_WINDOW_MS);

  const ask = (login: Login): Promise<Principal | null> =>
    new Promise((resolve, reject) => {
      const cancel = clock.after(ANSWER_TIMEOUT_MS, () =>
        reject(refusal(SERVER_UNAVAILABLE, 'login-failed', 'nobody said who this is in time')),
      );
      const answer = async () => authenticate(login.peer, login.username, login.password);
      answer().then(resolve, reject).finally(cancel);
    });

  return async login => {
    const { address } = login.peer;
    if (login.peer.id.length > MAX_ID_LENGTH)
      throw refusal(IDENTIFIER_REJECTED, 'id-refused', 'its client id is too long');
    if (!login.hasId && !login.clean) {
      throw refusal(IDENTIFIER_REJECTED, 'id-refused', 'a session that is to be kept needs a client id');
    }
    const before = recentFailures(address);
    if (before.length >= MAX_FAILURES) await delay(FAILURE_DELAY_MS);
    const principal = await ask(login);
    if (!principal) {
      if (failures.size >= ADDRESSES_KEPT) failures.clear();
      failures.set(address, [...recentFailures(address), clock.elapsed()].slice(-MAX_FAILURES));
      throw refusal(BAD_CREDENTIALS, 'login-failed', 'wrong user name or password');
    }
    const holder = login.holder();
    if (holder !== undefined && holder !== principal.name) {
      throw refusal(IDENTIFIER_REJECTED, 'id-taken', 'another user has this client id');
    }
    if (!login.admit()) throw refusal(SERVER_UNAVAILABLE, 'clients-full', 'there are too many clients');
    if (!login.claim(principal)) {
      throw refusal(SERVER_UNAVAILABLE, 'sessions-full', 'there are too many stored sessions');
    }
    return principal;
  };
}
