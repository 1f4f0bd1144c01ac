// Sessions that outlive their connection (clean=false): whose they are, what they subscribe to, and their queues.
import type { AedesPacket } from './aedes.ts';
import { bytesOf, compact } from './bytes.ts';
import { createLevelTree } from './level-tree.ts';
import type { Limits } from './limits.ts';
import { createQueue, type Outgoing, type Queue, type Queued, type Reference } from './queue.ts';
import type { QueuedRow, Saver, SessionRow, StoredSubscription } from './store.ts';
import type { Clock } from './types.ts';

interface Session {
  readonly id: string;
  readonly owner: string;
  /** Undefined while it is connected. */
  awaySince: number | undefined;
  readonly subscriptions: Map<string, StoredSubscription>;
  readonly queue: Queue;
  readonly incoming: Set<number>;
}

/** A session's subscription that matches a topic. */
export type Match = StoredSubscription & { clientId: string };

/** The owner of a session whose client gave no user name. Once a house has users, any of them may have its id. */
export const NOBODY = '';

/** All stored sessions. Calls for a session that does not exist create it where they add something. */
export interface Sessions {
  /** The user whose session it is; undefined when there is none, or it is nobody's. */
  ownerOf(id: string): string | undefined;
  /** The session's client is back, or new; another owner gets an empty one. False: there are too many sessions. */
  claim(id: string, owner: string): boolean;
  /** The client is gone; a session without content goes with it. */
  left(id: string): void;
  remove(id: string): void;
  subscribe(id: string, subscriptions: readonly StoredSubscription[]): void;
  unsubscribe(id: string, topics: readonly string[]): void;
  subscriptions(id: string): StoredSubscription[];
  idsSubscribedTo(filter: string): string[];
  /** The subscriptions above QoS 0 that match a topic. */
  matching(topic: string): Match[];
  enqueue(id: string, packet: AedesPacket, qos: number): void;
  sending(id: string, packet: Reference): void;
  settle(id: string, packet: Reference): Outgoing | undefined;
  /** The queue from its beginning, including what is added while it is read. */
  queue(id: string): Iterable<Outgoing>;
  /** What was never sent. */
  unsent(id: string): AedesPacket[];
  /** Notes that a QoS 2 message of the client was taken (open) or released. */
  incoming(id: string, messageId: number, isOpen: boolean): void;
  wasTaken(id: string, messageId: number): boolean;
  /** Sessions, their subscriptions above QoS 0, and queued messages. */
  count(): { sessions: number; subscriptions: number; queued: number };
  restore(sessions: readonly SessionRow[], queued: readonly QueuedRow[]): void;
  row(id: string): SessionRow | undefined;
  queuedRow(seq: number): QueuedRow | undefined;
}

