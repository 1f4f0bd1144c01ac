// What the store's worker does with SQLite, synchronously. Values are JSON texts, made and read on the main thread.
import type { Database, Statement } from 'better-sqlite3';
import { CausewayError } from '../lib/errors.ts';
import { asStoreError, openDatabase } from './database.ts';
import {
  type AuditRow,
  auditTable,
  type RevisionRow,
  revisionTable,
  type TraceRow,
  traceTable,
} from './sqlite-records.ts';
import { TABLES, type TableName } from './store.ts';
import type { TraceLimits } from './trace-index.ts';

/** Where the database is and what is kept in it. */
export interface CoreOptions {
  readonly path: string;
  readonly traces: TraceLimits;
  /** Audit records that are kept. */
  readonly auditLimit: number;
}

/** Keys and JSON texts of a table, one after the other. */
export type LoadedTable = readonly [table: TableName, keysAndTexts: unknown[]];

/** A part of a transaction. */
export interface Write {
  readonly full: boolean;
  run(): void;
}

// SQLite's own measure of when. It would do it inside a commit; the worker does it between two, and SQLite only when the
// worker finds no time for long.
const CHECKPOINT_PAGES = 1_000;
const LATEST_CHECKPOINT_PAGES = 8_000;

/** The store on an open database. Its functions throw what SQLite throws; the worker puts it into our words. */
export function openCore(options: CoreOptions, db: Database = openDatabase(options.path)) {
  db.pragma(`wal_autocheckpoint = ${LATEST_CHECKPOINT_PAGES}`);
  const tables = tableStatements(db);
  const revisions = revisionTable(db);
  const audit = auditTable(db, options.auditLimit);
  const traces = traceTable(db, options.traces);
  const quarantine = db.prepare('INSERT INTO quarantine (tbl, key, value, reason) VALUES (?, ?, ?, ?)');
  const [begin, commit, rollback] = ['BEGIN IMMEDIATE', 'COMMIT', 'ROLLBACK'].map(sql => db.prepare(sql)) as [
    Statement,
    Statement,
    Statement,
  ];
  const countSync = db.prepare('UPDATE syncs SET count = count + 1');
  let level: 'FULL' | 'NORMAL' = 'FULL';
  // Commits whose pages may not have reached the disk: at first those of a process that was killed.
  let unsynced = true;

  function transaction(full: boolean, body: () => void): void {
    const wanted = full ? 'FULL' : 'NORMAL';
    if (level !== wanted) {
      // SQLite carries this pragma out while compiling it: a prepared one would do nothing.
      db.exec(`PRAGMA synchronous = ${wanted}`);
      level = wanted;
    }
    begin.run();
    try {
      body();
      // A transaction that puts the values which are there already writes no page, and syncs nothing. When those came by
      // lazy commits, the promise of this one would be empty.
      if (full && unsynced) countSync.run();
      commit.run();
      unsynced = !full;
    } catch (error) {
      if (db.inTransaction) rollback.run();
      throw error;
    }
  }

  /** One transaction for all; when it fails, one for each, so that nobody fails for a stranger. One outcome per write. */
  function together(writes: readonly Write[]): (CausewayError | undefined)[] {
    try {
      transaction(
        writes.some(write => write.full),
        () => {
          for (const write of writes) write.run();
        },
      );
      return writes.map(() => undefined);
    } catch (error) {
      if (writes.length === 1) return [asStoreError(error, options.path)];
      return writes.flatMap(write => together([write]));
    }
  }

  return {
    together,
    load(): LoadedTable[] {
      traces.load();
      return TABLES.map(name => [name, db.prepare(`SELECT key, value FROM ${name}`).raw().all().flat()] as const);
    },
    /** @param rows table, key, and JSON text (null removes), one after the other */
    commit: (rows: readonly (string | null)[], full: boolean): Write => ({
      full,
      run() {
        for (let i = 0; i < rows.length; i += 3) {
          const { put, remove } = tables(rows[i] as TableName);
          const text = rows[i + 2];
          if (text === null) remove.run(rows[i + 1]);
          else put.run(rows[i + 1], text);
        }
      },
    }),
    quarantine: (rows: readonly { table: TableName; key: string; error: string }[]): Write => ({
      full: true,
      run() {
        for (const { table, key, error } of rows) {
          const { get, remove } = tables(table);
          quarantine.run(table, key, get.pluck().get(key), error);
          remove.run(key);
        }
      },
    }),
    addRevision: (row: RevisionRow): Write => ({ full: true, run: () => revisions.add(row) }),
    addAudit: (rows: readonly AuditRow[]): Write => ({ full: false, run: () => audit.add(rows) }),
    putTraces: (rows: readonly TraceRow[]): Write => ({ full: false, run: () => traces.put(rows) }),
    revisions: revisions.of,
    revision: revisions.get,
    lastRevisions: revisions.last,
    audit: audit.find,
    trace: traces.get,
    traces: traces.find,
    /** Moves what the WAL holds into the database, once it is worth two fsyncs. */
    checkpoint(): void {
      const [wal] = db.pragma('wal_checkpoint(NOOP)') as [{ log: number; checkpointed: number }];
      if (wal.log - wal.checkpointed >= CHECKPOINT_PAGES) db.pragma('wal_checkpoint(PASSIVE)');
    },
    backup: (path: string) => db.backup(path),
    close(): void {
      db.close();
    },
  };
}

/** What `openCore` gives. */
export type StoreCore = ReturnType<typeof openCore>;

function tableStatements(db: Database) {
  const known = new Map<TableName, Record<'put' | 'get' | 'remove', Statement>>(
    TABLES.map(name => [
      name,
      {
        put: db.prepare(`INSERT INTO ${name} VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value`),
        get: db.prepare(`SELECT value FROM ${name} WHERE key = ?`),
        remove: db.prepare(`DELETE FROM ${name} WHERE key = ?`),
      },
    ]),
  );
  return (name: TableName) => {
    const statements = known.get(name);
    if (!statements) throw new CausewayError('INTERNAL', `the store has no table "${name}"`);
    return statements;
  };
}
