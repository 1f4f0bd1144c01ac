// The engine's one queue of inputs, bounded per source. In a flood a newer report of an attribute takes the place of the
// older one; button events, commands and operations are never dropped.

import type { Arrival } from './timeline.ts';

/** One input, to be handled inside a turn. */
export type Input = () => void;

interface Entry {
  readonly arrival: Arrival;
  run: Input | undefined;
  readonly source: string;
  readonly key: string | undefined;
}

/** Above this many waiting inputs of one source, reports of one attribute coalesce. */
const COALESCE_ABOVE = 2_000;
/** Above this many, reports of new attributes are dropped. */
const DROP_ABOVE = 20_000;

/** First in, first out. */
export class Inbox {
  private entries: Entry[] = [];
  private head = 0;
  private readonly waiting = new Map<string, number>();
  private readonly latest = new Map<string, Entry>();
  coalesced = 0;
  dropped = 0;

  get size(): number {
    return this.entries.length - this.head;
  }

  /** @param key names what the input is the latest of (`device attribute`); absent for what may never be dropped */
  push(source: string, key: string | undefined, arrival: Arrival, run: Input): void {
    const waiting = this.waiting.get(source) ?? 0;
    if (key !== undefined && waiting >= COALESCE_ABOVE) {
      const older = this.latest.get(key);
      if (older) {
        older.run = undefined;
        this.coalesced++;
      } else if (waiting >= DROP_ABOVE) {
        this.dropped++;
        return;
      }
    }
    const entry: Entry = { arrival, run, source, key };
    this.entries.push(entry);
    this.waiting.set(source, waiting + 1);
    if (key !== undefined && waiting >= COALESCE_ABOVE / 2) this.latest.set(key, entry);
  }

  /** When the next one arrived. */
  next(): Arrival | undefined {
    return this.entries[this.head]?.arrival;
  }

  take(): Input | undefined {
    while (this.head < this.entries.length) {
      const entry = this.entries[this.head++] as Entry;
      // What was taken must not be held on to: a message may be large, and one that outlives its turn is moved about.
      if (this.head === this.entries.length || (this.head > 1_000 && this.head * 2 > this.entries.length)) {
        this.entries = this.entries.slice(this.head);
        this.head = 0;
      }
      this.waiting.set(entry.source, (this.waiting.get(entry.source) ?? 1) - 1);
      if (entry.key !== undefined && this.latest.get(entry.key) === entry) this.latest.delete(entry.key);
      if (entry.run) return entry.run;
    }
    return undefined;
  }
}