/** No sessions yet. `overflowed` names the session whose oldest message had to go. */
export function createSessions(options: {
  clock: Clock;
  limits: Limits;
  saver: Pick<Saver, 'session' | 'queued'>;
  overflowed(id: string, topic: string | undefined): void;
}): Sessions {
  const { clock, limits, saver, overflowed } = options;
  const sessions = new Map<string, Session>();
  const queued = new Map<number, Queued>();
  const tree = createLevelTree<Map<string, Match>>();
  let lastSeq = 0;
  let isRestoring = false;

  const create = (id: string, owner: string): Session => {
    const queue = createQueue({
      maxMessages: limits.queuedMessages,
      maxBytes: limits.queuedBytes,
      changed(entry) {
        queued.set(entry.seq, entry);
        if (!isRestoring) saver.queued(entry.seq);
      },
      removed(entry) {
        queued.delete(entry.seq);
        saver.queued(entry.seq);
      },
      overflowed: ({ packet }) => overflowed(id, packet.cmd === 'publish' ? packet.topic : undefined),
    });
    const session = { id, owner, awaySince: clock.now(), subscriptions: new Map(), queue, incoming: new Set<number>() };
    sessions.set(id, session);
    return session;
  };
  const obtain = (id: string) => sessions.get(id) ?? create(id, NOBODY);

  const unlink = (id: string, { topic, qos }: StoredSubscription) => {
    const matches = qos > 0 ? tree.get(topic) : undefined;
    if (matches?.delete(id) && matches.size === 0) tree.delete(topic);
  };
  const link = (id: string, subscription: StoredSubscription) => {
    if (subscription.qos === 0) return;
    const matches = tree.get(subscription.topic) ?? new Map<string, Match>();
    matches.set(id, { clientId: id, ...subscription });
    tree.set(subscription.topic, matches);
  };

  const remove = (id: string) => {
    const session = sessions.get(id);
    if (!session) return;
    for (const subscription of session.subscriptions.values()) unlink(id, subscription);
    session.queue.clear();
    sessions.delete(id);
    saver.session(id);
  };
  const removeExpired = () => {
    const oldest = clock.now() - limits.sessionExpiryMs;
    for (const { id, awaySince } of sessions.values()) if (awaySince !== undefined && awaySince < oldest) remove(id);
  };
  const isEmpty = ({ subscriptions, queue, incoming }: Session) =>
    subscriptions.size + queue.entries.length + incoming.size === 0;

  return {
    ownerOf: id => sessions.get(id)?.owner || undefined,
    claim(id, owner) {
      if (sessions.has(id) && sessions.get(id)?.owner !== owner) remove(id);
      if (!sessions.has(id) && sessions.size >= limits.sessions) removeExpired();
      const session = sessions.get(id) ?? (sessions.size < limits.sessions ? create(id, owner) : undefined);
      if (!session) return false;
      session.awaySince = undefined;
      session.queue.markResent();
      return true;
    },
    left(id) {
      const session = sessions.get(id);
      if (!session) return;
      session.awaySince = clock.now();
      if (isEmpty(session)) remove(id);
      else saver.session(id);
    },
    remove,
    subscribe(id, subscriptions) {
      const session = obtain(id);
      for (const { topic, qos, rh, rap, nl } of subscriptions) {
        // One that was refused in the meantime (see hooks.ts).
        if ((qos as number) > 2) continue;
        const subscription = { topic, qos, rh, rap, nl };
        const known = session.subscriptions.get(topic);
        if (known) unlink(id, known);
        link(id, subscription);
        session.subscriptions.set(topic, subscription);
      }
      saver.session(id);
    },
    unsubscribe(id, topics) {
      const session = sessions.get(id);
      if (!session) return;
      for (const topic of topics) {
        const known = session.subscriptions.get(topic);
        if (known) unlink(id, known);
        session.subscriptions.delete(topic);
      }
      if (session.awaySince !== undefined && isEmpty(session)) remove(id);
      saver.session(id);
    },
    subscriptions: id => [...(sessions.get(id)?.subscriptions.values() ?? [])].map(each => ({ ...each })),
    idsSubscribedTo: filter =>
      [...sessions.values()].filter(({ subscriptions }) => subscriptions.has(filter)).map(({ id }) => id),
    matching: topic => tree.matching(topic).flatMap(matches => [...matches.values()]),
    enqueue(id, { topic, payload, qos: published, brokerId, brokerCounter }, subscribed) {
      const qos = Math.min(published, subscribed) as AedesPacket['qos'];
      // The retain flag tells a new subscriber that the message is old; to an existing one it is not (MQTT-3.3.1-9).
      const packet: Outgoing = {
        cmd: 'publish',
        topic,
        payload: compact(payload),
        qos,
        retain: false,
        dup: false,
        brokerId,
        brokerCounter,
        messageId: undefined,
      };
      obtain(id).queue.add({ seq: ++lastSeq, session: id, packet, bytes: topic.length + payload.length });
    },
    sending: (id, packet) => sessions.get(id)?.queue.sending(packet),
    settle: (id, packet) => sessions.get(id)?.queue.settle(packet),
    *queue(id) {
      const { entries } = sessions.get(id)?.queue ?? { entries: [] };
      let last = 0;
      for (;;) {
        // Entries are acknowledged, and go, while this is read.
        const next = entries.find(({ seq }) => seq > last);
        if (!next) return;
        last = next.seq;
        yield next.packet;
      }
    },
    unsent: id =>
      (sessions.get(id)?.queue.entries ?? []).flatMap(({ packet }) =>
        packet.cmd === 'publish' && packet.messageId === undefined ? packet : [],
      ),
    incoming(id, messageId, isOpen) {
      const session = sessions.get(id);
      if (!session) return;
      if (isOpen) session.incoming.add(messageId);
      else session.incoming.delete(messageId);
      saver.session(id);
    },
    wasTaken: (id, messageId) => sessions.get(id)?.incoming.has(messageId) ?? false,
    count() {
      let subscriptions = 0;
      for (const session of sessions.values()) {
        for (const { qos } of session.subscriptions.values()) if (qos > 0) subscriptions++;
      }
      return { sessions: sessions.size, subscriptions, queued: queued.size };
    },
    restore(rows, messages) {
      isRestoring = true;
      for (const row of rows) {
        const session = create(row.id, row.owner);
        session.awaySince = row.seenAt;
        for (const subscription of row.subscriptions) {
          link(row.id, subscription);
          session.subscriptions.set(subscription.topic, subscription);
        }
        for (const messageId of row.incoming) session.incoming.add(messageId);
      }
      for (const row of messages) {
        lastSeq = Math.max(lastSeq, row.seq);
        const { topic, payload, qos, messageId } = row;
        const packet: Outgoing =
          row.isReleased && messageId !== undefined
            ? { cmd: 'pubrel', messageId }
            : // The counters of an earlier run mean nothing to this one; `seq` is as unique.
              {
                cmd: 'publish',
                topic,
                payload,
                qos,
                retain: false,
                brokerId: 'stored',
                brokerCounter: row.seq,
                messageId,
              };
        sessions.get(row.session)?.queue.add({
          seq: row.seq,
          session: row.session,
          packet,
          bytes: topic.length + payload.length,
        });
      }
      isRestoring = false;
      removeExpired();
    },
    row(id) {
      const session = sessions.get(id);
      // A session without content is not worth a row: nothing is lost with it.
      if (!session || isEmpty(session)) return undefined;
      const { owner, subscriptions, incoming, awaySince } = session;
      return {
        id,
        owner,
        seenAt: awaySince ?? clock.now(),
        subscriptions: [...subscriptions.values()],
        incoming: [...incoming],
      };
    },
    queuedRow(seq) {
      const entry = queued.get(seq);
      if (!entry) return undefined;
      const { packet, session } = entry;
      const { messageId } = packet;
      if (packet.cmd === 'pubrel') {
        return { seq, session, topic: '', payload: Buffer.alloc(0), qos: 2, messageId, isReleased: true };
      }
      const { topic, qos, payload } = packet;
      return { seq, session, topic, payload: bytesOf(payload), qos, messageId, isReleased: false };
    },
  };
}
