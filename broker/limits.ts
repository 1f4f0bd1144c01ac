// What one client, one address and all of them together may use up. A home needs a small part of it.

/** Sizes in bytes, times in milliseconds. */
export interface Limits {
  /** One packet, by its fixed header, before the body is read. */
  packetBytes: number;
  clients: number;
  clientsPerAddress: number;
  /** Sockets that have not logged in. */
  pendingPerAddress: number;
  connectTimeoutMs: number;
  /** Packets a second of one client, and how many it may send at once; beyond it its socket is read no further. */
  rate: number;
  burst: number;
  /** Filters of one client, and levels of one topic. */
  subscriptions: number;
  levels: number;
  /** What waits for one session that is away or slow to acknowledge; the oldest goes first. */
  queuedMessages: number;
  queuedBytes: number;
  /** Sessions that outlive their connection, and for how long one is kept that does not come back. */
  sessions: number;
  sessionExpiryMs: number;
  /** Retained messages outside the root. */
  retainedTopics: number;
  retainedBytes: number;
  /** What may wait in memory for one connection, and how long it may accept nothing, before it is ended. */
  backlogBytes: number;
  drainTimeoutMs: number;
  /** A program on this machine needs no flooding to starve us, and a restart of Node-RED is a burst of sockets. */
  exemptLoopback: boolean;
}

/** The limits of a home. */
export const DEFAULT_LIMITS: Limits = {
  packetBytes: 256 * 1024,
  clients: 256,
  clientsPerAddress: 32,
  pendingPerAddress: 16,
  connectTimeoutMs: 5_000,
  rate: 200,
  burst: 1_000,
  subscriptions: 200,
  levels: 16,
  queuedMessages: 1_000,
  queuedBytes: 8 * 1024 * 1024,
  sessions: 1_000,
  sessionExpiryMs: 7 * 86_400_000,
  retainedTopics: 50_000,
  retainedBytes: 64 * 1024 * 1024,
  backlogBytes: 8 * 1024 * 1024,
  drainTimeoutMs: 10_000,
  exemptLoopback: true,
};

/** Refills with time up to `burst`; counts packets. */
export interface Bucket {
  /** Takes `cost`, or returns the milliseconds until it pays to ask again. */
  take(cost: number): number;
}

/** A bucket of `rate` tokens a second on an elapsed-time source. */
export function createBucket(rate: number, burst: number, elapsed: () => number): Bucket {
  let tokens = burst;
  let at = elapsed();
  return {
    take(cost) {
      if (tokens < cost) {
        const now = elapsed();
        tokens = Math.min(burst, tokens + ((now - at) * rate) / 1_000);
        at = now;
        // Waiting for one token at a time would be a timer per packet: wait for a tenth of a second's worth.
        if (tokens < cost) return Math.ceil(((Math.max(cost, rate / 10) - tokens) / rate) * 1_000);
      }
      tokens -= cost;
      return 0;
    },
  };
}
