// aedes asks us at five places: a CONNECT, its credentials, a publish, a subscription, and each delivery that it makes.
import { judgeSubscribe } from './acl.ts';
import type { AedesClient, AedesPacket } from './aedes.ts';
import type { Login, Refusal } from './auth.ts';
import type { Connection, Connections, Report } from './connection.ts';
import type { Intake } from './intake.ts';
import type { Limits } from './limits.ts';
import type { Router } from './router.ts';
import { NOBODY, type Sessions } from './sessions.ts';
import { matches } from './topics.ts';
import type { Clock, Log, Principal, Qos } from './types.ts';

interface Filter {
  readonly topic: string;
  qos: number;
  readonly nl?: boolean;
  readonly rap?: boolean;
}

/** The callbacks as aedes 1.2 calls them. */
export interface Hooks {
  preConnect(client: AedesClient, packet: { clientId: string }, done: (error: null, ok: boolean) => void): void;
  authenticate(
    client: AedesClient,
    username: string | undefined,
    password: Buffer | undefined,
    done: (error: Error | null, ok: boolean) => void,
  ): void;
  authorizePublish(client: AedesClient | null, packet: AedesPacket, done: (error?: Error) => void): void;
  authorizeSubscribe(client: AedesClient, filter: Filter, done: (error: null, filter: Filter | null) => void): void;
  authorizeForward(client: AedesClient, packet: AedesPacket): AedesPacket | null;
  published(packet: AedesPacket, client: AedesClient | null, done: () => void): void;
}

/** Marks a filter that was refused, in the packet that aedes stores as a whole. */
const REFUSED = 0x80;

/** Builds the hooks over the connections. */
export function createHooks(options: {
  clock: Clock;
  log: Log;
  limits: Limits;
  connections: Connections;
  login(login: Login): Promise<Principal>;
  sessions: Sessions;
  router: Router;
  intake: Intake;
  report: Report;
}): Hooks {
  const { clock, log, limits, connections, login, sessions, router, intake, report } = options;

  const holderOf = (id: string) => connections.withId(id)?.principal?.name ?? sessions.ownerOf(id);

  const claim = (connection: Connection, principal: Principal, owner: string): boolean => {
    const { client } = connection;
    if (!client.clean && !sessions.claim(client.id, owner)) return false;
    connection.principal = principal;
    connection.isCatchingUp = !client.clean;
    connection.connectedAt = clock.now();
    return true;
  };

  const whyRefused = (connection: Connection, filter: Filter) => {
    const why = connection.principal ? judgeSubscribe(connection.principal, filter.topic, limits) : 'not permitted';
    if (why) return { kind: 'subscribe-denied', text: `a subscription was refused: the filter is ${why}` } as const;
    const { subscriptions } = connection.client;
    if (filter.topic in subscriptions || Object.keys(subscriptions).length < limits.subscriptions) return undefined;
    return { kind: 'subscriptions-full', text: 'a subscription was refused: the client has too many' } as const;
  };

  const subscribedQos = ({ subscriptions }: AedesClient, topic: string) =>
    Object.entries(subscriptions).reduce(
      (best, [filter, { qos }]) => (matches(filter, topic) ? Math.max(best, qos) : best),
      0,
    );

  return {
    preConnect(client, packet, done) {
      const connection = connections.of(client);
      if (connection) connection.hasId = packet.clientId !== '';
      done(null, true);
    },
    authenticate(client, username, password, done) {
      const connection = connections.of(client);
      if (!connection) return done(new Error('the connection is gone'), false);
      const { address, secure, hasId, place } = connection;
      const attempt = login({
        peer: { id: client.id, address, secure },
        hasId,
        clean: client.clean,
        username,
        password: password?.toString(),
        holder: () => holderOf(client.id),
        admit: place.admit,
        claim: principal => claim(connection, principal, username === undefined ? NOBODY : principal.name),
      });
      const refuse = (error: Partial<Refusal> & Error) => {
        if (error.kind) report(connection, error.kind, `a client was refused: ${error.message}`);
        else log.error({ err: error }, 'mqtt: authentication failed');
        done(error, false);
      };
      attempt
        .then(() => done(null, true), refuse)
        .catch(error => {
          log.error({ err: error }, 'mqtt: a login failed half way');
          connection.stream.destroy();
        });
    },
    authorizePublish(client, packet, done) {
      const connection = client && connections.of(client);
      done(connection ? intake.authorize(connection, packet) : new Error('nobody publishes this'));
    },
    authorizeSubscribe(client, filter, done) {
      const connection = connections.of(client);
      if (!connection) return done(null, null);
      const refused = whyRefused(connection, filter);
      if (!refused) {
        const who = {
          subscriber: connection,
          qos: filter.qos as Qos,
          plain: !filter.nl && !filter.rap,
          isRestored: !client.connected,
        };
        return router.subscribing(who, () => done(null, filter));
      }
      report(connection, refused.kind, refused.text, filter.topic);
      // aedes stores all filters of a packet, the refused ones too, and a restored session may hold one from better days.
      filter.qos = REFUSED;
      sessions.unsubscribe(client.id, [filter.topic]);
      done(null, null);
    },
    authorizeForward(client, packet) {
      const connection = connections.of(client);
      if (!connection?.mayRead(packet.topic)) return null;
      connection.outbox.seal();
      if (packet.qos === 0 || !packet.retain) return packet;
      // aedes lowers the QoS of a retained message only where the filter is the topic itself.
      return { ...packet, qos: Math.min(packet.qos, subscribedQos(client, packet.topic)) as Qos };
    },
    published(packet, client, done) {
      const connection = client && connections.of(client);
      if (connection) intake.published(connection, packet);
      done();
    },
  };
}
