// What the broker remembers, loaded from its store and saved to it.
import type { Limits } from './limits.ts';
import type { Notices } from './notices.ts';
import { createRetained, type RetainedMessages } from './retained.ts';
import { createSessions, type Sessions } from './sessions.ts';
import { type BrokerStore, createSaver, type Saver } from './store.ts';
import { isUnder } from './topics.ts';
import type { Clock } from './types.ts';

/** Retained messages and sessions; `saver` writes them behind. */
export interface Memory {
  readonly retained: RetainedMessages;
  readonly sessions: Sessions;
  readonly saver: Saver;
}

/** Loads what `store` has. Throws what the store throws. */
export function createMemory(options: {
  store: BrokerStore | undefined;
  root: string;
  clock: Clock;
  limits: Limits;
  notices: Notices;
}): Memory {
  const { store, root, clock, limits, notices } = options;
  const stored = store?.load();
  const saver = createSaver({
    store,
    clock,
    source: {
      retained: topic => retained.row(topic),
      session: id => sessions.row(id),
      queued: seq => sessions.queuedRow(seq),
    },
    onError: error => notices.add({ kind: 'store-failed', text: `messages of clients could not be saved: ${error}` }),
  });
  const retained = createRetained({
    isDerived: topic => isUnder(root, topic),
    maxTopics: limits.retainedTopics,
    maxBytes: limits.retainedBytes,
    changed: saver.retained,
  });
  const sessions = createSessions({
    clock,
    limits,
    saver,
    overflowed: (client, topic) =>
      notices.add({
        kind: 'queue-full',
        text: 'the oldest message of a queue was dropped: its client reads too little',
        client,
        topic,
      }),
  });
  for (const row of stored?.retained ?? []) retained.set({ cmd: 'publish', retain: true, ...row });
  sessions.restore(stored?.sessions ?? [], stored?.queued ?? []);
  return { retained, sessions, saver };
}
