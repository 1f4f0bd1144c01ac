// The frame protocol of ioBroker's ws and admin adapters: JSON arrays [type, id, name, args] over a WebSocket. Types are
// 0 event, 1 ping, 2 pong, 3 call with reply. Unknown commands, and those that may not be used, are never answered, so
// every call has a time limit of its own. Observed with iobroker.ws 4.1.0 and iobroker.admin 7.8.9.
import WebSocket from 'ws';
import type { Cancel, Clock } from '../../lib/clock.ts';
import { CausewayError } from '../../lib/errors.ts';
import type { Json } from '../../lib/json.ts';
import type { Counters } from './counters.ts';

/** What a socket needs. */
export interface SocketParts {
  /** ws:// or wss:// with name and port. */
  readonly url: string;
  /** Of /oauth/token; undefined where no login is in force. Headers are not looked at by ioBroker. */
  readonly token: string | undefined;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly counters: Counters;
  onEvent(name: string, args: readonly Json[]): void;
  /** Once, after it was open: it is of no more use. */
  onLost(error: CausewayError): void;
}

/** An open socket. */
export interface IobSocket {
  /**
   * Calls a command; resolves with what its callback was given.
   * @throws BACKEND_TIMEOUT (it may have been done all the same), BACKEND_OFFLINE (it was not)
   */
  call(command: string, ...args: readonly Json[]): Promise<readonly Json[]>;
  /** Calls a command whose callback begins with an error; resolves with what follows. @throws also BACKEND_REJECTED */
  ask(command: string, ...args: readonly Json[]): Promise<Json>;
  close(): void;
}

const PING_MS = 10_000;
/** Pings in a row after which a connection that told nothing is dead. */
const MOST_UNANSWERED = 3;
/** All objects of a large installation come in one frame. */
const MAX_FRAME = 256 * 1024 * 1024;
const MAX_CALLS = 1_000;

interface Pending {
  resolve(args: readonly Json[]): void;
  reject(error: CausewayError): void;
  readonly cancel: Cancel;
}

