// An HTTP server outside the gateway that notes what it is sent: the proof of effects that no crash can take back.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as it came. */
export interface Delivery {
  readonly path: string;
  readonly body: string;
  /** Epoch ms. */
  readonly at: number;
}

/** The server. */
export interface Receiver {
  readonly url: string;
  readonly deliveries: Delivery[];
  /** What came to a path. */
  to(path: string): Delivery[];
  stop(): Promise<void>;
}

/** Starts one. Requests below `/slow` are noted and never answered. */
export async function startReceiver(): Promise<Receiver> {
  const deliveries: Delivery[] = [];
  const unanswered: ServerResponse[] = [];
  const server = createServer((request, response) => {
    const at = Date.now();
    let body = '';
    request.setEncoding('utf8').on('data', text => {
      body += text;
    });
    request.on('end', () => {
      const path = request.url ?? '';
      deliveries.push({ path, body, at });
      if (path.startsWith('/slow')) unanswered.push(response);
      else response.end('{}');
    });
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    deliveries,
    to: path => deliveries.filter(delivery => delivery.path === path),
    stop() {
      const closed = new Promise<void>(resolve => server.close(() => resolve()));
      server.closeAllConnections();
      return closed;
    },
  };
}
