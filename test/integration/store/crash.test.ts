// Nothing that was acknowledged is lost: over kill -9, over a power cut, and with rubbish behind the last commit.
import { spawn } from 'node:child_process';
import { appendFileSync, copyFileSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../../src/lib/ids.ts';
import { openStore, put, tempDir } from './support.ts';

const LOOP = fileURLToPath(new URL('./commit-loop.ts', import.meta.url));
const TSX = import.meta.resolve('tsx');

/** Runs the loop from `from`, kills it after `acks` acknowledgements, and gives the last number that it printed. */
async function runAndKill(path: string, from: number, acks: number): Promise<number> {
  const child = spawn(process.execPath, ['--import', TSX, LOOP, path, String(from)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', text => {
    errors += text;
  });
  let last = -1;
  for await (const line of createInterface({ input: child.stdout })) {
    last = Number(line);
    if (last >= from + acks) child.kill('SIGKILL');
  }
  expect(errors).toBe('');
  return last;
}

describe('kill -9', () => {
  test('loses no acknowledged commit, full or lazy, over several lives', async () => {
    const path = join(tempDir(), 'causeway.db');
    const random = seededRandom(7);
    let from = 0;
    for (let life = 0; life < 4; life++) {
      const last = await runAndKill(path, from, 20 + Math.floor(random() * 300));
      const store = await openStore(path, { traces: { perRule: 10_000, total: 10_000 } });
      const { tables, corrupt } = await store.load();
      const traced = new Set((await store.traces({ limit: 10_000 })).map(({ run }) => run));
      await store.close();
      expect(corrupt).toEqual([]);
      const missing = [];
      for (let n = 0; n <= last; n++) {
        const there =
          tables.outbox.has(`full-${n}`) && tables.state.has(`lazy-${n}`) && (n < last - 40 || traced.has(`run-${n}`));
        if (!there) missing.push(n);
      }
      expect(missing).toEqual([]);
      expect(last).toBeGreaterThanOrEqual(from + 20);
      from = last + 1;
    }
  }, 60_000);
});

describe('a power cut', () => {
  test('leaves all full commits: the WAL is cut to where it was when the last of them was acknowledged', async () => {
    const path = join(tempDir(), 'causeway.db');
    const store = await openStore(path);
    for (let n = 0; n < 30; n++) {
      await store.commit([put('state', `lazy-${n}`, n)], 'lazy');
      await store.commit([put('outbox', `full-${n}`, { n })], 'full');
    }
    const synced = statSync(`${path}-wal`).size;
    for (let n = 30; n < 60; n++) await store.commit([put('state', `lazy-${n}`, n)], 'lazy');
    expect(statSync(`${path}-wal`).size).toBeGreaterThan(synced);

    const cut = copyWithWal(path);
    truncateSync(`${cut}-wal`, synced);
    const { tables, corrupt } = await (await openStore(cut)).load();
    expect(corrupt).toEqual([]);
    expect([...tables.outbox.keys()].sort()).toEqual(Array.from({ length: 30 }, (_, n) => `full-${n}`).sort());
    // A full commit takes along what was lazy before it.
    expect([...tables.state.keys()].sort()).toEqual(Array.from({ length: 30 }, (_, n) => `lazy-${n}`).sort());
  });

  test('in the middle of a write leaves everything before it', async () => {
    const path = join(tempDir(), 'causeway.db');
    const store = await openStore(path);
    await store.commit([put('outbox', 'first', 1)], 'full');
    const synced = statSync(`${path}-wal`).size;
    await store.commit([put('outbox', 'second', 'x'.repeat(20_000))], 'full');
    const torn = copyWithWal(path);
    truncateSync(`${torn}-wal`, synced + 5_000);
    const { tables } = await (await openStore(torn)).load();
    expect(Object.fromEntries(tables.outbox)).toEqual({ first: 1 });
  });

  test('that left rubbish at the end of the WAL loses nothing', async () => {
    const path = join(tempDir(), 'causeway.db');
    const store = await openStore(path);
    for (let n = 0; n < 10; n++) await store.commit([put('outbox', `full-${n}`, n)], 'full');
    const copy = copyWithWal(path);
    appendFileSync(`${copy}-wal`, Buffer.alloc(9_000, 0xa5));
    const again = await openStore(copy);
    const { tables, corrupt } = await again.load();
    expect(corrupt).toEqual([]);
    expect(tables.outbox.size).toBe(10);
    await again.commit([put('outbox', 'after', 1)], 'full');
    expect((await again.load()).tables.outbox.size).toBe(11);
  });
});

/** Copies a database as it lies on the disk while it is open. */
function copyWithWal(path: string): string {
  const copy = join(tempDir(), 'causeway.db');
  for (const ending of ['', '-wal']) copyFileSync(path + ending, copy + ending);
  return copy;
}
