// The journal's folder: a file for each day (more when a day is very busy), opened when wanted, sealed when another
// one has taken over, and unlinked when there are too many.
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { iso } from '../lib/clock.ts';
import { isDamage } from './database.ts';
import { FIELDS, type JournalFile, type JournalRow, openJournalFile, type Selection } from './journal-file.ts';

/** Where the journal lies and how much of it is kept. */
export interface FolderOptions {
  readonly dir: string;
  /** Days that have entries; so a clock that jumps ahead does not empty the journal. */
  readonly keepDays: number;
  readonly keepMegabytes: number;
  /** A file beyond this gets a successor on the same day: it can be indexed, and unlinked, by itself. */
  readonly partMegabytes: number;
}

/** A page of entries, and where the next one starts; none where the span ends. */
export interface Page {
  readonly rows: JournalRow[];
  readonly next?: { readonly file: string; readonly id: number };
}

const NAME = /^(\d{4}-\d\d-\d\d)(?:\.(\d+))?\.db$/;
const MEGABYTE = 1_048_576;
const DAY_MS = 86_400_000;
const MOST_OPEN = 8;

const dayOf = (name: string): string => name.slice(0, 10);
const partOf = (name: string): number => Number(NAME.exec(name)?.[2] ?? 1);
const nameOf = (day: string, part: number): string => (part === 1 ? `${day}.db` : `${day}.${part}.db`);
const inOrder = (a: string, b: string): number =>
  dayOf(a) === dayOf(b) ? partOf(a) - partOf(b) : dayOf(a) < dayOf(b) ? -1 : 1;

