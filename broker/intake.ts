// What becomes of a publish from outside: judged, routed, and handed to the gateway in the order it came. A denied one is
// dropped and noticed and its client stays: a script with one wrong topic must not lose its other twenty.
import { judgePublish } from './acl.ts';
import type { AedesPacket } from './aedes.ts';
import type { Connection, Report } from './connection.ts';
import { pubackFrame } from './frames.ts';
import type { ReceivedPublish } from './reader.ts';
import type { RetainedMessages } from './retained.ts';
import type { Router } from './router.ts';
import type { InboundMessage, Log, Qos } from './types.ts';

/** The ways in: the short lane of the reader, and aedes' hooks for QoS 2 and wills. */
export interface Intake {
  /** Takes a PUBLISH of QoS 0 or 1. False: a breach of the protocol, for which aedes ends the connection. */
  take(connection: Connection, message: ReceivedPublish): boolean;
  /** Before aedes routes a packet: an error for a breach of the protocol; a denied one is sent to nobody. */
  authorize(connection: Connection, packet: AedesPacket): Error | undefined;
  /** After aedes routed one. */
  published(connection: Connection, packet: AedesPacket): void;
  /** Accepted so far. */
  received(): number;
}

// aedes can only end the connection of one who publishes what he may not. Nobody can subscribe to this topic.
const DENIED = '$denied';

const VERDICTS_KEPT = 16_384;
const TOPIC_KEPT_LENGTH = 256;

/** Builds the intake. `publish` is aedes' own, for what must be queued for sessions. */
export function createIntake(options: {
  root: string;
  isInput(topic: string): boolean;
  levels: number;
  router: Router;
  retained: RetainedMessages;
  publish(packet: AedesPacket, connection: Connection): void;
  onPublish(message: InboundMessage): void;
  report: Report;
  log: Log;
}): Intake {
  const { router, retained, publish, onPublish, report, log } = options;
  let received = 0;

  const verdictOf = ({ verdicts, principal }: Connection, topic: string) => {
    const known = verdicts.get(topic);
    if (known) return known;
    const verdict = principal ? judgePublish(principal, topic, options) : 'not permitted';
    if (verdicts.size >= VERDICTS_KEPT) verdicts.clear();
    if (topic.length <= TOPIC_KEPT_LENGTH) verdicts.set(topic, verdict);
    return verdict;
  };

  const judge = (connection: Connection, topic: string, retain: boolean): 'accept' | 'drop' | 'malformed' => {
    const verdict = verdictOf(connection, topic);
    if (verdict === 'allowed' || (verdict === 'input' && !retain)) return 'accept';
    if (verdict === 'malformed') return 'malformed';
    if (verdict === 'input') {
      report(
        connection,
        'retained-input',
        'a retained message on an input topic was dropped: send it unretained',
        topic,
      );
    } else {
      report(connection, 'publish-denied', `a publish was dropped: the topic is ${verdict}`, topic);
    }
    return 'drop';
  };

  const hand = (connection: Connection, topic: string, payload: Buffer, qos: Qos, retain: boolean) => {
    received++;
    const { client, principal } = connection;
    try {
      onPublish({ topic, payload, qos, retain, client: client.id, username: principal?.name ?? '' });
    } catch (error) {
      log.error({ err: error, topic }, 'mqtt: what takes the publishes of clients threw');
    }
  };

  const route = (connection: Connection, message: ReceivedPublish) => {
    const { topic, payload, retain, chunk, start, end } = message;
    const clientId = connection.client.id;
    if (retain && !retained.set({ cmd: 'publish', topic, payload, qos: 0, retain })) {
      report(connection, 'retained-full', 'a message was delivered but not retained: the store is full', topic);
    }
    if (!router.hasSubscribers(topic)) return;
    // The frame that came is the frame that goes, but for the retain flag.
    const frame = retain ? undefined : chunk.subarray(start, end);
    router.deliver({ topic, payload, retain, clientId, frame });
  };

  return {
    take(connection, message) {
      const { topic, payload, qos, retain, messageId } = message;
      const judgement = judge(connection, topic, retain);
      if (judgement === 'malformed') return false;
      if (judgement === 'accept') {
        if (qos === 0) {
          route(connection, message);
          hand(connection, topic, payload, qos, retain);
        } else {
          publish({ cmd: 'publish', topic, payload, qos, retain, dup: false }, connection);
        }
      }
      // Acknowledged when it is queued for all who are owed it, not before as aedes does.
      if (qos === 1) connection.outbox.send(pubackFrame(messageId));
      return true;
    },
    authorize(connection, packet) {
      const judgement = judge(connection, packet.topic, packet.retain);
      if (judgement === 'malformed') return new Error('malformed topic');
      if (judgement === 'drop') Object.assign(packet, { topic: DENIED, retain: false, payload: '' });
      return undefined;
    },
    published(connection, packet) {
      if (packet.topic === DENIED) return;
      const { topic, payload, qos, retain } = packet;
      hand(connection, topic, payload as Buffer, qos, retain);
    },
    received: () => received,
  };
}
