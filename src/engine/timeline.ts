// Engine time: a line of milliseconds that only elapsed time moves. All of the engine's records are on it, so that a
// stepped wall clock shifts no hold and no delay; it equals wall time (epoch ms) until the first step.
import type { Cancel, Clock } from '../lib/clock.ts';
import { Heap, type HeapEntry } from '../lib/heap.ts';

/** Larger differences between wall and elapsed time are steps; smaller ones are drift and followed silently. */
const STEP_MS = 2_000;

/** A pending call. Keep it to cancel. */
export interface Timer {
  cancel(): void;
}

type Call = () => void;

/** Engine time, and the engine's timers on it and on the wall. */
export class Timeline {
  private readonly clock: Clock;
  private readonly base: number;
  /** Engine time minus wall time. */
  private skew: number;
  private order = 0;
  private readonly onElapsed = new Heap<Call>();
  private readonly onWall = new Heap<Call>();
  private wake: { at: number; cancel: Cancel } | undefined;
  private readonly onDue: () => void;

  /**
   * @param skew engine time minus wall time when the last process ended (0 for a new house)
   * @param onDue called when a timer is due; the engine then takes a turn
   */
  constructor(clock: Clock, skew: number, onDue: () => void) {
    this.clock = clock;
    this.skew = skew;
    this.base = clock.now() + skew - clock.elapsed();
    this.onDue = onDue;
  }

  /** Engine time now. */
  now(): number {
    return this.base + this.clock.elapsed();
  }

  /** Wall time now, epoch ms. */
  wall(): number {
    return this.clock.now();
  }

  /** An instant of engine time as wall time, as the wall stands now. */
  toWall(at: number): number {
    return at - this.skew;
  }

  fromWall(wall: number): number {
    return wall + this.skew;
  }

  /** What must be stored after a step. */
  get offset(): number {
    return this.skew;
  }

  /** Follows the wall clock. Returns by how much it was stepped, in ms; 0 for drift. */
  follow(): number {
    const drift = this.clock.now() - (this.now() - this.skew);
    if (Math.abs(drift) < 1) return 0;
    this.skew -= drift;
    return Math.abs(drift) > STEP_MS ? drift : 0;
  }

  /** Runs `call` in a turn at an instant of engine time. */
  at(due: number, call: Call): Timer {
    return this.push(this.onElapsed, due, call);
  }

  /** Runs `call` in a turn once the wall clock shows `due` or more. */
  atWall(due: number, call: Call): Timer {
    return this.push(this.onWall, due, call);
  }

  private push(heap: Heap<Call>, due: number, call: Call): Timer {
    const entry: HeapEntry<Call> = heap.push(due, call, this.order++);
    if (this.wake && this.dueOf() < this.wake.at) this.arm();
    return { cancel: () => heap.remove(entry) };
  }

  get pending(): number {
    return this.onElapsed.size + this.onWall.size;
  }

  /** Engine time of the earliest timer. */
  private dueOf(): number {
    const elapsed = this.onElapsed.peek();
    const wall = this.onWall.peek();
    return Math.min(
      elapsed ? elapsed.due : Number.POSITIVE_INFINITY,
      wall ? this.fromWall(wall.due) : Number.POSITIVE_INFINITY,
    );
  }

  /** Takes the earliest due timer, by due time, then creation. */
  takeDue(): Call | undefined {
    const elapsed = this.onElapsed.peek();
    const wall = this.onWall.peek();
    const a = elapsed && elapsed.due <= this.now() ? elapsed : undefined;
    const b = wall && wall.due <= this.wall() ? wall : undefined;
    if (a && b) {
      const bDue = this.fromWall(b.due);
      const first = a.due < bDue || (a.due === bDue && a.order < b.order);
      return (first ? this.onElapsed : this.onWall).pop()?.value;
    }
    if (a) return this.onElapsed.pop()?.value;
    return b ? this.onWall.pop()?.value : undefined;
  }

  hasDue(): boolean {
    const elapsed = this.onElapsed.peek();
    const wall = this.onWall.peek();
    return (elapsed !== undefined && elapsed.due <= this.now()) || (wall !== undefined && wall.due <= this.wall());
  }

  /** Asks the clock to call `onDue` at the earliest timer. */
  arm(): void {
    this.disarm();
    const at = this.dueOf();
    if (at === Number.POSITIVE_INFINITY) {
      this.wake = { at, cancel: () => {} };
      return;
    }
    this.wake = { at, cancel: this.clock.after(at - this.now(), this.onDue) };
  }

  disarm(): void {
    this.wake?.cancel();
    this.wake = undefined;
  }
}
