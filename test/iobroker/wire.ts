// A wire between a client and an adapter, on which a test counts and makes trouble: cut, or open with nothing moving.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A TCP port that leads to another one. */
export interface Wire {
  readonly port: number;
  /** Connections that were made so far. */
  readonly made: number;
  /** Those open now. */
  readonly open: number;
  /** Ends all connections without a word. */
  cut(): void;
  /** All present connections stay open, and nothing moves on them any more; new ones work. Once before each thaw. */
  freeze(): void;
  /** What was held back moves on, all at once. */
  thaw(): void;
  end(): Promise<void>;
}

/** Lays one to a port of this machine. */
export async function layWire(target: number): Promise<Wire> {
  const pairs = new Set<readonly [Socket, Socket]>();
  let made = 0;
  let frozen: (readonly [Socket, Socket])[] = [];
  const server = createServer(near => {
    made++;
    const far = connect(target, '127.0.0.1');
    const pair = [near, far] as const;
    pairs.add(pair);
    for (const socket of pair) {
      socket.setNoDelay(true);
      socket.on('error', () => {});
      socket.on('close', () => {
        pairs.delete(pair);
        for (const end of pair) end.destroy();
      });
    }
    near.pipe(far);
    far.pipe(near);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = () => {
    for (const pair of pairs) for (const end of pair) end.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    get made() {
      return made;
    },
    get open() {
      return pairs.size;
    },
    cut,
    freeze() {
      for (const [near, far] of pairs) {
        near.unpipe(far).pause();
        far.unpipe(near).pause();
      }
      frozen.push(...pairs);
    },
    thaw() {
      for (const [near, far] of frozen) {
        near.pipe(far);
        far.pipe(near);
      }
      frozen = [];
    },
    async end() {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}
