import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Log } from '../../../src/lib/log.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { VirtualClock } from '../../../src/lib/virtual-clock.ts';
import { type JournalOptions, openJournal } from '../../../src/store/journal.ts';
import type { Journal, JournalEntry } from '../../../src/store/journal-port.ts';
import { memoryJournal } from '../../../src/store/memory-journal.ts';
import { tempDir } from './support.ts';

const NOON = Date.UTC(2026, 10, 30, 12);
const DAY = 86_400_000;

const entry = (seq: number, more: Partial<JournalEntry> = {}): JournalEntry => ({
  ts: NOON + seq,
  seq,
  kind: 'event',
  subject: 'virtual:a',
  attribute: 'switch',
  body: JSON.stringify({ value: seq }),
  ...more,
});

async function open(options: Partial<JournalOptions> = {}) {
  const clock = new VirtualClock(NOON);
  const dir = options.dir ?? join(tempDir(), 'journal');
  const journal = await openJournal({ dir, clock, log: silentLog, ...options });
  onTestFinished(() => journal.close().catch(() => {}));
  return { journal, clock, dir };
}

const seqs = (entries: readonly JournalEntry[]) => entries.map(({ seq }) => seq);
async function readAll(journal: Journal, from: number, to: number, options?: Parameters<Journal['read']>[2]) {
  const pages: number[][] = [];
  for await (const page of journal.read(from, to, options)) pages.push(seqs(page));
  return pages;
}

const implementations: [string, () => Promise<Journal>][] = [
  ['in memory', async () => memoryJournal()],
  ['on the disk', async () => (await open()).journal],
];

describe.each(implementations)('the journal %s', (_name, make) => {
  test('gives back entries whole and in order, and sees what was appended just before', async () => {
    const journal = await make();
    const entries = [entry(1, { body: '{"name":"Küche 🍳\\n"}' }), entry(2, { kind: 'message', attribute: '' })];
    for (const each of entries) journal.append(each);
    expect(await journal.query({ limit: 10 })).toEqual(entries);
  });

  test('picks by subject, attribute, kinds and time, from either end', async () => {
    const journal = await make();
    journal.append(entry(1));
    journal.append(entry(2, { subject: 'virtual:b' }));
    journal.append(entry(3, { attribute: 'level' }));
    journal.append(entry(4, { kind: 'mode', subject: 'mode', attribute: '' }));
    journal.append(entry(5));
    const find = async (query: object) => seqs(await journal.query({ limit: 10, ...query }));
    expect(await find({ subject: 'virtual:a' })).toEqual([1, 3, 5]);
    expect(await find({ subject: 'virtual:a', attribute: 'switch', newestFirst: true })).toEqual([5, 1]);
    expect(await find({ kinds: ['mode', 'flow'] })).toEqual([4]);
    expect(await find({ kinds: [] })).toEqual([]);
    expect(await find({ from: NOON + 2, to: NOON + 4 })).toEqual([2, 3]);
    expect(await find({ newestFirst: true, limit: 2 })).toEqual([5, 4]);
  });

  test('reads a span page by page', async () => {
    const journal = await make();
    for (let seq = 0; seq < 10; seq++) journal.append(entry(seq, seq % 2 ? { kind: 'flow' } : {}));
    expect(await readAll(journal, NOON + 1, NOON + 8, { pageSize: 3 })).toEqual([[1, 2, 3], [4, 5, 6], [7]]);
    expect(await readAll(journal, NOON, NOON + DAY, { kinds: ['flow'] })).toEqual([[1, 3, 5, 7, 9]]);
    expect(await readAll(journal, NOON + DAY, NOON + 2 * DAY)).toEqual([]);
  });

  test('counts days', async () => {
    const journal = await make();
    journal.append(entry(1));
    journal.append(entry(2, { ts: NOON + DAY }));
    journal.append(entry(3, { ts: NOON + DAY }));
    const days = await journal.days();
    expect(days.map(({ day, entries }) => [day, entries])).toEqual([
      ['2026-11-30', 1],
      ['2026-12-01', 2],
    ]);
    expect(days.every(({ bytes }) => bytes > 0)).toBe(true);
    expect(journal.counters()).toMatchObject({ appended: 3, dropped: 0 });
  });
});

