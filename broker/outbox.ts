// The QoS 0 lane of one connection: the frames of a turn leave in one write at its end. Frames are shared by all who get
// them, so what a frozen subscriber holds back costs no copy, has a limit, and ends with the connection.
import type { Duplex } from 'node:stream';
import type { Clock } from './types.ts';

/** Frames on their way to one peer. */
export interface Outbox {
  /** Queues a frame; never blocks and never throws. */
  send(frame: Buffer): void;
  /** The CONNACK is out: nothing may go before it (MQTT-3.2.0-1), so until then frames are held. */
  start(): void;
  /**
   * Call it before aedes sends something by its own way, which is at its next `setImmediate`: what was queued before
   * then goes before it, what comes after goes after it.
   */
  seal(): void;
}

interface Batch {
  readonly frames: Buffer[];
  bytes: number;
  /** Its turn has ended, but the stream was full or not started. Frames are still added. */
  isHeld: boolean;
  isSealed: boolean;
}

// Joining small frames is cheaper than a vector of them; beyond this, copying costs more than it saves.
const JOIN_BYTES = 64 * 1024;

/** An outbox on `stream`. `evict` is called when the peer reads too little: it must destroy the stream. */
export function createOutbox(options: {
  stream: Duplex;
  clock: Clock;
  backlogBytes: number;
  drainTimeoutMs: number;
  evict(why: string): void;
}): Outbox {
  const { stream, clock, backlogBytes, drainTimeoutMs, evict } = options;
  let open: Batch | undefined;
  let queuedBytes = 0;
  let isStarted = false;
  let cancelStall: (() => void) | undefined;

  const isDone = () => stream.destroyed || stream.writableEnded;

  const write = (batch: Batch) => {
    const { frames, bytes } = batch;
    if (open === batch) open = undefined;
    queuedBytes -= bytes;
    if (isDone()) return;
    if (frames.length === 1) stream.write(frames[0]);
    else if (bytes <= JOIN_BYTES) stream.write(Buffer.concat(frames, bytes));
    else {
      stream.cork();
      for (const frame of frames) stream.write(frame);
      stream.uncork();
    }
    if (stream.writableNeedDrain) cancelStall ??= clock.after(drainTimeoutMs, () => evict('it reads nothing'));
  };

  const endTurn = (batch: Batch) => {
    batch.isHeld = !batch.isSealed && (!isStarted || stream.writableNeedDrain);
    if (!batch.isHeld) write(batch);
  };

  const settle = () => {
    cancelStall?.();
    cancelStall = undefined;
  };
  stream.on('drain', () => {
    settle();
    if (isStarted && open?.isHeld) write(open);
  });
  stream.once('close', () => {
    settle();
    open = undefined;
  });

  return {
    send(frame) {
      if (isDone()) return;
      if (!open) {
        open = { frames: [], bytes: 0, isHeld: false, isSealed: false };
        setImmediate(endTurn, open);
      }
      open.frames.push(frame);
      open.bytes += frame.length;
      queuedBytes += frame.length;
      if (queuedBytes > backlogBytes) evict('it reads too slowly');
    },
    start() {
      isStarted = true;
      if (open?.isHeld) write(open);
    },
    seal() {
      if (stream.writableLength > backlogBytes) evict('it reads too slowly');
      if (!open) return;
      if (open.isHeld) return write(open);
      open.isSealed = true;
      open = undefined;
    },
  };
}
