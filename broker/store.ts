// What outlives the broker, as a port, and the write-behind before it: changes are marked, and every 250 ms the present
// state of what was marked is saved in one transaction. A crash loses at most that.
import type { Clock, Qos } from './types.ts';

/** A retained message outside the root. */
export interface RetainedRow {
  readonly topic: string;
  readonly payload: Buffer;
  readonly qos: Qos;
}

/** One filter of a session; the last three are a bridge's. */
export interface StoredSubscription {
  readonly topic: string;
  readonly qos: Qos;
  readonly rh?: number;
  readonly rap?: boolean;
  readonly nl?: boolean;
}

/** A session that outlives its connection, without its queue. */
export interface SessionRow {
  readonly id: string;
  readonly owner: string;
  /** Milliseconds since the epoch when it was last known connected. */
  readonly seenAt: number;
  readonly subscriptions: readonly StoredSubscription[];
  /** Ids of QoS 2 messages that were taken and not yet released by the client. */
  readonly incoming: readonly number[];
}

/** A message that waits for its session, or for an acknowledgement. */
export interface QueuedRow {
  /** Unique, and the order of delivery. */
  readonly seq: number;
  readonly session: string;
  readonly topic: string;
  readonly payload: Buffer;
  readonly qos: Qos;
  /** Present once it was sent. */
  readonly messageId: number | undefined;
  /** The client has a QoS 2 message and only its release is owed. */
  readonly isReleased: boolean;
}

/** Rows to write and keys to remove. */
export interface Change<Row, Key> {
  readonly put: readonly Row[];
  readonly drop: readonly Key[];
}

/** All changes since the last save. */
export interface StoreChanges {
  readonly retained: Change<RetainedRow, string>;
  readonly sessions: Change<SessionRow, string>;
  readonly queued: Change<QueuedRow, number>;
}

/** Everything a store holds, queued messages by rising `seq`. */
interface StoredState {
  readonly retained: readonly RetainedRow[];
  readonly sessions: readonly SessionRow[];
  readonly queued: readonly QueuedRow[];
}

/** Keeps outsiders' messages and sessions. `save` is one transaction: all or nothing, and throws when it is nothing. */
export interface BrokerStore {
  load(): StoredState;
  save(changes: StoreChanges): void;
  close(): void;
}

/** Told of each change by those who hold the state. */
export interface Saver {
  retained(topic: string): void;
  session(id: string): void;
  queued(seq: number): void;
  /** Saves now. */
  flush(): void;
  /** Saves for the last time and closes the store. */
  stop(): void;
}

/** Where the saver reads the present state of a changed key; undefined means removed. */
export interface Source {
  retained(topic: string): RetainedRow | undefined;
  session(id: string): SessionRow | undefined;
  queued(seq: number): QueuedRow | undefined;
}

const SAVE_EVERY_MS = 250;
const RETRY_AFTER_MS = 5_000;

function changeOf<Row, Key>(keys: Iterable<Key>, read: (key: Key) => Row | undefined): Change<Row, Key> {
  const put: Row[] = [];
  const drop: Key[] = [];
  for (const key of keys) {
    const row = read(key);
    if (row) put.push(row);
    else drop.push(key);
  }
  return { put, drop };
}

/** Forgets all it is told: for a broker without a store. */
const nowhere: Saver = { retained() {}, session() {}, queued() {}, flush() {}, stop() {} };

/** A write-behind over `store`. `onError` hears of a failed save; its changes are kept and tried again. */
export function createSaver(options: {
  store: BrokerStore | undefined;
  source: Source;
  clock: Clock;
  onError(error: unknown): void;
}): Saver {
  const { store, source, clock, onError } = options;
  if (!store) return nowhere;
  const retained = new Set<string>();
  const sessions = new Set<string>();
  const queued = new Set<number>();
  let cancel: (() => void) | undefined;
  let isStopped = false;

  const arm = (delayMs: number) => {
    if (!isStopped) cancel ??= clock.after(delayMs, flush);
  };
  const mark = <Key>(keys: Set<Key>) => {
    return (key: Key) => {
      keys.add(key);
      arm(SAVE_EVERY_MS);
    };
  };

  function flush() {
    cancel?.();
    cancel = undefined;
    if (retained.size + sessions.size + queued.size === 0) return;
    try {
      store!.save({
        retained: changeOf(retained, source.retained),
        sessions: changeOf(sessions, source.session),
        queued: changeOf(queued, source.queued),
      });
      for (const keys of [retained, sessions, queued]) keys.clear();
    } catch (error) {
      onError(error);
      arm(RETRY_AFTER_MS);
    }
  }

  return {
    retained: mark(retained),
    session: mark(sessions),
    queued: mark(queued),
    flush,
    stop() {
      isStopped = true;
      flush();
      store.close();
    },
  };
}
