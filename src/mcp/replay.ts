// The last messages of one session, for a client that lost its stream and comes back with Last-Event-ID. Bounded in
// count and size; a client that comes too late is told that it missed something instead.

/** A JSON-RPC message, opaque here. */
type Message = object;

/** The SDK's EventStore, which is asked structurally so that only one file imports the SDK for it. */
export interface Replay {
  /** Never rejects: the SDK does not await it everywhere, and an unhandled rejection ends the process. */
  storeEvent(streamId: string, message: Message): Promise<string>;
  getStreamIdForEventId(eventId: string): Promise<string | undefined>;
  replayEventsAfter(lastEventId: string, to: { send(eventId: string, message: never): Promise<void> }): Promise<string>;
}

interface Stored {
  readonly number: number;
  readonly streamId: string;
  readonly message: Message;
  readonly size: number;
}

const SEPARATOR = '~';
/** A notification is small and of known shape; only results are measured. */
const NOTIFICATION_SIZE = 300;

/** @param onGap what lay between the client's last event and the oldest kept one is gone */
export function createReplay(limits: { events: number; bytes: number }, onGap: () => void): Replay {
  const kept: Stored[] = [];
  let bytes = 0;
  let counter = 0;
  let lastDropped = 0;

  const keep = (stored: Stored) => {
    // One large result must not drive out all that is small.
    if (stored.size > limits.bytes) {
      lastDropped = stored.number;
      return;
    }
    kept.push(stored);
    bytes += stored.size;
    while (kept.length > limits.events || bytes > limits.bytes) {
      const dropped = kept.shift() as Stored;
      bytes -= dropped.size;
      lastDropped = dropped.number;
    }
  };

  const parse = (eventId: string): { streamId: string; number: number } | undefined => {
    const at = eventId.lastIndexOf(SEPARATOR);
    const number = Number(eventId.slice(at + 1));
    return at > 0 && Number.isInteger(number) && number > 0 && number <= counter
      ? { streamId: eventId.slice(0, at), number }
      : undefined;
  };

  return {
    storeEvent: async (streamId, message) => {
      const number = ++counter;
      // The SDK primes a stream with an empty message, which only reserves an id.
      if ('jsonrpc' in message) keep({ number, streamId, message, size: sizeOf(message) });
      return `${streamId}${SEPARATOR}${number}`;
    },
    getStreamIdForEventId: async eventId => parse(eventId)?.streamId,
    async replayEventsAfter(lastEventId, { send }) {
      const last = parse(lastEventId);
      if (!last) throw new RangeError(`unknown event id ${lastEventId}`);
      for (const { number, streamId, message } of [...kept]) {
        if (number > last.number && streamId === last.streamId) {
          await send(`${streamId}${SEPARATOR}${number}`, message as never);
        }
      }
      if (last.number < lastDropped) onGap();
      return last.streamId;
    },
  };
}

const sizeOf = (message: Message): number => ('method' in message ? NOTIFICATION_SIZE : JSON.stringify(message).length);
