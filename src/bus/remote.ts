// The bus on somebody else's broker, as a client of it (mqtt.js).
import mqtt, { type MqttClient } from 'mqtt';
import type { Log } from '../lib/log.ts';
import { topicMatches } from '../lib/topic.ts';
import type { Bus, BusMessage } from './bus.ts';
import type { Topics } from './topics.ts';

/** What the remote bus is made of. */
export interface RemoteParts {
  readonly log: Log;
  readonly topics: Topics;
  readonly url: string;
  readonly username: string | undefined;
  readonly password: string | undefined;
  /** Must only enqueue. */
  readonly onMessage: (message: BusMessage) => void;
  /** Connected, the first time and again: what is derived is published anew. */
  readonly onConnect: () => void;
}

const INPUTS = [
  'device/+/+/set',
  'device/+/+/set/+',
  'device/+/+/command/+',
  'rule/+/set',
  'rule/+/run',
  'mode/set',
  'variable/+/set',
  'bridge/request/+',
];
// While the broker is away messages wait; older ones than these go.
const MAX_WAITING = 10_000;

/** Connects, and keeps on trying by itself. */
export function remoteBus(parts: RemoteParts): Bus {
  const { topics, log } = parts;
  const client: MqttClient = mqtt.connect(parts.url, {
    clientId: `causeway-${topics.root.replaceAll('/', '-')}`,
    clean: false,
    protocolVersion: 4,
    reconnectPeriod: 2_000,
    resubscribe: false,
    queueQoSZero: false,
    ...(parts.username !== undefined && { username: parts.username }),
    ...(parts.password !== undefined && { password: parts.password }),
    will: {
      topic: topics.bridgeState(),
      payload: Buffer.from(JSON.stringify({ state: 'offline' })),
      qos: 1,
      retain: true,
    },
  });
  let filters: readonly string[] = [];
  let trouble: string | undefined = 'not connected yet';
  // Our own messages come back where a rule's filter covers them; MQTT 3.1.1 has no "no local".
  const own = new Map<string, number>();
  const seenRetained = new Set<string>();
  const subscribe = (wanted: readonly string[]) => {
    if (wanted.length > 0 && client.connected) {
      client.subscribe([...wanted], { qos: 1 }, error => {
        if (error)
          log.error(
            { error: error.message },
            'the broker refused a subscription; its ACL must let the gateway read what rules listen to',
          );
      });
    }
  };
  client.on('connect', () => {
    trouble = undefined;
    subscribe([...INPUTS.map(input => `${topics.root}/${input}`), ...filters]);
    // What an earlier life left retained under our root is told, so that what is stale can be cleared.
    subscribe([`${topics.root}/#`]);
    parts.onConnect();
  });
  client.on('error', error => {
    if (trouble !== error.message)
      log.warn({ error: error.message }, 'the MQTT broker cannot be reached; trying again');
    trouble = error.message;
  });
  client.on('offline', () => {
    trouble ??= 'the connection is lost';
  });
  client.on('message', (topic, payload, packet) => {
    const text = payload.toString('utf8');
    if (topics.isOurs(topic)) {
      if (packet.retain && text !== '') seenRetained.add(topic);
      if (!topics.parseInput(topic) || packet.retain) return;
    } else {
      if (!filters.some(filter => topicMatches(filter, topic))) return;
      const key = `${topic}\n${text}`;
      const mine = own.get(key) ?? 0;
      if (mine > 0) {
        if (mine === 1) own.delete(key);
        else own.set(key, mine - 1);
        return;
      }
    }
    parts.onMessage({ topic, payload: text, retained: packet.retain, client: parts.url, principal: undefined });
  });
  const publish: Bus['publish'] = (topic, payload, options = {}) => {
    const outside = !topics.isOurs(topic) && filters.some(filter => topicMatches(filter, topic));
    if (outside && client.connected) {
      const key = `${topic}\n${payload}`;
      own.set(key, (own.get(key) ?? 0) + 1);
      if (own.size > MAX_WAITING) own.delete(own.keys().next().value as string);
    }
    const qos = options.qos ?? 0;
    if (!client.connected && (qos === 0 || client.queue.length > MAX_WAITING)) return;
    client.publish(topic, payload, { qos, retain: options.retain ?? false });
  };
  return {
    publish,
    retain: (topic, make) => publish(topic, make(), { retain: true }),
    clear(topic) {
      seenRetained.delete(topic);
      client.publish(topic, '', { qos: 0, retain: true });
    },
    hasSubscribers: () => client.connected,
    retainedUnder: prefix => [...seenRetained].filter(topic => topic.startsWith(`${prefix}/`)),
    listen(wanted) {
      const fresh = wanted.filter(filter => !filters.includes(filter));
      const stale = filters.filter(filter => !wanted.includes(filter));
      filters = [...wanted];
      subscribe(fresh);
      if (stale.length > 0 && client.connected) client.unsubscribe(stale);
    },
    status: () => (trouble === undefined ? { ok: true } : { ok: false, note: trouble }),
    stop: () => client.endAsync(),
  };
}
