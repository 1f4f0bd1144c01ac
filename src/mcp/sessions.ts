// Sessions of the protocol revisions 2024-11-05 to 2025-11-25: bounded in number, kept while somebody listens, and
// long after, because clients do not come back by themselves once theirs is gone (typescript-sdk#1708).
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { type Server, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Caller } from '../ops/op.ts';
import { authOf, type Protocol } from './protocol.ts';
import { createReplay } from './replay.ts';
import { isBlocked, type Streams } from './streams.ts';
import type { Subscriber, Updates } from './subscriptions.ts';

/** Bounds of the sessions. */
export interface SessionLimits {
  readonly maxSessions: number;
  /** A session without a stream and without a request for so long is gone. */
  readonly idleMs: number;
  /** Kept per session for Last-Event-ID. */
  readonly replay: { readonly events: number; readonly bytes: number };
}

interface SessionsOptions {
  readonly protocol: Protocol;
  readonly updates: Updates;
  readonly streams: Streams;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: SessionLimits;
}

interface Session {
  readonly principal: string;
  readonly server: Server;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly subscriber: Subscriber;
  stream?: ServerResponse;
  /** Elapsed time of the last request. */
  lastSeen: number;
}

/** Serves requests of the older revisions. */
export interface Sessions {
  handle(request: Request, body: unknown, caller: Caller, outgoing: ServerResponse): Promise<Response>;
  readonly count: number;
  stop(): Promise<void>;
}

/** Starts the reaper of idle sessions. */
export function createSessions(options: SessionsOptions): Sessions {
  const { protocol, updates, streams, clock, log, limits } = options;
  const sessions = new Map<string, Session>();

  const end = (id: string) => {
    const session = sessions.get(id);
    if (!session) return;
    sessions.delete(id);
    session.subscriber.close();
    session.server.close().catch(error => log.debug({ err: error }, 'closing a session'));
  };

  const sweep = () => {
    for (const [id, session] of sessions) {
      if (!session.stream && clock.elapsed() - session.lastSeen >= limits.idleMs) end(id);
    }
    cancelSweep = clock.after(limits.idleMs / 4, sweep);
  };
  let cancelSweep = clock.after(limits.idleMs / 4, sweep);

  /** Makes room by ending the session that was idle longest; false when all are in use. */
  const makeRoom = (): boolean => {
    if (sessions.size < limits.maxSessions) return true;
    const idle = [...sessions]
      .filter(([, session]) => !session.stream)
      .sort(([, a], [, b]) => a.lastSeen - b.lastSeen)[0];
    if (idle) end(idle[0]);
    return idle !== undefined;
  };

  const open = async (request: Request, body: unknown, caller: Caller): Promise<Response> => {
    if (!makeRoom()) return rpcError(503, -32000, 'too many sessions are open; close one, or try again later');
    let session: Session;
    const subscriber = updates.subscribe({
      ready: () => session?.stream !== undefined && !isBlocked(session.stream),
      updated: uri => void session.server.sendResourceUpdated({ uri }).catch(nothing),
      listChanged: () => void session.server.sendResourceListChanged().catch(nothing),
    });
    subscriber.watchList();
    const server = protocol.serve(subscriber);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: id => void sessions.set(id, session),
      onsessionclosed: end,
      eventStore: createReplay(limits.replay, () => subscriber.markAll()),
    });
    session = { principal: caller.principal, server, transport, subscriber, lastSeen: clock.elapsed() };
    await server.connect(transport);
    const response = await transport.handleRequest(request, { parsedBody: body, authInfo: authOf(caller) });
    if (!sessions.has(transport.sessionId ?? '')) {
      subscriber.close();
      await server.close().catch(nothing);
    }
    return response;
  };

  const listen = async (
    session: Session,
    request: Request,
    caller: Caller,
    outgoing: ServerResponse,
  ): Promise<Response> => {
    // A stream whose network went away looks alive for a quarter of an hour, and the client that comes back would be
    // refused: the newer stream wins.
    if (session.stream) session.transport.closeStandaloneSSEStream();
    const response = await session.transport.handleRequest(request, { authInfo: authOf(caller) });
    if (response.status !== 200) return response;
    session.stream = outgoing;
    streams.watch(outgoing, {
      drain: () => session.subscriber.wake(),
      close: () => {
        session.lastSeen = clock.elapsed();
        if (session.stream === outgoing) delete session.stream;
      },
    });
    session.subscriber.wake();
    return response;
  };

  return {
    async handle(request, body, caller, outgoing) {
      const id = request.headers.get('mcp-session-id');
      if (id === null) {
        return request.method === 'POST' && isInitialize(body)
          ? open(request, body, caller)
          : rpcError(400, -32000, 'no Mcp-Session-Id; send initialize first');
      }
      const session = sessions.get(id);
      // Somebody else's session does not exist for this caller.
      if (!session || session.principal !== caller.principal) {
        return rpcError(404, -32001, 'session not found; send initialize again');
      }
      session.lastSeen = clock.elapsed();
      if (request.method === 'GET') return listen(session, request, caller, outgoing);
      return session.transport.handleRequest(request, { parsedBody: body, authInfo: authOf(caller) });
    },
    get count() {
      return sessions.size;
    },
    async stop() {
      cancelSweep();
      for (const id of [...sessions.keys()]) end(id);
    },
  };
}

const nothing = () => {};

const isInitialize = (body: unknown): boolean =>
  [body].flat().some(message => (message as { method?: unknown } | null)?.method === 'initialize');

/** A JSON-RPC error as the whole answer to an HTTP request. */
export const rpcError = (status: number, code: number, message: string): Response =>
  Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status });