describe('the journal on the disk', () => {
  test('writes a batch when a tenth of a second has passed, or a thousand have come', async () => {
    const { journal, clock } = await open();
    const written = async () => {
      // The worker answers in order, so what was sent before is written when this is answered.
      await journal.days();
      return journal.counters().written;
    };
    for (let seq = 0; seq < 1_500; seq++) journal.append(entry(seq));
    await journal.flush();
    expect(await written()).toBe(1_500);
    journal.append(entry(1_500));
    clock.advanceTo(99);
    expect(journal.counters().written).toBe(1_500);
    clock.advanceTo(100);
    await journal.flush();
    expect(await written()).toBe(1_501);
  });

  test('is all there after it was closed and opened again', async () => {
    const { journal, dir } = await open();
    for (let seq = 0; seq < 2_345; seq++) journal.append(entry(seq));
    await journal.close();
    const again = await open({ dir });
    const pages = await readAll(again.journal, 0, NOON + DAY);
    expect(pages.flat()).toEqual(Array.from({ length: 2_345 }, (_, seq) => seq));
  });

  test('answers while it is written', async () => {
    const { journal } = await open();
    for (let seq = 0; seq < 20_000; seq++) {
      journal.append(entry(seq, { subject: seq % 1_000 === 0 ? 'rare' : 'virtual:a' }));
      if (seq % 5_000 !== 4_999) continue;
      const found = await journal.query({ subject: 'rare', newestFirst: true, limit: 3 });
      expect(seqs(found)).toEqual([seq - 999, seq - 1_999, seq - 2_999]);
    }
  });

  test('drops what it cannot keep up with, counts it, and complains once a minute', async () => {
    const complaints: string[] = [];
    const log: Log = { ...silentLog, error: (_details, message) => complaints.push(message) };
    const { journal, clock } = await open({ backlog: 10, log });
    for (let seq = 0; seq < 15; seq++) journal.append(entry(seq));
    expect(journal.counters()).toEqual({ appended: 10, dropped: 5, written: 0 });
    expect(complaints).toEqual(['the journal drops entries: 10 wait for the disk']);
    clock.advanceTo(60_000);
    await journal.flush();
    for (let seq = 20; seq < 32; seq++) journal.append(entry(seq));
    expect(journal.counters()).toEqual({ appended: 20, dropped: 7, written: 10 });
    expect(complaints).toHaveLength(2);
    await journal.flush();
    expect(seqs(await journal.query({ limit: 99 }))).toEqual([
      ...Array(10).keys(),
      ...[...Array(10).keys()].map(n => n + 20),
    ]);
  });

  test('counts as dropped what the disk refuses, and never throws', async () => {
    const complaints: string[] = [];
    const log: Log = { ...silentLog, error: (_details, message) => complaints.push(message) };
    const { journal, dir } = await open({ log });
    rmSync(dir, { recursive: true });
    writeFileSync(dir, 'a file where the folder was');
    journal.append(entry(1));
    journal.append(entry(2));
    journal.append(entry(3, { ts: Number.NaN }));
    await journal.flush();
    expect(journal.counters()).toEqual({ appended: 2, dropped: 3, written: 0 });
    expect(complaints).toEqual(['the journal drops entries: NaN is no time']);
  });

  test('retires old days by itself', async () => {
    const { journal, dir } = await open({ keepDays: 2 });
    for (let day = 0; day < 4; day++) journal.append(entry(day, { ts: NOON + day * DAY }));
    await expect
      .poll(async () => {
        await journal.flush();
        return readdirSync(dir).filter(name => name.endsWith('.db'));
      })
      .toEqual(['2026-12-02.db', '2026-12-03.db']);
  });

  test('cannot be opened where no folder can be', async () => {
    const file = join(tempDir(), 'file');
    writeFileSync(file, '');
    await expect(open({ dir: join(file, 'journal') })).rejects.toMatchObject({
      code: 'DATA_UNWRITABLE',
      message: expect.stringContaining('journal'),
    });
  });
});
