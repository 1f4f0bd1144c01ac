// What is tolerated is counted, so that it can be seen.

/** Counted since the backend was made. */
export interface Counters {
  /** Rows of answers and messages that had no known shape. */
  unreadable: number;
  /** Values of fields that were none of the expected kind; told as unknown or left out. */
  misfits: number;
  /** Kinds of messages and events that are not known. */
  readonly unknownKinds: Set<string>;
  /** Frames of the socket that were no message. */
  garbled: number;
  messages: number;
  requests: number;
  retries: number;
  /** Logins that were tried. */
  logins: number;
  /** Times the socket was opened. */
  sockets: number;
  polls: number;
  flows: number;
  /** Flows that came twice, by the overlap of the windows. */
  repeatedFlows: number;
  /** Flows that could not be fetched any more, as far as the console tells. */
  lostFlows: number;
}

/** All at zero. */
export const newCounters = (): Counters => ({
  unreadable: 0,
  misfits: 0,
  unknownKinds: new Set(),
  garbled: 0,
  messages: 0,
  requests: 0,
  retries: 0,
  logins: 0,
  sockets: 0,
  polls: 0,
  flows: 0,
  repeatedFlows: 0,
  lostFlows: 0,
});

/** Kinds beyond these are not remembered. */
const MOST_KINDS = 100;

/** Counts a kind of message or event that is not known. */
export function countUnknown(counters: Counters, kind: string): void {
  if (counters.unknownKinds.size < MOST_KINDS) counters.unknownKinds.add(kind.slice(0, 80));
}
