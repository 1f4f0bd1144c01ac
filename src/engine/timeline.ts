// Engine time: a line of milliseconds that only elapsed time moves. All of the engine's records are on it, so that a
// stepped wall clock shifts no hold and no delay; it equals wall time (epoch ms) until the first step.
import { type Cancel, type Clock, iso } from '../lib/clock.ts';
import { Heap, type HeapEntry } from '../lib/heap.ts';

/** Larger differences between wall and elapsed time are steps; smaller ones are drift and followed silently. */
const STEP_MS = 2_000;

/** A pending call. Keep it to cancel. */
export interface Timer {
  cancel(): void;
}

type Call = () => void;

// A class, since a house may have a hundred thousand of them: a closure weighs twice as much.
class ArmedTimer implements Timer {
  private readonly heap: Heap<Call>;
  private readonly entry: HeapEntry<Call>;

  constructor(heap: Heap<Call>, entry: HeapEntry<Call>) {
    this.heap = heap;
    this.entry = entry;
  }

  cancel(): void {
    this.heap.remove(this.entry);
  }
}

/** When an input arrived: engine time, and the order of the clock's timer that brought it. */
export interface Arrival {
  readonly at: number;
  readonly order: number;
}

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

  /** Runs `call` in a turn at an instant of engine time. @param since when it was set: before a restart, perhaps */
  at(due: number, call: Call, since = this.now()): Timer {
    return this.push(this.onElapsed, due, call, since);
  }

  /** Runs `call` in a turn once the wall clock shows `due` or more. */
  atWall(due: number, call: Call): Timer {
    return this.push(this.onWall, due, call, this.now());
  }

  private push(heap: Heap<Call>, due: number, call: Call, since: number): Timer {
    // Among others it would be in no order, and keep them from theirs.
    if (Number.isNaN(due)) throw new RangeError('a timer is due at no time');
    const entry: HeapEntry<Call> = heap.push(due, call, this.clock.instants?.order() ?? this.order++, since);
    if (this.wake && (this.first() as { due: number }).due < this.wake.at) this.arm();
    return new ArmedTimer(heap, entry);
  }

  get pending(): number {
    return this.onElapsed.size + this.onWall.size;
  }

  /** The earliest timer, by due time in engine time, then by creation. */
  private first(): { heap: Heap<Call>; due: number; order: number } | undefined {
    const elapsed = this.onElapsed.peek();
    const wall = this.onWall.peek();
    const a = elapsed && { heap: this.onElapsed, due: elapsed.due, since: elapsed.since, order: elapsed.order };
    const b = wall && { heap: this.onWall, due: this.whenWall(wall.due), since: wall.since, order: wall.order };
    if (!a || !b) return a ?? b;
    const isFirst = a.due - b.due || a.since - b.since || a.order - b.order;
    return isFirst < 0 ? a : b;
  }

  /** When the wall will show an instant: not before it does, though a step that was not followed yet says so. */
  private whenWall(wall: number): number {
    return Math.max(this.fromWall(wall), this.now() + wall - this.wall());
  }

  private firstDue(input: Arrival | undefined): Heap<Call> | undefined {
    const first = this.first();
    if (!first || first.due > this.now()) return undefined;
    if (this.clock.instants?.isPreceded(first.due - this.base, first.order)) return undefined;
    const isAfter = input && (first.due > input.at || (first.due === input.at && first.order > input.order));
    return isAfter ? undefined : first.heap;
  }

  /** Takes the earliest due timer, unless the next input came before it. */
  takeDue(input?: Arrival): Call | undefined {
    return this.firstDue(input)?.pop()?.value;
  }

  hasDue(): boolean {
    return this.firstDue(undefined) !== undefined;
  }

  /** When something arrives now, and after which timer of this instant. */
  arrival(): Arrival {
    return { at: this.now(), order: this.clock.instants?.running() ?? Number.POSITIVE_INFINITY };
  }

  /** Asks the clock to call `onDue` at the earliest timer. */
  arm(): void {
    this.disarm();
    const first = this.first();
    if (!first) {
      this.wake = { at: Number.POSITIVE_INFINITY, cancel: () => {} };
      return;
    }
    this.wake = { at: first.due, cancel: this.clock.after(first.due - this.now(), this.onDue, first.order) };
  }

  disarm(): void {
    this.wake?.cancel();
    this.wake = undefined;
  }
}

/** Instants of engine time as text; most of those asked for lie in the millisecond of the last one. */
export function isoOf(toWall: (at: number) => number): (at: number) => string {
  let last = Number.NaN;
  let text = '';
  return at => {
    const wall = Math.floor(toWall(at));
    if (wall !== last) {
      text = iso(wall);
      last = wall;
    }
    return text;
  };
}