/** Connects. @throws BACKEND_AUTH, BACKEND_OFFLINE, BACKEND_TIMEOUT */
export function openSocket(parts: SocketParts): Promise<IobSocket> {
  const { url, token, clock, timeoutMs, counters, onEvent, onLost } = parts;
  const { host } = new URL(url);
  const pending = new Map<number, Pending>();
  let calls = 0;
  let unanswered = 0;
  let cancelPing: Cancel = () => {};
  let fault: CausewayError | undefined;
  let state: 'opening' | 'open' | 'over' = 'opening';

  const query = new URLSearchParams({ sid: String(clock.now()), name: 'causeway', ...(token && { token }) });
  const ws = new WebSocket(`${url.replace(/\/$/, '')}/?${query}`, {
    handshakeTimeout: timeoutMs,
    maxPayload: MAX_FRAME,
    perMessageDeflate: false,
    followRedirects: false,
  });
  const send = (frame: Json[]) => ws.send(JSON.stringify(frame));

  return new Promise((resolve, reject) => {
    const cancelOpening = clock.after(timeoutMs, () =>
      end(new CausewayError('BACKEND_TIMEOUT', `ioBroker at ${host} did not greet within ${timeoutMs / 1_000} s`)),
    );

    /** Once: everybody who waits is told why. */
    const end = (error: CausewayError) => {
      if (state === 'over') return;
      const wasOpen = state === 'open';
      state = 'over';
      cancelOpening();
      cancelPing();
      ws.terminate();
      for (const call of pending.values()) {
        call.cancel();
        call.reject(new CausewayError('BACKEND_TIMEOUT', `${error.message}, before the answer`));
      }
      pending.clear();
      if (wasOpen) onLost(error);
      else reject(error);
    };

    const listen = () => {
      if (unanswered >= MOST_UNANSWERED) {
        end(new CausewayError('BACKEND_OFFLINE', `nothing was heard of ioBroker at ${host}`));
        return;
      }
      unanswered++;
      send([1]);
      cancelPing = clock.after(PING_MS, listen);
    };

    const call: IobSocket['call'] = (command, ...args) =>
      new Promise((answer, refuse) => {
        if (state !== 'open') return refuse(gone(host));
        if (pending.size >= MAX_CALLS) {
          return refuse(
            new CausewayError('BACKEND_OFFLINE', `ioBroker at ${host} is behind with ${MAX_CALLS} answers`),
          );
        }
        const id = ++calls;
        const cancel = clock.after(timeoutMs, () => {
          pending.delete(id);
          const message = `ioBroker at ${host} did not answer ${command} within ${timeoutMs / 1_000} s`;
          refuse(new CausewayError('BACKEND_TIMEOUT', message, { hint: MAY_NOT }));
        });
        pending.set(id, { resolve: answer, reject: refuse, cancel });
        send([3, id, command, [...args]]);
      });

    const opened = () => {
      if (state !== 'opening') return;
      state = 'open';
      cancelOpening();
      cancelPing = clock.after(PING_MS, listen);
      resolve({
        call,
        async ask(command, ...args) {
          const [error, ...rest] = await call(command, ...args);
          if (error === null || error === undefined || error === false) return rest[0] ?? null;
          throw refused(command, error);
        },
        close() {
          if (state === 'over') return;
          state = 'opening';
          end(gone(host));
        },
      });
    };

    ws.on('message', data => {
      unanswered = 0;
      if (state === 'over') return;
      const frame = parsed(data.toString());
      const [type, id, name, args] = Array.isArray(frame) ? frame : [];
      if (type === 1) send([2]);
      else if (type === 3 && typeof id === 'number') answered(id, args);
      else if (type !== 0 || typeof name !== 'string') counters.garbled += type === 2 ? 0 : 1;
      else if (name === '___ready___') opened();
      else if (name === 'reauthenticate') end(unauthorised(host, token !== undefined));
      else onEvent(name, Array.isArray(args) ? args : []);
    });

    const answered = (id: number, args: Json | undefined) => {
      const waiting = pending.get(id);
      if (!waiting) return;
      pending.delete(id);
      waiting.cancel();
      waiting.resolve(Array.isArray(args) ? args : []);
    };

    ws.on('unexpected-response', (_request, response) => {
      const isAuth = response.statusCode === 401 || response.statusCode === 403;
      end(isAuth ? unauthorised(host, token !== undefined) : unreachable(host, `it answered ${response.statusCode}`));
    });
    // The message may name the address, and with it the token.
    ws.on('error', error => {
      fault = unreachable(host, (error as { code?: string }).code ?? 'the connection failed');
    });
    ws.on('close', () => end(fault ?? unreachable(host, 'the connection ended')));
  });
}

// A reply with all objects has megabytes: without a reviver it takes a third of the time. What is read of it passes a
// schema, which takes the keys that it knows.
function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

const MAY_NOT = 'ioBroker answers nothing where a command is unknown or not allowed; see its own log';

const gone = (host: string) => new CausewayError('BACKEND_OFFLINE', `the connection to ioBroker at ${host} has ended`);

const unreachable = (host: string, why: string) =>
  new CausewayError('BACKEND_OFFLINE', `ioBroker at ${host} cannot be reached (${why})`, {
    hint: 'see whether ioBroker and its ws adapter run, and check url in config.yaml',
  });

const unauthorised = (host: string, hadToken: boolean) =>
  new CausewayError('BACKEND_AUTH', `ioBroker at ${host} ${hadToken ? 'refused our login' : 'wants a login'}`, {
    hint: hadToken ? 'check user and password in config.yaml' : 'set user and password of this backend in config.yaml',
  });

/** What a callback was given as its error. */
function refused(command: string, error: Json): CausewayError {
  const text = typeof error === 'string' ? error : JSON.stringify(error);
  const isDenied = /permission/i.test(text);
  return new CausewayError('BACKEND_REJECTED', `ioBroker refused ${command}: ${text.slice(0, 200)}`, {
    hint: isDenied ? 'give the user of this backend that right in ioBroker' : 'see the log of ioBroker’s ws adapter',
  });
}
