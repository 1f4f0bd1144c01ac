import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../../src/store/database.ts';
import { openCore } from '../../../src/store/sqlite-core.ts';
import { tempDir } from '../../integration/store/support.ts';

function open() {
  const path = join(tempDir(), 'causeway.db');
  const db = openDatabase(path);
  const core = openCore({ path, traces: { perRule: 5, total: 1_000 }, auditLimit: 10 }, db);
  onTestFinished(() => core.close());
  const rows = (table: string) =>
    Object.fromEntries(core.load().find(([name]) => name === table)?.[1].length ? pairs(table) : []);
  const pairs = (table: string) => db.prepare<[], [string, string]>(`SELECT key, value FROM ${table}`).raw().all();
  /** Leaves room for so many more pages, as a disk that is nearly full. */
  const roomFor = (pages: number) => {
    const used = db.pragma('page_count', { simple: true }) as number;
    db.pragma(`max_page_count = ${used + pages}`);
  };
  return { core, db, rows, roomFor };
}

const big = JSON.stringify('x'.repeat(50_000));

describe('the store on a full disk', () => {
  test('stores nothing of a transaction that does not fit, says what to do, and takes it once there is room', () => {
    const { core, rows, roomFor } = open();
    core.together([core.commit(['memory', 'old', '1'], true)]);
    roomFor(4);
    const commit = core.commit(['memory', 'small', '1', 'memory', 'old', null, 'runs', 'big', big], true);
    const [error] = core.together([commit]);
    expect(error).toMatchObject({
      code: 'DATA_UNWRITABLE',
      retryable: true,
      hint: expect.stringContaining('Free some space'),
    });
    expect(error?.message).toContain('causeway.db is full');
    expect(rows('memory')).toEqual({ old: '1' });
    expect(rows('runs')).toEqual({});
    roomFor(100);
    expect(core.together([commit])).toEqual([undefined]);
    expect(rows('memory')).toEqual({ small: '1' });
    expect(rows('runs')).toEqual({ big });
  });

  test('lets nobody fail for a stranger whose part of the transaction does not fit', () => {
    const { core, rows, roomFor } = open();
    core.together([core.commit(['memory', 'old', '1'], true)]);
    roomFor(4);
    const errors = core.together([
      core.commit(['memory', 'a', '1'], true),
      core.commit(['runs', 'big', big], false),
      core.commit(['memory', 'b', '1'], true),
    ]);
    expect(errors.map(error => error?.code)).toEqual([undefined, 'DATA_UNWRITABLE', undefined]);
    expect(rows('memory')).toEqual({ old: '1', a: '1', b: '1' });
  });
});

describe('durability', () => {
  test('is full for a transaction with a full part, and lazy for one without', () => {
    const { core, db } = open();
    const level = () => db.pragma('synchronous', { simple: true });
    const [NORMAL, FULL] = [1, 2];
    core.together([core.commit(['state', 'a', '1'], false)]);
    expect(level()).toBe(NORMAL);
    core.together([core.commit(['state', 'a', '2'], false), core.commit(['memory', 'a', '1'], true)]);
    expect(level()).toBe(FULL);
    core.together([core.putTraces([{ run: '01', rule: 'fan', outcome: 'completed', body: '{}' }])]);
    expect(level()).toBe(NORMAL);
    core.together([
      core.addRevision({ rule: 'fan', revision: 1, body: '{}', at: 1, author: 'a', via: 'file', source: null }),
    ]);
    expect(level()).toBe(FULL);
  });

  test('of a full commit holds for values that a lazy one has put before it', () => {
    const { core, db } = open();
    const pages = () => (db.pragma('wal_checkpoint(NOOP)') as [{ log: number }])[0].log;
    core.together([core.commit(['state', 'a', '1'], false)]);
    const before = pages();
    core.together([core.commit(['state', 'a', '1'], true)]);
    // Without a page there is no fsync either.
    expect(pages()).toBeGreaterThan(before);
  });

  test('folds the WAL in once a thousand pages wait', () => {
    const { core, db } = open();
    const waiting = () => {
      const [wal] = db.pragma('wal_checkpoint(NOOP)') as [{ log: number; checkpointed: number }];
      return wal.log - wal.checkpointed;
    };
    core.checkpoint();
    expect(waiting()).toBeGreaterThan(0);
    for (let i = 0; i < 80; i++) core.together([core.commit(['runs', `k${i}`, big], false)]);
    expect(waiting()).toBeGreaterThan(1_000);
    core.checkpoint();
    expect(waiting()).toBe(0);
  });
});

describe('traces past a bound that was lowered', () => {
  test('go in small steps with the next ones', () => {
    const path = join(tempDir(), 'causeway.db');
    const row = (i: number) => ({ run: String(i).padStart(5, '0'), rule: `r${i}`, outcome: 'completed', body: '{}' });
    const generous = openCore({ path, traces: { perRule: 5, total: 1_000 }, auditLimit: 10 });
    generous.together([generous.putTraces(Array.from({ length: 500 }, (_, i) => row(i)))]);
    generous.close();

    const db = openDatabase(path);
    const strict = openCore({ path, traces: { perRule: 5, total: 100 }, auditLimit: 10 }, db);
    const onDisk = () => db.prepare('SELECT count(*) FROM traces').pluck().get();
    expect(strict.traces({ limit: 999 })).toHaveLength(100);
    strict.together([strict.putTraces([row(500)])]);
    expect(onDisk()).toBe(300);
    strict.together([strict.putTraces([row(501)])]);
    strict.together([strict.putTraces([row(502)])]);
    expect(onDisk()).toBe(100);
    strict.close();
  });
});
