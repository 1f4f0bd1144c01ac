import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { openDatabase } from '../../../src/store/database.ts';
import { MIGRATIONS } from '../../../src/store/migrations.ts';
import { TABLES } from '../../../src/store/store.ts';
import { tempDir } from '../../integration/store/support.ts';

const FIRST = 'CREATE TABLE lamps (key TEXT PRIMARY KEY, value TEXT)';
const SECOND = 'ALTER TABLE lamps RENAME COLUMN value TO state';
const THIRD = `INSERT INTO lamps VALUES ('new', 'off')`;

/** A database as the first version left it: with a row, and its WAL not folded in. */
function oldDatabase(): string {
  const path = join(tempDir(), 'causeway.db');
  const db = openDatabase(path, [FIRST]);
  db.exec(`INSERT INTO lamps VALUES ('attic', 'on')`);
  db.close();
  return path;
}

describe('migrations', () => {
  test('give a fresh database every table of the store', () => {
    const db = openDatabase(join(tempDir(), 'new', 'causeway.db'));
    const names = db.prepare<[], string>('SELECT name FROM sqlite_schema').pluck().all();
    for (const table of TABLES) expect(names).toContain(table);
    expect(db.pragma('user_version', { simple: true })).toBe(MIGRATIONS.length);
    expect(db.pragma('journal_mode', { simple: true })).toBe('wal');
    db.close();
  });

  test('bring an older database to the newest version and keep its rows and a copy of how it was', () => {
    const path = oldDatabase();
    const db = openDatabase(path, [FIRST, SECOND, THIRD]);
    expect(db.prepare('SELECT key, state FROM lamps ORDER BY key').raw().all()).toEqual([
      ['attic', 'on'],
      ['new', 'off'],
    ]);
    db.close();
    const copy = new Sqlite(path.replace('.db', '.v1.db'), { readonly: true });
    expect(copy.pragma('user_version', { simple: true })).toBe(1);
    expect(copy.prepare('SELECT key, value FROM lamps').raw().all()).toEqual([['attic', 'on']]);
    copy.close();
  });

  test('change nothing, and copy nothing, when there is nothing to do', () => {
    const path = oldDatabase();
    openDatabase(path, [FIRST]).close();
    expect(existsSync(path.replace('.db', '.v1.db'))).toBe(false);
  });

  test('leave the database at the step before the one that fails, to be tried again', () => {
    const path = oldDatabase();
    expect(() => openDatabase(path, [FIRST, SECOND, `${THIRD}; CREATE nonsense`])).toThrow();
    const db = openDatabase(path, [FIRST, SECOND, THIRD]);
    expect(db.prepare('SELECT count(*) FROM lamps').pluck().get()).toBe(2);
    db.close();
  });

  test('refuse a database of a newer version and leave the file as it is', () => {
    const path = oldDatabase();
    openDatabase(path, [FIRST, SECOND]).close();
    const before = readFileSync(path);
    expect(() => openDatabase(path, [FIRST])).toThrow(
      expect.objectContaining({ code: 'DATABASE_NEWER', hint: expect.stringContaining('causeway restore') }),
    );
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  test('leave a newer database alone even where its WAL was never folded in', () => {
    const path = oldDatabase();
    const newer = openDatabase(path, [FIRST, SECOND]);
    newer.exec(`INSERT INTO lamps VALUES ('porch', 'on')`);
    // What a crash of the newer Causeway leaves: whoever closes such a database as the last one folds the WAL in.
    const crashed = join(tempDir(), 'causeway.db');
    for (const ending of ['', '-wal']) copyFileSync(path + ending, crashed + ending);
    newer.close();
    const files = [crashed, `${crashed}-wal`];
    const before = files.map(file => readFileSync(file));
    expect(() => openDatabase(crashed, [FIRST])).toThrow(expect.objectContaining({ code: 'DATABASE_NEWER' }));
    expect(files.every((file, i) => readFileSync(file).equals(before[i] as Buffer))).toBe(true);
  });
});
