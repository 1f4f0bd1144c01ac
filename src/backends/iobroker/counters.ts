// What is tolerated is counted, so that it can be seen.

/** Counted since the backend was made. */
export interface Counters {
  /** Objects and states that had no known shape. */
  unreadable: number;
  /** Values of another type than their object declares; the old ones stand. */
  misfits: number;
  /** Frames that were none of the protocol. */
  garbled: number;
  /** States told by ioBroker, of those that come in. */
  events: number;
  /** Commands of others that were seen (`ack: false`). */
  commands: number;
  snapshots: number;
}

/** All at zero. */
export const newCounters = (): Counters => ({
  unreadable: 0,
  misfits: 0,
  garbled: 0,
  events: 0,
  commands: 0,
  snapshots: 0,
});
