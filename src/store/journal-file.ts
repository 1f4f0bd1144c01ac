// One file of the journal: append-only, without a secondary index until it is sealed.
import Sqlite, { type Statement } from 'better-sqlite3';

/** id, ts, seq, kind, subject, attribute, body. */
export type JournalRow = [number, number, number, string, string, string, string];

/** What to pick from a file. */
export interface Selection {
  /** Epoch ms, from ≤ ts < to. */
  readonly from: number;
  readonly to: number;
  readonly subject?: string;
  readonly attribute?: string;
  readonly kinds?: readonly string[];
  readonly newestFirst?: boolean;
  readonly limit: number;
  /** Only rows behind this id. */
  readonly after?: number;
}

/** An open file. */
export interface JournalFile {
  readonly entries: () => number;
  /** @param rows ts, seq, kind, subject, attribute, body, one after the other; one transaction */
  insert(rows: readonly (string | number)[], start: number, end: number): void;
  /** In the order of insertion, or against it. */
  select(selection: Selection): JournalRow[];
  /** Makes the index and folds the WAL in: the file is then complete by itself. It may still be written, but slower. */
  seal(): void;
  close(): void;
}

/** Fields of an entry in the rows that `insert` takes. */
export const FIELDS = 6;

// The id is the time in microseconds, or one more than the last: it rises with each entry whatever the wall clock does,
// appends at the right edge of the table, and finds a span of time without an index.
const IDS_PER_MS = 1_000;
// Appending needs the right edge of the table only, and several files may be open.
const CACHE_KB = 500;
const SORTING_KB = 16_000;

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS entries (
    id INTEGER PRIMARY KEY, ts INTEGER NOT NULL, seq INTEGER NOT NULL, kind TEXT NOT NULL,
    subject TEXT NOT NULL, attribute TEXT NOT NULL, body TEXT NOT NULL
  );
  -- ahead: by how much an id is ahead of its time at most, where many came in one millisecond or the clock went back.
  CREATE TABLE IF NOT EXISTS summary (entries INTEGER NOT NULL, ahead INTEGER NOT NULL);
  INSERT INTO summary SELECT 0, 0 WHERE NOT EXISTS (SELECT 1 FROM summary);`;

/** Opens or creates a file of the journal. */
export function openJournalFile(path: string): JournalFile {
  const db = new Sqlite(path);
  try {
    return fileOn(db);
  } catch (error) {
    db.close();
    throw error;
  }
}

function fileOn(db: Sqlite.Database): JournalFile {
  db.pragma('synchronous = NORMAL');
  db.pragma(`cache_size = -${CACHE_KB}`);
  db.transaction(() => db.exec(SCHEMA))();
  const insert = db.prepare('INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?)');
  const summarise = db.prepare('UPDATE summary SET entries = ?, ahead = ?');
  const summary = db.prepare<[], { entries: number; ahead: number }>('SELECT entries, ahead FROM summary').get();
  const selects = new Map<string, Statement>();
  let { entries, ahead } = summary as { entries: number; ahead: number };
  let lastId = db.prepare<[], number | null>('SELECT max(id) FROM entries').pluck().get() ?? 0;
  let writing = false;

  const insertAll = db.transaction((rows: readonly (string | number)[], start: number, end: number) => {
    let id = lastId;
    let most = ahead;
    for (let i = start; i < end; i += FIELDS) {
      const due = Math.trunc((rows[i] as number) * IDS_PER_MS);
      id = Math.max(id + 1, due);
      most = Math.max(most, id - due);
      insert.run(id, rows[i], rows[i + 1], rows[i + 2], rows[i + 3], rows[i + 4], rows[i + 5]);
    }
    const count = entries + (end - start) / FIELDS;
    summarise.run(count, most);
    return { id, most, count };
  });

  function statement(sql: string): Statement {
    const known = selects.get(sql) ?? db.prepare(sql).raw();
    selects.set(sql, known);
    return known;
  }

  return {
    entries: () => entries,
    insert(rows, start, end) {
      if (!writing) db.pragma('journal_mode = WAL');
      writing = true;
      const done = insertAll(rows, start, end);
      lastId = done.id;
      ahead = done.most;
      entries = done.count;
    },
    select({ from, to, subject, attribute, kinds, newestFirst, limit, after }) {
      const where = ['id >= ? AND id < ? AND ts >= ? AND ts < ?'];
      const first = Math.max(Math.trunc(from * IDS_PER_MS), (after ?? -1) + 1);
      const given: (string | number)[] = [first, Math.ceil(to * IDS_PER_MS) + ahead + 1, from, to];
      for (const [column, wanted] of [
        ['subject', subject],
        ['attribute', attribute],
      ] as const) {
        if (wanted === undefined) continue;
        where.push(`${column} = ?`);
        given.push(wanted);
      }
      if (kinds) {
        where.push(`kind IN (${kinds.map(() => '?').join(', ')})`);
        given.push(...kinds);
      }
      const order = newestFirst ? 'DESC' : 'ASC';
      const sql = `SELECT id, ts, seq, kind, subject, attribute, body FROM entries
        WHERE ${where.join(' AND ')} ORDER BY id ${order} LIMIT ?`;
      return statement(sql).all(...given, limit) as JournalRow[];
    },
    seal() {
      // What is sorted for it fits into as much as pages do.
      db.pragma(`cache_size = -${SORTING_KB}`);
      db.exec('CREATE INDEX IF NOT EXISTS by_subject ON entries (subject, attribute)');
      db.pragma('journal_mode = DELETE');
      writing = false;
    },
    close: () => db.close(),
  };
}
