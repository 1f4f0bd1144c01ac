// aedes' persistence over our memory: the same calls as aedes-persistence 11, answered at once (see settled.ts). Its
// abstract test suite is run against this, all but the subscription id of MQTT 5.
import { Readable } from 'node:stream';
import type { AedesPacket } from './aedes.ts';
import { createIncoming } from './incoming.ts';
import type { Outgoing, Reference } from './queue.ts';
import type { RetainedMessages } from './retained.ts';
import type { Match, Sessions } from './sessions.ts';
import type { Settled, Settler } from './settled.ts';
import type { StoredSubscription } from './store.ts';

interface ClientRef {
  readonly id: string;
}

/** A last will: a message, and whose it is. */
type Will = AedesPacket & { clientId: string; brokerId: string };

/** What aedes 1.2 asks of `persistence`. */
export interface Persistence {
  setup(broker: { id: string }): Promise<void>;
  storeRetained(packet: AedesPacket): Settled<void>;
  createRetainedStream(filter: string): Readable;
  createRetainedStreamCombi(filters: readonly string[]): Readable;
  addSubscriptions(client: ClientRef, subscriptions: readonly StoredSubscription[]): Settled<void>;
  removeSubscriptions(client: ClientRef, topics: readonly string[]): Settled<void>;
  subscriptionsByClient(client: ClientRef): Settled<StoredSubscription[]>;
  subscriptionsByTopic(topic: string): Settled<Match[]>;
  cleanSubscriptions(client: ClientRef): Settled<void>;
  countOffline(): Settled<{ subsCount: number; clientsCount: number }>;
  outgoingEnqueue(subscription: { clientId: string; qos: number }, packet: AedesPacket): Settled<void>;
  outgoingEnqueueCombi(subscriptions: readonly { clientId: string; qos: number }[], packet: AedesPacket): Settled<void>;
  outgoingUpdate(client: ClientRef, packet: Reference): Settled<void>;
  outgoingClearMessageId(client: ClientRef, packet: Reference): Settled<Outgoing | undefined>;
  outgoingStream(client: ClientRef): Readable;
  incomingStorePacket(client: ClientRef, packet: AedesPacket): Settled<void>;
  incomingGetPacket(client: ClientRef, packet: { messageId: number }): Settled<AedesPacket>;
  incomingDelPacket(client: ClientRef, packet: { messageId: number }): Settled<void>;
  cleanIncoming(client: ClientRef): Settled<void>;
  putWill(client: ClientRef, packet: AedesPacket): Settled<void>;
  getWill(client: ClientRef): Settled<Will | undefined>;
  delWill(client: ClientRef): Settled<Will | undefined>;
  streamWill(brokers?: Record<string, unknown>): Readable;
  getClientList(filter: string): Readable;
  destroy(): Promise<void>;
}

const noPacket = new Error('no such packet');
const tooMany = new Error('too many QoS 2 messages wait for their release');

/** The persistence of one broker. `onRetainedFull` hears of a retained message that was not kept. */
export function createPersistence(options: {
  retained: RetainedMessages;
  sessions: Sessions;
  settler: Settler;
  incomingBytes: number;
  onRetainedFull(topic: string): void;
}): Persistence {
  const { retained, sessions, settler, incomingBytes, onRetainedFull } = options;
  const { ok, done } = settler;
  const incoming = createIncoming(incomingBytes);
  const wills = new Map<string, Will>();
  let broker = { id: '' };
  let stored: { client?: ClientRef; subscriptions?: readonly StoredSubscription[] } = {};

  const enqueue = (subscriptions: readonly { clientId: string; qos: number }[], packet: AedesPacket) => {
    // Overlapping filters of one client are one message, at the highest QoS (moscajs/aedes#543).
    const best = new Map<string, number>();
    for (const { clientId, qos } of subscriptions) best.set(clientId, Math.max(qos, best.get(clientId) ?? 0));
    for (const [clientId, qos] of best) sessions.enqueue(clientId, packet, qos);
    return done;
  };

  function* retainedUnder(filters: readonly string[]) {
    for (const filter of filters) yield* retained.matching(filter);
  }

  return {
    // aedes refuses a `setup` that is not an async function.
    async setup(owner) {
      broker = owner;
    },
    storeRetained(packet) {
      if (!retained.set(packet)) onRetainedFull(packet.topic);
      return done;
    },
    createRetainedStream: filter => Readable.from(retained.matching(filter)),
    createRetainedStreamCombi: filters => Readable.from(retainedUnder(filters)),
    addSubscriptions(client, subscriptions) {
      // aedes calls once for each filter of a packet, and each time with all of them.
      if (stored.client === client && stored.subscriptions === subscriptions) return done;
      stored = { client, subscriptions };
      sessions.subscribe(client.id, subscriptions);
      return done;
    },
    removeSubscriptions(client, topics) {
      sessions.unsubscribe(client.id, topics);
      return done;
    },
    subscriptionsByClient: client => ok(sessions.subscriptions(client.id)),
    subscriptionsByTopic: topic => ok(sessions.matching(topic)),
    cleanSubscriptions(client) {
      sessions.remove(client.id);
      return done;
    },
    countOffline() {
      const count = sessions.count();
      return ok({ subsCount: count.subscriptions, clientsCount: count.sessions });
    },
    outgoingEnqueue: (subscription, packet) => enqueue([subscription], packet),
    outgoingEnqueueCombi: enqueue,
    outgoingUpdate(client, packet) {
      // An unknown packet is one that a full queue has dropped. It goes out all the same, promised no more.
      sessions.sending(client.id, packet);
      return done;
    },
    outgoingClearMessageId: (client, packet) => ok(sessions.settle(client.id, packet)),
    outgoingStream: client => Readable.from(sessions.queue(client.id)),
    incomingStorePacket(client, packet) {
      if (!incoming.add(client.id, packet)) return settler.failed(tooMany);
      sessions.incoming(client.id, packet.messageId!, true);
      return done;
    },
    incomingGetPacket(client, packet) {
      const known = incoming.get(client.id, packet.messageId);
      if (known) return ok(known);
      // Of one that was taken before a restart only the id is left, which is all that a repetition needs.
      return sessions.wasTaken(client.id, packet.messageId) ? ok(packet as AedesPacket) : settler.failed(noPacket);
    },
    incomingDelPacket(client, packet) {
      const wasTaken = sessions.wasTaken(client.id, packet.messageId);
      sessions.incoming(client.id, packet.messageId, false);
      return incoming.delete(client.id, packet.messageId) || wasTaken ? done : settler.failed(noPacket);
    },
    cleanIncoming(client) {
      incoming.clear(client.id);
      return done;
    },
    putWill(client, packet) {
      wills.set(client.id, Object.assign(packet, { brokerId: broker.id, clientId: client.id }));
      return done;
    },
    getWill: client => ok(wills.get(client.id)),
    delWill(client) {
      const will = wills.get(client.id);
      wills.delete(client.id);
      return ok(will);
    },
    streamWill: (brokers = {}) => Readable.from([...wills.values()].filter(will => !(will.brokerId in brokers))),
    getClientList: filter => Readable.from(sessions.idsSubscribedTo(filter)),
    async destroy() {
      retained.clear();
    },
  };
}
