// MQTT over WebSocket: /mqtt becomes a byte stream for the broker, which asks for the credential itself.
import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { createWebSocketStream, WebSocketServer } from 'ws';
import { asCausewayError, CausewayError } from '../lib/errors.ts';
import type { Auth } from './auth.ts';

/** Takes a connection. @param local it came over loopback and through no proxy */
export type MqttUpgrade = (stream: Duplex, request: IncomingMessage, local: boolean) => void;

/** The broker's own limit is lower; this one keeps a single frame from filling the memory. */
const MAX_FRAME = 2 * 1024 * 1024;

/** Listens for upgrades; the returned function ends all connections. */
export function mountMqtt(server: Server, auth: Auth, upgrade: MqttUpgrade | undefined): () => void {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_FRAME,
    // `mqttv3.1` is what MQTT 3.1 clients ask for; none at all is accepted too.
    handleProtocols: offered => ['mqtt', 'mqttv3.1'].find(protocol => offered.has(protocol)) ?? false,
  });

  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => socket.destroy());
    try {
      const path = (request.url ?? '').split('?')[0];
      if (path !== '/mqtt' || !upgrade) throw new CausewayError('NOT_FOUND', 'WebSocket is spoken at /mqtt only');
      auth.checkOrigin(request);
    } catch (thrown) {
      const { status } = asCausewayError(thrown);
      socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    sockets.handleUpgrade(request, socket, head, webSocket => {
      const stream = createWebSocketStream(webSocket);
      stream.on('error', () => webSocket.terminate());
      upgrade(stream, request, auth.isLocal(request));
    });
  });

  return () => {
    for (const client of sockets.clients) client.terminate();
    sockets.close();
  };
}
