// Who is to be told of which resource. Changes are collected per subscriber and told once per window, and only while
// he reads: a flood costs a set of URIs, a frozen reader nothing more (the SDK queues without bound by itself).
import type { Observable } from 'rxjs';
import type { Cancel, Clock } from '../lib/clock.ts';
import { canonicalUri } from './resources.ts';

/** Where a subscriber is told. Both calls only queue; neither may throw. */
export interface Outlet {
  /** False while nobody reads, or while the reader does not keep up. */
  ready(): boolean;
  updated(uri: string): void;
  listChanged(): void;
}

/** One session or one listen stream. */
export interface Subscriber {
  /** False when the subscriber has too many already. */
  add(uri: string): boolean;
  remove(uri: string): void;
  /** He wants to hear of resources that come and go. */
  watchList(): void;
  /** The outlet may be ready again. */
  wake(): void;
  /** Something may have been missed: everything subscribed counts as changed. */
  markAll(): void;
  close(): void;
}

/** The hub between the gateway's changes and all subscribers. */
export interface Updates {
  subscribe(outlet: Outlet): Subscriber;
  readonly subscribers: number;
  stop(): void;
}

interface UpdatesOptions {
  readonly updated$: Observable<string>;
  readonly listChanged$: Observable<void>;
  readonly clock: Clock;
  /** Changes within this many ms are told together. */
  readonly windowMs: number;
  readonly maxUris: number;
  /** Follows a resource that tells its changes itself, while somebody is subscribed. */
  watch?(uri: string, tell: () => void): (() => void) | undefined;
}

/** At most so many messages per window: what lies in the queue of a reader who just stopped stays small. */
const BATCH = 250;

/** Starts listening to the gateway. */
export function createUpdates(options: UpdatesOptions): Updates {
  const interested = new Interests((key, tell) => options.watch?.(key, tell));
  const all = new Set<Entry>();
  const inputs = [
    options.updated$.subscribe(uri => {
      if (interested.size > 0) interested.mark(canonicalUri(uri));
    }),
    options.listChanged$.subscribe(() => {
      for (const entry of all) entry.markList();
    }),
  ];

  return {
    subscribe(outlet) {
      const entry = subscriberOf(outlet, options, interested, () => all.delete(entry));
      all.add(entry);
      return entry;
    },
    get subscribers() {
      return all.size;
    },
    stop() {
      for (const input of inputs) input.unsubscribe();
      for (const entry of all) entry.close();
    },
  };
}

interface Entry extends Subscriber {
  mark(key: string): void;
  markList(): void;
}

/** Who looks at what, by canonical URI; what tells its changes itself is followed while anybody does. */
class Interests {
  private readonly entries = new Map<string, Set<Entry>>();
  private readonly ends = new Map<string, () => void>();
  private readonly watch: (key: string, tell: () => void) => (() => void) | undefined;

  constructor(watch: (key: string, tell: () => void) => (() => void) | undefined) {
    this.watch = watch;
  }

  get size(): number {
    return this.entries.size;
  }

  add(key: string, entry: Entry): void {
    const known = this.entries.get(key);
    if (known) {
      known.add(entry);
      return;
    }
    this.entries.set(key, new Set([entry]));
    const end = this.watch(key, () => this.mark(key));
    if (end) this.ends.set(key, end);
  }

  remove(key: string, entry: Entry): void {
    const known = this.entries.get(key);
    if (!known?.delete(entry) || known.size > 0) return;
    this.entries.delete(key);
    this.ends.get(key)?.();
    this.ends.delete(key);
  }

  mark(key: string): void {
    for (const entry of this.entries.get(key) ?? []) entry.mark(key);
  }
}

function subscriberOf(
  outlet: Outlet,
  { clock, windowMs, maxUris }: UpdatesOptions,
  interested: Interests,
  onClose: () => void,
): Entry {
  /** Canonical URI → the spellings that this subscriber used, which are what he expects to be told. */
  const spellings = new Map<string, Set<string>>();
  const dirty = new Set<string>();
  let watchesList = false;
  let listDirty = false;
  let timer: Cancel | undefined;
  let count = 0;

  const flush = () => {
    timer = undefined;
    if (!outlet.ready()) return;
    if (listDirty) outlet.listChanged();
    listDirty = false;
    let sent = 0;
    for (const key of dirty) {
      if (sent >= BATCH) return arm();
      dirty.delete(key);
      for (const uri of spellings.get(key) ?? []) {
        outlet.updated(uri);
        sent++;
      }
    }
  };
  const arm = () => {
    timer ??= clock.after(windowMs, flush);
  };
  const forget = (key: string) => {
    interested.remove(key, entry);
  };

  const entry: Entry = {
    add(uri) {
      const key = canonicalUri(uri);
      const known = spellings.get(key);
      if (known?.has(uri)) return true;
      if (count >= maxUris) return false;
      count++;
      if (known) known.add(uri);
      else spellings.set(key, new Set([uri]));
      interested.add(key, entry);
      return true;
    },
    remove(uri) {
      const key = canonicalUri(uri);
      const known = spellings.get(key);
      if (!known?.delete(uri)) return;
      count--;
      if (known.size > 0) return;
      spellings.delete(key);
      dirty.delete(key);
      forget(key);
    },
    watchList: () => {
      watchesList = true;
    },
    wake: () => {
      if (dirty.size > 0 || listDirty) arm();
    },
    markAll() {
      for (const key of spellings.keys()) dirty.add(key);
      listDirty = watchesList;
      arm();
    },
    close() {
      timer?.();
      for (const key of spellings.keys()) forget(key);
      spellings.clear();
      dirty.clear();
      onClose();
    },
    mark(key) {
      dirty.add(key);
      arm();
    },
    markList() {
      if (!watchesList) return;
      listDirty = true;
      arm();
    },
  };
  return entry;
}
