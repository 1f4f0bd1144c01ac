// Opening causeway.db, and its faults in our words.
import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import Sqlite, { type Database } from 'better-sqlite3';
import { CausewayError } from '../lib/errors.ts';
import { MIGRATIONS, migrate, refuseNewer } from './migrations.ts';

// How long a commit waits for somebody with a sqlite3 shell before it says so.
const BUSY_MS = 2_000;
// SQLite's own default; better-sqlite3's is eight times that. What is not here is in the system's cache of the file.
const CACHE_KB = 2_000;

/** True when SQLite says that the file itself is broken, not the disk or the folder. */
export const isDamage = (thrown: unknown): boolean =>
  thrown instanceof Sqlite.SqliteError && /^SQLITE_(CORRUPT|NOTADB)/.test(thrown.code);

const codeOf = (thrown: unknown): string => (thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '');

/** True when there is no space left. */
export const isFull = (thrown: unknown): boolean => /^(SQLITE_FULL|ENOSPC|EDQUOT)$/.test(codeOf(thrown));

/** What SQLite or the file system threw, as DATA_UNWRITABLE with what to do; a CausewayError stays as it is. */
export function asStoreError(thrown: unknown, path: string): CausewayError {
  if (thrown instanceof CausewayError) return thrown;
  const code = codeOf(thrown);
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const fault = (text: string, hint: string) => new CausewayError('DATA_UNWRITABLE', text, { hint, cause: thrown });
  if (isDamage(thrown)) {
    return fault(
      `${path} is damaged: ${message}`,
      'Restore a backup (causeway restore), or move the file away to start with an empty one.',
    );
  }
  if (isFull(thrown)) {
    return fault(`the disk of ${path} is full`, 'Free some space; nothing of this was stored, it is tried again.');
  }
  if (/^SQLITE_(BUSY|LOCKED)/.test(code)) {
    return fault(`${path} is locked by another program`, 'Close whatever has the database open for writing.');
  }
  if (/^SQLITE_(IOERR|READONLY|CANTOPEN|PERM)|^E[A-Z]+$/.test(code)) {
    return fault(
      `${path} cannot be written: ${message} (${code})`,
      `Check that ${dirname(path)} is a folder that this user may write, on a disk that works.`,
    );
  }
  return new CausewayError('INTERNAL', message, { cause: thrown });
}

/**
 * Opens, or creates, the database at `path` with its folder: WAL, `synchronous=FULL`, migrated.
 * @throws CausewayError DATABASE_NEWER (the file is then untouched) or DATA_UNWRITABLE
 */
export function openDatabase(path: string, migrations = MIGRATIONS): Database {
  let db: Database | undefined;
  try {
    mkdirSync(dirname(path), { recursive: true });
    if (existsSync(path)) refuse(path, migrations);
    db = new Sqlite(path, { timeout: BUSY_MS });
    db.pragma('journal_mode = WAL');
    db.pragma('synchronous = FULL');
    // After a burst the WAL gives its space back.
    db.pragma('journal_size_limit = 16777216');
    db.pragma(`cache_size = -${CACHE_KB}`);
    migrate(db, path, migrations);
    return db;
  } catch (error) {
    db?.close();
    throw asStoreError(error, path);
  }
}

// A connection that may write would check-point an unfinished WAL on closing, so one that may not has the first look.
function refuse(path: string, migrations: readonly string[]): void {
  const db = new Sqlite(path, { readonly: true });
  try {
    refuseNewer(db, path, migrations);
  } finally {
    db.close();
  }
}
