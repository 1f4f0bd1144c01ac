// One client's connection, as all parts of the broker share it.
import type { Duplex } from 'node:stream';
import type { PublishVerdict } from './acl.ts';
import type { AedesClient } from './aedes.ts';
import type { Place } from './door.ts';
import type { Outbox } from './outbox.ts';
import type { Subscriber } from './router.ts';
import type { NoticeKind, Principal } from './types.ts';

/** A socket, and from its login on a client. */
export interface Connection extends Subscriber {
  readonly client: AedesClient;
  readonly stream: Duplex;
  readonly outbox: Outbox;
  readonly place: Place;
  readonly address: string;
  readonly secure: boolean;
  /** Its stored queue is still being sent: what is queued for it now must not overtake. */
  isCatchingUp: boolean;
  /** Whether the CONNECT named a client id. */
  hasId: boolean;
  /** Undefined until the login is accepted. */
  principal: Principal | undefined;
  /** Milliseconds since the epoch; of the login. */
  connectedAt: number;
  /** What was decided about the topics it publishes to; its rights do not change while it lasts. */
  readonly verdicts: Map<string, PublishVerdict>;
}

/** All connections. */
export interface Connections extends Iterable<Connection> {
  add(connection: Connection): void;
  remove(connection: Connection): void;
  /** Also of one that has just been removed: aedes publishes its will then. */
  of(client: AedesClient): Connection | undefined;
  /** The client that is logged in, or about to be, under an id. */
  withId(id: string): Connection | undefined;
}

/** No connections. */
export function createConnections(): Connections {
  const present = new Set<Connection>();
  const byClient = new WeakMap<AedesClient, Connection>();
  return {
    add(connection) {
      present.add(connection);
      byClient.set(connection.client, connection);
    },
    remove: connection => present.delete(connection),
    of: client => byClient.get(client),
    withId(id) {
      for (const connection of present) if (connection.principal && connection.client.id === id) return connection;
      return undefined;
    },
    [Symbol.iterator]: () => present[Symbol.iterator](),
  };
}

/** What a notice says of a connection. */
export const about = ({ client, address, principal }: Connection) => ({
  address,
  ...(client.id && { client: client.id }),
  ...(principal && { username: principal.name }),
});

/** Reports something about a connection. */
export type Report = (connection: Connection, kind: NoticeKind, text: string, topic?: string) => void;
