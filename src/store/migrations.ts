// The schema of causeway.db as an ordered list of steps. A step that has been released is never edited: add another.
import { closeSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { CausewayError } from '../lib/errors.ts';

// A table per name of TABLES, not one table for all: each can be read with the sqlite3 shell, loaded in one scan and
// changed by itself. WITHOUT ROWID, because these rows come and go and a second b-tree would double the work.
const FIRST_TABLES = [
  'runs',
  'outbox',
  'memory',
  'variables',
  'modes',
  'state',
  'rules',
  'devices',
  'topics',
  'virtual',
  'scenes',
  'principals',
  'meta',
];

/** Step n leads from `user_version` n to n + 1. */
export const MIGRATIONS: readonly string[] = [
  `${FIRST_TABLES.map(name => `CREATE TABLE ${name} (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;`).join('\n')}
  CREATE TABLE revisions (
    rule TEXT NOT NULL, revision INTEGER NOT NULL, body TEXT NOT NULL, at INTEGER NOT NULL,
    author TEXT NOT NULL, via TEXT NOT NULL, PRIMARY KEY (rule, revision)
  );
  CREATE TABLE traces (
    id INTEGER PRIMARY KEY, run TEXT NOT NULL, rule TEXT NOT NULL, outcome TEXT NOT NULL, body TEXT NOT NULL
  );
  CREATE TABLE audit (
    id INTEGER PRIMARY KEY, at INTEGER NOT NULL, principal TEXT NOT NULL, via TEXT NOT NULL, op TEXT NOT NULL,
    input TEXT NOT NULL, outcome TEXT NOT NULL, code TEXT
  );
  CREATE TABLE quarantine (tbl TEXT NOT NULL, key TEXT NOT NULL, value, reason TEXT NOT NULL);
  CREATE TABLE syncs (count INTEGER NOT NULL);
  INSERT INTO syncs VALUES (0);`,
  'ALTER TABLE revisions ADD COLUMN source TEXT;',
];

/** The version that a database has: 0 for a fresh file. */
const versionOf = (db: Database): number => db.pragma('user_version', { simple: true }) as number;

/** Refuses a database that a newer Causeway has written. Only reads. */
export function refuseNewer(db: Database, path: string, migrations = MIGRATIONS): void {
  const version = versionOf(db);
  if (version <= migrations.length) return;
  throw new CausewayError(
    'DATABASE_NEWER',
    `${path} has version ${version}; this Causeway knows up to ${migrations.length}`,
    {
      hint: `Start the newer Causeway again, or restore a backup from before the update (causeway restore). Nothing was changed.`,
    },
  );
}

/** Brings the database to the newest version, step by step; an older one is first copied to `causeway.v<its version>.db`. */
export function migrate(db: Database, path: string, migrations = MIGRATIONS): void {
  const from = versionOf(db);
  if (from === migrations.length) return;
  if (from > 0) copyTo(db, path.replace(/\.db$/, `.v${from}.db`));
  for (const [index, sql] of migrations.entries()) {
    if (index < from) continue;
    db.transaction(() => {
      db.exec(sql);
      db.pragma(`user_version = ${index + 1}`);
    }).immediate();
  }
}

function copyTo(db: Database, copy: string): void {
  const part = `${copy}.part`;
  rmSync(part, { force: true });
  db.prepare('VACUUM INTO ?').run(part);
  syncFile(part);
  renameSync(part, copy);
}

/** Makes a written file durable. */
export function syncFile(path: string): void {
  // Windows wants a handle that may write; elsewhere a read-only file can be synced too.
  const fd = openSync(path, process.platform === 'win32' ? 'r+' : 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
