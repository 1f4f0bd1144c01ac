// The embedded broker in the gateway: who may log in, its limits, and where it listens.
import { readFileSync } from 'node:fs';
import type { Broker, BrokerOptions, Limits } from '../bus/embedded.ts';
import type { Config } from '../config/schema.ts';
import type { Clock } from '../lib/clock.ts';
import { durationMs } from '../lib/duration.ts';
import { CausewayError } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import type { Principals } from '../policy/principals.ts';
import { mqttAcl, type Principal } from '../policy/roles.ts';

const LOOPBACK = /^(?:127\.|::1$|::ffff:127\.)/;

/** Logs clients in from the one store of principals: password, or a token in its place. */
export function brokerLogin(principals: Principals, root: string): BrokerOptions['authenticate'] {
  const as = (principal: Principal) => ({
    name: principal.name,
    credential: principal.credential,
    ...mqttAcl(principal, root),
  });
  return async (peer, username, password) => {
    if (username === undefined && password === undefined) {
      const anonymous = principals.anonymous(LOOPBACK.test(peer.address));
      return anonymous ? as(anonymous) : null;
    }
    try {
      if (password?.startsWith('cwy_')) return as(principals.authenticateToken(password, peer.address));
      return as(await principals.authenticatePassword(username ?? '', password ?? '', peer.address));
    } catch {
      return null;
    }
  };
}

const CHECK_MS = 60_000;

/**
 * Ends the connections of those whom what let them in would let in no more: of a removed user, of a token that was revoked or
 * has expired, of an old password, and of everybody once there are users.
 */
export function keepStrangersOut(
  broker: Pick<Broker, 'clients' | 'disconnect'>,
  principals: Pick<Principals, 'isCurrent'>,
  clock: Clock,
): { look(): void; stop(): void } {
  const look = () => {
    for (const { id, username, credential } of broker.clients()) {
      const who = { name: username, ...(credential !== undefined && { credential }) };
      if (!principals.isCurrent(who)) broker.disconnect(id);
    }
  };
  // A token expires without a word.
  const again = () => {
    look();
    stop = clock.after(CHECK_MS, again);
  };
  let stop = clock.after(CHECK_MS, again);
  return { look, stop: () => stop() };
}

/** The limits of the configuration, as the broker names them. */
export function brokerLimits(limits: Config['mqtt']['limits']): Limits {
  return {
    packetBytes: limits.packet_kilobytes * 1024,
    clients: limits.clients,
    clientsPerAddress: limits.clients_per_address,
    pendingPerAddress: limits.pending_per_address,
    connectTimeoutMs: durationMs(limits.connect_timeout),
    rate: limits.rate,
    burst: limits.burst,
    subscriptions: limits.subscriptions,
    queuedMessages: limits.queued_messages,
    sessions: limits.sessions,
    sessionExpiryMs: durationMs(limits.session_expiry),
    retainedTopics: limits.retained_topics,
    retainedBytes: limits.retained_megabytes * 1024 * 1024,
    drainTimeoutMs: durationMs(limits.drain_timeout),
    exemptLoopback: limits.exempt_loopback,
  };
}

/** Listens as configured; on loopback only while nobody has to log in. @returns the address @throws PORT_IN_USE */
export async function listenMqtt(
  broker: Broker,
  mqtt: Config['mqtt'],
  principals: Principals,
  options: { mayMove: boolean; log: Log },
): Promise<string> {
  const isOpen = principals.isOpen();
  const loopbackOnly = isOpen || mqtt.tls !== undefined;
  const host = loopbackOnly && !LOOPBACK.test(mqtt.host) && mqtt.host !== 'localhost' ? '127.0.0.1' : mqtt.host;
  if (host !== mqtt.host) {
    options.log.warn(
      { host: mqtt.host },
      isOpen
        ? 'there is no user yet: MQTT listens on this machine only until one exists (causeway user add)'
        : 'with TLS plain MQTT listens on this machine only',
    );
  }
  const { port } = await broker.listen({ host, port: mqtt.port }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EADDRINUSE' && options.mayMove) return broker.listen({ host, port: 0 });
    throw portError(error, host, mqtt.port);
  });
  if (mqtt.tls && !isOpen) {
    const { tls } = mqtt;
    const read = (path: string) => {
      try {
        return readFileSync(path);
      } catch (error) {
        throw new CausewayError('CONFIG_INVALID', `${path} cannot be read: ${(error as Error).message}`, {
          path: 'mqtt/tls',
        });
      }
    };
    await broker
      .listen({
        host: mqtt.host,
        port: tls.port,
        tls: {
          cert: read(tls.cert_file),
          key: read(tls.key_file),
          ...(tls.ca_file !== undefined && { ca: read(tls.ca_file) }),
        },
      })
      .catch((error: NodeJS.ErrnoException) => {
        throw portError(error, mqtt.host, tls.port);
      });
  }
  return `mqtt://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function portError(error: NodeJS.ErrnoException, host: string, port: number): CausewayError {
  if (error.code !== 'EADDRINUSE')
    return new CausewayError('CONFIG_INVALID', `MQTT cannot listen on ${host}:${port}: ${error.message}`, {
      path: 'mqtt/port',
      cause: error,
    });
  return new CausewayError('PORT_IN_USE', `something else listens on ${host}:${port} already, perhaps Mosquitto`, {
    path: 'mqtt/port',
    hint: 'either stop it, or give another mqtt.port (0 takes a free one); to use that broker instead, set mqtt.mode: external and mqtt.url',
  });
}
