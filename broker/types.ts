// What the broker is given and what it gives: its whole public face, and the only file another folder reads for types.
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Limits } from './limits.ts';
import type { BrokerStore } from './store.ts';

/** Time, in milliseconds; `after` returns what undoes the pending call. */
export interface Clock {
  now(): number;
  elapsed(): number;
  after(delayMs: number, fn: () => void): () => void;
}

/** Where the broker tells what happens to it. */
export interface Log {
  debug(details: object, message: string): void;
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}

/** MQTT's delivery promise: at most once, at least once, exactly once. */
export type Qos = 0 | 1 | 2;

/** Who a client is, and the topic filters that it may publish to and read. */
export interface Principal {
  readonly name: string;
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
  /** What let it in, as the gateway calls it; told with the clients. */
  readonly credential?: string | undefined;
}

/** The client that asks to come in. `address` is never a loopback one for a request that came through a proxy. */
export interface Peer {
  readonly id: string;
  readonly address: string;
  readonly secure: boolean;
}

/** One accepted publish of an outside client. `payload` is a view: decode it at once, or copy what is to be kept. */
export interface InboundMessage {
  readonly topic: string;
  readonly payload: Buffer;
  readonly qos: Qos;
  readonly retain: boolean;
  /** The client's id, and the name of its principal. */
  readonly client: string;
  readonly username: string;
}

/** Why something was refused, dropped or ended; also the keys of `Counters.notices`. */
export type NoticeKind =
  | 'publish-denied'
  | 'retained-input'
  | 'retained-full'
  | 'subscribe-denied'
  | 'subscriptions-full'
  | 'login-failed'
  | 'id-refused'
  | 'id-taken'
  | 'clients-full'
  | 'sessions-full'
  | 'queue-full'
  | 'packet-too-large'
  | 'rate'
  | 'evicted'
  | 'client-error'
  | 'store-failed'
  | 'fault';

/** Something a person may want to know. All are counted; repeats of one kind and client within ten seconds only that. */
export interface Notice {
  readonly kind: NoticeKind;
  readonly text: string;
  readonly client?: string;
  readonly username?: string;
  readonly address?: string;
  readonly topic?: string;
}

/** All that a broker needs. */
export interface BrokerOptions {
  clock: Clock;
  log: Log;
  /** Null, a rejection, and no answer within ten seconds all refuse the client. */
  authenticate(
    peer: Peer,
    username: string | undefined,
    password: string | undefined,
  ): Promise<Principal | null> | Principal | null;
  /** The first level (or levels) of the gateway's own tree. What lies under it is never persisted here. */
  root: string;
  /** Whether an outsider may publish to this topic under the root at all. Must always answer the same. */
  isInput(topic: string): boolean;
  /** Every accepted outside publish, in order. Must only enqueue; what it throws is logged and goes no further. */
  onPublish(message: InboundMessage): void;
  onNotice?(notice: Notice): void;
  limits?: Partial<Limits>;
  /** Where outsiders' retained messages, sessions and queues outlive a restart; undefined keeps them in memory only. */
  persistence: BrokerStore | undefined;
}

/** A client that is connected now. */
interface ClientInfo {
  readonly id: string;
  readonly username: string;
  readonly credential: string | undefined;
  readonly address: string;
  readonly secure: boolean;
  /** False for a session that outlives its connection. */
  readonly clean: boolean;
  readonly subscriptions: number;
  /** Milliseconds since the epoch. */
  readonly connectedAt: number;
}

/** Running totals and present sizes. */
interface Counters {
  readonly clients: number;
  readonly sockets: number;
  /** Publishes taken from clients, and deliveries to them. */
  readonly received: number;
  readonly sent: number;
  readonly retained: number;
  readonly retainedBytes: number;
  readonly sessions: number;
  readonly queued: number;
  readonly notices: Readonly<Partial<Record<NoticeKind, number>>>;
}

/** Where to listen; port 0 takes a free one. */
export interface ListenOptions {
  host: string;
  port: number;
  tls?: { cert: string | Buffer; key: string | Buffer; ca?: string | Buffer };
}

/** A running broker. */
export interface Broker {
  /** A message of the gateway itself. Synchronous, waits for nobody, never throws. */
  publish(topic: string, payload: string | Buffer, options?: { retain?: boolean; qos?: Qos }): void;
  /**
   * Retains what `make` gives for a topic under the root (empty text: nothing). It is made at once where somebody
   * listens, else when somebody looks.
   */
  retain(topic: string, make: () => string): void;
  /** Rejects with the system's error (`EADDRINUSE`, `EACCES`). */
  listen(options: ListenOptions): Promise<{ port: number }>;
  /** Serves any byte stream; `request` names the peer of an upgraded one. */
  handle(stream: Duplex, request?: IncomingMessage): void;
  /** Finishes a WebSocket upgrade (subprotocol `mqtt`) that the HTTP server has checked (path, host, origin). */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Whether anybody would get a message on this topic, now or from a queue. */
  hasSubscribers(topic: string): boolean;
  retained(filter: string): Iterable<{ topic: string; payload: Buffer }>;
  /** Removes a retained message and tells its subscribers (an empty payload, as MQTT has it). */
  clearRetained(topic: string): void;
  clients(): ClientInfo[];
  counters(): Counters;
  /** Ends a connection; false when there is none of this id. */
  disconnect(clientId: string): boolean;
  close(): Promise<void>;
}
