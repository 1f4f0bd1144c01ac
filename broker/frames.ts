// The few MQTT 3.1.1 frames that are made or read here rather than by mqtt-packet, which costs twenty times as much per
// QoS 0 PUBLISH: the fixed header (§2.2), PUBLISH (§3.3) and PUBACK (§3.4).

import type { Qos } from './types.ts';

/** Packet types as they stand in the upper four bits of the first byte. */
export const CONNECT = 1;
export const PUBLISH = 3;
export const PUBACK = 4;
export const PUBCOMP = 7;

/** The longest body that four length bytes can name. */
const MAX_LENGTH_BYTES = 4;

/** Where a frame lies in a chunk. Reused by its reader, so that a packet costs no object. */
export interface Header {
  /** The first byte: type and flags. */
  first: number;
  /** Offsets of the body and of what follows the frame, in the chunk; `end` may lie beyond the chunk. */
  body: number;
  end: number;
}

/** Reads the fixed header at `at` into `header`. False: more bytes are needed. `end` is -1 for a malformed length. */
export function readHeader(chunk: Buffer, at: number, header: Header): boolean {
  header.first = chunk[at]!;
  let length = 0;
  for (let i = 0; i < MAX_LENGTH_BYTES; i++) {
    const byte = chunk[at + 1 + i];
    if (byte === undefined) return false;
    length |= (byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      header.body = at + 2 + i;
      header.end = header.body + length;
      return true;
    }
  }
  header.end = -1;
  return true;
}

function writeLength(frame: Buffer, at: number, length: number): number {
  let rest = length;
  let next = at;
  while (rest > 0x7f) {
    frame[next++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  frame[next++] = rest;
  return next;
}

const lengthBytes = (length: number): number =>
  length < 0x80 ? 1 : length < 0x4000 ? 2 : length < 0x20_0000 ? 3 : MAX_LENGTH_BYTES;

/** A PUBLISH that is not retained. One of QoS 0 is made once per message, whoever and however many get it. */
export function publishFrame(topic: string, payload: string | Buffer, qos: Qos = 0, messageId = 0): Buffer {
  const topicBytes = Buffer.byteLength(topic);
  const payloadBytes = typeof payload === 'string' ? Buffer.byteLength(payload) : payload.length;
  const length = 2 + topicBytes + (qos > 0 ? 2 : 0) + payloadBytes;
  const frame = Buffer.allocUnsafe(1 + lengthBytes(length) + length);
  frame[0] = (PUBLISH << 4) | (qos << 1);
  let at = writeLength(frame, 1, length);
  frame[at++] = topicBytes >>> 8;
  frame[at++] = topicBytes & 0xff;
  at += frame.write(topic, at);
  if (qos > 0) at = frame.writeUInt16BE(messageId, at);
  if (typeof payload === 'string') frame.write(payload, at);
  else payload.copy(frame, at);
  return frame;
}

/** The acknowledgement of a QoS 1 PUBLISH. */
export const pubackFrame = (messageId: number): Buffer =>
  Buffer.from([PUBACK << 4, 2, messageId >>> 8, messageId & 0xff]);
