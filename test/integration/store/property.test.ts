// Any sequence of commits leaves the tables of a plain Map.
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { memoryStore } from '../../../src/store/memory.ts';
import { type Change, type Store, TABLES } from '../../../src/store/store.ts';
import { openStore, tempDir } from './support.ts';

type Model = Map<string, Map<string, unknown>>;

const change: fc.Arbitrary<Change> = fc.record({
  table: fc.constantFrom(...TABLES.slice(0, 3)),
  key: fc.oneof(fc.constantFrom('a', 'b', 'c', ''), fc.string({ unit: 'grapheme', maxLength: 6 })),
  value: fc.option(fc.jsonValue(), { nil: undefined, freq: 2 }),
});
const commits = fc.array(
  fc.record({
    changes: fc.array(change, { maxLength: 8 }),
    durability: fc.constantFrom('full' as const, 'lazy' as const),
  }),
  { maxLength: 12 },
);

const emptyModel = (): Model => new Map(TABLES.map(name => [name, new Map()]));
const copyOf = (model: Model): Model => new Map([...model].map(([name, rows]) => [name, new Map(rows)]));

function apply(model: Model, changes: readonly Change[]): void {
  for (const { table, key, value } of changes) {
    if (value === undefined) model.get(table)?.delete(key);
    else model.get(table)?.set(key, JSON.parse(JSON.stringify(value)));
  }
}

async function expectSame(store: Store, model: Model): Promise<void> {
  const { tables, corrupt } = await store.load();
  expect(corrupt).toEqual([]);
  expect(new Map(Object.entries(tables))).toEqual(model);
}

describe('any sequence of commits', () => {
  test('gives in SQLite what it gives in a Map', async () => {
    const store = await openStore(join(tempDir(), 'causeway.db'));
    // One store for all sequences: each goes on from what the ones before it left.
    const model = emptyModel();
    await fc.assert(
      fc.asyncProperty(commits, fc.boolean(), async (sequence, oneByOne) => {
        const pending = [];
        for (const { changes, durability } of sequence) {
          apply(model, changes);
          pending.push(store.commit(changes, durability));
          if (oneByOne) await pending.at(-1);
        }
        await Promise.all(pending);
        await expectSame(store, model);
      }),
      { numRuns: 60 },
    );
  });

  test('gives in memory what it gives in a Map, also after a kill and a power cut', async () => {
    await fc.assert(
      fc.asyncProperty(commits, async sequence => {
        const store = memoryStore();
        const model = emptyModel();
        let durable = emptyModel();
        for (const { changes, durability } of sequence) {
          apply(model, changes);
          await store.commit(changes, durability);
          if (durability === 'full' && changes.length > 0) durable = copyOf(model);
        }
        await expectSame(store, model);
        await expectSame(store.snapshot('kill'), model);
        await expectSame(store.snapshot('power'), durable);
      }),
      { numRuns: 200 },
    );
  });
});
