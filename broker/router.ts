// Who gets a message. Stands in for aedes' emitter, which waits for all subscribers before it goes on (so that one frozen
// reader stalls every publisher, and its release recurses until the stack is gone). Here nobody is waited for, and each
// client gets a message once, at its highest QoS: as one frame that all share at QoS 0, with an id of its own above.
import { type AedesPacket, type Deliver, type Emitter, noop } from './aedes.ts';
import { publishFrame } from './frames.ts';
import { createLevelTree } from './level-tree.ts';
import type { Outbox } from './outbox.ts';
import type { Log, Qos } from './types.ts';

/** A connection, as far as routing goes. */
export interface Subscriber {
  readonly outbox: Outbox;
  mayRead(topic: string): boolean;
  /** Sends a message of QoS 1 or 2 that is in the queue of its session, if it has one. */
  sendStored(packet: AedesPacket, qos: 1 | 2): void;
}

/** On whose behalf aedes subscribes, and at which QoS. */
interface Subscribing {
  /** Undefined for aedes' own listeners. */
  readonly subscriber: Subscriber | undefined;
  readonly qos: Qos;
  /** False where a bridge asks for no-local and retain-as-published, which only aedes' delivery knows. */
  readonly plain: boolean;
  /** A stored session is being restored. aedes sets what its CONNACK says of that after it has subscribed. */
  readonly isRestored: boolean;
}

interface Subscription extends Subscribing {
  readonly deliver: Deliver;
}

interface Route {
  /** Who can be served with the shared frame when the message has QoS 0, and who then needs aedes all the same. */
  readonly plain: readonly Outbox[];
  readonly others: readonly Subscription[];
  /** Everybody, for a message of a higher QoS. */
  readonly all: readonly Subscription[];
}

/** A QoS 0 message; `frame` where it exists already, not retained. */
interface PlainMessage {
  readonly topic: string;
  readonly payload: Buffer | string;
  readonly retain: boolean;
  readonly clientId: string | undefined;
  readonly frame: Buffer | undefined;
}

/** The emitter that aedes is given, and the short way past it. */
export interface Router extends Emitter {
  /** Runs `subscribe`, in which aedes calls `on`, on behalf of a connection. */
  subscribing(who: Subscribing, subscribe: () => void): void;
  /** Hands a QoS 0 message to all who listen. */
  deliver(message: PlainMessage): void;
  hasSubscribers(topic: string): boolean;
  /** Deliveries begun so far. */
  sent(): number;
}

// A home has a few thousand topics; a stranger who invents more, or long ones, only makes us look again.
const ROUTES_KEPT = 65_536;
const TOPIC_KEPT_LENGTH = 256;

const NOBODY: Route = { plain: [], others: [], all: [] };

const AEDES_ITSELF: Subscribing = { subscriber: undefined, qos: 2, plain: false, isRestored: false };

/** An empty router. */
export function createRouter(log: Log): Router {
  const tree = createLevelTree<Subscription[]>();
  const routes = new Map<string, Route>();
  let owner = AEDES_ITSELF;
  let sent = 0;

  const build = (topic: string): Route => {
    const best = new Map<Subscriber, Subscription>();
    const own: Subscription[] = [];
    for (const subscription of tree.matching(topic).flat()) {
      const { subscriber, qos } = subscription;
      if (!subscriber) own.push(subscription);
      else if (subscriber.mayRead(topic) && qos >= (best.get(subscriber)?.qos ?? 0)) best.set(subscriber, subscription);
    }
    const all = [...own, ...best.values()];
    if (all.length === 0) return NOBODY;
    return {
      plain: all.filter(each => each.plain).map(each => each.subscriber!.outbox),
      others: all.filter(each => !each.plain),
      all,
    };
  };

  const routeOf = (topic: string): Route => {
    const known = routes.get(topic);
    if (known) return known;
    const route = build(topic);
    if (routes.size >= ROUTES_KEPT) routes.clear();
    if (topic.length <= TOPIC_KEPT_LENGTH) routes.set(topic, route);
    return route;
  };

  const deliver = (message: PlainMessage) => {
    const route = routeOf(message.topic);
    if (route.plain.length > 0) {
      const frame = message.frame ?? publishFrame(message.topic, message.payload);
      for (const outbox of route.plain) outbox.send(frame);
      sent += route.plain.length;
    }
    if (route.others.length === 0) return;
    const { topic, payload, retain, clientId } = message;
    const packet: AedesPacket = { cmd: 'publish', topic, payload, retain, qos: 0, ...(clientId && { clientId }) };
    for (const other of route.others) other.deliver(packet, noop);
  };

  const deliverStored = (packet: AedesPacket) => {
    let frame: Buffer | undefined;
    for (const { subscriber, qos: subscribed, plain, deliver: viaAedes } of routeOf(packet.topic).all) {
      // At the lower of the message's QoS and the subscription's (MQTT-3.8.4-6).
      const qos = Math.min(packet.qos, subscribed) as Qos;
      if (!subscriber || !plain) viaAedes({ ...packet, qos }, noop);
      else if (qos > 0) subscriber.sendStored(packet, qos as 1 | 2);
      else {
        frame ??= publishFrame(packet.topic, packet.payload);
        subscriber.outbox.send(frame);
      }
      sent++;
    }
  };

  return {
    subscribing(who, subscribe) {
      owner = who;
      try {
        subscribe();
      } finally {
        owner = AEDES_ITSELF;
      }
    },
    on(filter, viaAedes, done) {
      tree.set(filter, [...(tree.get(filter) ?? []), { ...owner, deliver: viaAedes }]);
      routes.clear();
      if (!done) return;
      if (owner.isRestored) setImmediate(done);
      else done();
    },
    removeListener(filter, viaAedes, done) {
      const left = tree.get(filter)?.filter(each => each.deliver !== viaAedes) ?? [];
      if (left.length > 0) tree.set(filter, left);
      else tree.delete(filter);
      routes.clear();
      done?.();
    },
    emit(packet, done) {
      try {
        if (packet.qos > 0) deliverStored(packet);
        else deliver({ ...packet, clientId: packet.clientId, frame: undefined });
      } catch (error) {
        log.error({ err: error, topic: packet.topic }, 'a message could not be delivered to all its subscribers');
      }
      done?.();
    },
    close(done) {
      routes.clear();
      if (done) setImmediate(done);
    },
    deliver,
    // Topics that nobody is interested in at all are not kept as routes.
    hasSubscribers: topic => tree.mayMatch(topic) && routeOf(topic).all.length > 0,
    sent: () => sent,
  };
}
