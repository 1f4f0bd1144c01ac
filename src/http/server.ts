// The HTTP server: one port for MCP, REST, webhooks, events, health and MQTT over WebSocket, behind one door.
import { readFile } from 'node:fs/promises';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import type { Observable } from 'rxjs';
import type { Clock } from '../lib/clock.ts';
import { asCausewayError, CausewayError } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import type { Caller, Views } from '../ops/op.ts';
import { errorResponse, type HttpApp, type HttpEnv, readBytes } from './app.ts';
import { type Auth, type AuthConfig, createAuth, isLoopback, type Principals } from './auth.ts';
import { mountEventStream, type StreamedEvent } from './event-stream.ts';
import { mountProbes, mountStatus } from './health.ts';
import { createLongLived, type LongLived } from './long-lived.ts';
import { type MqttUpgrade, mountMqtt } from './mqtt-upgrade.ts';
import { mountOpenApi } from './openapi.ts';
import { mountRest } from './rest.ts';
import { mountSystemHooks, type SystemHook } from './system-hooks.ts';
import { mountWebhooks, type WebhookInput } from './webhooks.ts';
import { whoListens } from './who-listens.ts';

/** The section `http` of the configuration. */
export interface HttpConfig extends AuthConfig {
  readonly port: number;
  /** Paths of PEM files. */
  readonly tls?: { readonly cert_file: string; readonly key_file: string } | undefined;
}

/** The MCP endpoint, as src/mcp makes it. @param body the request's text, which has been read already */
export interface McpEndpoint {
  handle(request: Request, body: string, caller: Caller, outgoing: ServerResponse): Promise<Response>;
}

/** What the server is made of; a part that is left out has no route. */
export interface HttpParts {
  readonly views: Views;
  readonly config: HttpConfig;
  readonly principals: Principals;
  readonly clock: Clock;
  readonly log: Log;
  readonly mcp?: McpEndpoint;
  readonly events$?: Observable<StreamedEvent>;
  readonly webhook?: WebhookInput;
  readonly systemHook?: SystemHook;
  readonly mqttUpgrade?: MqttUpgrade;
}

/** The running server. */
export interface Http {
  /** Starts listening. @throws CausewayError PORT_IN_USE */
  listen(port?: number): Promise<{ readonly port: number; readonly url: string }>;
  /** Ends all connections, those in the middle of an answer after a second. */
  stop(): Promise<void>;
}

const GRACE_MS = 1_000;
/** A request must have arrived wholly by then; answers may take for ever. */
const REQUEST_TIMEOUT_MS = 30_000;
/** As the MCP SDK bounds it. */
const MAX_MESSAGE = 4 * 1024 * 1024;

/** Builds the server. @throws CausewayError CONFIG_INVALID when a TLS file cannot be read */
export async function createHttp(parts: HttpParts): Promise<Http> {
  const { config, clock } = parts;
  const auth = createAuth(config, parts.principals);
  const longLived = createLongLived(parts.principals, clock);
  const app = routesOf(parts, auth, longLived);
  const listener = getRequestListener((request, env) => app.fetch(request, env), { overrideGlobalObjects: false });
  const options = { requestTimeout: REQUEST_TIMEOUT_MS };
  const server: Server = config.tls
    ? createTlsServer({ ...options, ...(await readTls(config.tls)) }, listener)
    : createServer(options, listener);
  const endWebSockets = mountMqtt(server, auth, parts.mqttUpgrade);

  return {
    async listen(port = config.port) {
      const host = parts.principals.isOpen() && !isLoopback(config.host) ? '127.0.0.1' : config.host;
      if (host !== config.host) {
        parts.log.warn(
          { host: config.host },
          'without users only loopback is listened on: causeway user add NAME --role admin, then start again',
        );
      }
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, host, () => {
          server.off('error', reject);
          resolve();
        });
      }).catch(async error => {
        throw await listenError(error, host, port);
      });
      const actual = (server.address() as AddressInfo).port;
      return { port: actual, url: urlOf(config, host, actual) };
    },
    async stop() {
      endWebSockets();
      longLived.stop();
      if (!server.listening) return;
      const closed = new Promise<void>(resolve => server.close(() => resolve()));
      server.closeIdleConnections();
      const cancel = clock.after(GRACE_MS, () => server.closeAllConnections());
      await closed;
      cancel();
    },
  };
}

function routesOf(parts: HttpParts, auth: Auth, longLived: LongLived): HttpApp {
  const { views, log, mcp } = parts;
  const app: HttpApp = new Hono<HttpEnv>();
  app.onError((thrown, c) => {
    const error = asCausewayError(thrown);
    if (error.code === 'INTERNAL') log.error({ err: thrown }, 'a request failed');
    return errorResponse(error, c.env.incoming);
  });
  app.notFound(c => {
    const error = new CausewayError('NOT_FOUND', `there is nothing at ${c.req.method} ${c.req.path}`, {
      hint: 'GET / shows what there is, GET /api/openapi.json each route with its method',
    });
    return errorResponse(error, c.env.incoming);
  });

  app.use(async (c, next) => {
    auth.checkOrigin(c.env.incoming);
    await next();
  });
  mountProbes(app, views);
  if (parts.systemHook) mountSystemHooks(app, parts.systemHook, parts.clock);
  app.use(async (c, next) => {
    const agent = c.req.header('user-agent') ?? '';
    const via = c.req.path === '/mcp' ? 'mcp' : agent.startsWith('causeway-cli/') ? 'cli' : 'rest';
    const caller = await auth.authenticate(c.env.incoming, via);
    c.set('caller', caller);
    await next();
    if (c.res.headers.get('content-type') === 'text/event-stream') longLived.add(caller, c.env.outgoing);
  });
  mountStatus(app, views);
  if (mcp) {
    app.all('/mcp', async c => {
      const body = await readBytes(c.req.raw, MAX_MESSAGE);
      return mcp.handle(c.req.raw, body.toString('utf8'), c.get('caller'), c.env.outgoing);
    });
  }
  if (parts.events$) mountEventStream(app, parts.events$, parts.clock);
  if (parts.webhook) mountWebhooks(app, parts.webhook);
  mountOpenApi(app, views);
  mountRest(app, views);
  return app;
}

async function readTls(tls: NonNullable<HttpConfig['tls']>): Promise<{ cert: Buffer; key: Buffer }> {
  const read = (name: 'cert_file' | 'key_file') =>
    readFile(tls[name]).catch(cause => {
      const extras = { path: `http/tls/${name}`, hint: 'is the path right, and may this user read the file?', cause };
      throw new CausewayError('CONFIG_INVALID', `${tls[name]} cannot be read`, extras);
    });
  return { cert: await read('cert_file'), key: await read('key_file') };
}

async function listenError(error: NodeJS.ErrnoException, host: string, port: number): Promise<unknown> {
  if (error.code !== 'EADDRINUSE') return error;
  const who = await whoListens(host, port);
  return new CausewayError('PORT_IN_USE', `port ${port} on ${host} is taken by ${who ?? 'another process'}`, {
    path: 'http/port',
    hint: `stop that process, or set http.port in config.yaml (or CAUSEWAY_HTTP__PORT) to a free one`,
    cause: error,
  });
}

function urlOf(config: HttpConfig, host: string, port: number): string {
  if (config.public_url) return config.public_url.replace(/\/$/, '');
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `${config.tls ? 'https' : 'http'}://${name.includes(':') ? `[${name}]` : name}:${port}`;
}
