// What a console answers, on each of its surfaces: the envelope taken off, its four shapes of errors as one, and all secrets
// dropped.
import { CausewayError } from '../../../lib/errors.ts';
import type { Json } from '../../../lib/json.ts';

/**
 * The four surfaces of one console: `official` with API keys, site UUIDs and pages; `legacy` with `{ meta, data }`; `internal`
 * with bare bodies; `os`, the console itself.
 */
export type Surface = 'official' | 'legacy' | 'internal' | 'os';

/** How a request ended without its answer. */
export interface Failure {
  /** True: trying again may help. */
  readonly passing: boolean;
  /** True: the console may have acted all the same. */
  readonly uncertain: boolean;
  readonly error: CausewayError;
  /** The console asks for this pause. */
  readonly waitMs?: number;
  /** Our cookie or token is worth nothing any more. */
  readonly stale?: 'session' | 'csrf';
}

/** True for what requests throw of their own. */
export const isFailure = (thrown: unknown): thrown is Failure =>
  thrown !== null && typeof thrown === 'object' && 'passing' in thrown && 'uncertain' in thrown;

/** A status with the text of the body. */
export interface Answer {
  readonly status: number;
  readonly text: string;
  /** In seconds, of the header. */
  readonly retryAfter?: string | undefined;
}

type Fields = { readonly [key: string]: Json | undefined };

/** The data of an answer. Throws a `Failure` for all that is none. @param what for messages */
export function dataOf(surface: Surface, { status, text, retryAfter }: Answer, what: string): Json {
  const body = parsed(text);
  const told = errorIn(body);
  if (status >= 200 && status < 300 && told === undefined) {
    if (text.trim() === '') return null;
    // Half an answer is one of the application.
    if (body === undefined) throw { ...isStarting(what), uncertain: !text.trimStart().startsWith('<') };
    const data = surface === 'legacy' ? ((body as Fields | null)?.data ?? []) : body;
    dropSecrets(data);
    return data;
  }
  if (status >= 300 && status < 400)
    throw refused('BACKEND_REJECTED', `the console sent us elsewhere (${status}): ${what}`, CLASSIC);
  if (status === 429) {
    const seconds = Number(retryAfter);
    const error = new CausewayError('BACKEND_OFFLINE', `the console has had too many requests: ${what}`, {
      hint: 'it is asked more slowly; see what else asks it',
    });
    return throwing({ passing: true, uncertain: false, error, ...(seconds > 0 && { waitMs: seconds * 1_000 }) });
  }
  // The proxy has asked the application and had no answer: it may have acted.
  if (status === 502) throw { ...isStarting(what), uncertain: true };
  if (status === 503) throw isStarting(what);
  if (status === 504 || status === 408) {
    const error = new CausewayError('BACKEND_TIMEOUT', `the console answered ${status}: ${what}`);
    return throwing({ passing: true, uncertain: true, error });
  }
  return throwing(refusalOf(status, told ?? '', what));
}

const throwing = (failure: Failure): never => {
  throw failure;
};

const CLASSIC =
  'url must be a UniFi OS console (or UniFi OS Server); the older self-hosted application is not supported';
const KEY =
  'check api_key or login in config.yaml; keys are made in Network under Settings, Control Plane, Integrations';

function refusalOf(status: number, told: string, what: string): Failure {
  const because = told === '' ? `${status}` : `${status}, ${told}`;
  // A wrong site is told with 401 (api.err.NoSiteContext), so the words go first.
  if (/NoSiteContext|Site does not exist/i.test(told)) {
    return refused(
      'BACKEND_REJECTED',
      `the console has no such site: ${what}`,
      'check site in config.yaml: it is the short name in the addresses of the console’s pages',
    );
  }
  if (status === 401 || /LoginRequired/.test(told)) {
    return {
      ...refused('BACKEND_AUTH', `the console refused our credentials (${because}): ${what}`, KEY),
      stale: 'session',
    };
  }
  if (status === 403 || /NoPermission/.test(told)) {
    const failure = refused(
      'BACKEND_AUTH',
      `the console does not permit this (${because}): ${what}`,
      'give the admin or the key the right to do it',
    );
    return /csrf/i.test(told) ? { ...failure, stale: 'csrf' } : failure;
  }
  if (status === 404 || status === 405) {
    return refused(
      'BACKEND_REJECTED',
      `the console knows nothing of this (${because}): ${what}`,
      'its version may lack it, or the thing may be gone',
    );
  }
  return refused(
    'BACKEND_REJECTED',
    `the console refused (${because}): ${what}`,
    'see what it says; its own log tells more',
  );
}

const refused = (code: 'BACKEND_AUTH' | 'BACKEND_REJECTED', message: string, hint: string): Failure => ({
  passing: false,
  uncertain: false,
  error: new CausewayError(code, message, { hint }),
});

/** A page in the place of data, or nginx without the application behind it: it is starting (seen for minutes). */
const isStarting = (what: string): Failure => ({
  passing: true,
  uncertain: false,
  error: new CausewayError(
    'BACKEND_OFFLINE',
    `the console is starting, or something else answers in its place: ${what}`,
    {
      hint: 'wait until its own pages work again; if they do, check url in config.yaml',
    },
  ),
});

/** What a body says is wrong, in whichever of the four shapes; undefined when nothing is. */
function errorIn(body: Json | undefined): string | undefined {
  if (body === null || typeof body !== 'object' || Array.isArray(body)) return undefined;
  const { meta, errorCode, error, code, message, statusCode } = body as Fields;
  // legacy: { meta: { rc: error, msg } }, at times with status 200
  if (isFields(meta) && meta.rc === 'error') return textOf(meta.msg) || 'error';
  // internal: { errorCode, message }, at times with status 200
  if (errorCode !== undefined) return textOf(message) || textOf(errorCode);
  // the proxy before them: { error: { code, message } }
  if (isFields(error)) return textOf(error.message) || textOf(error.code);
  // official: { statusCode, code, message }; the console itself: { code, message, level }
  if (statusCode !== undefined || (typeof code === 'string' && 'level' in body)) {
    return [textOf(code), textOf(message)].filter(text => text !== '').join(': ') || 'error';
  }
  return undefined;
}

const isFields = (value: Json | undefined): value is { [key: string]: Json } =>
  value !== null && typeof value === 'object' && !Array.isArray(value);
const textOf = (value: Json | undefined): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value).slice(0, 300) : '';

// All that is read of it passes a schema, which takes the keys that it knows.
function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

const SECRETS = new Set(['sso_app_sec', 'syslog_key', 'guest_token']);

/** Drops passphrases, keys of devices and the like, in place. */
export function dropSecrets(value: Json): void {
  if (value === null || typeof value !== 'object') return;
  if (Array.isArray(value)) {
    for (const item of value) dropSecrets(item);
    return;
  }
  for (const key of Object.keys(value)) {
    if (key.startsWith('x_') || SECRETS.has(key)) delete value[key];
    else dropSecrets(value[key] as Json);
  }
}
