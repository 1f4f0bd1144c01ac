// Who we are at the console: an API key, or a login whose cookie and CSRF token all requests and the socket share. Consoles
// lock out who signs in too often (429 after a few within a minute), so it is done once, and after a refusal not again for
// minutes; then one attempt decides.
import type { Clock } from '../../../lib/clock.ts';
import { CausewayError } from '../../../lib/errors.ts';
import { parseJson } from '../../../lib/json.ts';
import type { Counters } from '../counters.ts';
import { dataOf, type Failure, isFailure } from './answers.ts';
import type { ConsoleAnswer, Http } from './http.ts';

/** What one request is sent with. */
export interface Pass {
  /** @param writes anything but a GET */
  headers(writes: boolean): Readonly<Record<string, string>>;
}

/** Who we are; it outlives connections. */
export interface Session {
  /** @throws BACKEND_AUTH while it is refused, or a `Failure` of the login */
  pass(http: Http, signal: AbortSignal): Promise<Pass>;
  /** To be called with each answer: consoles change the token as they like. */
  heard(pass: Pass, headers: ConsoleAnswer['headers']): void;
  /** The console says that it is worth nothing. @returns whether another one can be had */
  drop(pass: Pass): boolean;
}

/** The session of an API key. */
export function keySession(key: string): Session {
  const pass: Pass = { headers: () => ({ 'x-api-key': key }) };
  return { pass: async () => pass, heard() {}, drop: () => false };
}

interface Cookie extends Pass {
  csrf: string | undefined;
}

/** What a login needs. */
export interface LoginParts {
  readonly clock: Clock;
  readonly counters: Counters;
  readonly username: string;
  readonly password: string;
}

const LOGIN_TIMEOUT_MS = 10_000;
const FIRST_PAUSE_MS = 60_000;
const LONGEST_PAUSE_MS = 900_000;

/** The session of a login; nothing is sent before the first pass is asked for. */
export function loginSession(parts: LoginParts): Session {
  const { clock } = parts;
  let current: Cookie | undefined;
  let signingIn: Promise<Cookie> | undefined;
  let refusals = 0;
  let notBefore = Number.NEGATIVE_INFINITY;
  let reason = '';

  const refuse = ({ error, waitMs = 0 }: Failure): CausewayError => {
    const pause = Math.min(FIRST_PAUSE_MS * 2 ** refusals++, LONGEST_PAUSE_MS);
    notBefore = clock.elapsed() + Math.max(pause, waitMs);
    reason = error.message;
    return error;
  };

  const signIn = async (http: Http, signal: AbortSignal): Promise<Cookie> => {
    const left = notBefore - clock.elapsed();
    if (left > 0) {
      throw new CausewayError('BACKEND_AUTH', reason, {
        hint: `check login in config.yaml; signing in is tried again in ${Math.ceil(left / 1_000)} s, so that the console does not lock us out`,
      });
    }
    try {
      const cookie = await ask(parts, http, signal);
      refusals = 0;
      return cookie;
    } catch (thrown) {
      // Only what the console said about us counts; that it is starting, or gone, says nothing.
      if (isFailure(thrown) && thrown.error.code === 'BACKEND_AUTH') throw { ...thrown, error: refuse(thrown) };
      throw thrown;
    }
  };

  return {
    async pass(http, signal) {
      if (current) return current;
      signingIn ??= signIn(http, signal).finally(() => {
        signingIn = undefined;
      });
      current = await signingIn;
      return current;
    },
    heard(pass, headers) {
      if (pass !== current || !current) return;
      current.csrf = tokenIn(headers) ?? current.csrf;
    },
    drop(pass) {
      if (pass === current) current = undefined;
      return true;
    },
  };
}

async function ask({ counters, username, password }: LoginParts, http: Http, signal: AbortSignal): Promise<Cookie> {
  counters.logins++;
  const what = 'signing in';
  const answer = await http.request({
    method: 'POST',
    path: '/api/auth/login',
    headers: {},
    body: { username, password, rememberMe: true, token: '' },
    what,
    timeoutMs: LOGIN_TIMEOUT_MS,
    signal,
  });
  const { status } = answer;
  if (status === 429) {
    const error = new CausewayError('BACKEND_AUTH', 'the console takes no more logins for a while', {
      hint: 'it was signed in to too often, by us or by something else; we wait before the next attempt',
    });
    const seconds = Number(answer.retryAfter);
    throw {
      passing: false,
      uncertain: false,
      error,
      ...(seconds > 0 && { waitMs: seconds * 1_000 }),
    } satisfies Failure;
  }
  if (status === 499 || /2fa/i.test(answer.text.slice(0, 1_000))) throw denied('the console wants a second factor');
  if (status === 400 || status === 401 || status === 403) throw denied('the console refused the username or password');
  dataOf('os', answer, what);
  const pairs = [answer.headers['set-cookie'] ?? []].flat().map(one => one.split(';')[0] as string);
  const token = pairs.find(pair => pair.startsWith('TOKEN='));
  if (token === undefined) throw denied('the console gave no session');
  const cookie = pairs.join('; ');
  const made: Cookie = {
    csrf: tokenIn(answer.headers) ?? tokenWithin(token),
    headers: writes => ({ cookie, ...(writes && made.csrf !== undefined && { 'x-csrf-token': made.csrf }) }),
  };
  return made;
}

const denied = (message: string): Failure => ({
  passing: false,
  uncertain: false,
  error: new CausewayError('BACKEND_AUTH', message, {
    hint: 'login in config.yaml must be a local admin of the console, without two-factor login',
  }),
});

/** The newer of the two headers goes first, as in clients that run on real consoles. */
function tokenIn(headers: ConsoleAnswer['headers']): string | undefined {
  const token = headers['x-updated-csrf-token'] ?? headers['x-csrf-token'];
  return typeof token === 'string' && token !== '' ? token : undefined;
}

/** The token that the cookie itself carries (a JWT), where no header told one. */
function tokenWithin(cookie: string): string | undefined {
  const payload = Buffer.from(cookie.split('.')[1] ?? '', 'base64url').toString('utf8');
  const claims = parseJson(payload) as { csrfToken?: unknown } | undefined | null;
  return typeof claims?.csrfToken === 'string' ? claims.csrfToken : undefined;
}
