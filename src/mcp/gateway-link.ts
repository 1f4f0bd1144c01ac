// One HTTP exchange of the stdio bridge with the gateway's /mcp: the headers of either era, the answer's messages, and
// failures as JSON-RPC errors that say what to do.
import type { Clock } from '../lib/clock.ts';
import { sleep } from '../lib/clock.ts';
import { parseJson } from '../lib/json.ts';
import { readSse } from './sse.ts';

/** A JSON-RPC message, read only as far as the bridge must. */
export interface Message {
  readonly jsonrpc: '2.0';
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** Where the gateway is. */
export interface LinkOptions {
  /** Without `/mcp`. */
  readonly url: string;
  readonly token?: string | undefined;
  readonly clock: Clock;
  /** How long a request waits for a gateway that was there before. */
  readonly patienceMs: number;
}

/** What came back before the messages. */
export interface Exchange {
  readonly status: number;
  readonly sessionId: string | undefined;
  readonly response: Response;
}

/** Sends requests; remembers whether the gateway ever answered. */
export interface GatewayLink {
  /** @throws GatewayGone when nobody answers within the patience */
  send(
    init: { method: string; headers: Record<string, string>; body?: string },
    signal: AbortSignal,
  ): Promise<Exchange>;
}

/** Nobody answers at the gateway's address. */
export class GatewayGone extends Error {
  constructor(url: string) {
    super(
      `no Causeway gateway answers at ${url}; start it with "causeway serve" (or npm start), or set CAUSEWAY_URL to where it runs`,
    );
    this.name = 'GatewayGone';
  }
}

const RETRY_MS = 250;

/** Builds the link; nothing is sent yet. */
export function createLink(options: LinkOptions): GatewayLink {
  const { url, token, clock, patienceMs } = options;
  let wasThere = false;
  return {
    async send({ headers, ...init }, signal) {
      const start = clock.elapsed();
      for (;;) {
        try {
          const response = await fetch(`${url}/mcp`, {
            ...init,
            headers: { ...headers, ...(token && { Authorization: `Bearer ${token}` }) },
            signal,
          });
          wasThere = true;
          return { status: response.status, sessionId: response.headers.get('mcp-session-id') ?? undefined, response };
        } catch (error) {
          if (signal.aborted) throw error;
          // A gateway that restarts is waited for; one that never was is reported at once.
          if (!wasThere || clock.elapsed() - start >= patienceMs) throw new GatewayGone(url);
          await sleep(clock, RETRY_MS, signal);
        }
      }
    },
  };
}

/** The messages of an answer, JSON or SSE, with the event id that each came with. */
export async function* messagesOf(
  response: Response,
): AsyncGenerator<{ message: Message; eventId: string | undefined }> {
  if (response.headers.get('content-type')?.includes('text/event-stream') && response.body) {
    for await (const { data, id } of readSse(response.body)) {
      const message = parseJson(data) as Message | undefined;
      if (message) yield { message, eventId: id };
    }
    return;
  }
  const body = parseJson(await response.text());
  for (const message of [body ?? []].flat()) yield { message: message as unknown as Message, eventId: undefined };
}

/** What the client is told when its request failed on the way. */
export function failureOf(id: Message['id'], thrown: unknown): Message {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return { jsonrpc: '2.0', id: id ?? null, error: { code: -32000, message } };
}

/** The JSON-RPC error of an HTTP status that is no success; `undefined` when the body is one already. */
export async function refusalOf(id: Message['id'], { status, response }: Exchange): Promise<Message> {
  const body = parseJson(await response.text()) as
    | { error?: { code?: unknown; message?: string; hint?: string; data?: unknown } }
    | undefined;
  const error = body?.error;
  if (typeof error?.code === 'number') {
    return {
      jsonrpc: '2.0',
      id: id ?? null,
      error: { code: error.code, message: error.message ?? '', data: error.data },
    };
  }
  const hint = status === 401 ? 'set CAUSEWAY_TOKEN to a token of yours (causeway user token NAME)' : error?.hint;
  const message = [error?.message ?? `the gateway answered with HTTP ${status}`, hint].filter(Boolean).join('; ');
  return { jsonrpc: '2.0', id: id ?? null, error: { code: -32000, message, data: error } };
}
