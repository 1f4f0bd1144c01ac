// The newest events in memory, for lists, long polls and streams.
import { Subject } from 'rxjs';
import { LOG } from '../engine/system-logs.ts';
import type { Clock } from '../lib/clock.ts';
import type { Event } from '../model/event.ts';

const KEPT = 1_000;

/** The newest events, oldest first, and those to come. */
export class RecentEvents {
  readonly events$ = new Subject<Event>();
  private readonly clock: Clock;
  private readonly ring: Event[] = [];

  constructor(clock: Clock) {
    this.clock = clock;
  }

  add(event: Event): void {
    // A system that logs much would push all else out; the journal has its lines.
    if (event.attribute !== LOG) this.ring.push(event);
    if (this.ring.length > KEPT * 2) this.ring.splice(0, this.ring.length - KEPT);
    this.events$.next(event);
  }

  list(): readonly Event[] {
    return this.ring.slice(-KEPT);
  }

  /** The next event that fits; undefined when none came in time. */
  next(matches: (event: Event) => boolean, timeoutMs: number, signal: AbortSignal): Promise<Event | undefined> {
    return new Promise(resolve => {
      const end = (event?: Event) => {
        subscription.unsubscribe();
        cancel();
        signal.removeEventListener('abort', aborted);
        resolve(event);
      };
      const aborted = () => end();
      const cancel = this.clock.after(timeoutMs, () => end());
      const subscription = this.events$.subscribe(event => {
        if (matches(event)) end(event);
      });
      signal.addEventListener('abort', aborted, { once: true });
    });
  }
}
