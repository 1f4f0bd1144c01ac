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

  /** Gives all of them, but confirmed ones that the snapshot had already. */
  release(
    take: (id: string, state: IobState | undefined) => void,
    isOld: (id: string, state: IobState) => boolean,
  ): void {
    const { events } = this;
    this.events = [];
    for (const { id, state } of events) {
      if (state?.ack && isOld(id, state)) continue;
      take(id, state);
    }
  }
}
