// The system log (Network 10 and later), for events that the socket does not tell: asked for every few seconds, in windows that
// overlap, each entry once.
import type { Cancel, Clock } from '../../../lib/clock.ts';
import type { Log } from '../../../lib/log.ts';
import type { Counters } from '../counters.ts';
import type { ConsoleClient } from './client.ts';
import { remember, repeat } from './repeat.ts';
import { type LogRow, readLog } from './wire.ts';

/** What is remembered over connections. */
export interface LogMemory {
  /** Until when all is known, by the start or the socket, epoch ms by the console's clock: what was before is no news. */
  startedAt: number | undefined;
  /** The newest entry so far, by the same clock. */
  newest: number;
  /** Of entries within the overlap. */
  readonly seen: Set<string>;
}

/** Nothing yet. */
export const noLog = (): LogMemory => ({ startedAt: undefined, newest: 0, seen: new Set() });

/** What polling needs. */
export interface LogPollParts {
  readonly backend: string;
  readonly client: ConsoleClient;
  readonly clock: Clock;
  readonly counters: Counters;
  readonly log: Log;
  readonly memory: LogMemory;
  readonly consoleNow: () => number;
  /** False while the socket tells events: then nothing is asked. */
  readonly isNeeded: () => boolean;
  onRows(rows: readonly LogRow[]): void;
}

const EVERY_MS = 10_000;
const OVERLAP_MS = 30_000;
/** What happened longer ago, while we were away, is not told any more. */
const OLDEST_MS = 900_000;
/** The console's clock is known to a second or so. */
const CLOCK_SLACK_MS = 2_000;
const PAGE = 100;
const MOST_PAGES = 5;
const MOST_SEEN = 5_000;

/** Asks until it is ended. */
export function pollLog(parts: LogPollParts): Cancel {
  const { clock, memory, log, backend, isNeeded, consoleNow } = parts;
  memory.startedAt ??= consoleNow() - CLOCK_SLACK_MS;
  return repeat(
    clock,
    EVERY_MS,
    async isOver => {
      if (isNeeded()) await look(parts, isOver);
    },
    ({ message: error }, isMissing) => {
      // Before Network 10 there is no such log; whether the console is there is a matter of the polls.
      if (!isMissing) log.debug({ backend, error }, 'the system log could not be read');
    },
  );
}

async function look(
  { client, counters, memory, consoleNow, onRows }: LogPollParts,
  isOver: () => boolean,
): Promise<void> {
  const now = consoleNow();
  // Its clock may be set back.
  memory.startedAt = Math.min(memory.startedAt ?? now, now);
  const from = Math.max(memory.startedAt, Math.min(memory.newest, now), now - OLDEST_MS);
  // Entries may be written late.
  const timestampFrom = from - OVERLAP_MS;
  const rows: LogRow[] = [];
  for (let pageNumber = 0; pageNumber < MOST_PAGES; pageNumber++) {
    // Neither categories nor severities: some versions refuse some of them.
    const body = { timestampFrom, timestampTo: now + OVERLAP_MS, pageNumber, pageSize: PAGE };
    const answer = await client.read('internal', 'system-log/all', { body, tries: 1 });
    const page = readLog(answer, counters);
    rows.push(...page);
    const isWholePage = page.length >= PAGE;
    if (!isWholePage || page.every(row => isSeen(row, memory))) break;
  }
  if (isOver()) return;
  const { startedAt } = memory;
  const news = rows.filter(row => !isSeen(row, memory) && (row.timestamp ?? now) >= startedAt);
  const ids = rows.flatMap(({ id }) => id ?? []);
  remember(memory.seen, ids, MOST_SEEN);
  memory.newest = Math.max(memory.newest, ...rows.map(({ timestamp = 0 }) => timestamp));
  onRows(news.sort((a, b) => (a.timestamp ?? 0) - (b.timestamp ?? 0)));
}

const isSeen = ({ id }: LogRow, { seen }: LogMemory): boolean => id !== undefined && seen.has(id);
