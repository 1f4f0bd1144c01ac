// One request to the hub: a time limit, no redirects, and an error that tells whether the hub can have acted on it.
import http from 'node:http';
import https from 'node:https';
import { withSignals } from '../../lib/abort.ts';
import type { Clock } from '../../lib/clock.ts';
import { asCausewayError, CausewayError } from '../../lib/errors.ts';
import type { Json } from '../../lib/json.ts';

/** What is asked. The path may carry the token and is never told. */
export interface HubRequest {
  readonly url: string;
  /** For messages. */
  readonly what: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Posted; without one it is a GET. */
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body is read and thrown away: it is large, and nobody wants it. */
  readonly discards?: boolean;
}

/** What came back, whatever the label says (the hub calls JSON text/html at times). */
export interface HubAnswer {
  readonly status: number;
  readonly text: string;
  readonly cookies: readonly string[];
}

/** How a request ended without its answer. */
export interface Failure {
  /** True: trying again may help. */
  readonly passing: boolean;
  /** True: the hub may have acted all the same. */
  readonly uncertain: boolean;
  readonly error: CausewayError;
}

/** Sends it. Throws a `Failure` when there is no answer. */
export async function request(clock: Clock, asked: HubRequest): Promise<HubAnswer> {
  const { what, timeoutMs, signal, url } = asked;
  const limit = new AbortController();
  const cancel = clock.after(timeoutMs, () => limit.abort());
  const way = { isOpen: false };
  try {
    return await withSignals([limit.signal, signal], either => exchange(asked, either, way));
  } catch (error) {
    // Given up by us: the hub may be in the middle of it.
    if (signal.aborted) {
      throw { passing: false, uncertain: true, error: asCausewayError(signal.reason) } satisfies Failure;
    }
    if (error instanceof CausewayError) throw { passing: false, uncertain: false, error } satisfies Failure;
    const { host } = new URL(url);
    throw way.isOpen ? brokenOff(host, what, limit.signal.aborted ? timeoutMs : undefined) : unreachable(host, error);
  } finally {
    cancel();
  }
}

/** A list of thousands of devices has some twenty megabytes. */
const LARGEST_BODY = 64 * 1024 * 1024;

// node:http and not fetch: it takes half the time over a command, of which a busy hub gets hundreds a second; and it tells
// whether the connection was ever open, without which nothing can have been done.
const exchange = (
  { url, what, body, headers = {}, discards = false }: HubRequest,
  signal: AbortSignal,
  way: { isOpen: boolean },
): Promise<HubAnswer> =>
  new Promise((resolve, reject) => {
    const isSecure = url.startsWith('https:');
    const { request: begin } = isSecure ? https : http;
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
    const sent = begin(url, {
      method: body === undefined ? 'GET' : 'POST',
      signal,
      headers: { ...headers, ...length },
    });
    sent.once('socket', socket => {
      if (sent.reusedSocket) way.isOpen = true;
      // Before its certificate is good nothing leaves.
      else socket.once(isSecure ? 'secureConnect' : 'connect', () => void (way.isOpen = true));
    });
    sent.once('error', reject);
    sent.once('response', response => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        if (discards) return;
        size += chunk.length;
        if (size <= LARGEST_BODY) chunks.push(chunk);
        else sent.destroy(tooLarge(what));
      });
      response.once('error', reject);
      response.once('end', () => {
        const { statusCode: status = 0, headers: told } = response;
        resolve({ status, text: Buffer.concat(chunks).toString('utf8'), cookies: told['set-cookie'] ?? [] });
      });
    });
    sent.end(body);
  });

const tooLarge = (what: string): Error =>
  new CausewayError('BACKEND_REJECTED', `the hub’s answer is larger than is taken: ${what}`, {
    hint: 'see whether url in config.yaml is the hub’s',
  });

