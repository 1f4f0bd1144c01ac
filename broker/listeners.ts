// The ways to the broker: TCP, TLS, and WebSocket upgrades that an HTTP server passes on.
import type { IncomingMessage } from 'node:http';
import net from 'node:net';
import type { Duplex } from 'node:stream';
import tls from 'node:tls';
import { createWebSocketStream, WebSocketServer } from 'ws';
import type { Limits } from './limits.ts';
import type { ListenOptions } from './types.ts';

/** Serves a stream; `request` is the upgrade it came from. */
export type Serve = (stream: Duplex, request?: IncomingMessage) => void;

// Half-open connections of clients without a keep-alive would stay for ever.
const TCP_KEEP_ALIVE_MS = 60_000;
const SUBPROTOCOLS = ['mqtt', 'mqttv3.1'];
const FORWARDING_HEADERS = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via'];

/**
 * Listens on TCP, or TLS 1.2 and later. With `tls.ca` clients must show a certificate of that authority. `onError` hears
 * of what goes wrong later, such as a process without a free file descriptor for the next connection.
 */
export async function listenTcp(
  options: ListenOptions,
  limits: Limits,
  serve: Serve,
  onError: (error: Error) => void,
): Promise<net.Server> {
  const onSocket = (socket: net.Socket) => {
    socket.setNoDelay(true);
    socket.setKeepAlive(true, TCP_KEEP_ALIVE_MS);
    serve(socket);
  };
  const server = options.tls
    ? tls.createServer(
        {
          ...options.tls,
          minVersion: 'TLSv1.2',
          handshakeTimeout: limits.connectTimeoutMs,
          requestCert: options.tls.ca !== undefined,
        },
        onSocket,
      )
    : net.createServer(onSocket);
  // Sockets in a TLS handshake are not seen by the door.
  server.maxConnections = 2 * limits.clients;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, () => {
      server.removeListener('error', reject);
      server.on('error', onError);
      resolve();
    });
  });
  return server;
}

/** Finishes WebSocket upgrades. Without a subprotocol that is MQTT's the client gets none and goes away by itself. */
export function createUpgrade(
  limits: Limits,
  serve: Serve,
): (request: IncomingMessage, socket: Duplex, head: Buffer) => void {
  const server = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: 2 * limits.packetBytes,
    handleProtocols: offered => SUBPROTOCOLS.find(each => offered.has(each)) ?? false,
  });
  return (request, socket, head) =>
    server.handleUpgrade(request, socket, head, webSocket => {
      const stream = createWebSocketStream(webSocket, {
        // One WebSocket message for what a turn has written, not one for each piece of a packet.
        writev(chunks, done) {
          webSocket.send(Buffer.concat(chunks.map(({ chunk }) => chunk)), done);
        },
      });
      serve(stream, request);
    });
}

/** Where a connection comes from, and whether its way here is encrypted. */
export interface Origin {
  readonly address: string;
  readonly secure: boolean;
}

/** The origin of a stream; undefined when its peer has gone already. */
export function originOf(stream: Duplex, request: IncomingMessage | undefined): Origin | undefined {
  const socket = request?.socket ?? stream;
  if (!(socket instanceof net.Socket)) return { address: 'unknown', secure: false };
  const address = socket.remoteAddress;
  if (address === undefined) return undefined;
  // A proxy on this machine speaks for anybody: its clients must not count as local.
  const isProxied = FORWARDING_HEADERS.some(name => request?.headers[name] !== undefined);
  return { address: isProxied ? `proxy:${address}` : address, secure: socket instanceof tls.TLSSocket };
}
