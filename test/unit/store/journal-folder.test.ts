import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type FolderOptions, openFolder } from '../../../src/store/journal-folder.ts';
import { tempDir } from '../../integration/store/support.ts';

const DAY = 86_400_000;
const MONDAY = Date.UTC(2026, 10, 30);

function open(options: Partial<FolderOptions> = {}) {
  const dir = options.dir ?? tempDir();
  const notes: string[] = [];
  const folder = openFolder({ dir, keepDays: 30, keepMegabytes: 1_000, partMegabytes: 100, ...options }, note =>
    notes.push(note),
  );
  onTestFinished(() => folder.close());
  let seq = 0;
  const add = (ts: number, subject = 'virtual:a', body = '{}') =>
    folder.append([ts, ++seq, 'event', subject, 'switch', body]);
  const tidy = () => {
    while (folder.tend());
  };
  return { dir, folder, notes, add, tidy, files: () => readdirSync(dir).sort() };
}

const all = { from: 0, to: 8e12, limit: 10_000 };
const times = (rows: readonly (readonly [number, number, ...unknown[]])[]) => rows.map(row => row[1]);

describe('the journal on the disk', () => {
  test('writes a file for each day in UTC, also within one batch', () => {
    const { folder, files } = open();
    const row = (ts: number) => [ts, 1, 'event', 'virtual:a', 'switch', '{}'];
    folder.append([...row(MONDAY - 1), ...row(MONDAY), ...row(MONDAY + 1), ...row(MONDAY + DAY)]);
    folder.close();
    expect(files()).toEqual(['2026-11-29.db', '2026-11-30.db', '2026-12-01.db']);
    expect(folder.days().map(({ day, entries }) => `${day} ${entries}`)).toEqual([
      '2026-11-29 1',
      '2026-11-30 2',
      '2026-12-01 1',
    ]);
  });

  test('gives the index to a day when another has begun, and never to the one that is written', () => {
    const { dir, folder, add, tidy } = open();
    add(MONDAY);
    tidy();
    add(MONDAY + DAY);
    tidy();
    folder.close();
    const indexes = (file: string) => {
      const db = new Sqlite(join(dir, file), { readonly: true });
      const names = db.prepare(`SELECT name FROM sqlite_schema WHERE type = 'index'`).pluck().all();
      const mode = db.pragma('journal_mode', { simple: true });
      db.close();
      return [names, mode];
    };
    expect(indexes('2026-11-30.db')).toEqual([['by_subject'], 'delete']);
    expect(indexes('2026-12-01.db')).toEqual([[], 'wal']);
  });

  test('indexes after a crash what was not indexed before it', () => {
    const { dir, folder, add } = open();
    add(MONDAY);
    add(MONDAY + DAY);
    folder.close();
    const again = open({ dir });
    again.tidy();
    again.folder.close();
    const db = new Sqlite(join(dir, '2026-11-30.db'), { readonly: true });
    expect(db.prepare(`SELECT name FROM sqlite_schema WHERE name = 'by_subject'`).pluck().get()).toBe('by_subject');
    const plan = db
      .prepare(
        `EXPLAIN QUERY PLAN SELECT * FROM entries WHERE id >= 0 AND id < 9 AND subject = 'a' AND attribute = 'b' ORDER BY id`,
      )
      .all() as { detail: string }[];
    expect(plan[0]?.detail).toContain('by_subject');
    db.close();
  });

  test('keeps the order of entries when the clock is set back, within a day and over midnight', () => {
    const { add, folder } = open();
    add(MONDAY + 5_000, 'first');
    add(MONDAY + 1_000, 'second');
    add(MONDAY + 1_000, 'third');
    add(MONDAY - 1_000, 'the day before');
    add(MONDAY + 2_000, 'fourth');
    expect(folder.query(all).map(row => row[4])).toEqual(['the day before', 'first', 'second', 'third', 'fourth']);
    expect(folder.query({ ...all, from: MONDAY + 1_000, to: MONDAY + 2_001 }).map(row => row[4])).toEqual([
      'second',
      'third',
      'fourth',
    ]);
    expect(folder.query({ ...all, newestFirst: true, limit: 2 }).map(row => row[4])).toEqual(['fourth', 'third']);
  });

  test('finds exactly the entries of any span, however many share a millisecond and however the clock jumps', () => {
    const steps = fc.array(fc.oneof(fc.integer({ min: 0, max: 2 }), fc.integer({ min: -5_000, max: 5_000 })), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(
        steps,
        fc.integer({ min: -3_000, max: 3_000 }),
        fc.nat(4_000),
        fc.boolean(),
        (jumps, at, length, newestFirst) => {
          const dir = tempDir();
          const folder = openFolder({ dir, keepDays: 9, keepMegabytes: 9, partMegabytes: 9 }, () => {});
          let ts = MONDAY + DAY / 2;
          const from = ts + at;
          const expected: number[] = [];
          for (const jump of jumps) {
            ts += jump;
            folder.append([ts, 1, 'event', 's', 'a', '{}']);
            if (ts >= from && ts < from + length) expected.push(ts);
          }
          const found = times(folder.query({ from, to: from + length, limit: 999, newestFirst }));
          folder.close();
          expect(found).toEqual(newestFirst ? expected.reverse() : expected);
        },
      ),
      { numRuns: 60 },
    );
  });

  test('reads a span page by page over days, each entry once', () => {
    const { add, folder } = open();
    for (let i = 0; i < 25; i++) add(MONDAY + i * (DAY / 10));
    const seen: number[] = [];
    const selection = { from: MONDAY + DAY / 10, to: MONDAY + 2.3 * DAY, limit: 4 };
    let page = folder.page(selection);
    while (page.next) {
      expect(page.rows.length).toBeLessThanOrEqual(4);
      seen.push(...times(page.rows));
      page = folder.page(selection, page.next);
    }
    expect(seen).toEqual(Array.from({ length: 22 }, (_, i) => MONDAY + (i + 1) * (DAY / 10)));
  });

  test('keeps so many days, and does not fall for a clock that jumped years ahead', () => {
    const { add, tidy, files } = open({ keepDays: 3 });
    for (let day = 0; day < 5; day++) add(MONDAY + day * DAY);
    tidy();
    expect(files().filter(name => name.endsWith('.db'))).toEqual(['2026-12-02.db', '2026-12-03.db', '2026-12-04.db']);
    add(MONDAY + 5_000 * DAY);
    add(MONDAY + 4 * DAY);
    tidy();
    expect(files().filter(name => name.endsWith('.db'))).toHaveLength(3);
  });

  test('keeps what it writes while the clock is far behind all other days', () => {
    const { add, folder, tidy } = open({ keepDays: 2 });
    for (let day = 0; day < 3; day++) add(MONDAY + day * DAY);
    for (const ts of [0, 1, 2]) {
      add(ts);
      tidy();
    }
    expect(times(folder.query({ ...all, to: DAY }))).toEqual([0, 1, 2]);
    add(MONDAY + 2 * DAY + 1);
    tidy();
    expect(folder.days().map(({ day }) => day)).toEqual(['2026-12-01', '2026-12-02']);
  });

  test('gives a busy day several files, keeps so many megabytes, and loses the oldest first', () => {
    const { add, folder, tidy, files } = open({ keepMegabytes: 2, partMegabytes: 0.5 });
    const body = JSON.stringify('x'.repeat(10_000));
    for (let i = 0; i < 400; i++) add(MONDAY + i, 'virtual:a', body);
    tidy();
    const names = files().filter(name => name.endsWith('.db'));
    expect(names.length).toBeGreaterThan(2);
    expect(names).not.toContain('2026-11-30.db');
    const [day, ...others] = folder.days();
    expect(others).toEqual([]);
    expect(day?.bytes).toBeLessThan(2.6 * 1_048_576);
    const rows = times(folder.query(all));
    expect(rows).toEqual(Array.from({ length: rows.length }, (_, i) => MONDAY + 400 - rows.length + i));
    expect(day?.entries).toBe(rows.length);
  });

  test('goes on in the last file of a day after a restart, and counts its entries', () => {
    const { dir, folder, add } = open();
    add(MONDAY);
    add(MONDAY + 1);
    folder.close();
    const again = open({ dir });
    again.tidy();
    again.add(MONDAY + 2);
    expect(again.folder.days()).toEqual([{ day: '2026-11-30', entries: 3, bytes: expect.any(Number) }]);
    expect(times(again.folder.query(all))).toEqual([MONDAY, MONDAY + 1, MONDAY + 2]);
  });

  test('sets a damaged file aside, says so, and goes on with the others', () => {
    const { dir, folder, add } = open();
    for (let day = 0; day < 3; day++) add(MONDAY + day * DAY);
    folder.close();
    writeFileSync(join(dir, '2026-12-01.db'), 'rubbish'.repeat(2_000));
    writeFileSync(join(dir, '2026-12-02.db'), 'rubbish'.repeat(2_000));
    const again = open({ dir });
    expect(times(again.folder.query(all))).toEqual([MONDAY]);
    again.add(MONDAY + 2 * DAY + 5);
    expect(times(again.folder.query(all))).toEqual([MONDAY, MONDAY + 2 * DAY + 5]);
    expect(again.notes).toHaveLength(2);
    expect(again.notes[0]).toContain('2026-12-01.db is damaged and was set aside as 2026-12-01.db.damaged');
    expect(again.files()).toContain('2026-12-02.db.damaged');
  });

  test('ignores what is none of its files', () => {
    const dir = tempDir();
    writeFileSync(join(dir, 'notes.txt'), 'mine');
    writeFileSync(join(dir, '2026-11-30.db.damaged'), 'old');
    const { folder, add, tidy, files } = open({ dir, keepDays: 1 });
    add(MONDAY);
    add(MONDAY + DAY);
    tidy();
    folder.close();
    expect(files()).toEqual(['2026-11-30.db.damaged', '2026-12-01.db', 'notes.txt']);
  });
});