function unreachable(host: string, error: unknown): Failure {
  const code = (error as { code?: string }).code;
  const why = code === undefined || code === 'ABORT_ERR' ? 'no answer' : code;
  const offline = new CausewayError('BACKEND_OFFLINE', `the hub at ${host} cannot be reached (${why})`, {
    hint: /CERT|TLS|SSL|VERIFY|EPROTO/.test(why)
      ? 'set its url in config.yaml to http://, or give the hub a certificate that is trusted (NODE_EXTRA_CA_CERTS)'
      : 'see whether it has power and is on the network, and check its url in config.yaml',
  });
  return { passing: true, uncertain: false, error: offline };
}

function brokenOff(host: string, what: string, afterMs: number | undefined): Failure {
  const why = afterMs === undefined ? 'broke the connection off' : `did not answer within ${afterMs / 1_000} s`;
  const message = `the hub at ${host} ${why}: ${what}`;
  const error = new CausewayError('BACKEND_TIMEOUT', message, {
    hint: 'see whether the hub is overloaded or is being restarted; its own log says what keeps it busy',
  });
  return { passing: true, uncertain: true, error };
}

/** The data of an answer of the Maker API. Throws a `Failure` for all that is none. */
export function dataOf({ status, text }: HubAnswer, what: string): Json {
  if (status === 401 || status === 403) {
    throw final('BACKEND_AUTH', `the hub refused the access token: ${what}`, {
      hint: 'copy the token of the Maker API app into config.yaml (or secrets.yaml) and start again',
    });
  }
  if (status === 404) {
    throw final('BACKEND_REJECTED', `the hub knows nothing of this: ${what}`, {
      hint: 'check `app` in config.yaml, and that the Maker API has the device (or modes, HSM, variables) switched on',
    });
  }
  if (status === 408 || status >= 500 || status === 429) throw overloaded(status, what);
  if (status < 200 || status > 299) {
    throw final('BACKEND_REJECTED', `the hub answered ${status}: ${what}`, { hint: 'see the hub’s own log' });
  }
  if (text.trim() === '') return null;
  const data = parsed(text);
  if (data === undefined) {
    throw final('BACKEND_REJECTED', `the hub answered with a page instead of data: ${what}`, {
      hint: 'check url and app in config.yaml: it is the hub’s address without a path',
    });
  }
  if (isError(data)) {
    throw final('BACKEND_REJECTED', `the hub refused: ${what}${messageIn(data)}`, { hint: 'see the hub’s own log' });
  }
  return data;
}

// A list of all devices has megabytes: without a reviver it takes a third of the time. All that is read of it passes a
// schema, which takes the keys that it knows.
function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

// 503 and 429 say that it did not begin; the others come in the middle of it as well.
function overloaded(status: number, what: string): Failure {
  const isRefusal = status === 429 || status === 503;
  const error = new CausewayError(
    isRefusal ? 'BACKEND_OFFLINE' : status === 500 ? 'BACKEND_REJECTED' : 'BACKEND_TIMEOUT',
    `the hub answered ${status}: ${what}`,
    {
      hint: status === 500 ? 'a driver of the hub failed; see the hub’s own log' : 'the hub is overloaded; see its log',
    },
  );
  return { passing: true, uncertain: !isRefusal, error };
}

const final = (code: 'BACKEND_AUTH' | 'BACKEND_REJECTED', message: string, extras: { hint: string }): Failure => ({
  passing: false,
  uncertain: false,
  error: new CausewayError(code, message, extras),
});

const isError = (data: Json): data is { [key: string]: Json } =>
  data !== null && typeof data === 'object' && !Array.isArray(data) && data.error === true;

function messageIn(data: { [key: string]: Json }): string {
  const message = data.message ?? data.type;
  return typeof message === 'string' ? ` (${message.slice(0, 200)})` : '';
}

/** True for what `request` and `dataOf` throw of their own. */
export const isFailure = (thrown: unknown): thrown is Failure =>
  thrown !== null && typeof thrown === 'object' && 'passing' in thrown && 'uncertain' in thrown;
