// The MCP endpoint: one URL for both protocol eras. A request without the newer envelope goes to its session, any
// other to a server made for it alone.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { ServerResponse } from 'node:http';
import { createMcpHandler, isLegacyRequest, type ServerEvent } from '@modelcontextprotocol/server';
import type { Clock } from '../lib/clock.ts';
import { parseJson } from '../lib/json.ts';
import type { Log } from '../lib/log.ts';
import type { Caller, Views } from '../ops/op.ts';
import { authOf, createProtocol } from './protocol.ts';
import { createSessions, rpcError, type SessionLimits } from './sessions.ts';
import { createStreams, isBlocked } from './streams.ts';
import { createUpdates } from './subscriptions.ts';

/** The endpoint, as src/http mounts it. */
export interface Mcp {
  /**
   * Answers one HTTP request.
   * @param text its body, read already
   * @param outgoing where the answer is written to, watched for readers that stop
   */
  handle(request: Request, text: string, caller: Caller, outgoing: ServerResponse): Promise<Response>;
  stats(): { sessions: number; subscribers: number };
  stop(): Promise<void>;
}

/** Bounds, each with a default that suits a house. */
export interface McpLimits extends SessionLimits {
  readonly maxSubscriptions: number;
  /** Listen streams of the newer revision at one time. */
  readonly maxListeners: number;
  readonly windowMs: number;
  readonly stalledMs: number;
}

const DEFAULTS: McpLimits = {
  maxSessions: 200,
  idleMs: 60 * 60_000,
  replay: { events: 256, bytes: 256 * 1024 },
  maxSubscriptions: 1_000,
  maxListeners: 200,
  windowMs: 100,
  stalledMs: 60_000,
};

interface McpOptions {
  readonly views: Views;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits?: Partial<McpLimits>;
}

interface Listening {
  readonly outgoing: ServerResponse;
  readonly uris: readonly string[];
}

/** Starts the endpoint. */
export function createMcp({ views, clock, log, limits: given }: McpOptions): Mcp {
  const limits = { ...DEFAULTS, ...given };
  const protocol = createProtocol(views, log);
  const streams = createStreams(clock, limits.stalledMs);
  const updates = createUpdates({
    ...views,
    clock,
    windowMs: limits.windowMs,
    maxUris: limits.maxSubscriptions,
    watch: (uri, tell) => protocol.resources.watch(uri, tell),
  });
  const sessions = createSessions({ protocol, updates, streams, clock, log, limits });

  // The SDK asks its bus for events without saying for whom: the request that it serves tells.
  const listening = new AsyncLocalStorage<Listening>();
  const subscribe = (listener: (event: ServerEvent) => void): (() => void) => {
    const { outgoing, uris } = listening.getStore() as Listening;
    const subscriber = updates.subscribe({
      ready: () => !isBlocked(outgoing),
      updated: uri => listener({ kind: 'resource_updated', uri }),
      listChanged: () => listener({ kind: 'resources_list_changed' }),
    });
    // The SDK tells only what the client asked for.
    subscriber.watchList();
    for (const uri of uris) subscriber.add(uri);
    streams.watch(outgoing, { drain: subscriber.wake, close: subscriber.close });
    return subscriber.close;
  };

  const modern = createMcpHandler(() => protocol.serve(), {
    legacy: 'reject',
    bus: { publish: () => {}, subscribe },
    maxSubscriptions: limits.maxListeners,
    onerror: error => log.debug({ err: error }, 'mcp'),
  });

  return {
    async handle(request, text, caller, outgoing) {
      const body = request.method === 'POST' ? parseJson(text) : undefined;
      if (request.method === 'POST' && body === undefined)
        return rpcError(400, -32700, 'parse error: the message is not valid JSON');
      if (await isLegacyRequest(request, body)) return sessions.handle(request, body, caller, outgoing);
      const uris = narrowFilter(body, protocol.resources.knows, limits.maxSubscriptions);
      return listening.run({ outgoing, uris }, () =>
        modern.fetch(request, { parsedBody: body, authInfo: authOf(caller) }),
      );
    },
    stats: () => ({ sessions: sessions.count, subscribers: updates.subscribers }),
    async stop() {
      updates.stop();
      streams.stop();
      await Promise.all([sessions.stop(), modern.close()]);
    },
  };
}

/**
 * The URIs of a `subscriptions/listen`, those of no resource left out of the request itself: the SDK would acknowledge
 * them and never tell anything.
 */
function narrowFilter(body: unknown, knows: (uri: string) => boolean, max: number): string[] {
  const message = body as { method?: unknown; params?: { notifications?: { resourceSubscriptions?: unknown } } } | null;
  const filter = message?.method === 'subscriptions/listen' ? message.params?.notifications : undefined;
  if (!filter || !Array.isArray(filter.resourceSubscriptions)) return [];
  const uris = filter.resourceSubscriptions
    .filter((uri): uri is string => typeof uri === 'string' && knows(uri))
    .slice(0, max);
  filter.resourceSubscriptions = uris;
  return uris;
}
