// A database with broken pages: what can still be read moves into a new one, so that the house starts.
import { existsSync, renameSync, rmSync } from 'node:fs';
import Sqlite, { type Database } from 'better-sqlite3';
import { openDatabase } from './database.ts';

/** A table of which something could not be read. */
export interface Damaged {
  readonly table: string;
  /** Unknown: the page that had the keys is broken. */
  readonly key: '*';
  readonly error: string;
}

/**
 * Puts a database with all readable rows in place of the damaged one, which is kept beside it as `….damaged-<n>.db`.
 * The caller has closed it.
 */
export function salvage(path: string): Damaged[] {
  const fresh = path.replace(/\.db$/, '.salvaged.db');
  for (const ending of ENDINGS) rmSync(fresh + ending, { force: true });
  const from = new Sqlite(path);
  const to = openDatabase(fresh);
  const damaged: Damaged[] = [];
  try {
    const tables = to.prepare<[], string>(`SELECT name FROM sqlite_schema WHERE type = 'table'`).pluck().all();
    for (const table of tables) {
      const error = to.transaction(() => copyTable(from, to, table))();
      if (error) damaged.push({ table, key: '*', error });
    }
  } finally {
    from.close();
    to.close();
  }
  const aside = freeName(path);
  for (const ending of ENDINGS) if (existsSync(path + ending)) renameSync(path + ending, aside + ending);
  renameSync(fresh, path);
  return damaged.map(found => ({ ...found, error: `${found.error}; the damaged file is kept as ${aside}` }));
}

const ENDINGS = ['', '-wal', '-shm'];

// A scan ends at the first broken page; from the other end it reaches what lies behind.
function copyTable(from: Database, to: Database, table: string): string | undefined {
  const width = (to.pragma(`table_info(${table})`) as unknown[]).length;
  const insert = to.prepare(`INSERT OR IGNORE INTO ${table} VALUES (${Array(width).fill('?').join(', ')})`);
  let error: string | undefined;
  for (const order of ['ASC', 'DESC']) {
    try {
      const rows = from.prepare(`SELECT * FROM ${table} ORDER BY 1 ${order}`).raw();
      for (const row of rows.iterate()) insert.run(...(row as unknown[]));
      return error;
    } catch (thrown) {
      error = thrown instanceof Error ? thrown.message : String(thrown);
    }
  }
  return error;
}

function freeName(path: string): string {
  for (let n = 1; ; n++) {
    const name = path.replace(/\.db$/, `.damaged-${n}.db`);
    if (!existsSync(name)) return name;
  }
}
