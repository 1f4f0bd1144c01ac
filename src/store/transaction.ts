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

  put(table: TableName, key: string, value: unknown): void {
    this.durable.set(`${table}\n${key}`, { table, key, value });
  }

  putLazily(table: TableName, key: string, value: unknown): void {
    this.lazy.set(`${table}\n${key}`, { table, key, value });
  }

  afterCommit(effect: () => void): void {
    this.effects.push(effect);
  }

  /** How many lazy changes wait. */
  get lazySize(): number {
    return this.lazy.size;
  }

  /** The durable changes, with all lazy ones beside them when there are any durable; both lists are emptied. */
  takeDurable(): Change[] {
    if (this.durable.size === 0) return [];
    const changes = [...this.durable.values(), ...this.lazy.values()];
    this.durable = new Map();
    this.lazy = new Map();
    return changes;
  }

  takeLazy(): Change[] {
    if (this.lazy.size === 0) return [];
    const changes = [...this.lazy.values()];
    this.lazy = new Map();
    return changes;
  }

  takeEffects(): (() => void)[] {
    if (this.effects.length === 0) return [];
    const effects = this.effects;
    this.effects = [];
    return effects;
  }
}
