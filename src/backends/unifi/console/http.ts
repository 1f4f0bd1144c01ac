// One request to the console, over connections of our own with their own check of its certificate: a time limit, no redirects,
// and an error that tells whether the console can have acted on it.
import { setMaxListeners } from 'node:events';
import { Agent, type buildConnector, request as send } from 'undici';
import { withSignals } from '../../../lib/abort.ts';
import type { Clock } from '../../../lib/clock.ts';
import { asCausewayError, CausewayError } from '../../../lib/errors.ts';
import type { Answer, Failure } from './answers.ts';
import { connectTls, type TlsParts } from './tls.ts';

/** What is asked. */
export interface ConsoleRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** For messages. */
  readonly what: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** What came back. */
export interface ConsoleAnswer extends Answer {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** Connections to one console. */
export interface Http {
  readonly url: URL;
  /** Throws a `Failure` when there is no answer. */
  request(asked: ConsoleRequest): Promise<ConsoleAnswer>;
  /** A connection for the websocket, checked as the others are. @throws as `connectTls` */
  connect: () => ReturnType<typeof connectTls>;
  close(): Promise<void>;
}

/** Connections at once; more requests wait. */
const CONNECTIONS = 4;
const KEEP_MS = 15_000;
/** A list of ten thousand clients has some twenty megabytes. */
const LONGEST_BODY = 64 * 1024 * 1024;

/** Opens nothing yet. */
export function createHttp(parts: Omit<TlsParts, 'signal'>): Http {
  const ending = new AbortController();
  setMaxListeners(0, ending.signal);
  const tls: TlsParts = { ...parts, signal: ending.signal };
  const connect: buildConnector.connector = (_options, callback) => {
    connectTls(tls).then(
      socket => callback(null, socket),
      error => callback(error as Error, null),
    );
  };
  const agent = new Agent({
    connect,
    connections: CONNECTIONS,
    pipelining: 1,
    keepAliveTimeout: KEEP_MS,
    maxResponseSize: LONGEST_BODY,
    // Time comes from our clock alone.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  return {
    url: tls.url,
    connect: () => connectTls(tls),
    request: asked => request(agent, tls.url, tls.clock, asked),
    close() {
      ending.abort();
      return agent.destroy();
    },
  };
}

async function request(
  dispatcher: Agent,
  url: URL,
  clock: Clock,
  { method, path, headers, body, what, timeoutMs, signal }: ConsoleRequest,
): Promise<ConsoleAnswer> {
  const limit = new AbortController();
  const cancel = clock.after(timeoutMs, () => limit.abort());
  try {
    return await withSignals([limit.signal, signal], async either => {
      const answer = await send(new URL(path, url), {
        method,
        dispatcher,
        signal: either,
        headers: {
          accept: 'application/json',
          ...headers,
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const retryAfter = answer.headers['retry-after'];
      return {
        status: answer.statusCode,
        text: await answer.body.text(),
        headers: answer.headers,
        ...(typeof retryAfter === 'string' && { retryAfter }),
      };
    });
  } catch (error) {
    // Given up by us: the console may be in the middle of it.
    if (signal.aborted) {
      throw { passing: false, uncertain: true, error: asCausewayError(signal.reason) } satisfies Failure;
    }
    throw unanswered(error, { what, host: url.host, timeoutMs, late: limit.signal.aborted });
  } finally {
    cancel();
  }
}

function unanswered(
  error: unknown,
  { what, host, timeoutMs, late }: { what: string; host: string; timeoutMs: number; late: boolean },
): Failure {
  // Of `connectTls`: nothing was sent.
  if (error instanceof CausewayError) return { passing: error.code === 'BACKEND_OFFLINE', uncertain: false, error };
  const why = late ? `did not answer within ${timeoutMs / 1_000} s` : 'broke the connection off';
  const timeout = new CausewayError('BACKEND_TIMEOUT', `the console at ${host} ${why}: ${what}`, {
    hint: 'see whether its own pages work, and what the network does to it',
    cause: error,
  });
  return { passing: true, uncertain: true, error: timeout };
}
