// A UniFi console to test against: HTTPS with a certificate that nobody has signed, cookies and CSRF, API keys, the four
// surfaces of which we use, and a websocket. Paths that no real console has are a 404. Troubles can be switched on.
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { certificate, type SimCertificate } from './certificate.ts';
import type { SimRecord } from './house.ts';
import { routes, type SimAnswer } from './routes.ts';
import { SimConsole, type SimProfile } from './state.ts';

export { anotherCertificate, certificate } from './certificate.ts';
export { CLIENT, DEVICE } from './house.ts';
export { SimConsole, type SimProfile } from './state.ts';

/** How a simulated console begins. */
export interface ConsoleOptions {
  readonly profile?: SimProfile;
  /** Epoch ms. */
  readonly now?: () => number;
  readonly apiKey?: string;
  readonly username?: string;
  readonly password?: string;
  /** What API keys are good for. */
  readonly keys?: { readonly legacy?: boolean; readonly socket?: boolean };
  readonly certificate?: SimCertificate;
  /** Sessions end after this. */
  readonly sessionMs?: number;
  /** Logins within a minute before 429. */
  readonly logins?: number;
}

/** Troubles; all may be changed at any time. */
export interface Trouble {
  /** Everything answers with this. */
  status?: number | undefined;
  /** Everything answers with a page, as a console does that is starting. */
  html: boolean;
  /** Nothing is answered. */
  hangs: boolean;
  /** An answer waits until then. @param path without the host @param body as it came */
  holds?: ((path: string, body: string) => Promise<unknown> | undefined) | undefined;
  /** So many answers are cut off. */
  cuts: number;
  /** Sockets stay open and nothing comes over them. */
  silent: boolean;
  /** Requests that are refused with 429, with this as Retry-After (s). */
  limited: number;
  retryAfter: number | undefined;
  /**
   * It is the older Network application that people host themselves: its front page leads to /manage. What it says of paths
   * that it does not have is not recorded: a login is wanted, or `status`, or `html`.
   */
  classic: boolean;
  /** The console no longer hands out a CSRF token at login; it is in the cookie alone. */
  csrfInCookieOnly: boolean;
}

/** A running simulated console. */
export interface ConsoleSimulator {
  /** `https://127.0.0.1:<port>` */
  readonly url: string;
  readonly state: SimConsole;
  readonly trouble: Trouble;
  /** `GET /path` of each request. */
  readonly requests: string[];
  /** Those that were a 404 because no console has them. */
  readonly strangers: string[];
  readonly logins: number;
  readonly sockets: number;
  /** Requests that are not answered yet. */
  readonly inFlight: number;
  apiKey: string;
  password: string;
  /** All cookies are worth nothing from now on. */
  endSessions(): void;
  sendFrame(frame: string | Buffer): void;
  dropSockets(): void;
  down(): Promise<void>;
  up(): Promise<void>;
  stop(): Promise<void>;
}

interface Session {
  csrf: string;
  readonly until: number;
}

const SOCKET_PATH = '/proxy/network/wss/s/default/events';
const loginRequired: SimAnswer = {
  status: 401,
  body: { meta: { rc: 'error', msg: 'api.err.LoginRequired' }, data: [] },
};
const unauthorized: SimAnswer = { status: 401, body: { error: { code: 401, message: 'Unauthorized' } } };

