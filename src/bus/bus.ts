// The bus as the gateway sees it: a place to publish, and a source of what outsiders publish.

/** A message of an outsider. */
export interface BusMessage {
  readonly topic: string;
  readonly payload: string;
  /** It was there before: told at a start or a subscription, no news. */
  readonly retained: boolean;
  /** The client's id, or the broker's address where that is all we know. */
  readonly client: string;
  /** The principal's name, where the broker is ours. */
  readonly principal: string | undefined;
}

/** A way to publish and to hear. Implementations: embedded (aedes), remote (mqtt.js), memory (simulation). */
export interface Bus {
  /** Synchronous, never throws, never waits for a subscriber. */
  publish(topic: string, payload: string, options?: { retain?: boolean; qos?: 0 | 1 | 2 }): void;
  /**
   * Retains what `make` gives (empty text: nothing). It is made when somebody gets it: at once where somebody listens,
   * else when somebody looks.
   */
  retain(topic: string, make: () => string): void;
  /** Removes a retained message. */
  clear(topic: string): void;
  /** Whether anybody would get it: what nobody gets need not be encoded. */
  hasSubscribers(topic: string): boolean;
  /** Retained messages under our root that are there now (of an earlier life, on a broker of others). */
  retainedUnder(prefix: string): string[];
  /** The outside topics that rules look at; what is retained there is told at once. */
  listen(filters: readonly string[]): void;
  status(): { ok: boolean; note?: string };
  stop(): Promise<void>;
}
