// Both implementations of the Store port behave alike.
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { memoryStore } from '../../../src/store/memory.ts';
import { type AuditRecord, type Revision, type Store, TABLES } from '../../../src/store/store.ts';
import { openStore, put, rowsOf, tempDir, trace } from './support.ts';

const limits = { traces: { perRule: 3, total: 5 }, auditLimit: 4 };
const implementations: [string, () => Promise<Store>][] = [
  ['memory', async () => memoryStore(limits)],
  ['SQLite', () => openStore(join(tempDir(), 'causeway.db'), limits)],
];

const revision = (rule: string, number: number, body: Revision['body'] = { id: rule, number }): Revision => ({
  rule,
  revision: number,
  body,
  at: 1_000 + number,
  author: 'ada',
  via: 'mcp',
});
const audited = (at: number, op: string, principal = 'ada'): AuditRecord => ({
  at,
  principal,
  via: 'rest',
  op,
  input: { at },
  outcome: 'ok',
});
const runs = (traces: { run: string }[]) => traces.map(({ run }) => run);

describe.each(implementations)('the %s store', (_name, open) => {
  test('starts with every table empty and nothing corrupt', async () => {
    const { tables, corrupt } = await (await open()).load();
    expect(Object.values(tables).map(rows => rows.size)).toEqual(TABLES.map(() => 0));
    expect(corrupt).toEqual([]);
  });

  test('keeps what was put, replaces it, and removes it', async () => {
    const store = await open();
    await store.commit([put('memory', 'a', { due: 1 }), put('runs', 'a', null), put('meta', 'ü 🚪', 'x')], 'full');
    await store.commit(
      [put('memory', 'a', { due: 2 }), put('memory', 'b', [1]), put('meta', 'none', undefined)],
      'lazy',
    );
    await store.commit([put('runs', 'a', undefined)], 'full');
    expect(await rowsOf(store, 'memory')).toEqual({ a: { due: 2 }, b: [1] });
    expect(await rowsOf(store, 'runs')).toEqual({});
    expect(await rowsOf(store, 'meta')).toEqual({ 'ü 🚪': 'x' });
  });

  test('keeps null apart from nothing, and stores what JSON makes of a value', async () => {
    const store = await open();
    await store.commit([put('variables', 'a', null), put('variables', 'b', { x: undefined, n: Number.NaN })], 'full');
    expect(await rowsOf(store, 'variables')).toEqual({ a: null, b: { n: null } });
  });

  test('takes the last of several changes of one key in a commit', async () => {
    const store = await open();
    await store.commit([put('outbox', 'k', 1), put('outbox', 'k', undefined), put('outbox', 'k', 3)], 'full');
    await store.commit([put('outbox', 'l', 1), put('outbox', 'l', undefined)], 'full');
    expect(await rowsOf(store, 'outbox')).toEqual({ k: 3 });
  });

  test('is not touched by what happens to a value after its commit', async () => {
    const store = await open();
    const value = { due: 1 };
    const done = store.commit([put('memory', 'a', value)], 'full');
    value.due = 2;
    await done;
    expect(await rowsOf(store, 'memory')).toEqual({ a: { due: 1 } });
  });

  test('keeps many commits in the order in which they were made, without waiting for each', async () => {
    const store = await open();
    const commits = Array.from({ length: 200 }, (_, i) =>
      store.commit([put('state', 'k', i), put('state', `k${i}`, i)], i % 3 === 0 ? 'full' : 'lazy'),
    );
    await Promise.all(commits);
    const rows = await rowsOf(store, 'state');
    expect(rows.k).toBe(199);
    expect(Object.keys(rows)).toHaveLength(201);
  });

  test('numbers revisions without a gap', async () => {
    const store = await open();
    await expect(store.addRevision(revision('fan', 2))).rejects.toMatchObject({ code: 'REVISION_CONFLICT' });
    await store.addRevision(revision('fan', 1));
    const both = await Promise.allSettled([
      store.addRevision(revision('fan', 2)),
      store.addRevision(revision('fan', 2)),
    ]);
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    await store.addRevision(revision('fan', 3, null));
    await store.addRevision(revision('lamp', 1));
    expect((await store.revisions('fan')).map(({ revision: n }) => n)).toEqual([3, 2, 1]);
    expect((await store.revisions('fan', 2)).map(({ revision: n }) => n)).toEqual([3, 2]);
    expect(await store.revision('fan', 1)).toEqual(revision('fan', 1));
    await store.addRevision({ ...revision('fan', 4), source: 'digest' });
    expect(await store.revision('fan', 4)).toEqual({ ...revision('fan', 4), source: 'digest' });
    expect(await store.revision('fan', 9)).toBeUndefined();
    expect(await store.revisions('none')).toEqual([]);
    const last = await store.lastRevisions();
    expect(last.sort((a, b) => (a.rule < b.rule ? -1 : 1))).toEqual([
      { ...revision('fan', 4), source: 'digest' },
      revision('lamp', 1),
    ]);
  });

  test('finds traces newest first, by rule, by outcome, and page by page', async () => {
    const store = await open();
    await store.putTraces([trace('01', 'fan'), trace('02', 'lamp', 'refused'), trace('03', 'fan', 'failed')]);
    expect(runs(await store.traces({ limit: 10 }))).toEqual(['03', '02', '01']);
    expect(runs(await store.traces({ limit: 1, before: '03' }))).toEqual(['02']);
    expect(runs(await store.traces({ limit: 10, rule: 'fan' }))).toEqual(['03', '01']);
    expect(runs(await store.traces({ limit: 10, outcome: 'refused' }))).toEqual(['02']);
    expect(runs(await store.traces({ limit: 10, rule: 'none' }))).toEqual([]);
    expect(await store.trace('01')).toEqual(trace('01', 'fan'));
    expect(await store.trace('09')).toBeUndefined();
  });

  test('replaces the trace of a run that went on', async () => {
    const store = await open();
    await store.putTraces([trace('01', 'fan', 'waiting')]);
    await store.putTraces([trace('01', 'fan', 'completed')]);
    expect(await store.traces({ limit: 10 })).toEqual([trace('01', 'fan', 'completed')]);
    expect(await store.traces({ limit: 10, outcome: 'waiting' })).toEqual([]);
  });

  test('keeps the newest traces of each rule, and not more than all in all', async () => {
    const store = await open();
    await store.putTraces([trace('01', 'lamp'), ...['02', '03', '04', '05', '06'].map(run => trace(run, 'fan'))]);
    expect(runs(await store.traces({ limit: 10 }))).toEqual(['06', '05', '04', '01']);
    expect(await store.trace('02')).toBeUndefined();
    await store.putTraces([trace('07', 'a'), trace('08', 'b')]);
    expect(runs(await store.traces({ limit: 10 }))).toEqual(['08', '07', '06', '05', '04']);
  });

  test('finds audit records newest first and keeps a bounded number', async () => {
    const store = await open();
    await store.addAudit([audited(1, 'a'), audited(2, 'b'), audited(3, 'a', 'bob')]);
    await store.addAudit([{ ...audited(4, 'b', 'bob'), outcome: 'denied', code: 'FORBIDDEN' }]);
    const ats = async (query: object) => (await store.audit({ limit: 10, ...query })).map(({ at }) => at);
    expect(await ats({})).toEqual([4, 3, 2, 1]);
    expect(await ats({ principal: 'bob' })).toEqual([4, 3]);
    expect(await ats({ op: 'a', before: 3 })).toEqual([1]);
    expect(await ats({ limit: 1 })).toEqual([4]);
    expect((await store.audit({ limit: 1 }))[0]).toEqual({
      ...audited(4, 'b', 'bob'),
      outcome: 'denied',
      code: 'FORBIDDEN',
    });
    await store.addAudit([audited(5, 'c'), audited(6, 'c')]);
    expect(await ats({})).toEqual([6, 5, 4, 3]);
  });

  test('takes empty lists', async () => {
    const store = await open();
    await store.commit([], 'full');
    await store.putTraces([]);
    await store.addAudit([]);
    expect(await store.traces({ limit: 1 })).toEqual([]);
  });
});
