// What the tests and the process with ioBroker's databases say to each other, and the shapes of ioBroker's own things.
import { join } from 'node:path';

/** What a state may hold; arrays and objects are JSON texts in ioBroker. */
export type IobValue = string | number | boolean | null;

/** A state as ioBroker keeps it. Times are epoch ms, `lc` is the last change of the value. */
export interface IobState {
  readonly val: IobValue;
  readonly ack: boolean;
  readonly ts: number;
  readonly lc: number;
  /** Quality, 0 is good. */
  readonly q: number;
  /** `system.adapter.hue.0` */
  readonly from: string;
  readonly user?: string;
  readonly expire?: boolean;
  readonly c?: string;
}

/** A state to be written. `expire` is in seconds. */
export interface IobWrite {
  readonly val: IobValue;
  readonly ack?: boolean;
  readonly ts?: number;
  readonly lc?: number;
  readonly q?: number;
  readonly from?: string;
  readonly user?: string;
  readonly expire?: number;
  readonly c?: string;
}

/** An object as ioBroker keeps it. */
export interface IobObject {
  readonly _id?: string;
  readonly type: string;
  readonly common: Readonly<Record<string, unknown>>;
  readonly native?: Readonly<Record<string, unknown>>;
  readonly [more: string]: unknown;
}

/** A line of ioBroker's log. */
export interface IobLog {
  readonly severity: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  /** `hue.0` */
  readonly from: string;
  readonly ts: number;
}

/** What the databases are started with, on the command line as JSON. */
export interface DatabaseSettings {
  /** Of an ioBroker installation: iobroker.json, which says where they listen, and their files. */
  readonly dir: string;
  /** Patterns of states whose changes are told. */
  readonly watch: readonly string[];
}

/** What can be asked of them, each answered in order. */
export interface Requests {
  setObjects: { given: readonly (readonly [id: string, object: IobObject])[]; answer: undefined };
  getObject: { given: string; answer: IobObject | null };
  deleteObject: { given: string; answer: undefined };
  /** Writes to one id keep their order, those to several go side by side. */
  setStates: { given: readonly (readonly [id: string, state: IobWrite])[]; answer: undefined };
  getState: { given: string; answer: IobState | null };
  deleteState: { given: string; answer: undefined };
  /** To all that asked for logs. */
  log: { given: IobLog; answer: undefined };
  /** Writes all to the disk and ends the process. */
  stop: { given: undefined; answer: undefined };
}

export type RequestName = keyof Requests;

/** One request. */
export interface Request<N extends RequestName = RequestName> {
  readonly number: number;
  readonly name: N;
  readonly given: Requests[N]['given'];
}

/** What the databases say: that they are there, an answer, or what happened to a watched state. */
export type Told =
  | { readonly is: 'up' }
  | { readonly is: 'answer'; readonly number: number; readonly value?: unknown; readonly error?: string }
  | { readonly is: 'state'; readonly id: string; readonly state: IobState | null };

/** What the keeper of the adapters is asked: to start one by its name, or to send a signal. */
export type KeeperRequest =
  | { readonly name: string; readonly pid?: undefined; readonly signal?: undefined }
  | { readonly name?: undefined; readonly pid: number; readonly signal: NodeJS.Signals };

/** What it says. */
export type KeeperTold = { readonly is: 'started' | 'exited'; readonly pid: number };

/** Where an adapter's output goes. */
export const logFile = (dir: string, name: string): string => join(dir, `${name}.log`);

/** The exit code of databases whose port another has taken meanwhile. */
export const PORT_TAKEN = 98;
