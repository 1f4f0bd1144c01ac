import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { openDatabase } from '../../../src/store/database.ts';
import { sqliteStore } from '../../../src/store/sqlite.ts';
import { openStore, put, rowsOf, tempDir, trace } from './support.ts';

const newPath = () => join(tempDir(), 'causeway.db');

describe('rows that are broken', () => {
  test('are set aside with the reason, reported once, and do not stop the start', async () => {
    const path = newPath();
    const store = await openStore(path);
    await store.commit([put('memory', 'good', 1), put('memory', 'bad', 2), put('runs', 'bad', 3)], 'full');
    await store.close();
    const db = new Sqlite(path);
    db.exec(`UPDATE memory SET value = '{"due":' WHERE key = 'bad'; UPDATE runs SET value = x'fffe'`);
    db.close();

    const again = await openStore(path);
    const { tables, corrupt } = await again.load();
    expect(Object.fromEntries(tables.memory)).toEqual({ good: 1 });
    expect(tables.runs.size).toBe(0);
    expect(corrupt.map(({ table, key }) => `${table}/${key}`).sort()).toEqual(['memory/bad', 'runs/bad']);
    expect(corrupt.find(({ table }) => table === 'memory')?.error).toContain('JSON');
    expect((await again.load()).corrupt).toEqual([]);
    await again.commit([put('memory', 'bad', 'new')], 'full');
    await again.close();

    const kept = new Sqlite(path, { readonly: true });
    expect(kept.prepare('SELECT tbl, key, value FROM quarantine ORDER BY tbl').raw().all()).toEqual([
      ['memory', 'bad', '{"due":'],
      ['runs', 'bad', Buffer.from([0xff, 0xfe])],
    ]);
    kept.close();
  });

  test('in revisions, traces and audit are left out of what is found', async () => {
    const path = newPath();
    const store = await openStore(path);
    const revision = { rule: 'fan', revision: 1, body: {}, at: 1, author: 'ada', via: 'mcp' };
    await store.addRevision(revision);
    await store.addRevision({ ...revision, revision: 2 });
    await store.putTraces([trace('01', 'fan'), trace('02', 'fan')]);
    const record = { at: 1, principal: 'ada', via: 'mcp', op: 'x', input: null, outcome: 'ok' } as const;
    await store.addAudit([record, { ...record, at: 2 }]);
    await store.close();
    const db = new Sqlite(path);
    db.exec(`UPDATE revisions SET body = '?' WHERE revision = 1; UPDATE traces SET body = '?' WHERE run = '01';
      UPDATE audit SET input = '?' WHERE at = 1`);
    db.close();
    const again = await openStore(path);
    expect((await again.revisions('fan')).map(({ revision: n }) => n)).toEqual([2]);
    expect((await again.traces({ limit: 9 })).map(({ run }) => run)).toEqual(['02']);
    expect(await again.trace('01')).toBeUndefined();
    expect((await again.audit({ limit: 9 })).map(({ at }) => at)).toEqual([2]);
  });
});

describe('a page that is broken', () => {
  test('costs the rows on it; the others move into a new database and the old one is kept', async () => {
    const path = newPath();
    const store = await openStore(path);
    const all = Array.from({ length: 2_000 }, (_, i) => put('memory', `k${i}`, { i, pad: 'x'.repeat(100) }));
    await store.commit([...all, put('modes', 'mode', 'home')], 'full');
    await store.addRevision({ rule: 'fan', revision: 1, body: { id: 'fan' }, at: 1, author: 'ada', via: 'mcp' });
    await store.close();
    breakLeafOf(path, 'memory');

    const again = await openStore(path);
    const { tables, corrupt } = await again.load();
    expect(corrupt).toEqual([{ table: 'memory', key: '*', error: expect.stringContaining('causeway.damaged-1.db') }]);
    expect(tables.memory.size).toBeGreaterThan(1_900);
    expect(tables.memory.size).toBeLessThan(2_000);
    expect(tables.modes.get('mode')).toBe('home');
    expect(await again.revision('fan', 1)).toMatchObject({ body: { id: 'fan' } });
    await again.commit(all, 'full');
    expect((await again.load()).corrupt).toEqual([]);
    expect(await rowsOf(again, 'memory')).toHaveProperty('k1999');
    expect(existsSync(path.replace('.db', '.damaged-1.db'))).toBe(true);
  });

  test('in the head of the file stops the start with a word on what to do', async () => {
    const path = newPath();
    writeFileSync(path, 'this is no database, however long one looks at it'.repeat(100));
    await expect(sqliteStore({ path })).rejects.toMatchObject({
      code: 'DATA_UNWRITABLE',
      message: expect.stringContaining('is damaged'),
      hint: expect.stringContaining('causeway restore'),
    });
  });
});

