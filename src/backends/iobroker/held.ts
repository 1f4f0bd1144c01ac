// States that come while a snapshot is taken and told, in their order. Where they are too many, only the last of each
// state is kept; presses and commands with them.
import type { IobState } from './wire.ts';

const MOST = 20_000;

interface Event {
  readonly id: string;
  readonly state: IobState | undefined;
}

/** What waits. */
export class Held {
  private events: Event[] = [];

  add(id: string, state: IobState | undefined): void {
    this.events.push({ id, state });
    if (this.events.length <= MOST * 2) return;
    const last = new Map<string, Event>();
    for (const event of this.events) {
      last.delete(event.id);
      last.set(event.id, event);
    }
    this.events = [...last.values()].slice(-MOST);
  }

  /**
   * Gives all of them, but confirmed ones that the snapshot had already: those up to the one that it shows, and older ones.
   * Several may have the same millisecond.
   */
  release(take: (id: string, state: IobState | undefined) => void, snapshot: SnapshotView): void {
    const { events } = this;
    this.events = [];
    const shown = new Map<string, number>();
    for (const [index, { id, state }] of events.entries()) if (state && snapshot.shows(id, state)) shown.set(id, index);
    const news = events.filter(({ id, state }, index) => {
      if (state?.ack === false) return true;
      const seen = shown.get(id);
      return seen === undefined ? !(state && snapshot.isNewer(id, state)) : index > seen;
    });
    for (const { id, state } of news) take(id, state);
  }
}

/** What the snapshot has of a state. */
export interface SnapshotView {
  /** The very same. */
  shows(id: string, state: IobState): boolean;
  /** A later one. */
  isNewer(id: string, state: IobState): boolean;
}
