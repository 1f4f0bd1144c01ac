// A hub to test against: the Maker API, its posts, the eventsocket and the logsocket over HTTP and WebSocket, with a real
// hub's oddities and troubles at the push of a button. It refuses every path that is not known of the real one.
import { once } from 'node:events';
import {
  Agent,
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { type WebSocket, WebSocketServer } from 'ws';
import { frameForm, postForm, type SimEvent } from './forms.ts';
import { answerMaker } from './maker.ts';
import { answerPage, answersPage } from './pages.ts';
import { type SimOptions, SimState } from './state.ts';

export * from './devices.ts';

/** How the simulated hub is started. */
export interface HubSimulatorOptions extends SimOptions {
  /** 0: a free one. */
  readonly port?: number;
  readonly app?: number;
  readonly token?: string;
  /** Login security: the internal endpoints want a session. */
  readonly login?: { readonly username: string; readonly password: string };
  /** Without the internal way to command devices. */
  readonly lacksRunMethod?: boolean;
}

/** What goes wrong; each for a number of requests or events, then all is well again. */
export interface SimTrouble {
  /** Every answer takes this long. */
  latencyMs: number;
  /** Answers with this status. */
  status: { code: number; times: number; path?: RegExp } | undefined;
  /** Answers 200 with this text. */
  instead: { body: string; times: number; path: RegExp } | undefined;
  /** Answers 200 with `error`. */
  errors: number;
  /** Does it, and cuts the connection instead of answering. */
  cuts: number;
  /** Above so many requests at once it answers 408. */
  overloadAbove: number;
  drops: number;
  doubles: number;
}

/** A running simulated hub. */
export interface HubSimulator {
  readonly url: string;
  readonly app: number;
  token: string;
  readonly state: SimState;
  readonly trouble: SimTrouble;
  /** Paths that were asked for, without tokens, oldest first. */
  readonly requests: string[];
  /** Paths that the real hub is not known to have. */
  readonly refused: string[];
  readonly mostInFlight: number;
  /** Open eventsockets and logsockets. */
  readonly sockets: { readonly events: number; readonly logs: number };
  /** Writes a line of the hub's log. */
  log(line: { name: string; msg: string; id: number; type: 'dev' | 'app'; level: string }): void;
  /** Sends raw text on the eventsocket. */
  sendFrame(text: string): void;
  /** Closes the eventsockets, as the hub does now and then. */
  dropSockets(reason?: string): void;
  /** Open eventsockets stay open, and nothing moves on them any more, pings included. */
  freezeSockets(): void;
  /** Resolves once all events so far were sent. */
  quiet(): Promise<void>;
  /** No power. */
  down(): Promise<void>;
  up(): Promise<void>;
  /** Down, up, and `systemStart`. */
  restart(downMs?: number): Promise<void>;
  stop(): Promise<void>;
}

/** Starts one on 127.0.0.1. */
export async function startHubSimulator(options: HubSimulatorOptions = {}): Promise<HubSimulator> {
  const { app = 12, login, lacksRunMethod = false } = options;
  const trouble: SimTrouble = {
    latencyMs: 0,
    status: undefined,
    instead: undefined,
    errors: 0,
    cuts: 0,
    overloadAbove: Number.POSITIVE_INFINITY,
    drops: 0,
    doubles: 0,
  };
  const requests: string[] = [];
  const refused: string[] = [];
  const eventSockets = new Set<WebSocket>();
  const logSockets = new Set<WebSocket>();
  const frozen = new Set<WebSocket>();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let port = options.port ?? 0;
  let token = options.token ?? 'simulated-token';
  let session: string | undefined;
  let inFlight = 0;
  let mostInFlight = 0;
  let posting: Promise<void> = Promise.resolve();
  let server: Server;
  let sockets: WebSocketServer;
  let isUp = false;

  const state = new SimState(options, event => {
    if (!isUp) return;
    if (trouble.drops > 0) {
      trouble.drops--;
      return;
    }
    send(event);
    if (trouble.doubles > 0) {
      trouble.doubles--;
      send(event);
    }
  });

  function send(event: SimEvent): void {
    frame(JSON.stringify(frameForm(event)));
    const { postUrl, quirks } = state;
    if (postUrl === undefined || (!event.device && quirks.noLocationPosts)) return;
    const body = JSON.stringify(postForm(event, quirks.flatPosts));
    const headers = { 'content-type': quirks.textPosts ? 'text/plain' : 'application/json' };
    // One after the other: a real hub's posts of one device arrive in order as well.
    posting = posting.then(() => post(postUrl, headers, body, agent));
  }

  function frame(text: string): void {
    for (const socket of eventSockets) {
      if (!state.quirks.splitFrames) socket.send(text);
      else {
        socket.send(text.slice(0, text.length / 2));
        socket.send(text.slice(text.length / 2));
      }
    }
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://hub');
    requests.push(pathname);
    const body = await bodyOf(request);
    if (trouble.latencyMs > 0) await pause(trouble.latencyMs);
    const { status } = trouble;
    if (status && status.times > 0 && (status.path ?? /./).test(pathname)) {
      status.times--;
      return reply(response, status.code, 'the hub has trouble');
    }
    const { instead } = trouble;
    if (instead && instead.times > 0 && instead.path.test(pathname)) {
      instead.times--;
      return reply(response, 200, instead.body);
    }
    if (inFlight > trouble.overloadAbove) return reply(response, 408, '');
    const parts = pathname.split('/').slice(1);
    if (parts[0] === 'apps' && parts[1] === 'api') {
      if (parts[2] !== String(app)) return reply(response, 404, { error: true, message: 'no such app' });
      if (searchParams.get('access_token') !== token) return reply(response, 401, { error: 'invalid_token' });
      if (trouble.errors > 0) {
        trouble.errors--;
        return reply(response, 200, { error: true, type: 'java.lang.Exception', message: 'something went wrong' });
      }
      const made = answerMaker(state, parts.slice(3).map(decodeURIComponent));
      if (trouble.cuts > 0) {
        trouble.cuts--;
        response.destroy();
        return;
      }
      if (made) return reply(response, made.status, made.body);
    } else if (login && pathname === '/login' && request.method === 'POST') {
      const form = new URLSearchParams(body);
      const fits = form.get('username') === login.username && form.get('password') === login.password;
      if (fits) {
        session = `${Math.random()}`.slice(2);
        response.setHeader('set-cookie', `HUBSESSION=${session}; Path=/; HttpOnly`);
      }
      return redirect(response);
    } else if (!(lacksRunMethod && pathname === '/device/runmethod')) {
      const asked = { method: request.method ?? 'GET', path: pathname, query: searchParams, body };
      const isThere = answersPage(state, pathname);
      if (isThere && login && !isLoggedIn(request)) return redirect(response);
      const made = answerPage(state, asked);
      if (made && trouble.cuts > 0) {
        trouble.cuts--;
        response.destroy();
        return;
      }
      if (made) return reply(response, made.status, made.body);
    }
    refused.push(pathname);
    return reply(response, 404, 'not found');
  }

  const isLoggedIn = (request: IncomingMessage) =>
    session !== undefined && (request.headers.cookie ?? '').includes(`HUBSESSION=${session}`);
  const redirect = (response: ServerResponse) => {
    response.writeHead(302, { location: '/login' }).end();
  };
  const reply = (response: ServerResponse, status: number, body: unknown) => {
    const type = state.quirks.htmlLabel ? 'text/html;charset=utf-8' : 'application/json;charset=utf-8';
    response.writeHead(status, { 'content-type': type }).end(typeof body === 'string' ? body : JSON.stringify(body));
  };

  async function up(): Promise<void> {
    server = createServer((request, response) => {
      inFlight++;
      mostInFlight = Math.max(mostInFlight, inFlight);
      response.on('close', () => inFlight--);
      void answer(request, response).catch(() => response.destroy());
    });
    sockets = new WebSocketServer({ noServer: true });
    server.on('upgrade', (request, stream, head) => {
      const path = request.url ?? '';
      const set = path === '/eventsocket' ? eventSockets : path === '/logsocket' ? logSockets : undefined;
      if (!set) {
        refused.push(path);
        stream.destroy();
        return;
      }
      sockets.handleUpgrade(request, stream, head, socket => {
        set.add(socket);
        socket.on('close', () => set.delete(socket));
        socket.on('error', () => {});
      });
    });
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    port = (server.address() as AddressInfo).port;
    isUp = true;
  }

  async function down(): Promise<void> {
    if (!isUp) return;
    isUp = false;
    session = undefined;
    for (const socket of [...eventSockets, ...logSockets, ...frozen]) socket.terminate();
    frozen.clear();
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }

  await up();
  return {
    url: `http://127.0.0.1:${port}`,
    app,
    get token() {
      return token;
    },
    set token(other) {
      token = other;
    },
    state,
    trouble,
    requests,
    refused,
    get mostInFlight() {
      return mostInFlight;
    },
    get sockets() {
      return { events: eventSockets.size, logs: logSockets.size };
    },
    log(line) {
      state.keepLog(line);
      for (const socket of logSockets) socket.send(JSON.stringify({ ...line, time: '2026-03-03 14:20:00.000' }));
    },
    sendFrame: frame,
    dropSockets(reason = 'Idle Timeout') {
      for (const socket of eventSockets) socket.close(1001, reason);
    },
    freezeSockets() {
      for (const socket of eventSockets) {
        socket.pause();
        frozen.add(socket);
      }
      eventSockets.clear();
    },
    quiet: () => posting,
    down,
    up,
    async restart(downMs = 0) {
      await down();
      await pause(downMs);
      await up();
      state.happen({ name: 'systemStart', value: '2.5.0.123' });
    },
    async stop() {
      await posting;
      agent.destroy();
      await down();
    },
  };
}

/** Posts, whatever becomes of it. */
const post = (url: string, headers: Record<string, string>, body: string, agent: Agent): Promise<void> =>
  new Promise(resolve => {
    const request = httpRequest(url, { method: 'POST', headers, agent, timeout: 2_000 }, response => {
      response.resume();
      response.on('close', resolve);
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve());
    request.end(body);
  });

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
