import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { silentLog } from '../../../src/lib/log.ts';
import { VirtualClock } from '../../../src/lib/virtual-clock.ts';
import { type BackupSource, createBackup, restoreBackup } from '../../../src/store/backup.ts';
import { openDatabase } from '../../../src/store/database.ts';
import { openJournal } from '../../../src/store/journal.ts';
import { lockDataDir } from '../../../src/store/lock.ts';
import { openStore, put, rowsOf, tempDir } from './support.ts';

const AT = Date.UTC(2026, 10, 30, 12);
const LATER = AT + 60_000;

function house() {
  const dir = tempDir();
  const data = join(dir, 'data');
  mkdirSync(join(dir, 'rules', 'attic'), { recursive: true });
  writeFileSync(join(dir, 'rules', 'attic', 'fan.yaml'), 'id: attic-fan\n');
  writeFileSync(join(dir, 'config.yaml'), 'http: { port: 8480 }\n');
  const sources: BackupSource[] = [
    { name: 'causeway.db', path: join(data, 'causeway.db') },
    { name: 'broker.db', path: join(data, 'broker.db') },
    { name: 'journal', path: join(data, 'journal') },
    { name: 'rules', path: join(dir, 'rules') },
    { name: 'config.yaml', path: join(dir, 'config.yaml') },
  ];
  const backup = (at = AT) => createBackup({ into: join(dir, 'backups'), sources, at, version: '0.1.0' });
  const restore = (from: string, at = LATER) => restoreBackup({ from, targets: sources, at, dataDir: data });
  return { dir, data, sources, backup, restore };
}

/** A house with a row, an entry of the journal, a rule and a configuration, backed up while both databases are open. */
async function backedUp() {
  const made = house();
  const store = await openStore(join(made.data, 'causeway.db'));
  await store.commit([put('memory', 'hold', { due: 1 })], 'full');
  const journal = await openJournal({ dir: join(made.data, 'journal'), clock: new VirtualClock(AT), log: silentLog });
  journal.append({ ts: AT, seq: 1, kind: 'event', subject: 'virtual:a', attribute: 'switch', body: '{}' });
  await journal.flush();
  const { path, manifest } = await made.backup();
  return { ...made, path, manifest, store, journal };
}

const failsWith = (code: string, text: string) =>
  expect.objectContaining({ code, message: expect.stringContaining(text) });

