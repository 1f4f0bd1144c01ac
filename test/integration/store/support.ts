// What the tests of the store share: folders that vanish after the test, and short ways to write rows.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Trace } from '../../../src/model/run.ts';
import { type SqliteStoreOptions, sqliteStore } from '../../../src/store/sqlite.ts';
import type { Change, Store, TableName } from '../../../src/store/store.ts';

/** A folder of its own for the running test. */
export function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'causeway-store-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** Opens a SQLite store that is closed with the test, unless the test did. */
export async function openStore(path: string, options: Partial<SqliteStoreOptions> = {}): Promise<Store> {
  const store = await sqliteStore({ path, ...options });
  onTestFinished(() => store.close().catch(() => {}));
  return store;
}

export const put = (table: TableName, key: string, value: unknown): Change => ({ table, key, value });

/** The rows of one table as an object. */
export async function rowsOf(store: Store, table: TableName): Promise<Record<string, unknown>> {
  return Object.fromEntries((await store.load()).tables[table]);
}

export const trace = (run: string, rule: string, outcome: Trace['outcome'] = 'completed'): Trace => ({
  run,
  rule,
  revision: 1,
  trigger: 'hot',
  at: '2026-11-30T10:00:00.000Z',
  outcome,
  steps: [],
});