/** Opens the folder; makes it where it is missing. */
export function openFolder(options: FolderOptions, note: (message: string) => void) {
  const { dir } = options;
  mkdirSync(dir, { recursive: true });
  let names = readdirSync(dir)
    .filter(name => NAME.test(name))
    .sort(inOrder);
  const open = new Map<string, JournalFile>();
  // The file that is written, and those that nobody writes any more but that may lack their index.
  let current = names.at(-1);
  const unsealed = new Set(names.slice(0, -1));
  let untidy = true;

  const path = (name: string): string => join(dir, name);

  function close(name: string): void {
    open.get(name)?.close();
    open.delete(name);
  }

  function forget(name: string): void {
    close(name);
    unsealed.delete(name);
    names = names.filter(other => other !== name);
    if (current === name) current = undefined;
  }

  function opened(name: string): JournalFile {
    const known = open.get(name);
    if (known) return known;
    for (const other of open.keys()) if (open.size >= MOST_OPEN && other !== current) close(other);
    const file = openJournalFile(path(name));
    open.set(name, file);
    return file;
  }

  /** Uses a file; one that turns out to be damaged is set aside and said so, and the journal goes on without it. */
  function using<T>(name: string, use: (file: JournalFile) => T, otherwise: T): T {
    try {
      return use(opened(name));
    } catch (error) {
      if (!isDamage(error)) throw error;
      forget(name);
      for (const ending of ['', '-wal', '-shm']) {
        if (existsSync(path(name) + ending)) renameSync(path(name) + ending, `${path(name)}.damaged${ending}`);
      }
      note(`${path(name)} is damaged and was set aside as ${name}.damaged: ${(error as Error).message}`);
      return otherwise;
    }
  }

  const bytesOf = (name: string): number =>
    [path(name), `${path(name)}-wal`].reduce((sum, file) => sum + (existsSync(file) ? statSync(file).size : 0), 0);

  function fileFor(day: string): string {
    const last = names.filter(name => dayOf(name) === day).at(-1);
    if (last !== undefined && bytesOf(last) < options.partMegabytes * MEGABYTE) return last;
    const fresh = nameOf(day, last === undefined ? 1 : partOf(last) + 1);
    names = [...names, fresh].sort(inOrder);
    return fresh;
  }

  function write(day: string, rows: readonly (string | number)[], start: number, end: number): void {
    const name = fileFor(day);
    if (current !== name) {
      if (current !== undefined) unsealed.add(current);
      current = name;
      untidy = true;
    }
    const insert = (file: JournalFile) => {
      file.insert(rows, start, end);
      return true;
    };
    if (!using(name, insert, false)) write(day, rows, start, end);
  }

  function retire(): void {
    const drop = (name: string) => {
      forget(name);
      for (const ending of ['', '-wal', '-shm']) rmSync(path(name) + ending, { force: true });
    };
    const days = [...new Set(names.map(dayOf))];
    const oldDays = new Set(days.slice(0, Math.max(0, days.length - options.keepDays)));
    for (const name of names) if (oldDays.has(dayOf(name)) && name !== current) drop(name);
    let bytes = names.reduce((sum, name) => sum + bytesOf(name), 0);
    for (const name of names.slice(0, -1)) {
      if (bytes <= options.keepMegabytes * MEGABYTE) return;
      if (name === current) continue;
      bytes -= bytesOf(name);
      drop(name);
    }
  }

  const filesOf = (from: number, to: number): string[] => {
    const [first, last] = [from, Math.max(from, to - 1)].map(ms =>
      iso(Math.min(Math.max(ms, 0), LAST_MS)).slice(0, 10),
    );
    return names.filter(name => dayOf(name) >= (first as string) && dayOf(name) <= (last as string));
  };

  return {
    /** @param rows ts, seq, kind, subject, attribute, body, one after the other */
    append(rows: readonly (string | number)[]): void {
      const dayAt = (index: number) => Math.floor((rows[index] as number) / DAY_MS);
      let start = 0;
      for (let i = FIELDS; i <= rows.length; i += FIELDS) {
        if (i < rows.length && dayAt(i) === dayAt(start)) continue;
        write(iso(rows[start] as number).slice(0, 10), rows, start, i);
        start = i;
      }
    },
    query(selection: Selection): JournalRow[] {
      let rows: JournalRow[] = [];
      const files = filesOf(selection.from, selection.to);
      for (const name of selection.newestFirst ? files.reverse() : files) {
        const limit = selection.limit - rows.length;
        if (limit <= 0) break;
        rows = rows.concat(using(name, file => file.select({ ...selection, limit }), []));
      }
      return rows;
    },
    page(selection: Selection, start?: Page['next']): Page {
      for (const name of filesOf(selection.from, selection.to)) {
        if (start && inOrder(name, start.file) < 0) continue;
        const after = start?.file === name ? start.id : undefined;
        const rows = using(name, file => file.select({ ...selection, ...(after !== undefined && { after }) }), []);
        const last = rows.at(-1);
        if (last) return { rows, next: { file: name, id: last[0] } };
      }
      return { rows: [] };
    },
    days(): { day: string; entries: number; bytes: number }[] {
      const days = new Map<string, { day: string; entries: number; bytes: number }>();
      for (const name of [...names]) {
        const day = days.get(dayOf(name)) ?? { day: dayOf(name), entries: 0, bytes: 0 };
        day.entries += using(name, file => file.entries(), 0);
        day.bytes += bytesOf(name);
        days.set(day.day, day);
      }
      return [...days.values()];
    },
    /**
     * One step of tidying up, after a start and after each change of the file: unlinks what is too much, or seals one
     * file. False when nothing is left to do.
     */
    tend(): boolean {
      if (!untidy) return false;
      retire();
      const [name] = unsealed;
      untidy = name !== undefined;
      if (name === undefined) return false;
      unsealed.delete(name);
      if (name === current) return true;
      using(name, file => file.seal(), undefined);
      close(name);
      return true;
    },
    close(): void {
      for (const name of [...open.keys()]) close(name);
    },
  };
}

// The last instant that ISO 8601 writes with four digits for the year.
const LAST_MS = 253_402_300_799_999;

/** What `openFolder` gives. */
export type JournalFolder = ReturnType<typeof openFolder>;