describe('a database that cannot be used', () => {
  test('because it is newer is refused with DATABASE_NEWER and not touched', async () => {
    const path = newPath();
    const db = openDatabase(path);
    db.pragma('user_version = 999');
    db.close();
    const before = readFileSync(path);
    await expect(sqliteStore({ path })).rejects.toMatchObject({
      code: 'DATABASE_NEWER',
      message: expect.stringContaining('version 999'),
      hint: expect.stringContaining('causeway restore'),
    });
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  test('because its folder cannot be made is refused with DATA_UNWRITABLE, which names it', async () => {
    const file = join(tempDir(), 'file');
    writeFileSync(file, '');
    await expect(sqliteStore({ path: join(file, 'data', 'causeway.db') })).rejects.toMatchObject({
      code: 'DATA_UNWRITABLE',
      retryable: true,
      message: expect.stringContaining(file),
      hint: expect.stringContaining(join(file, 'data')),
    });
  });

  test('because a folder has its name is refused with DATA_UNWRITABLE', async () => {
    const path = newPath();
    mkdirSync(path);
    await expect(sqliteStore({ path })).rejects.toMatchObject({ code: 'DATA_UNWRITABLE' });
  });

  test('because another program holds it fails the commit, which may then be tried again', async () => {
    const path = newPath();
    const store = await openStore(path);
    const other = new Sqlite(path);
    other.exec('BEGIN IMMEDIATE');
    const refused = store.commit([put('memory', 'a', 1)], 'full');
    await expect(refused).rejects.toMatchObject({ code: 'DATA_UNWRITABLE', retryable: true });
    other.exec('ROLLBACK');
    other.close();
    expect(await rowsOf(store, 'memory')).toEqual({});
    await store.commit([put('memory', 'a', 1)], 'full');
    expect(await rowsOf(store, 'memory')).toEqual({ a: 1 });
  });
});

describe('a backup of the store', () => {
  test('is consistent while commits go on', async () => {
    const path = newPath();
    const store = await openStore(path);
    let goOn = true;
    const writer = (async () => {
      // Both rows of a commit carry the same number, so a torn copy would show.
      for (let n = 0; goOn; n++) {
        await store.commit(
          [put('memory', 'n', n), put('runs', 'n', n), put('state', `k${n}`, 'x'.repeat(3_000))],
          'lazy',
        );
      }
    })();
    const copy = join(dirname(path), 'copy.db');
    await store.backup(copy);
    goOn = false;
    await writer;
    const { tables, corrupt } = await (await openStore(copy)).load();
    expect(corrupt).toEqual([]);
    expect(tables.memory.get('n')).toBe(tables.runs.get('n'));
    expect(readdirSync(dirname(path)).filter(name => name.endsWith('.part'))).toEqual([]);
  });
});

/** Overwrites a page in the middle of a table's tree with rubbish. */
function breakLeafOf(path: string, table: string): void {
  const db = new Sqlite(path, { readonly: true });
  const pages = db
    .prepare<[string], number>(`SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path`)
    .pluck()
    .all(table);
  const size = db.pragma('page_size', { simple: true }) as number;
  db.close();
  const page = pages[Math.floor(pages.length / 2)] as number;
  const fd = openSync(path, 'r+');
  writeSync(fd, Buffer.alloc(size, 0x5a), 0, size, (page - 1) * size);
  closeSync(fd);
}
