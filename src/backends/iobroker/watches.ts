// What clients look at beyond the imported states: subscribed to while somebody looks, and again after a reconnect.
import type { Json } from '../../lib/json.ts';
import { type Matcher, matcherOf } from './patterns.ts';
import type { IobSocket } from './socket.ts';

/** States or objects. */
export type Watched = 'state' | 'object';

interface Watch {
  readonly of: Watched;
  readonly pattern: string;
  readonly matches: Matcher;
  readonly tells: Set<() => void>;
}

const SUBSCRIBE = { state: ['subscribe', 'unsubscribe'], object: ['subscribeObjects', 'unsubscribeObjects'] } as const;
const EVENTS: Readonly<Record<string, Watched>> = { stateChange: 'state', objectChange: 'object' };

/** Watches, over all connections. */
export class Watches {
  private readonly watches = new Map<string, Watch>();
  private socket: IobSocket | undefined;
  /** Patterns that the backend itself has subscribed to, which must not be ended. */
  private readonly isOwn: (of: Watched, pattern: string) => boolean;

  constructor(isOwn: (of: Watched, pattern: string) => boolean) {
    this.isOwn = isOwn;
  }

  /** Calls `tell` at each change of what fits, until what it returns is called. */
  watch(of: Watched, pattern: string, tell: () => void): () => void {
    const key = `${of} ${pattern}`;
    let watch = this.watches.get(key);
    if (!watch) {
      watch = { of, pattern, matches: matcherOf(pattern), tells: new Set() };
      this.watches.set(key, watch);
      this.send(watch, 0);
    }
    const mine = watch;
    mine.tells.add(tell);
    return () => {
      mine.tells.delete(tell);
      if (mine.tells.size > 0 || this.watches.get(key) !== mine) return;
      this.watches.delete(key);
      this.send(mine, 1);
    };
  }

  /** A new connection: all are subscribed to there, and may have changed. */
  attach(socket: IobSocket): void {
    this.socket = socket;
    for (const watch of this.watches.values()) {
      this.send(watch, 0);
      for (const tell of watch.tells) tell();
    }
  }

  detach(): void {
    this.socket = undefined;
  }

  onEvent(name: string, [id]: readonly Json[]): void {
    const of = EVENTS[name];
    if (!of || typeof id !== 'string' || this.watches.size === 0) return;
    for (const watch of this.watches.values()) {
      if (watch.of === of && watch.matches(id)) for (const tell of watch.tells) tell();
    }
  }

  private send({ of, pattern }: Watch, which: 0 | 1): void {
    if (this.isOwn(of, pattern)) return;
    // A connection that is lost shows elsewhere, and what a client dreamt up must not end one.
    this.socket?.ask(SUBSCRIBE[of][which], pattern).catch(() => {});
  }
}
