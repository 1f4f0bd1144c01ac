// The Maker API (docs2.hubitat.com, "Maker API"): reads are tried again, commands only where twice is the same as once.

import { withSignals } from '../../lib/abort.ts';
import { type Clock, sleep } from '../../lib/clock.ts';
import { asCausewayError, CausewayError } from '../../lib/errors.ts';
import type { Json } from '../../lib/json.ts';
import type { Lanes } from '../../lib/lanes.ts';
import type { Counters } from './counters.ts';
import { dataOf, isFailure, request } from './http.ts';
import type { Refusal } from './refusal.ts';
import type { HubitatConfig } from './schema.ts';

/** What the client needs. */
export interface ClientParts {
  readonly config: HubitatConfig;
  readonly clock: Clock;
  readonly counters: Counters;
  /** Of the access token, over all connections. */
  readonly refusal: Refusal;
  /** Shared by all that asks this hub. */
  readonly lanes: Lanes;
  /** Ends everything that is on its way. */
  readonly signal: AbortSignal;
}

/** How something is read. */
export interface Reading {
  readonly timeoutMs?: number;
  readonly tries?: number;
  readonly signal?: AbortSignal;
  /** In messages, in the place of a path that is secret. */
  readonly called?: string;
}

/** How something is asked of the hub. */
export interface Asking {
  /** Twice is the same as once: it is tried again. */
  readonly again: boolean;
  readonly signal: AbortSignal;
}

/** The hub's Maker API. Paths are below `/apps/api/<app>` and percent-encoded. */
export interface HubClient {
  /** `http://hub.lan` */
  readonly origin: string;
  /** What more than one request belongs to, or what must keep its order, takes a place here itself. */
  readonly lanes: Lanes;
  /**
   * Reads, in a place of its own.
   * @throws BACKEND_AUTH, BACKEND_OFFLINE, BACKEND_TIMEOUT, BACKEND_REJECTED
   */
  read(path: string, reading?: Reading): Promise<Json>;
  /**
   * Asks within a place that the caller holds.
   * @throws as `read`; BACKEND_TIMEOUT without `again` means that nobody knows whether it was done
   */
  ask(path: string, asking: Asking): Promise<Json>;
}

/** Requests that a hub bears at once; more make it refuse apps for "excessive hub load". */
export const IN_FLIGHT = 4;
const TRIES = 3;
const FIRST_WAIT_MS = 500;
export const REQUEST_TIMEOUT_MS = 10_000;

/** Calls `once` until it succeeds or is hopeless; what may have been done already only where `again` allows it. */
export async function insist<T>(
  parts: Pick<ClientParts, 'clock' | 'counters'>,
  { again, tries, signal, what }: { again: boolean; tries: number; signal: AbortSignal; what: string },
  once: () => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await once();
    } catch (thrown) {
      if (!isFailure(thrown)) throw thrown;
      if (!again && thrown.uncertain) {
        throw new CausewayError('BACKEND_TIMEOUT', `it is not known whether this was done: ${what}`, {
          hint: 'look at the device’s state or events before sending it again',
          cause: thrown.error,
        });
      }
      if (!again || !thrown.passing || attempt >= tries) throw thrown.error;
      parts.counters.retries++;
      await sleep(parts.clock, FIRST_WAIT_MS * 2 ** (attempt - 1), signal);
    }
  }
}

/** A client for one connection; it ends with the signal. */
export function createClient(parts: ClientParts): HubClient {
  const { config, clock, lanes, refusal, signal } = parts;
  const origin = new URL(config.url).origin;
  const urlOf = (path: string) => {
    const query = new URLSearchParams({ access_token: config.token.reveal() });
    return `${origin}/apps/api/${config.app}${path}?${query}`;
  };
  const once = async (path: string, what: string, timeoutMs: number, given: AbortSignal) => {
    refusal.check();
    try {
      return dataOf(await request(clock, { url: urlOf(path), what, timeoutMs, signal: given }), what);
    } catch (thrown) {
      if (isFailure(thrown) && thrown.error.code === 'BACKEND_AUTH') refusal.note(thrown.error);
      throw thrown;
    }
  };

  return {
    origin,
    lanes,
    read(path, { timeoutMs = REQUEST_TIMEOUT_MS, tries = TRIES, signal: given, called = path } = {}) {
      return withSignals([given, signal], either =>
        lanes.run(undefined, either, () =>
          insist(parts, { again: true, tries, signal: either, what: called }, () =>
            once(path, called, timeoutMs, either),
          ),
        ),
      );
    },
    ask(path, { again, signal: given }) {
      return withSignals([given, signal], either =>
        insist(parts, { again, tries: TRIES, signal: either, what: path }, () =>
          once(path, path, REQUEST_TIMEOUT_MS, either),
        ),
      );
    },
  };
}

/** What a read gives, or undefined where the hub has it switched off. */
export async function readIfThere(client: HubClient, path: string): Promise<Json | undefined> {
  try {
    return await client.read(path, { tries: 2 });
  } catch (thrown) {
    const error = asCausewayError(thrown);
    // A switched-off part of the Maker API answers with some error of its own; a wrong token is told by the device list.
    if (error.code === 'BACKEND_REJECTED') return undefined;
    throw error;
  }
}
