// What we touch of aedes 1.2.0 beyond its published types. A new version of aedes is a reason to read this file again;
// test/unit/broker/aedes.test.ts fails when one of these is gone.
import type { Client } from 'aedes';

interface Parser {
  parse(chunk: Buffer): number;
  prependListener(event: 'packet', listener: (packet: ParsedPacket) => void): void;
}

/** What mqtt-packet has read, as far as we look at it. */
interface ParsedPacket {
  readonly subscriptions?: unknown[];
  readonly unsubscriptions?: unknown[];
}

/** A client as aedes holds it. */
export interface AedesClient extends Client {
  /** mqtt-packet's parser; whatever is read from the socket goes through `parse`. */
  readonly _parser: Parser;
  readonly _keepaliveTimer: { refresh(): void } | null;
  /** By filter, without a prototype. */
  readonly subscriptions: Readonly<Record<string, { readonly qos: number }>>;
  /** The id that the next message of QoS 1 or 2 will have. */
  _nextId: number;
  /** While paused, aedes reads nothing from the socket. */
  pause(): void;
  resume(): void;
}

/** A message on its way through aedes. */
export interface AedesPacket {
  cmd: 'publish';
  topic: string;
  payload: Buffer | string;
  qos: 0 | 1 | 2;
  retain: boolean;
  dup?: boolean;
  brokerId?: string | null;
  brokerCounter?: number;
  messageId?: number;
  clientId?: string;
}

/** Called by the emitter with a message for one subscription. */
export type Deliver = (packet: AedesPacket, done: () => void) => void;

/** What aedes asks of its emitter (`mq`). */
export interface Emitter {
  emit(packet: AedesPacket, done?: (error?: Error) => void): void;
  on(filter: string, deliver: Deliver, done?: () => void): void;
  removeListener(filter: string, deliver: Deliver, done?: () => void): void;
  close(done?: () => void): void;
}

/** Does nothing: for the callbacks of aedes that must be given. */
export const noop = (): void => {};
