// The store of the embedded broker: one SQLite file of its own, so that a burst of retained messages never waits for, or
// delays, what the gateway itself must not lose. NORMAL: a power cut may take the last moments, never the file.
import Database from 'better-sqlite3';
import { z } from 'zod';
import type { BrokerStore, Change, QueuedRow, RetainedRow, SessionRow, StoreChanges } from './store.ts';

const VERSION = 1;

const SCHEMA = `
  CREATE TABLE retained (topic TEXT PRIMARY KEY, payload BLOB NOT NULL, qos INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE sessions (
    id TEXT PRIMARY KEY, owner TEXT NOT NULL, seenAt INTEGER NOT NULL,
    subscriptions TEXT NOT NULL, incoming TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE queued (
    seq INTEGER PRIMARY KEY, session TEXT NOT NULL, topic TEXT NOT NULL, payload BLOB NOT NULL,
    qos INTEGER NOT NULL, messageId INTEGER, isReleased INTEGER NOT NULL
  );
  PRAGMA user_version = ${VERSION};
`;

const qos = z.union([z.literal(0), z.literal(1), z.literal(2)]);
const retainedRow = z.object({ topic: z.string(), payload: z.instanceof(Buffer), qos });
const subscription = z.object({
  topic: z.string(),
  qos,
  rh: z.number().optional(),
  rap: z.boolean().optional(),
  nl: z.boolean().optional(),
});
const json = <T>(schema: z.ZodType<T>) => z.string().transform((text): T => schema.parse(JSON.parse(text)));
const sessionRow = z.object({
  id: z.string(),
  owner: z.string(),
  seenAt: z.number(),
  subscriptions: json(z.array(subscription)),
  incoming: json(z.array(z.number())),
});
const queuedRow = z.object({
  seq: z.number(),
  session: z.string(),
  topic: z.string(),
  payload: z.instanceof(Buffer),
  qos,
  messageId: z
    .number()
    .nullable()
    .transform(id => id ?? undefined),
  isReleased: z.number().transform(Boolean),
});

/** Opens or creates the file. Throws when it is no database of ours, or of a later version. */
export function openSqliteStore(file: string): BrokerStore {
  const db = new Database(file);
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = NORMAL');
  const version = db.pragma('user_version', { simple: true });
  if (version === 0) db.transaction(() => db.exec(SCHEMA))();
  else if (version !== VERSION) {
    db.close();
    throw new Error(
      `${file} has version ${version}, this broker knows ${VERSION}: use a newer Causeway, or move it away`,
    );
  }

  const all = <Row>(table: string, schema: z.ZodType<Row>, order = ''): Row[] =>
    db
      .prepare(`SELECT * FROM ${table} ${order}`)
      .all()
      .map(row => schema.parse(row));

  const putRetained = db.prepare('INSERT OR REPLACE INTO retained VALUES (@topic, @payload, @qos)');
  const putSession = db.prepare(
    'INSERT OR REPLACE INTO sessions VALUES (@id, @owner, @seenAt, @subscriptions, @incoming)',
  );
  const putQueued = db.prepare(
    'INSERT OR REPLACE INTO queued VALUES (@seq, @session, @topic, @payload, @qos, @messageId, @isReleased)',
  );
  const dropRetained = db.prepare('DELETE FROM retained WHERE topic = ?');
  const dropSession = db.prepare('DELETE FROM sessions WHERE id = ?');
  const dropQueued = db.prepare('DELETE FROM queued WHERE seq = ?');

  const apply = <Row, Key>(change: Change<Row, Key>, put: (row: Row) => void, drop: Database.Statement) => {
    for (const row of change.put) put(row);
    for (const key of change.drop) drop.run(key);
  };
  const save = db.transaction((changes: StoreChanges) => {
    apply<RetainedRow, string>(changes.retained, row => putRetained.run(row), dropRetained);
    apply<SessionRow, string>(
      changes.sessions,
      ({ subscriptions, incoming, ...row }) =>
        putSession.run({ ...row, subscriptions: JSON.stringify(subscriptions), incoming: JSON.stringify(incoming) }),
      dropSession,
    );
    apply<QueuedRow, number>(
      changes.queued,
      row => putQueued.run({ ...row, messageId: row.messageId ?? null, isReleased: Number(row.isReleased) }),
      dropQueued,
    );
  });

  return {
    load: () => ({
      retained: all('retained', retainedRow),
      sessions: all('sessions', sessionRow),
      queued: all('queued', queuedRow, 'ORDER BY seq'),
    }),
    save: changes => save(changes),
    close: () => db.close(),
  };
}
