// Takes a stream in: through the door, with an outbox and a reader between it and aedes.
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { mayRead } from './acl.ts';
import type { AedesClient } from './aedes.ts';
import type { Connection, Connections, Report } from './connection.ts';
import { corkPerTurn } from './cork.ts';
import { type Door, isLoopback, type Place } from './door.ts';
import { publishFrame } from './frames.ts';
import type { Intake } from './intake.ts';
import { createBucket, type Limits } from './limits.ts';
import { type Origin, originOf } from './listeners.ts';
import type { Notices } from './notices.ts';
import { createOutbox } from './outbox.ts';
import { type Reader, readFrames } from './reader.ts';
import type { Sessions } from './sessions.ts';
import type { Clock, NoticeKind } from './types.ts';

const LAST_ID = 65_535;

/** Serves streams. */
export interface Server {
  serve(stream: Duplex, request?: IncomingMessage): void;
  /** The client's CONNECT was accepted. */
  opened(client: AedesClient): void;
  /** Its queue was sent to the end, as aedes had read it. */
  caughtUp(client: AedesClient): void;
}

/** Builds the server over the connections, which it fills. */
export function createServer(options: {
  clock: Clock;
  limits: Limits;
  door: Door;
  connections: Connections;
  attach(stream: Duplex, request: IncomingMessage | undefined): AedesClient;
  intake: Intake;
  sessions: Sessions;
  notices: Notices;
  report: Report;
  left(connection: Connection): void;
}): Server {
  const { clock, limits, door, connections, attach, intake, sessions, notices, report, left } = options;
  const readers = new WeakMap<AedesClient, Reader>();

  const bucketFor = (address: string) =>
    limits.exemptLoopback && isLoopback(address)
      ? undefined
      : createBucket(limits.rate, limits.burst, () => clock.elapsed());

  const connect = (stream: Duplex, request: IncomingMessage | undefined, { address, secure }: Origin, place: Place) => {
    corkPerTurn(stream);
    const client = attach(stream, request);
    const end = (kind: NoticeKind, text: string) => {
      if (stream.destroyed) return;
      report(connection, kind, `a client was disconnected: ${text}`);
      stream.destroy();
    };
    const { backlogBytes, drainTimeoutMs } = limits;
    const outbox = createOutbox({ stream, clock, backlogBytes, drainTimeoutMs, evict: why => end('evicted', why) });
    const connection: Connection = {
      client,
      stream,
      place,
      outbox,
      address,
      secure,
      hasId: false,
      isCatchingUp: false,
      principal: undefined,
      connectedAt: 0,
      verdicts: new Map(),
      mayRead: topic => connection.principal !== undefined && mayRead(connection.principal, topic),
      sendStored({ topic, payload, brokerId, brokerCounter }, qos) {
        if (connection.isCatchingUp) return;
        const sending = { cmd: 'publish', brokerId, brokerCounter, messageId: client._nextId };
        client._nextId = client._nextId >= LAST_ID ? 1 : client._nextId + 1;
        if (!client.clean) sessions.sending(client.id, sending);
        outbox.send(publishFrame(topic, payload, qos, sending.messageId));
      },
    };
    connections.add(connection);
    const reader = readFrames({
      client,
      stream,
      clock,
      packetBytes: limits.packetBytes,
      maxFilters: limits.subscriptions,
      bucket: bucketFor(address),
      taken: message => intake.take(connection, message),
      tooLarge: bytes =>
        end('packet-too-large', bytes < 0 ? 'its packet says no length' : `its packet has ${bytes} bytes`),
      tooMany: filters => end('subscriptions-full', `${filters} filters in one packet`),
      tooFast: () => report(connection, 'rate', 'a client sends too fast and is read more slowly'),
      failed: error => end('fault', `its packet could not be handled (${error})`),
    });
    readers.set(client, reader);
    stream.once('close', () => {
      place.leave();
      connections.remove(connection);
      left(connection);
    });
  };

  return {
    serve(stream, request) {
      const origin = originOf(stream, request);
      const place = origin && door.enter(origin.address);
      if (origin && place) return connect(stream, request, origin, place);
      if (origin) {
        const text = 'too many sockets that have not logged in';
        notices.add({ kind: 'clients-full', text, address: origin.address });
      }
      // Until its end an error of the stream has no other listener.
      stream.on('error', () => {});
      stream.destroy();
    },
    opened(client) {
      connections.of(client)?.outbox.start();
      readers.get(client)?.open();
    },
    caughtUp(client) {
      const connection = connections.of(client);
      if (!connection?.isCatchingUp) return;
      connection.isCatchingUp = false;
      for (const packet of sessions.unsent(client.id)) connection.sendStored(packet, packet.qos as 1 | 2);
    },
  };
}
