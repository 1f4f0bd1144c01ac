// The client of a console, for one connection: at most so many requests at once and a minute, reads tried again within a
// budget, commands only where twice is the same as once.

import { withSignals } from '../../../lib/abort.ts';
import { type Clock, sleep } from '../../../lib/clock.ts';
import { CausewayError } from '../../../lib/errors.ts';
import type { Json } from '../../../lib/json.ts';
import { createLanes, type Lanes } from '../../../lib/lanes.ts';
import type { Counters } from '../counters.ts';
import { dataOf, isFailure, type Surface } from './answers.ts';
import { createBucket } from './bucket.ts';
import type { ConsoleAnswer, ConsoleRequest, Http } from './http.ts';
import type { Session } from './session.ts';

/** Who we are on which surface. */
export interface Sessions {
  /** For the official one, which takes keys alone. */
  readonly key: Session | undefined;
  readonly login: Session | undefined;
  /** A key is not taken on the other surfaces, as on some consoles: they go by the login. */
  keyIsOfficialOnly: boolean;
  /** What the console has asked not to be asked, with the elapsed ms until when. */
  readonly pauses: Map<string, number>;
}

/** What the client needs. */
export interface ClientParts {
  readonly http: Http;
  readonly sessions: Sessions;
  /** Short name. */
  readonly site: string;
  readonly clock: Clock;
  readonly counters: Counters;
  /** Ends everything that is on its way. */
  readonly signal: AbortSignal;
}

/** How something is read. */
export interface Reading {
  /** Posted, where a question has a body. */
  readonly body?: unknown;
  readonly timeoutMs?: number;
  readonly tries?: number;
  readonly signal?: AbortSignal;
}

/** How something is asked for. */
export interface Asking {
  /** Twice is the same as once: it is tried again. */
  readonly again: boolean;
  readonly signal: AbortSignal;
  /** For what takes the console longer than an answer usually does. */
  readonly timeoutMs?: number;
}

/** The console. Paths are below the site for `legacy` and `internal`, below `v1` for `official`, whole for `os`. */
export interface ConsoleClient {
  /** What must keep its order, or belongs together, takes a place here itself. */
  readonly lanes: Lanes;
  /**
   * Reads, in a place of its own.
   * @returns legacy: the rows; the others: the body
   * @throws BACKEND_AUTH, BACKEND_OFFLINE, BACKEND_TIMEOUT, BACKEND_REJECTED
   */
  read(surface: Surface, path: string, reading?: Reading): Promise<Json>;
  /**
   * Changes something, within a place that the caller holds.
   * @throws as `read`; BACKEND_TIMEOUT means that nobody knows whether it was done
   */
  ask(method: 'POST' | 'PUT', surface: Surface, path: string, body: unknown, asking: Asking): Promise<Json>;
  /** As `read`, within a place that the caller holds. */
  look(surface: Surface, path: string, signal: AbortSignal): Promise<Json>;
  /** Epoch ms by the console's clock less elapsed ms by ours, as far as its answers tell; undefined before the first. */
  consoleOffset(): number | undefined;
}

/** There is no published limit; 100 a minute are what clients on real consoles stay below. */
const BURST = 40;
const PER_MINUTE = 100;
const IN_FLIGHT = 4;
const TRIES = 3;
const FIRST_WAIT_MS = 500;
/** More repetitions than these within a minute only make it worse. */
const RETRIES_PER_MINUTE = 10;
/** Nobody waits longer than this for a pause that the console asks for: it is an error, and so is to ask again before. */
const LONGEST_PAUSE_MS = 30_000;
const CLOCK_JITTER_MS = 1_500;
const REQUEST_TIMEOUT_MS = 10_000;

