// Turns: one queue of inputs; what a turn changed is committed in one transaction, and only then are its effects released.
import { type Clock, yieldToIo } from '../lib/clock.ts';
import { asCausewayError, CausewayError } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import type { Change, Store } from '../store/store.ts';
import type { TurnTransaction } from '../store/transaction.ts';
import { Inbox } from './inbox.ts';
import type { Timeline } from './timeline.ts';

/** What turns are made of. */
export interface TurnParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly store: Store;
  readonly tx: TurnTransaction;
  readonly timeline: () => Timeline;
  /** Follows up what one input led to. */
  readonly settle: () => void;
  /** Timers wait until the backends have told their snapshots. */
  readonly isReady: () => boolean;
}

// How long a turn works before I/O gets its chance, and how many inputs it takes at most.
const TURN_MS = 5;
const TURN_INPUTS = 512;
const LAZY_FLUSH_MS = 250;
// A snapshot of a large system is tens of thousands of values: in pieces, no commit of a turn waits for all of them, and they
// are never all on their way to the worker.
const LAZY_AT_ONCE = 1_000;
const LAZY_NEXT_MS = 20;
// Every so many lazy flushes the slowest of all changes go along.
const RIPEN_EVERY = 20;
const RETRY_MS = 1_000;
/** A power cut takes what was told in this time at most. */
const SYNC_MS = 5_000;

/** The loop of turns. */
export class Turns {
  readonly inbox = new Inbox();
  turns = 0;
  commits = 0;
  /** Why commits fail at present, for health. */
  trouble: string | undefined;
  private readonly parts: TurnParts;
  private isStopped = false;
  private isTurning = false;
  private isScheduled = false;
  private cancelFlush: (() => void) | undefined;
  private cancelSync: (() => void) | undefined;
  private flushes = 0;
  private readonly whenIdle: (() => void)[] = [];

  constructor(parts: TurnParts) {
    this.parts = parts;
  }

  /** Puts an input into the queue. @param key see `Inbox.push` */
  push(source: string, key: string | undefined, run: () => void): void {
    if (this.isStopped) return;
    this.inbox.push(source, key, this.parts.timeline().arrival(), run);
    this.schedule();
  }

