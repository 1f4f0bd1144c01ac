// What the hub's own interface asks of it, beside the Maker API: not documented by the vendor, a login where login security
// is on. The shapes are those of public clients (kingpanther13/Hubitat-local-MCP-server); all of them may be missing.
import type { Clock } from '../../lib/clock.ts';
import { CausewayError } from '../../lib/errors.ts';
import { type Json, parseJson } from '../../lib/json.ts';
import { type ClientParts, insist, REQUEST_TIMEOUT_MS } from './client.ts';
import { dataOf, type HubAnswer, type HubRequest, request } from './http.ts';
import { createRefusal } from './refusal.ts';

/** How a page is asked. */
export interface PageAsking {
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
  /** Posted as JSON; without one it is a GET. */
  readonly body?: Json;
  /** Twice is not the same as once: it is asked once, and without an answer nobody knows whether it was done. */
  readonly isOnce?: boolean;
  /** The answer is large, and nobody wants it: `text` gives the empty text. */
  readonly discards?: boolean;
}

/** The hub's own pages. */
export interface Pages {
  /**
   * An answer, whatever its status; undefined where the hub wants a login that we do not have. Throws a `Failure`. The
   * caller holds a place in the lanes.
   */
  exchange(path: string, asking: PageAsking): Promise<HubAnswer | undefined>;
  /**
   * The text of a page, trimmed.
   * @throws UNSUPPORTED where this hub has no such page; BACKEND_AUTH, BACKEND_OFFLINE, BACKEND_TIMEOUT, BACKEND_REJECTED
   */
  text(path: string, asking: PageAsking): Promise<string>;
  /** The data of a page. @throws as `text` */
  json(path: string, asking: PageAsking): Promise<Json>;
}

/** For the life of the backend: a session outlives connections, and so does what is known of a refused login. */
export function createPages(parts: Pick<ClientParts, 'config' | 'counters' | 'lanes'> & { clock: Clock }): Pages {
  const { config, clock, lanes } = parts;
  const { origin } = new URL(config.url);
  const refusal = createRefusal(clock);
  let cookie: string | undefined;
  let pending: Promise<void> | undefined;

  const send = (path: string, given: Omit<HubRequest, 'url' | 'what'>): Promise<HubAnswer> => {
    const headers = { ...given.headers, ...(cookie !== undefined && { cookie }) };
    return request(clock, { ...given, url: `${origin}${path}`, what: bare(path), headers });
  };

  /** Gets a session, once for all that want one now. */
  const logIn = async (): Promise<void> => {
    if (!config.login) return;
    refusal.check();
    const form = new URLSearchParams({ username: config.login.username, password: config.login.password.reveal() });
    const answer = await send('/login', {
      timeoutMs: REQUEST_TIMEOUT_MS,
      // Others wait for it as well.
      signal: new AbortController().signal,
      body: `${form}`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    const cookies = answer.cookies.map(text => text.split(';')[0] as string);
    cookie = cookies.length > 0 ? cookies.join('; ') : undefined;
  };

  const exchange: Pages['exchange'] = async (
    path,
    { signal, timeoutMs = REQUEST_TIMEOUT_MS, body, discards = false },
  ) => {
    const asked = {
      timeoutMs,
      signal,
      discards,
      ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    };
    const answer = await send(path, asked);
    if (!wantsLogin(answer)) return answer;
    if (!config.login) return undefined;
    refusal.check();
    pending ??= logIn().finally(() => {
      pending = undefined;
    });
    await pending;
    const again = cookie === undefined ? answer : await send(path, asked);
    if (!wantsLogin(again)) return again;
    const refused = new CausewayError('BACKEND_AUTH', `the hub refused the login of ${config.login.username}`, {
      hint: 'check `login` of this backend in config.yaml; it is tried again after a minute',
    });
    refusal.note(refused);
    throw refused;
  };

  /** @param take what is wanted of the answer; throws a `Failure` for one that is none */
  const ask = <T>(path: string, asking: PageAsking, take: (answer: HubAnswer, what: string) => T): Promise<T> => {
    const what = bare(path);
    const again = !asking.isOnce;
    return lanes.run(undefined, asking.signal, () =>
      insist(parts, { again, tries: 2, signal: asking.signal, what }, async () => {
        const answer = await exchange(path, asking);
        if (!answer) {
          throw new CausewayError('BACKEND_AUTH', `the hub has login security, and no login is set: ${what}`, {
            hint: 'set `login` of this backend in config.yaml',
          });
        }
        if (answer.status === 404 || answer.status === 405) {
          throw new CausewayError('UNSUPPORTED', `this hub has no ${what}`, {
            hint: 'its firmware is older or newer than this is known of; update the hub, or do without',
          });
        }
        return take(answer, what);
      }),
    );
  };

  return {
    exchange,
    text: (path, asking) =>
      ask(path, asking, (answer, what) => {
        // For all but a good answer it says what is wrong.
        if (answer.status > 299) dataOf(answer, what);
        return answer.text.trim();
      }),
    json: (path, asking) => ask(path, asking, dataOf),
  };
}

/** Without what may be private in the query. */
const bare = (path: string): string => path.split('?')[0] as string;

function wantsLogin({ status, text }: HubAnswer): boolean {
  if (status === 401 || status === 403 || (status >= 300 && status < 400)) return true;
  return status === 200 && parseJson(text) === undefined && /<html|<!doctype/i.test(text);
}
