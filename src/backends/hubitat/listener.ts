// Where the Maker API posts its events. The hub cannot sign them: an unguessable path, new with each start, stands in
// for a credential. It is registered with the hub by us, and cleared when we stop.
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { withSignals } from '../../lib/abort.ts';
import { CausewayError } from '../../lib/errors.ts';
import { parseJson } from '../../lib/json.ts';
import { type ClientParts, createClient, type HubClient } from './client.ts';
import type { EventListener, EventSource } from './eventsocket.ts';
import type { HubitatConfig } from './schema.ts';
import { readEvent } from './wire.ts';

const LARGEST_BODY = 256 * 1024;
const MOST_CONNECTIONS = 256;
/** From here on idle ones are closed: what is refused for lack of a place is an event lost. */
const MANY_CONNECTIONS = 128;
const REQUEST_MS = 10_000;
/** Longer than the hub keeps a connection: one that we close while it posts costs it the event, and it posts but once. */
const KEEP_ALIVE_MS = 120_000;
const CLEAR_MS = 2_000;
const CONNECT_MS = 10_000;

/** What the listener needs. */
export interface ListenerParts extends ClientParts {
  readonly client: HubClient;
  readonly listener: EventListener;
}

/** Listens and tells the hub where. @throws PORT_IN_USE, and as `HubClient.read` */
export async function openListener(parts: ListenerParts): Promise<EventSource> {
  const { config, client, listener, counters } = parts;
  const path = `/${randomBytes(32).toString('base64url')}`;
  const limits = { requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS, keepAliveTimeout: KEEP_ALIVE_MS };
  const server = createServer(limits, (request, response) => {
    void take(request, response, path).then(body => {
      if (body === undefined) return;
      const event = readEvent(body, counters);
      if (event) listener.onEvent(event);
    });
  });
  server.maxConnections = MOST_CONNECTIONS;
  let open = 0;
  server.on('connection', socket => {
    if (++open > MANY_CONNECTIONS) server.closeIdleConnections();
    socket.once('close', () => open--);
  });
  await listen(server, config);
  const { port } = server.address() as AddressInfo;
  let isRegistered = false;

  const renew = async () => {
    const base = config.listen.url ?? `http://${await ownAddress(parts)}:${port}`;
    const target = encodeURIComponent(base.replace(/\/$/, '') + path);
    // Once asked, the hub may have taken it, whatever its answer.
    isRegistered = true;
    await client.read(`/postURL/${target}`, { called: '/postURL' });
  };
  const close = async () => {
    // The connection's own client has ended by now; and a hub that is gone must not hold the stop up.
    if (isRegistered) await clearing(parts).catch(() => {});
    server.closeAllConnections();
    await new Promise<void>(resolve => server.close(() => resolve()));
  };

  try {
    await renew();
  } catch (error) {
    await close();
    throw error;
  }
  return { renew, close };
}

const clearing = (parts: ClientParts): Promise<unknown> =>
  createClient({ ...parts, signal: new AbortController().signal }).read('/postURL', { tries: 1, timeoutMs: CLEAR_MS });

/** The body of the hub's post, JSON whatever its label says; undefined for all that is none of the hub's. */
async function take(request: IncomingMessage, response: ServerResponse, path: string): Promise<unknown> {
  const answer = (status: number) => {
    response.writeHead(status, { connection: status < 300 ? 'keep-alive' : 'close' }).end();
    return undefined;
  };
  if (!isSame(request.url ?? '', path)) return answer(404);
  if (request.method !== 'POST') return answer(405);
  const body = await bodyOf(request);
  if (body === undefined) return answer(413);
  answer(204);
  return parseJson(body) ?? null;
}

/** Undefined for one that is too large; a hub that breaks off leaves it pending, and nobody waits. */
const bodyOf = (request: IncomingMessage): Promise<string | undefined> =>
  new Promise(resolve => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('error', () => {});
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= LARGEST_BODY) chunks.push(chunk);
      else resolve(undefined);
    });
    request.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
  });

function isSame(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
}

async function listen(server: Server, { listen: { host, port } }: HubitatConfig): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(
        new CausewayError('PORT_IN_USE', `the hub's events cannot be listened for on ${host}:${port} (${error.code})`, {
          hint: 'set listen.port of this backend to a free port, or events to eventsocket',
          cause: error,
        }),
      );
    });
    server.listen(port, host, resolve);
  });
}

/** The address of this machine that the hub sees: the one from which we reach it. @throws BACKEND_OFFLINE */
async function ownAddress({ config, clock, signal }: ClientParts): Promise<string> {
  const { hostname, port, protocol } = new URL(config.url);
  const host = hostname.replace(/^\[|\]$/g, '');
  const limit = new AbortController();
  const cancel = clock.after(CONNECT_MS, () => limit.abort());
  const at = Number(port) || (protocol === 'https:' ? 443 : 80);
  try {
    return await withSignals([signal, limit.signal], either => addressTowards(host, at, either));
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code ?? 'no answer';
    throw new CausewayError('BACKEND_OFFLINE', `the hub at ${host} cannot be reached (${why})`, {
      hint: 'see whether it has power and is on the network, and check its url in config.yaml',
    });
  } finally {
    cancel();
  }
}

const addressTowards = (host: string, port: number, signal: AbortSignal): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host, port, signal });
    socket.once('error', reject);
    socket.once('connect', () => {
      const address = (socket.localAddress ?? '').replace(/^::ffff:/, '');
      socket.destroy();
      resolve(address.includes(':') ? `[${address}]` : address);
    });
  });