describe('a backup', () => {
  test('holds everything that there is, with a manifest, closed to other users', async () => {
    const { path, manifest, journal } = await backedUp();
    await journal.close();
    expect(path).toMatch(/causeway-2026-11-30T12-00-00$/);
    expect(manifest).toMatchObject({ format: 1, createdAt: '2026-11-30T12:00:00.000Z', version: '0.1.0', skipped: [] });
    expect(manifest.files.map(file => file.path)).toEqual([
      'causeway.db',
      'config.yaml',
      'journal/2026-11-30.db',
      'rules/attic/fan.yaml',
    ]);
    expect(JSON.parse(readFileSync(join(path, 'backup.json'), 'utf8'))).toEqual(manifest);
    expect(statSync(path).mode & 0o077).toBe(0);
  });

  test('brings back what was there, and keeps what has come since beside it', async () => {
    const { path, dir, data, store, journal, restore } = await backedUp();
    await store.commit([put('memory', 'hold', undefined), put('memory', 'new', 1)], 'full');
    await store.close();
    await journal.close();
    writeFileSync(join(dir, 'rules', 'later.yaml'), 'id: later\n');
    writeFileSync(join(dir, 'config.yaml'), 'broken: [');

    const { names, kept } = await restore(path);
    expect(names).toEqual(['causeway.db', 'journal', 'rules', 'config.yaml']);
    expect(kept).toContain(join(dir, 'rules.before-restore-2026-11-30T12-01-00'));
    expect(readdirSync(join(dir, 'rules'), { recursive: true })).toEqual(['attic', join('attic', 'fan.yaml')]);
    expect(readFileSync(join(dir, 'config.yaml'), 'utf8')).toBe('http: { port: 8480 }\n');
    expect(readdirSync(dir).filter(name => name.endsWith('.restoring'))).toEqual([]);

    const again = await openStore(join(data, 'causeway.db'));
    expect(await rowsOf(again, 'memory')).toEqual({ hold: { due: 1 } });
    const past = await openJournal({ dir: join(data, 'journal'), clock: new VirtualClock(AT), log: silentLog });
    expect(await past.query({ limit: 9 })).toHaveLength(1);
    await past.close();
  });

  test('is not mixed with a WAL that a crash left at its place', async () => {
    const { path, data, store, journal, restore } = await backedUp();
    await journal.close();
    await store.commit([put('memory', 'hold', { due: 99 })], 'full');
    const wal = readFileSync(join(data, 'causeway.db-wal'));
    await store.close();
    writeFileSync(join(data, 'causeway.db-wal'), wal);
    await restore(path);
    const again = await openStore(join(data, 'causeway.db'));
    expect(await rowsOf(again, 'memory')).toEqual({ hold: { due: 1 } });
  });

  test('leaves a damaged day of the journal out and says so', async () => {
    const { data, backup, journal } = await backedUp();
    await journal.close();
    writeFileSync(join(data, 'journal', '2026-11-29.db'), 'rubbish'.repeat(2_000));
    const { manifest } = await backup(LATER);
    expect(manifest.skipped).toEqual([{ path: 'journal/2026-11-29.db', error: expect.stringContaining('is damaged') }]);
    expect(manifest.files.map(file => file.path)).toContain('journal/2026-11-30.db');
  });

  test('that cannot be written leaves nothing behind', async () => {
    const { dir, data, backup } = house();
    mkdirSync(data);
    writeFileSync(join(data, 'causeway.db'), 'rubbish'.repeat(2_000));
    await expect(backup()).rejects.toEqual(failsWith('DATA_UNWRITABLE', 'is damaged'));
    expect(readdirSync(join(dir, 'backups'))).toEqual([]);
  });
});

describe('a restore', () => {
  test('is refused while a gateway runs', async () => {
    const { path, data, restore, journal } = await backedUp();
    await journal.close();
    const lock = lockDataDir(data, { startedAt: AT, addresses: ['http://127.0.0.1:8480'] });
    await expect(restore(path)).rejects.toEqual(failsWith('ALREADY_RUNNING', 'http://127.0.0.1:8480'));
    lock.release();
  });

  test.each<[string, (path: string) => void, string]>([
    ['has no manifest', path => rmSync(join(path, 'backup.json')), 'it has no backup.json'],
    [
      'has another kind of manifest',
      path => writeFileSync(join(path, 'backup.json'), '{}'),
      'backup.json does not parse',
    ],
    ['lacks a file', path => rmSync(join(path, 'config.yaml')), 'config.yaml is missing'],
    ['was changed', path => writeFileSync(join(path, 'config.yaml'), 'x'), 'config.yaml is not what was backed up'],
    [
      'names files outside of it',
      path => {
        const manifest = JSON.parse(readFileSync(join(path, 'backup.json'), 'utf8'));
        manifest.files.push({ path: '../config.yaml', bytes: 1, sha256: '' });
        writeFileSync(join(path, 'backup.json'), JSON.stringify(manifest));
      },
      '../config.yaml is outside of it',
    ],
  ])('of a backup that %s changes nothing', async (_name, spoil, text) => {
    const { dir, backup, restore } = house();
    const { path } = await backup();
    spoil(path);
    const before = readdirSync(dir, { recursive: true }).sort();
    await expect(restore(path)).rejects.toEqual(failsWith('INPUT_INVALID', text));
    const after = readdirSync(dir, { recursive: true }).sort();
    expect(after.filter(name => !String(name).startsWith('data'))).toEqual(before);
  });

  test('of a database from a newer Causeway changes nothing', async () => {
    const { data, backup, restore } = house();
    const db = openDatabase(join(data, 'causeway.db'));
    db.pragma('user_version = 999');
    db.close();
    const { path } = await backup();
    await expect(restore(path)).rejects.toEqual(failsWith('DATABASE_NEWER', 'version 999'));
    expect(existsSync(join(data, 'causeway.db'))).toBe(true);
  });
});
