// The embedded MQTT 3.1.1 broker: aedes 1.2 behind a door, with its faults cured (README.md says which). A thing of its
// own: it imports nothing of the gateway.
import type net from 'node:net';
import { Readable } from 'node:stream';
import { Aedes } from 'aedes';
import { type AedesClient, type AedesPacket, noop } from './aedes.ts';
import { createAuthenticator } from './auth.ts';
import { bytesOf } from './bytes.ts';
import { about, type Connection, createConnections, type Report } from './connection.ts';
import { createDoor } from './door.ts';
import { createHooks } from './hooks.ts';
import { createIntake } from './intake.ts';
import { DEFAULT_LIMITS, type Limits } from './limits.ts';
import { createUpgrade, listenTcp } from './listeners.ts';
import { createMemory } from './memory.ts';
import { createNotices } from './notices.ts';
import { createPersistence } from './persistence.ts';
import { createRouter } from './router.ts';
import { createServer } from './serve.ts';
import { createSettler } from './settled.ts';
import { isTopic, isUnder } from './topics.ts';
import type { Broker, BrokerOptions } from './types.ts';

export { openSqliteStore } from './sqlite-store.ts';
export type { BrokerStore } from './store.ts';
export type { Broker, BrokerOptions, InboundMessage, Notice, Principal } from './types.ts';

/** Starts a broker that listens nowhere yet. Rejects when its store cannot be read. */
export async function startBroker(options: BrokerOptions): Promise<Broker> {
  const { clock, log, root } = options;
  const limits: Limits = { ...DEFAULT_LIMITS, ...options.limits };
  const notices = createNotices(clock, log, options.onNotice);
  const door = createDoor(limits);
  const router = createRouter(log);
  const memory = createMemory({ store: options.persistence, root, clock, limits, notices });
  const { retained, sessions, saver } = memory;
  const connections = createConnections();
  const listeners: net.Server[] = [];

  const report: Report = (connection, kind, text, topic) =>
    notices.add({ kind, text, ...about(connection), ...(topic !== undefined && { topic }) });

  const onRetainedFull = (topic: string) =>
    notices.add({ kind: 'retained-full', text: 'a message was not retained: the store is full', topic });

  const publishByAedes = (packet: AedesPacket, connection: Connection | null) =>
    // Its types know neither a publish on behalf of a client nor one that is text.
    (aedes as unknown as { publish(packet: AedesPacket, client: AedesClient | null, done: () => void): void }).publish(
      packet,
      connection?.client ?? null,
      noop,
    );

  const intake = createIntake({
    root,
    isInput: options.isInput,
    levels: limits.levels,
    router,
    retained,
    publish: publishByAedes,
    onPublish: options.onPublish,
    report,
    log,
  });
  const hooks = createHooks({
    clock,
    log,
    limits,
    connections,
    login: createAuthenticator(clock, options.authenticate),
    sessions,
    router,
    intake,
    report,
  });
  const persistence = createPersistence({
    retained,
    sessions,
    settler: createSettler(error => log.error({ err: error }, 'mqtt: a fault in the broker')),
    incomingBytes: limits.queuedBytes,
    onRetainedFull,
  });

  const aedes = await Aedes.createBroker({
    ...(hooks as object),
    mq: router,
    // It would publish the wills of brokers whose heartbeat is old: ours, after the machine has slept.
    persistence: { ...persistence, streamWill: () => Readable.from([]) },
    concurrency: 0,
    connectTimeout: limits.connectTimeoutMs,
    drainTimeout: limits.drainTimeoutMs,
  });
  const server = createServer({
    clock,
    limits,
    door,
    connections,
    attach: (stream, request) => aedes.handle(stream, request) as AedesClient,
    intake,
    sessions,
    notices,
    report,
    left({ client, principal }) {
      if (principal && !client.clean && !connections.withId(client.id)) sessions.left(client.id);
    },
  });

  aedes.on('connackSent', (packet, client) => {
    // aedes notes that it has answered only after this event.
    if (packet.returnCode === 0) setImmediate(() => server.opened(client as AedesClient));
  });
  aedes.on('clientReady', client => server.caughtUp(client as AedesClient));
  const onClientError = (client: unknown, error: Error & { errorCode?: number }) => {
    const connection = connections.of(client as AedesClient);
    // A refused login has been reported as such.
    if (connection && error.errorCode === undefined) report(connection, 'client-error', error.message);
  };
  aedes.on('clientError', onClientError);
  aedes.on('connectionError', onClientError);
  (aedes as NodeJS.EventEmitter).on('error', (error: Error) => log.error({ err: error }, 'mqtt: a fault in aedes'));

  const publish: Broker['publish'] = (topic, payload, { retain = false, qos = 0 } = {}) => {
    try {
      if (!isTopic(topic)) throw new Error('this is no topic');
      if (qos > 0) return publishByAedes({ cmd: 'publish', topic, payload, qos, retain }, null);
      if (retain && !retained.set({ cmd: 'publish', topic, payload, qos, retain })) onRetainedFull(topic);
      router.deliver({ topic, payload, retain, clientId: undefined, frame: undefined });
    } catch (error) {
      log.error({ err: error, topic }, 'mqtt: a message could not be published');
    }
  };

  return {
    publish,
    retain(topic, make) {
      if (router.hasSubscribers(topic) || !isUnder(root, topic)) publish(topic, make(), { retain: true });
      else retained.setLater(topic, make);
    },
    async listen(where) {
      const listener = await listenTcp(where, limits, server.serve, error =>
        log.error({ err: error }, 'mqtt: a connection could not be accepted'),
      );
      listeners.push(listener);
      return { port: (listener.address() as net.AddressInfo).port };
    },
    handle: server.serve,
    upgrade: createUpgrade(limits, server.serve),
    hasSubscribers: topic => router.hasSubscribers(topic) || sessions.matching(topic).length > 0,
    *retained(filter) {
      for (const { topic, payload } of retained.matching(filter)) yield { topic, payload: bytesOf(payload) };
    },
    clearRetained: topic => publish(topic, '', { retain: true }),
    clients: () =>
      [...connections].flatMap(({ client, principal, address, secure, connectedAt }) =>
        principal
          ? {
              id: client.id,
              username: principal.name,
              credential: principal.credential,
              address,
              secure,
              clean: client.clean,
              subscriptions: Object.keys(client.subscriptions).length,
              connectedAt,
            }
          : [],
      ),
    counters: () => ({
      clients: door.clients,
      sockets: door.sockets,
      received: intake.received(),
      sent: router.sent(),
      retained: retained.size,
      retainedBytes: retained.bytes,
      sessions: sessions.count().sessions,
      queued: sessions.count().queued,
      notices: { ...notices.counts },
    }),
    disconnect(clientId) {
      const found = connections.withId(clientId);
      found?.stream.destroy();
      return found !== undefined;
    },
    async close() {
      const closed = listeners.map(listener => new Promise<void>(resolve => listener.close(() => resolve())));
      await new Promise<void>(resolve => aedes.close(resolve));
      for (const { stream } of connections) stream.destroy();
      await Promise.all(closed);
      saver.stop();
    },
  };
}
