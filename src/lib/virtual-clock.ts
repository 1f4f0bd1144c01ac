// A clock whose hands are moved by its owner: simulation, backtests and tests run the production code on it.
import type { Cancel, Clock, Instants } from './clock.ts';
import { Heap } from './heap.ts';

/** Elapsed time moves only by `runNext` and `advanceTo`; the wall is elapsed time plus an offset that `step` changes. */
export class VirtualClock implements Clock {
  private readonly pending = new Heap<() => void>();
  private time = 0;
  private offset: number;
  private orders = 0;
  private running = Number.POSITIVE_INFINITY;
  readonly instants: Instants = {
    order: () => this.orders++,
    running: () => this.running,
    isPreceded: (due, order) => {
      const first = this.pending.peek();
      return first !== undefined && (first.due < due || (first.due === due && first.order < order));
    },
  };

  /** @param start wall time at elapsed time 0, epoch ms */
  constructor(start: number) {
    this.offset = start;
  }

  now(): number {
    return this.time + this.offset;
  }

  elapsed(): number {
    return this.time;
  }

  after(delayMs: number, fn: () => void, order = this.orders++): Cancel {
    const entry = this.pending.push(this.time + Math.max(0, delayMs), fn, order);
    return () => this.pending.remove(entry);
  }

  /** Steps the wall clock by `deltaMs`, as NTP or a person does; elapsed time is not moved. */
  step(deltaMs: number): void {
    this.offset += deltaMs;
  }

  /** Elapsed time of the next timer, if any. */
  nextDue(): number | undefined {
    return this.pending.peek()?.due;
  }

  /** Moves to the next timer, if it is due by `limit` (elapsed ms), and runs it; false when there is none. */
  runNext(limit = Number.POSITIVE_INFINITY): boolean {
    const next = this.pending.peek();
    if (!next || next.due > limit) return false;
    this.pending.pop();
    this.time = Math.max(this.time, next.due);
    this.running = next.order;
    try {
      next.value();
    } finally {
      this.running = Number.POSITIVE_INFINITY;
    }
    return true;
  }

  /** Moves the hands to `elapsed` without running anything; timers before it are then overdue. */
  moveTo(elapsed: number): void {
    this.time = Math.max(this.time, elapsed);
  }

  /** Runs all timers up to `elapsed`, in order, and ends there. Synchronous: for plain unit tests. */
  advanceTo(elapsed: number): void {
    while (this.runNext(elapsed));
    this.moveTo(elapsed);
  }
}
