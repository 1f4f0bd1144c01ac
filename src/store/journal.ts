// The journal: taken on the main thread for the price of an array, written and queried in a worker.
import type { Cancel, Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { startWorker } from '../lib/worker.ts';
import type { JournalRow } from './journal-file.ts';
import type { Journal, JournalEntry, JournalKind, JournalQuery } from './journal-port.ts';
import type { JournalAnswers } from './journal-worker.ts';

/** Where the journal lies, how much is kept, and how much may wait. */
export interface JournalOptions {
  /** `data/journal`. */
  readonly dir: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Days (that have entries), 30 unless told. */
  readonly keepDays?: number;
  /** 2,048 unless told. The file that is written is kept whatever its size. */
  readonly keepMegabytes?: number;
  /** Size at which a day gets another file: 128, or a quarter of `keepMegabytes`. */
  readonly partMegabytes?: number;
  /** Entries that may wait for the disk: 100,000 unless told. */
  readonly backlog?: number;
}

const BATCH = 1_000;
const BATCH_MS = 100;
const COMPLAIN_EVERY_MS = 60_000;

/**
 * Opens the journal; files of past days are indexed and retired in the background.
 * @throws CausewayError DATA_UNWRITABLE
 */
export async function openJournal(options: JournalOptions): Promise<Journal> {
  const { dir, clock, log, keepDays = 30, keepMegabytes = 2_048, backlog = 100_000 } = options;
  const partMegabytes = options.partMegabytes ?? Math.min(128, keepMegabytes / 4);
  const worker = startWorker<JournalAnswers>(new URL('./journal-worker.ts', import.meta.url), {
    name: `the journal's worker (${dir})`,
    youngMegabytes: 6,
    onNote: note => log.warn({ dir }, String(note)),
    onExit: error => log.error({ error }, 'the journal is not written any more'),
  });
  try {
    await worker.ask('open', { dir, keepDays, keepMegabytes, partMegabytes });
  } catch (error) {
    await worker.stop();
    throw error;
  }

  const inFlight = new Set<Promise<void>>();
  let rows: (string | number)[] = [];
  let buffered = 0;
  let waiting = 0;
  let timer: Cancel | undefined;
  const counted = { appended: 0, dropped: 0, written: 0 };
  let complainedAt = Number.NEGATIVE_INFINITY;

  function drop(count: number, reason: string): void {
    counted.dropped += count;
    if (clock.elapsed() - complainedAt < COMPLAIN_EVERY_MS) return;
    complainedAt = clock.elapsed();
    log.error({ dir, dropped: counted.dropped }, `the journal drops entries: ${reason}`);
  }

  function send(): void {
    timer?.();
    timer = undefined;
    if (buffered === 0) return;
    const count = buffered;
    const sent = worker.ask('append', rows).then(
      () => {
        counted.written += count;
      },
      error => drop(count, error.message),
    );
    inFlight.add(sent);
    void sent.finally(() => {
      waiting -= count;
      inFlight.delete(sent);
    });
    rows = [];
    buffered = 0;
  }

  async function flush(): Promise<void> {
    send();
    await Promise.all(inFlight);
  }

  return {
    append(entry) {
      if (waiting >= backlog) return drop(1, `${waiting} wait for the disk`);
      if (!Number.isFinite(entry.ts)) return drop(1, `${entry.ts} is no time`);
      rows.push(entry.ts, entry.seq, entry.kind, entry.subject, entry.attribute, entry.body);
      buffered++;
      waiting++;
      counted.appended++;
      if (buffered >= BATCH) send();
      else timer ??= clock.after(BATCH_MS, send);
    },
    async query({ from = 0, to = LAST, ...rest }: JournalQuery) {
      send();
      return (await worker.ask('query', { from, to, ...rest })).map(asEntry);
    },
    async *read(from, to, { kinds, pageSize = BATCH } = {}) {
      send();
      const selection = { from, to, limit: pageSize, ...(kinds && { kinds }) };
      let page = await worker.ask('page', selection);
      while (page.next) {
        yield page.rows.map(asEntry);
        page = await worker.ask('page', selection, page.next);
      }
    },
    async days() {
      send();
      return worker.ask('days');
    },
    counters: () => ({ ...counted }),
    flush,
    async close() {
      await flush();
      await worker.ask('close');
      await worker.stop();
    },
  };
}

// Far beyond any journal, and still exact in microseconds.
const LAST = 8_000_000_000_000;

const asEntry = ([, ts, seq, kind, subject, attribute, body]: JournalRow): JournalEntry => ({
  ts,
  seq,
  kind: kind as JournalKind,
  subject,
  attribute,
  body,
});
