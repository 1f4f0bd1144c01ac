// What is tolerated is counted, so that it can be seen.

/** Counted since the backend was made. */
export interface Counters {
  /** Rows, attributes and variables of answers that had no known shape. */
  unreadable: number;
  /** Data types that are not known; their values are taken as they are. */
  readonly unknownTypes: Set<string>;
  /** Numbers and words that were none; told as unknown. */
  misfits: number;
  /** Events of devices that are not selected in the Maker API. */
  unknownDevices: number;
  /** Events of attributes that a device does not declare; declared then. */
  undeclared: number;
  /** Events about other things than devices and the location. */
  otherEvents: number;
  /** Frames and bodies that were no event. */
  garbled: number;
  events: number;
  /** Values that a poll found to differ: their events were lost. */
  missed: number;
  snapshots: number;
  retries: number;
}

/** All at zero. */
export const newCounters = (): Counters => ({
  unreadable: 0,
  unknownTypes: new Set(),
  misfits: 0,
  unknownDevices: 0,
  undeclared: 0,
  otherEvents: 0,
  garbled: 0,
  events: 0,
  missed: 0,
  snapshots: 0,
  retries: 0,
});
