// The bus on the embedded broker: the only file of the gateway that knows `broker/`.
import { type Broker, type BrokerOptions, type BrokerStore, openSqliteStore, startBroker } from '../../broker/index.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { topicMatches } from '../lib/topic.ts';
import type { Bus, BusMessage } from './bus.ts';
import type { Topics } from './topics.ts';

/** What the embedded bus is made of. */
export interface EmbeddedParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly topics: Topics;
  readonly authenticate: BrokerOptions['authenticate'];
  readonly limits?: BrokerOptions['limits'];
  /** Where outsiders' retained messages and sessions are kept; undefined keeps them in memory. */
  readonly file: string | undefined;
  /** Must only enqueue. */
  readonly onMessage: (message: BusMessage) => void;
  readonly onNotice?: BrokerOptions['onNotice'];
}

/** The embedded bus, with what only a broker of ours can do. */
export interface EmbeddedBus extends Bus {
  readonly broker: Broker;
}

/** What of the broker's types the rest of the gateway may know. */
export type { Broker, BrokerOptions } from '../../broker/index.ts';
/** Running totals of the broker. */
export type Counters = ReturnType<Broker['counters']>;
/** Limits of the broker, those that are set. */
export type Limits = NonNullable<BrokerOptions['limits']>;

/** Starts the broker; it listens once `broker.listen` is called. */
export async function embeddedBus(parts: EmbeddedParts): Promise<EmbeddedBus> {
  const { topics } = parts;
  const store: BrokerStore | undefined = parts.file === undefined ? undefined : openSqliteStore(parts.file);
  const broker = await startBroker({
    clock: parts.clock,
    log: parts.log,
    authenticate: parts.authenticate,
    root: topics.root,
    isInput: topic => topics.parseInput(topic) !== undefined,
    onPublish: message =>
      parts.onMessage({
        topic: message.topic,
        payload: message.payload.toString('utf8'),
        retained: false,
        client: message.client,
        principal: message.username,
      }),
    ...(parts.onNotice && { onNotice: parts.onNotice }),
    ...(parts.limits && { limits: parts.limits }),
    persistence: store,
  });
  let heard: readonly string[] = [];
  return {
    broker,
    publish(topic, payload, options) {
      // Above QoS 0 it costs ten times as much to find that nobody is there.
      if (options?.retain || broker.hasSubscribers(topic)) broker.publish(topic, payload, options);
    },
    retain: (topic, make) => broker.retain(topic, make),
    clear: topic => broker.clearRetained(topic),
    hasSubscribers: topic => broker.hasSubscribers(topic),
    retainedUnder: prefix => [...broker.retained(`${prefix}/#`)].map(message => message.topic),
    listen(filters) {
      const fresh = filters.filter(filter => !heard.includes(filter));
      heard = filters;
      for (const filter of fresh) {
        for (const { topic, payload } of broker.retained(filter)) {
          if (topics.isOurs(topic) || !topicMatches(filter, topic)) continue;
          parts.onMessage({
            topic,
            payload: payload.toString('utf8'),
            retained: true,
            client: 'retained',
            principal: undefined,
          });
        }
      }
    },
    status: () => ({ ok: true }),
    stop: () => broker.close(),
  };
}
