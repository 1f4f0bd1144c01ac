// The CLI's side of REST: operations by name, and the event stream.
import { CausewayError, ERROR_CODES, type ErrorCode, type ErrorJson } from '../lib/errors.ts';
import { parseJson } from '../lib/json.ts';
import { readSse } from '../mcp/sse.ts';

/** A gateway to talk to. */
export interface GatewayClient {
  readonly url: string;
  readonly token: string | undefined;
  /** Calls an operation. @throws Unreachable, CausewayError */
  call(op: string, input?: Record<string, unknown>): Promise<Record<string, unknown>>;
  /** Events as they happen, until the connection breaks. @throws Unreachable, CausewayError */
  events(filter: Record<string, string>): AsyncGenerator<Record<string, unknown>>;
}

/** Nobody answers at the address. */
export class Unreachable extends Error {
  readonly hint = 'start it with "causeway serve" (or npm start), or say where it runs with --url or CAUSEWAY_URL';

  constructor(url: string, cause: unknown) {
    super(`no gateway answers at ${url}`, { cause });
    this.name = 'Unreachable';
  }
}

/** The gateway unless told otherwise. */
export const DEFAULT_URL = 'http://127.0.0.1:8480';

/** Where the gateway is, and who asks. */
export interface ClientOptions {
  readonly url: string;
  readonly token?: string | undefined;
  /** Of the command line. */
  readonly version: string;
  /** Ends what is under way. */
  readonly signal: AbortSignal;
}

/** Builds the client; nothing is sent yet. */
export function createClient(options: ClientOptions): GatewayClient {
  const { token, signal } = options;
  const url = options.url.replace(/\/+$/, '');
  const headers = {
    'User-Agent': `causeway-cli/${options.version}`,
    'Content-Type': 'application/json',
    ...(token && { Authorization: `Bearer ${token}` }),
  };

  const send = async (path: string, init: RequestInit): Promise<Response> => {
    const response = await fetch(`${url}${path}`, { ...init, headers, signal }).catch(cause => {
      if (signal.aborted) throw cause;
      throw new Unreachable(url, cause);
    });
    if (response.ok) return response;
    throw errorOf(response.status, parseJson(await response.text()), url);
  };

  return {
    url,
    token,
    async call(op, input = {}) {
      const response = await send(`/api/call/${op}`, { method: 'POST', body: JSON.stringify(input) });
      return (await response.json()) as Record<string, unknown>;
    },
    async *events(filter) {
      const response = await send(`/api/events/stream?${new URLSearchParams(filter)}`, {});
      if (!response.body) return;
      for await (const { event, data } of readSse(response.body)) {
        const value = parseJson(data) as Record<string, unknown> | undefined;
        if (value) yield event === 'dropped' ? { dropped: value.count } : value;
      }
    },
  };
}

function errorOf(status: number, body: unknown, url: string): CausewayError {
  const error = (body as { error?: Partial<ErrorJson> } | undefined)?.error;
  const code = error?.code !== undefined && error.code in ERROR_CODES ? (error.code as ErrorCode) : 'INTERNAL';
  const message = error?.message ?? `${url} answered with HTTP ${status}`;
  const hint = status === 401 ? 'set CAUSEWAY_TOKEN, or give --token; causeway user token NAME makes one' : error?.hint;
  return new CausewayError(code, message, {
    ...(error?.path !== undefined && { path: error.path }),
    ...(hint !== undefined && { hint }),
    details: error?.details,
  });
}
