// What one turn of the engine wants stored, and what may leave only once it is.
import type { Change, TableName } from './store.ts';

/** Collects the changes of a turn. The last value put at a key wins. */
export interface Transaction {
  /** Stored before any effect of the turn is released. `undefined` removes the key. */
  put(table: TableName, key: string, value: unknown): void;
  /** Stored soon, without making the turn wait for the disk (last known values). */
  putLazily(table: TableName, key: string, value: unknown): void;
  /** Runs after the commit, in order. */
  afterCommit(effect: () => void): void;
}

/** A Transaction that can be taken out and committed. */
export class TurnTransaction implements Transaction {
  private durable = new Map<string, Change>();
  private lazy = new Map<string, Change>();
  private effects: (() => void)[] = [];
  private readonly slow = new Map<string, Change>();
  /** Lazy changes that are being stored, less those that have become others meanwhile. */
  private leaving: Map<string, Change> | undefined;

  put(table: TableName, key: string, value: unknown): void {
    this.durable.set(this.changed(table, key), { table, key, value });
  }

  putLazily(table: TableName, key: string, value: unknown): void {
    this.lazy.set(this.changed(table, key), { table, key, value });
  }

  /** Stored within some seconds: counts and the like, that change with every run. */
  putSometime(table: TableName, key: string, value: unknown): void {
    this.slow.set(this.changed(table, key), { table, key, value });
  }

  /** What was put sometime is put lazily from now on. */
  ripen(): void {
    for (const [name, change] of this.slow) this.lazy.set(name, change);
    this.slow.clear();
  }

  private changed(table: TableName, key: string): string {
    const name = `${table}\n${key}`;
    this.leaving?.delete(name);
    if (this.slow.size > 0) this.slow.delete(name);
    return name;
  }

  afterCommit(effect: () => void): void {
    this.effects.push(effect);
  }

  /** How many lazy changes wait. */
  get lazySize(): number {
    return this.lazy.size + this.slow.size;
  }

  /** The durable changes, with all lazy ones beside them when there are any durable; both lists are emptied. */
  takeDurable(): Change[] {
    if (this.durable.size === 0) return [];
    const changes = [...this.durable.values(), ...this.lazy.values()];
    this.durable = new Map();
    this.lazy = new Map();
    return changes;
  }

  /** The oldest of the lazy changes, at most so many; `returnLazy` or `forgetLazy` follows. */
  takeLazy(max = Number.POSITIVE_INFINITY): Change[] {
    if (this.lazy.size === 0) return [];
    if (this.lazy.size <= max) {
      this.leaving = this.lazy;
      this.lazy = new Map();
    } else {
      this.leaving = new Map([...this.lazy].slice(0, max));
      for (const name of this.leaving.keys()) this.lazy.delete(name);
    }
    return [...this.leaving.values()];
  }

  /** What was taken could not be stored: it waits again, unless there is something newer. */
  returnLazy(): void {
    this.lazy = new Map([...(this.leaving ?? []), ...this.lazy]);
    this.leaving = undefined;
  }

  /** What was taken is stored. */
  forgetLazy(): void {
    this.leaving = undefined;
  }

  takeEffects(): (() => void)[] {
    if (this.effects.length === 0) return [];
    const effects = this.effects;
    this.effects = [];
    return effects;
  }
}
