// The journal in an array: simulations and tests.

import { iso } from '../lib/clock.ts';
import type { Journal, JournalEntry } from './journal-port.ts';

/** An empty journal that keeps its newest `limit` entries. */
export function memoryJournal(limit = 100_000): Journal {
  let entries: JournalEntry[] = [];
  let appended = 0;

  const within = (from: number, to: number, kinds?: readonly string[]) =>
    entries.filter(({ ts, kind }) => ts >= from && ts < to && (!kinds || kinds.includes(kind)));

  return {
    append(entry) {
      appended++;
      entries.push(entry);
      if (entries.length >= 2 * limit) entries = entries.slice(-limit);
    },
    async query({ subject, attribute, kinds, from = 0, to = Number.POSITIVE_INFINITY, newestFirst, limit: most }) {
      const found = within(from, to, kinds).filter(
        entry =>
          (subject === undefined || entry.subject === subject) &&
          (attribute === undefined || entry.attribute === attribute),
      );
      return (newestFirst ? found.reverse() : found).slice(0, most);
    },
    async *read(from, to, { kinds, pageSize = 1_000 } = {}) {
      const found = within(from, to, kinds);
      for (let start = 0; start < found.length; start += pageSize) yield found.slice(start, start + pageSize);
    },
    async days() {
      const days = new Map<string, { day: string; entries: number; bytes: number }>();
      for (const { ts, body } of entries) {
        const day = iso(ts).slice(0, 10);
        const so = days.get(day) ?? { day, entries: 0, bytes: 0 };
        days.set(day, { day, entries: so.entries + 1, bytes: so.bytes + body.length });
      }
      return [...days.values()].sort((a, b) => (a.day < b.day ? -1 : 1));
    },
    counters: () => ({ appended, dropped: 0, written: appended }),
    flush: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}