/** Starts one on 127.0.0.1. */
export async function startConsole(options: ConsoleOptions = {}): Promise<ConsoleSimulator> {
  const { profile = 'network9', now = Date.now, username = 'causeway', keys = {}, logins: mostLogins = 5 } = options;
  const { legacy: keyOnLegacy = true, socket: keyOnSocket = false } = keys;
  const { sessionMs = 7_200_000 } = options;
  let { apiKey = 'simulated-key', password = 'simulated-password' } = options;
  const trouble: Trouble = {
    html: false,
    hangs: false,
    cuts: 0,
    silent: false,
    limited: 0,
    retryAfter: undefined,
    classic: false,
    csrfInCookieOnly: false,
  };
  const requests: string[] = [];
  const strangers: string[] = [];
  const sessions = new Map<string, Session>();
  const open = new Set<WebSocket>();
  const attempts: number[] = [];
  let logins = 0;
  let inFlight = 0;
  let port = 0;
  let count = 0;
  let server: ReturnType<typeof createServer>;
  let sockets: WebSocketServer;
  let isUp = false;

  const send = (frame: string | Buffer) => {
    for (const socket of open) if (!trouble.silent) socket.send(frame);
  };
  const state = new SimConsole(profile, now, (message, data) =>
    send(JSON.stringify({ meta: { rc: 'ok', message, product_line: 'NETWORK' }, data })),
  );

  const sessionOf = (request: IncomingMessage): Session | undefined => {
    const token = /TOKEN=([^;]+)/.exec(request.headers.cookie ?? '')?.[1] ?? '';
    const session = sessions.get(token);
    return session && session.until > now() ? session : undefined;
  };
  const hasKey = (request: IncomingMessage) => request.headers['x-api-key'] === apiKey;

  function login(body: SimRecord, response: ServerResponse): SimAnswer {
    logins++;
    const minute = attempts.filter(at => now() - at < 60_000);
    attempts.splice(0, attempts.length, ...minute, now());
    if (minute.length >= mostLogins) {
      const code = 'AUTHENTICATION_FAILED_LIMIT_REACHED';
      return { status: 429, body: { code, message: "You've reached the login attempt limit", level: 'debug' } };
    }
    if (body.username !== username || body.password !== password) {
      const code = 'AUTHENTICATION_FAILED_INVALID_CREDENTIALS';
      return { status: 403, body: { code, message: 'Invalid username or password', level: 'debug' } };
    }
    const csrf = `csrf-${++count}`;
    const payload = Buffer.from(JSON.stringify({ userId: 'u', csrfToken: csrf })).toString('base64url');
    const token = `e30.${payload}.${++count}`;
    sessions.set(token, { csrf, until: now() + sessionMs });
    response.setHeader('set-cookie', `TOKEN=${token}; Path=/; Secure; HttpOnly`);
    if (!trouble.csrfInCookieOnly) response.setHeader('x-csrf-token', csrf);
    return { status: 200, body: { unique_id: 'u', username, roles: [], permissions: {} } };
  }

  /** What becomes of a request that nothing is wrong with. */
  function route(
    method: string,
    url: URL,
    body: SimRecord,
    request: IncomingMessage,
    response: ServerResponse,
  ): SimAnswer {
    const { pathname, searchParams } = url;
    if (trouble.classic) return loginRequired;
    if (method === 'GET' && pathname === '/') return { status: 200, body: '<!doctype html><title>UniFi OS</title>' };
    if (method === 'POST' && pathname === '/api/auth/login') return login(body, response);
    const isOfficial = pathname.startsWith('/proxy/network/integration/');
    const session = sessionOf(request);
    const byKey = hasKey(request) && (isOfficial || keyOnLegacy);
    if (!byKey && !(session && !isOfficial)) return unauthorized;
    if (!byKey && session && method !== 'GET' && request.headers['x-csrf-token'] !== session.csrf) {
      return { status: 403, body: { error: { code: 403, message: 'Invalid CSRF Token' } } };
    }
    if (method === 'POST' && pathname === '/api/auth/logout') {
      sessions.clear();
      return { status: 200, body: { success: true } };
    }
    for (const [wanted, path, answer] of routes) {
      const at = wanted === method ? path.exec(pathname) : null;
      if (!at) continue;
      if (method !== 'GET') state.received.push({ method, path: pathname.replace(/^\/proxy\/network/, ''), body });
      return answer({ console: state, body, query: searchParams, at: at.slice(1) });
    }
    strangers.push(`${method} ${pathname}`);
    return { status: 404, body: { error: { code: 404, message: 'Not Found' } } };
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', 'https://console');
    const method = request.method ?? 'GET';
    requests.push(`${method} ${url.pathname}`);
    const text = await bodyOf(request);
    if (trouble.hangs) return;
    await trouble.holds?.(url.pathname, text);
    if (trouble.cuts > 0) {
      trouble.cuts--;
      response.destroy();
      return;
    }
    if (trouble.classic && url.pathname === '/') {
      response.writeHead(302, { location: '/manage' }).end();
      return;
    }
    if (trouble.html) {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>UniFi is starting</title>');
      return;
    }
    if (trouble.status !== undefined) {
      response.writeHead(trouble.status, { 'content-type': 'text/html' }).end('<html>nginx</html>');
      return;
    }
    response.setHeader('date', new Date(state.now()).toUTCString());
    if (trouble.limited > 0) {
      trouble.limited--;
      if (trouble.retryAfter !== undefined) response.setHeader('retry-after', String(trouble.retryAfter));
      response.writeHead(429, { 'content-type': 'application/json' }).end('{}');
      return;
    }
    const { status, body } = route(method, url, text === '' ? {} : (JSON.parse(text) as SimRecord), request, response);
    const isPage = typeof body === 'string';
    response.writeHead(status, { 'content-type': isPage ? 'text/html' : 'application/json' });
    response.end(isPage ? body : JSON.stringify(body));
  }

  function upgrade(request: IncomingMessage, stream: Duplex, head: Buffer): void {
    const { pathname } = new URL(request.url ?? '', 'https://console');
    const refuse = (line: string) => stream.end(`HTTP/1.1 ${line}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
    requests.push(`UPGRADE ${pathname}`);
    if (trouble.status !== undefined) return void refuse('502 Bad Gateway');
    if (!sessionOf(request) && !(keyOnSocket && hasKey(request))) return void refuse('401 Unauthorized');
    if (pathname !== SOCKET_PATH) {
      strangers.push(`UPGRADE ${pathname}`);
      return void refuse('404 Not Found');
    }
    sockets.handleUpgrade(request, stream, head, socket => {
      open.add(socket);
      socket.on('close', () => open.delete(socket));
      socket.on('error', () => {});
    });
  }

  async function up(): Promise<void> {
    const { cert, key } = options.certificate ?? certificate;
    server = createServer({ cert, key }, (request, response) => {
      inFlight++;
      response.on('close', () => inFlight--);
      void answer(request, response).catch(() => response.destroy());
    });
    sockets = new WebSocketServer({ noServer: true });
    server.on('upgrade', upgrade);
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    port = (server.address() as AddressInfo).port;
    isUp = true;
  }

  async function down(): Promise<void> {
    if (!isUp) return;
    isUp = false;
    sessions.clear();
    for (const socket of open) socket.terminate();
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }

  await up();
  return {
    url: `https://127.0.0.1:${port}`,
    state,
    trouble,
    requests,
    strangers,
    get logins() {
      return logins;
    },
    get sockets() {
      return open.size;
    },
    get inFlight() {
      return inFlight;
    },
    get apiKey() {
      return apiKey;
    },
    set apiKey(other) {
      apiKey = other;
    },
    get password() {
      return password;
    },
    set password(other) {
      password = other;
    },
    endSessions: () => sessions.clear(),
    sendFrame: send,
    dropSockets() {
      for (const socket of open) socket.terminate();
    },
    down,
    up,
    stop: down,
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
