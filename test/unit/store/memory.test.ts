import { describe, expect, test } from 'vitest';
import { memoryStore } from '../../../src/store/memory.ts';
import { put, rowsOf, trace } from '../../integration/store/support.ts';

describe('the store in memory', () => {
  test('has committed when it returns', async () => {
    const order: string[] = [];
    const committed = memoryStore()
      .commit([put('memory', 'a', 1)], 'full')
      .then(() => order.push('committed'));
    const next = Promise.resolve().then(() => order.push('next microtask'));
    await Promise.all([committed, next]);
    expect(order).toEqual(['committed', 'next microtask']);
  });

  test('hands all over to its successor after a kill, and goes on apart from it', async () => {
    const store = memoryStore();
    await store.commit([put('memory', 'a', 1)], 'full');
    await store.commit([put('state', 'a', 1)], 'lazy');
    await store.putTraces([trace('01', 'fan')]);
    const after = store.snapshot('kill');
    await store.commit([put('memory', 'b', 2)], 'full');
    await after.commit([put('memory', 'c', 3)], 'full');
    expect(await rowsOf(after, 'memory')).toEqual({ a: 1, c: 3 });
    expect(await rowsOf(after, 'state')).toEqual({ a: 1 });
    expect(await after.trace('01')).toEqual(trace('01', 'fan'));
    expect(await rowsOf(store, 'memory')).toEqual({ a: 1, b: 2 });
  });

  test('loses what was lazy since the last full commit by a power cut, and only that', async () => {
    const store = memoryStore();
    await store.commit([put('state', 'early', 1), put('state', 'changed', 1)], 'lazy');
    await store.putTraces([trace('01', 'fan', 'running')]);
    await store.addAudit([{ at: 1, principal: 'ada', via: 'mcp', op: 'x', input: null, outcome: 'ok' }]);
    await store.commit([put('memory', 'a', 1)], 'full');
    await store.commit([put('state', 'late', 1), put('state', 'changed', 2), put('memory', 'a', undefined)], 'lazy');
    await store.putTraces([trace('01', 'fan', 'completed'), trace('02', 'fan')]);
    await store.addAudit([{ at: 2, principal: 'ada', via: 'mcp', op: 'x', input: null, outcome: 'ok' }]);
    const after = store.snapshot('power');
    expect(await rowsOf(after, 'state')).toEqual({ early: 1, changed: 1 });
    expect(await rowsOf(after, 'memory')).toEqual({ a: 1 });
    expect(await after.traces({ limit: 9 })).toEqual([trace('01', 'fan', 'running')]);
    expect((await after.audit({ limit: 9 })).map(({ at }) => at)).toEqual([1]);
  });

  test('keeps a revision over a power cut', async () => {
    const store = memoryStore();
    const revision = { rule: 'fan', revision: 1, body: {}, at: 1, author: 'ada', via: 'mcp' };
    await store.addRevision(revision);
    expect(await store.snapshot('power').revision('fan', 1)).toEqual(revision);
  });

  test('finds the traces of its predecessor in order', async () => {
    const store = memoryStore({ traces: { perRule: 2, total: 10 } });
    await store.putTraces([trace('01', 'fan'), trace('02', 'fan')]);
    const after = store.snapshot('kill');
    await after.putTraces([trace('03', 'fan')]);
    expect((await after.traces({ limit: 9 })).map(({ run }) => run)).toEqual(['03', '02']);
    expect((await store.traces({ limit: 9 })).map(({ run }) => run)).toEqual(['02', '01']);
  });
});