/** A client for one connection; it ends with the signal. */
export function createClient(parts: ClientParts): ConsoleClient {
  const { http, clock, counters, signal } = parts;
  const { pauses } = parts.sessions;
  const lanes = createLanes(IN_FLIGHT);
  const bucket = createBucket(clock, BURST, PER_MINUTE);
  const retries = createBucket(clock, RETRIES_PER_MINUTE, RETRIES_PER_MINUTE);
  let consoleMinusElapsed: number | undefined;

  const learnClock = ({ date }: ConsoleAnswer['headers']) => {
    const told = typeof date === 'string' ? Date.parse(date) : Number.NaN;
    if (!Number.isFinite(told)) return;
    // The header has whole seconds: half a one is the least error. What is within it is no news, so that the order of what
    // happened at nearly one moment holds.
    const offset = told + 500 - clock.elapsed();
    if (Math.abs(offset - (consoleMinusElapsed ?? Number.POSITIVE_INFINITY)) > CLOCK_JITTER_MS)
      consoleMinusElapsed = offset;
  };

  type Once = Omit<ConsoleRequest, 'headers'>;
  type Insisting = { readonly again: boolean; readonly tries: number; readonly changes?: boolean };

  const once = async (surface: Surface, asked: Once): Promise<Json> => {
    const session = sessionFor(surface, parts.sessions);
    for (let isLast = false; ; isLast = true) {
      await bucket.take(asked.signal);
      const pass = await session.pass(http, signal);
      counters.requests++;
      const answer = await http.request({ ...asked, headers: pass.headers(asked.method !== 'GET') });
      learnClock(answer.headers);
      session.heard(pass, answer.headers);
      try {
        return dataOf(surface, answer, asked.what);
      } catch (thrown) {
        const isStale = isFailure(thrown) && thrown.stale !== undefined;
        if (isLast || !isStale || !session.drop(pass)) throw thrown;
      }
    }
  };

  const refusePaused = ({ path, what }: Once): void => {
    const left = (pauses.get(path) ?? 0) - clock.elapsed();
    if (left <= 0) pauses.delete(path);
    else
      throw new CausewayError('BACKEND_OFFLINE', `the console has had too many requests: ${what}`, {
        hint: `it asks for a pause of ${Math.ceil(left / 1_000)} s more; see what else asks it`,
      });
  };

  const insist = async (surface: Surface, asked: Once, { again, tries, changes = false }: Insisting) => {
    let mayBeDone = false;
    refusePaused(asked);
    for (let attempt = 1; ; attempt++) {
      try {
        return await once(surface, asked);
      } catch (thrown) {
        if (!isFailure(thrown)) throw thrown;
        mayBeDone ||= changes && thrown.uncertain;
        const { waitMs = 0 } = thrown;
        if (waitMs > LONGEST_PAUSE_MS) pauses.set(asked.path, clock.elapsed() + waitMs);
        const isOver =
          !again || !thrown.passing || attempt >= tries || waitMs > LONGEST_PAUSE_MS || asked.signal.aborted;
        if (isOver || !retries.tryTake()) throw mayBeDone ? inDoubt(thrown.error, asked.what) : thrown.error;
        counters.retries++;
        await sleep(clock, thrown.waitMs ?? FIRST_WAIT_MS * 2 ** (attempt - 1), asked.signal).catch(error => {
          throw mayBeDone ? inDoubt(error, asked.what) : error;
        });
      }
    }
  };

  const requestOf = (
    surface: Surface,
    path: string,
    rest: Pick<Once, 'method' | 'timeoutMs' | 'signal'> & { body?: unknown },
  ): Once => ({
    ...rest,
    path: pathOf(surface, parts.site, path),
    what: path,
  });

  return {
    lanes,
    consoleOffset: () => consoleMinusElapsed,
    read(surface, path, { body, timeoutMs = REQUEST_TIMEOUT_MS, tries = TRIES, signal: given } = {}) {
      return withSignals([given, signal], either => {
        const method = body === undefined ? 'GET' : 'POST';
        const asked = requestOf(surface, path, {
          method,
          timeoutMs,
          signal: either,
          ...(body !== undefined && { body }),
        });
        return lanes.run(undefined, either, () => insist(surface, asked, { again: true, tries }));
      });
    },
    ask(method, surface, path, body, { again, signal: given, timeoutMs = REQUEST_TIMEOUT_MS }) {
      return withSignals([given, signal], either =>
        insist(surface, requestOf(surface, path, { method, body, timeoutMs, signal: either }), {
          again,
          tries: TRIES,
          changes: true,
        }),
      );
    },
    look(surface, path, given) {
      return withSignals([given, signal], either =>
        insist(surface, requestOf(surface, path, { method: 'GET', timeoutMs: REQUEST_TIMEOUT_MS, signal: either }), {
          again: true,
          tries: TRIES,
        }),
      );
    },
  };
}

function sessionFor(surface: Surface, { key, login, keyIsOfficialOnly }: Sessions): Session {
  const session = surface === 'official' ? key : keyIsOfficialOnly ? login : (key ?? login);
  if (session) return session;
  throw new CausewayError('UNSUPPORTED', 'the official API of the console takes an API key alone', {
    hint: 'set api_key of this backend in config.yaml',
  });
}

const pathOf = (surface: Surface, site: string, path: string): string =>
  ({
    official: `/proxy/network/integration/v1/${path}`,
    legacy: `/proxy/network/api/s/${site}/${path}`,
    internal: `/proxy/network/v2/api/site/${site}/${path}`,
    os: path,
  })[surface];

/** Nobody knows whether it was done: no answer that we have says so. */
export const inDoubt = (cause: unknown, what: string): CausewayError =>
  new CausewayError('BACKEND_TIMEOUT', `it is not known whether this was done: ${what}`, {
    hint: 'look at the state of the device before sending it again',
    cause,
  });
