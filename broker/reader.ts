// What comes in. Cuts the byte stream into frames before mqtt-packet sees it: a packet that is too large ends with its
// fixed header, one who sends too fast is read no further, and a PUBLISH of QoS 0 or 1, which is nearly all traffic, is
// taken here for a twentieth of the cost. Everything else, and whatever looks odd, goes to aedes frame by frame.
import type { Duplex } from 'node:stream';
import type { AedesClient } from './aedes.ts';
import { CONNECT, type Header, PUBACK, PUBCOMP, PUBLISH, readHeader } from './frames.ts';
import type { Bucket } from './limits.ts';
import type { Clock } from './types.ts';

/** A PUBLISH of QoS 0 or 1 as it came. `payload` is a view on what was read; the whole frame lies from `start` to `end`. */
export interface ReceivedPublish {
  readonly topic: string;
  readonly payload: Buffer;
  readonly qos: 0 | 1;
  readonly retain: boolean;
  /** 0 for QoS 0. */
  readonly messageId: number;
  readonly chunk: Buffer;
  readonly start: number;
  readonly end: number;
}

/** Reads for one client. */
export interface Reader {
  /** The CONNECT was accepted: what was sent behind it is read now. */
  open(): void;
}

// An acknowledgement answers something we sent, so it costs a sender less of its rate than what it begins itself.
const ACK_COST = 0.1;
const DUP = 0x08;
const RETAIN = 0x01;

const nothing: Buffer = Buffer.alloc(0);

/** Puts a reader between the socket of `client` and aedes. `taken` says false for what aedes shall judge. */
export function readFrames(options: {
  client: AedesClient;
  stream: Duplex;
  clock: Clock;
  packetBytes: number;
  /** In one SUBSCRIBE or UNSUBSCRIBE. */
  maxFilters: number;
  bucket: Bucket | undefined;
  taken(message: ReceivedPublish): boolean;
  tooLarge(bytes: number): void;
  tooMany(filters: number): void;
  tooFast(): void;
  failed(error: unknown): void;
}): Reader {
  const { client, stream, clock, packetBytes, maxFilters, bucket, taken, tooLarge, tooMany, tooFast, failed } = options;
  const parser = client._parser;
  const parseByAedes = parser.parse.bind(parser);
  const header: Header = { first: 0, body: 0, end: 0 };
  /** Read but not looked at: the beginning of a header, or what has to wait. */
  let held: Buffer = nothing;
  let isWaiting = false;
  let isOpen = false;
  /** A frame whose rest is still to come, and how much of it is here. */
  let partial: Buffer | undefined;
  let filled = 0;

  const isGone = () => client.closed || stream.destroyed;

  const publishOf = (
    chunk: Buffer,
    first: number,
    start: number,
    body: number,
    end: number,
  ): ReceivedPublish | undefined => {
    const qos = (first >> 1) & 3;
    if (qos > 1 || (qos === 0 && first & DUP) || body + 2 > end) return undefined;
    const topicEnd = body + 2 + chunk.readUInt16BE(body);
    const payloadStart = topicEnd + 2 * qos;
    if (payloadStart > end) return undefined;
    const messageId = qos === 0 ? 0 : chunk.readUInt16BE(topicEnd);
    if (qos === 1 && messageId === 0) return undefined;
    return {
      topic: chunk.toString('utf8', body + 2, topicEnd),
      payload: chunk.subarray(payloadStart, end),
      qos: qos as 0 | 1,
      retain: (first & RETAIN) !== 0,
      messageId,
      chunk,
      start,
      end,
    };
  };

  const handle = (chunk: Buffer, start: number, first: number, body: number, end: number) => {
    const type = first >> 4;
    if (isOpen && type === PUBLISH) {
      const message = publishOf(chunk, first, start, body, end);
      if (message && taken(message)) return;
    }
    // What is behind a CONNECT waits for its answer: aedes would queue 42 packets and then end the connection.
    if (type === CONNECT && !isOpen) isWaiting = true;
    parseByAedes(chunk.subarray(start, end));
  };

  const costOf = (first: number) => (first >> 4 >= PUBACK && first >> 4 <= PUBCOMP ? ACK_COST : 1);

  const guarded = (work: () => void) => {
    try {
      work();
    } catch (error) {
      failed(error);
    }
  };

  const resume = () =>
    guarded(() => {
      isWaiting = false;
      if (isGone()) return;
      parse(nothing);
      if (!isWaiting) client.resume();
    });

  const waitFor = (ms: number) => {
    isWaiting = true;
    client.pause();
    tooFast();
    clock.after(ms, resume);
  };

  /** Reads one frame that begins at `at`; returns where the next begins, or -1 when this one has to wait. */
  const step = (chunk: Buffer, at: number): number => {
    if (!readHeader(chunk, at, header)) return -1;
    const { first, body, end } = header;
    if (end < 0 || end - body > packetBytes) {
      tooLarge(end - body);
      return chunk.length;
    }
    const wait = bucket?.take(costOf(first)) ?? 0;
    if (wait > 0) {
      waitFor(wait);
      return -1;
    }
    if (end <= chunk.length) {
      handle(chunk, at, first, body, end);
      return end;
    }
    // Room for all of it at once: a sender that dribbles bytes costs a copy each, and no list of a thousand buffers.
    partial = Buffer.allocUnsafe(end - at);
    filled = chunk.copy(partial, 0, at);
    return chunk.length;
  };

  const fill = (chunk: Buffer): number => {
    const used = chunk.copy(partial!, filled, 0);
    filled += used;
    if (filled < partial!.length) return used;
    const frame = partial!;
    partial = undefined;
    readHeader(frame, 0, header);
    handle(frame, 0, header.first, header.body, header.end);
    return used;
  };

  const parse = (read: Buffer) => {
    client._keepaliveTimer?.refresh();
    const chunk = held.length === 0 ? read : read.length === 0 ? held : Buffer.concat([held, read]);
    held = nothing;
    let at = partial && !isWaiting ? fill(chunk) : 0;
    while (at >= 0 && at < chunk.length && !isWaiting && !isGone()) {
      const next = step(chunk, at);
      if (next < 0) break;
      at = next;
    }
    if (at < chunk.length && !isGone()) held = chunk.subarray(at);
  };

  // 256 kB hold 64,000 filters, and aedes' work on them grows with the square.
  parser.prependListener('packet', packet => {
    const filters = packet.subscriptions ?? packet.unsubscriptions;
    if (!filters || filters.length <= maxFilters) return;
    tooMany(filters.length);
    filters.length = 0;
  });

  parser.parse = read => {
    guarded(() => parse(read));
    return 0;
  };

  return {
    open() {
      isOpen = true;
      resume();
    },
  };
}
