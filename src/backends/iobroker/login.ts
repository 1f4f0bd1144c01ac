// The login of ioBroker's web adapters: a token for user and password, and another one before it expires.

import http from 'node:http';
import https from 'node:https';
import { z } from 'zod';
import type { Clock } from '../../lib/clock.ts';
import { CausewayError } from '../../lib/errors.ts';
import { parseJson } from '../../lib/json.ts';

/** Who logs in. */
export interface Credentials {
  readonly user: string;
  readonly password: string;
}

/** What a login gave. */
export interface Token {
  readonly access: string;
  /** For the next one. */
  readonly refresh: string | undefined;
  /** How long it is good, ms. */
  readonly lastsMs: number;
}

const Answer = z.object({
  access_token: z.string().min(1),
  expires_in: z.number().positive().catch(3_600),
  refresh_token: z.string().min(1).optional().catch(undefined),
});

/** What a login needs. */
export interface LoginParts {
  /** Of the adapter, ws:// or wss://. */
  readonly url: string;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/**
 * Logs in at /oauth/token, with an older login's refresh token where there is one.
 * @returns undefined where the adapter has no login switched on: it answers 404 or its start page then
 * @throws BACKEND_AUTH, BACKEND_OFFLINE, BACKEND_TIMEOUT, BACKEND_REJECTED
 */
export async function logIn(parts: LoginParts, who: Credentials, refresh?: string): Promise<Token | undefined> {
  const body = new URLSearchParams(
    refresh === undefined
      ? { grant_type: 'password', client_id: 'ioBroker', username: who.user, password: who.password }
      : { grant_type: 'refresh_token', client_id: 'ioBroker', refresh_token: refresh },
  );
  const { host } = new URL(parts.url);
  const { status, text } = await post(parts, host, body);
  if (status === 404 || status === 405) return undefined;
  if (status === 400 || status === 401 || status === 403) {
    throw new CausewayError('BACKEND_AUTH', `ioBroker at ${host} refused our login`, {
      hint: 'check user and password in config.yaml; after several wrong ones ioBroker locks the user out for some minutes',
    });
  }
  const answer = Answer.safeParse(parseJson(text));
  if (status >= 200 && status < 300 && answer.success) {
    const { access_token: access, refresh_token, expires_in } = answer.data;
    return { access, refresh: refresh_token, lastsMs: expires_in * 1_000 };
  }
  if (status >= 200 && status < 400) return undefined;
  throw new CausewayError('BACKEND_REJECTED', `ioBroker at ${host} answered ${status} to our login`, {
    hint: 'see the log of ioBroker’s ws adapter',
  });
}

interface Reply {
  readonly status: number;
  readonly text: string;
}

const MAX_BODY = 64 * 1024;

// On a connection of its own: one that is kept alive may be dead by the next login, and would outlive `stop`.
function post({ url, clock, timeoutMs, signal }: LoginParts, host: string, form: URLSearchParams): Promise<Reply> {
  const address = new URL('/oauth/token', url.replace(/^ws/, 'http'));
  const request = address.protocol === 'https:' ? https.request : http.request;
  const body = form.toString();
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const fail = (code: string) => {
      end();
      reject(
        new CausewayError('BACKEND_OFFLINE', `ioBroker at ${host} cannot be reached (${code})`, {
          hint: 'see whether ioBroker and its ws adapter run, and check url in config.yaml',
        }),
      );
    };
    const onAbort = () => fail('given up');
    const cancel = clock.after(timeoutMs, () => fail('no answer to the login'));
    const sent = request(address, { method: 'POST', agent: false, headers }, response => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (piece: string) => {
        if (text.length < MAX_BODY) text += piece;
      });
      response.on('end', () => {
        end();
        resolve({ status: response.statusCode ?? 0, text });
      });
    });
    const end = () => {
      cancel();
      signal.removeEventListener('abort', onAbort);
      sent.destroy();
    };
    sent.on('error', error => fail((error as { code?: string }).code ?? 'no answer'));
    signal.addEventListener('abort', onAbort, { once: true });
    sent.end(body);
  });
}