  /** Does something inside a turn; resolves with its result once the turn is committed. */
  do<T>(work: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.isStopped) return reject(new CausewayError('BACKEND_OFFLINE', 'the engine is stopped'));
      this.push('operation', undefined, () => {
        try {
          const result = work();
          this.parts.tx.afterCommit(() => resolve(result));
        } catch (error) {
          this.parts.tx.afterCommit(() => reject(asCausewayError(error)));
        }
      });
    });
  }

  schedule(): void {
    if (this.isScheduled || this.isTurning || this.isStopped) return;
    this.isScheduled = true;
    setImmediate(() => {
      this.isScheduled = false;
      void this.run();
    });
  }

  private hasWork(): boolean {
    return this.inbox.size > 0 || (this.parts.isReady() && this.parts.timeline().hasDue());
  }

  /** Takes turns until nothing is left to do. */
  private async run(): Promise<void> {
    if (this.isTurning || this.isStopped) return;
    const { tx } = this.parts;
    this.isTurning = true;
    try {
      while (this.hasWork() && !this.isStopped) {
        this.turn();
        const changes = tx.takeDurable();
        const effects = tx.takeEffects();
        // What was not stored must not be seen outside.
        if (changes.length > 0 && !(await this.commit(changes))) break;
        for (const effect of effects) this.guarded(effect, 'an effect could not be released');
        if (this.hasWork()) await yieldToIo();
      }
    } finally {
      this.isTurning = false;
    }
    if (!this.isStopped) {
      this.flushLazily();
      if (this.parts.isReady()) this.parts.timeline().arm();
    }
    for (const resolve of this.whenIdle.splice(0)) resolve();
  }

  private turn(): void {
    this.turns++;
    const { clock } = this.parts;
    const began = clock.elapsed();
    for (let n = 0; n < TURN_INPUTS; n++) {
      const due = this.parts.isReady() ? this.parts.timeline().takeDue(this.inbox.next()) : undefined;
      const work = due ?? this.inbox.take();
      if (!work) return;
      this.guarded(work, 'an input could not be handled');
      this.guarded(this.parts.settle, 'what an input led to could not be handled');
      if (clock.elapsed() - began > TURN_MS) return;
    }
  }

  private guarded(work: () => void, message: string): void {
    try {
      work();
    } catch (error) {
      this.parts.log.error({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }, message);
    }
  }

  /** False where the loop has ended before the store took them. */
  private async commit(changes: readonly Change[]): Promise<boolean> {
    const { store, clock } = this.parts;
    for (;;) {
      try {
        await store.commit(changes, 'full');
        this.commits++;
        this.stored();
        this.synced();
        return true;
      } catch (error) {
        this.notStored(error);
        if (this.isStopped) return false;
        await new Promise<void>(resolve => clock.after(RETRY_MS, resolve));
      }
    }
  }

  private stored(): void {
    if (this.trouble !== undefined) this.parts.log.info({}, 'the store takes changes again');
    this.trouble = undefined;
  }

  private notStored(error: unknown): void {
    if (this.trouble === undefined) {
      this.parts.log.error(
        { error: String(error) },
        'changes cannot be stored: rules wait and nothing is released until they can; free disk space or mend the data folder',
      );
    }
    this.trouble = asCausewayError(error).message;
  }

  private flushLazily(delayMs = LAZY_FLUSH_MS): void {
    const { tx, store, clock } = this.parts;
    if (this.cancelFlush || tx.lazySize === 0) return;
    this.cancelFlush = clock.after(delayMs, async () => {
      if (++this.flushes % RIPEN_EVERY === 0) tx.ripen();
      const changes = tx.takeLazy(LAZY_AT_ONCE);
      try {
        if (changes.length > 0) await store.commit(changes, 'lazy');
        tx.forgetLazy();
        if (changes.length > 0) {
          this.stored();
          this.syncLater();
        }
      } catch (error) {
        tx.returnLazy();
        if (!this.isStopped) this.notStored(error);
      }
      this.cancelFlush = undefined;
      if (this.isStopped) return;
      const isMore = changes.length === LAZY_AT_ONCE;
      this.flushLazily(this.trouble === undefined ? (isMore ? LAZY_NEXT_MS : LAZY_FLUSH_MS) : RETRY_MS);
    });
  }

  /** Any commit that is on the disk takes all before it along. */
  private syncLater(): void {
    const { store, clock } = this.parts;
    this.cancelSync ??= clock.after(SYNC_MS, () => {
      this.cancelSync = undefined;
      if (this.isStopped) return;
      store.commit([{ table: 'meta', key: 'synced', value: clock.now() }], 'full').catch(() => this.syncLater());
    });
  }

  private synced(): void {
    this.cancelSync?.();
    this.cancelSync = undefined;
  }

  /** Ends the loop; what is collected is stored. */
  async stop(): Promise<void> {
    const { tx, store, log } = this.parts;
    this.isStopped = true;
    this.cancelFlush?.();
    this.synced();
    tx.ripen();
    const left = [...tx.takeDurable(), ...tx.takeLazy()];
    if (left.length === 0) return;
    await store
      .commit(left, 'full')
      .catch(error => log.error({ error: String(error) }, 'the last changes could not be stored'));
  }

  /** Ends the loop as a killed process does: nothing more is stored. */
  kill(): void {
    this.isStopped = true;
    this.cancelFlush?.();
    this.synced();
  }

  /** Nothing is left to do now. */
  get isIdle(): boolean {
    if (this.isStopped) return true;
    return !this.isTurning && !this.isScheduled && !this.hasWork();
  }

  /** Resolves when nothing is left to do now (tests and simulations). */
  idle(): Promise<void> {
    if (this.isIdle) return Promise.resolve();
    return new Promise(resolve => {
      this.whenIdle.push(resolve);
      this.schedule();
    });
  }
}
