// The journal's port: every input of the engine, in order, so that a past day can be run again.

/** What a journal entry records. */
export type JournalKind =
  | 'event'
  | 'message'
  | 'webhook'
  | 'mode'
  | 'variable'
  | 'availability'
  | 'backend'
  | 'result'
  | 'flow'
  | 'log'
  | 'revision'
  | 'clock'
  | 'checkpoint'
  | 'late'
  | 'duplicate'
  | 'rejected';

/** One input of the engine. */
export interface JournalEntry {
  /** Wall time, epoch ms. */
  readonly ts: number;
  /** Rises with each entry of one boot; orders entries of one millisecond. */
  readonly seq: number;
  readonly kind: JournalKind;
  /** Device id, topic, variable … what it is about. */
  readonly subject: string;
  /** Attribute or event name; empty where there is none. */
  readonly attribute: string;
  /** JSON text: the envelope or the payload, encoded once. */
  readonly body: string;
}

/** A question to the journal. */
export interface JournalQuery {
  readonly subject?: string;
  readonly attribute?: string;
  readonly kinds?: readonly JournalKind[];
  /** Epoch ms, from ≤ ts < to. */
  readonly from?: number;
  readonly to?: number;
  /** Newest first when true (default false: oldest first). */
  readonly newestFirst?: boolean;
  readonly limit: number;
}

/** Append-only, one file a day, written and queried off the main thread. */
export interface Journal {
  /** Takes an entry; never blocks, never throws. Past a bounded backlog entries are dropped, counted and logged once a minute. */
  append(entry: JournalEntry): void;
  query(query: JournalQuery): Promise<JournalEntry[]>;
  /** All entries of a span in order, page by page (backtests). */
  read(
    from: number,
    to: number,
    options?: { kinds?: readonly JournalKind[]; pageSize?: number },
  ): AsyncIterable<JournalEntry[]>;
  /** Days there are, with entries and bytes. */
  days(): Promise<{ day: string; entries: number; bytes: number }[]>;
  counters(): { appended: number; dropped: number; written: number };
  flush(): Promise<void>;
  close(): Promise<void>;
}
