// Times of the day and stamps as people write them.
import { DAY_MS, parseDate, type Wall } from './calendar.ts';

const TIME = /^(\d{1,2}):([0-5]\d)(?::([0-5]\d))?$/;
const STAMP = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}(?::\d{2})?)(?:\.(\d{1,3}))?(Z|[+-]\d{2}:\d{2})?$/;

/** Milliseconds since midnight of `HH:MM[:SS]`, where `24:00` is the end of the day; undefined when it is no time. */
export function parseClockTime(text: string): number | undefined {
  const parts = TIME.exec(text.trim());
  if (!parts) return undefined;
  const ms = Number(parts[1]) * 3_600_000 + Number(parts[2]) * 60_000 + Number(parts[3] ?? 0) * 1_000;
  return ms <= DAY_MS ? ms : undefined;
}

/** A local stamp is a wall time, one with `Z` or an offset an instant (epoch ms). */
export type Stamp = { wall: Wall } | { instant: number };

/** Reads `YYYY-MM-DDTHH:MM[:SS]`, local or with `Z` or `+01:00`; undefined when it is no stamp. */
export function parseStamp(text: string): Stamp | undefined {
  const [, date, clock, fraction = '0', offset] = STAMP.exec(text.trim()) ?? [];
  const day = date === undefined ? undefined : parseDate(date);
  const time = clock === undefined ? undefined : parseClockTime(clock);
  if (day === undefined || time === undefined) return undefined;
  const wall = day * DAY_MS + time + Number(fraction.padEnd(3, '0'));
  if (offset === undefined) return { wall };
  if (offset === 'Z') return { instant: wall };
  const ahead = parseClockTime(offset.slice(1));
  if (ahead === undefined) return undefined;
  return { instant: offset.startsWith('-') ? wall + ahead : wall - ahead };
}
