// The way that the hub's own pages command a device: typed arguments, where the Maker API makes text of everything
// (fblackburn1/node-red-contrib-hubitat#165). It knows no selection of devices: only ids of the Maker API come here.

import { CausewayError } from '../../lib/errors.ts';
import { parseJson } from '../../lib/json.ts';
import type { Log } from '../../lib/log.ts';
import { type Asking, type ClientParts, insist, REQUEST_TIMEOUT_MS } from './client.ts';
import { dataOf, type Failure, type HubAnswer, request } from './http.ts';
import { withSignals } from './signals.ts';

/** An argument with the type that the hub gives it. */
export interface HubArgument {
  readonly type: 'NUMBER' | 'STRING' | 'JSON_OBJECT';
  readonly value: unknown;
}

/** `/device/runmethod`. */
export interface RunMethod {
  /** False: this hub does not allow it, and nothing was done. @throws as `HubClient.ask` */
  run(device: string, method: string, args: readonly HubArgument[], asking: Asking): Promise<boolean>;
}

const REFUSED = Symbol('refused');

/** One for each connection: whether the hub allows it is found out once. */
export function createRunMethod(parts: ClientParts & { readonly log: Log }): RunMethod {
  const { config, clock, log } = parts;
  const { origin } = new URL(config.url);
  let isAllowed = config.runmethod === 'auto';
  let cookie: string | undefined;

  const post = (path: string, contentType: string, body: string, signal: AbortSignal): Promise<HubAnswer> =>
    request(clock, {
      url: `${origin}${path}`,
      what: path,
      timeoutMs: REQUEST_TIMEOUT_MS,
      signal,
      body,
      headers: { 'content-type': contentType, ...(cookie !== undefined && { cookie }) },
    });

  const logIn = async (signal: AbortSignal): Promise<boolean> => {
    if (!config.login) return false;
    const form = new URLSearchParams({ username: config.login.username, password: config.login.password.reveal() });
    const answer = await post('/login', 'application/x-www-form-urlencoded', `${form}`, signal);
    const cookies = answer.cookies.map(text => text.split(';')[0] as string);
    if (cookies.length === 0) return false;
    cookie = cookies.join('; ');
    return true;
  };

  const attempt = async (what: string, body: string, signal: AbortSignal): Promise<typeof REFUSED | undefined> => {
    let answer = await post('/device/runmethod', 'application/json', body, signal);
    if (wantsLogin(answer) && (await logIn(signal))) {
      answer = await post('/device/runmethod', 'application/json', body, signal);
    }
    // A hub without this way, or one that wants a login, has not looked at the command.
    if (wantsLogin(answer) || answer.status === 404 || answer.status === 405) return REFUSED;
    const data = dataOf(answer, what);
    if (data === null || typeof data !== 'object' || Array.isArray(data) || data.success !== true) {
      const said = data !== null && typeof data === 'object' && !Array.isArray(data) ? data.message : undefined;
      const message = `the hub refused: ${what}${typeof said === 'string' ? ` (${said.slice(0, 200)})` : ''}`;
      throw {
        passing: false,
        uncertain: false,
        error: new CausewayError('BACKEND_REJECTED', message, { hint: 'see the hub’s own log' }),
      } satisfies Failure;
    }
    return undefined;
  };

  return {
    async run(device, method, args, { again, signal: given }) {
      if (!isAllowed || !/^\d+$/.test(device)) return false;
      const what = `/device/runmethod ${device} ${method}`;
      const body = JSON.stringify({ id: Number(device), method, args });
      const outcome = await withSignals([given, parts.signal], signal =>
        insist(parts, { again, tries: 3, signal, what }, () => attempt(what, body, signal)),
      );
      if (outcome !== REFUSED) return true;
      isAllowed = false;
      log.info({ hub: origin }, 'the hub does not allow typed arguments: all commands go through the Maker API');
      return false;
    },
  };
}

const wantsLogin = ({ status, text }: HubAnswer): boolean =>
  status === 401 ||
  status === 403 ||
  (status >= 300 && status < 400) ||
  (status === 200 && parseJson(text) === undefined && /<html|<!doctype/i.test(text));
