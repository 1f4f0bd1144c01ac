// The hub's own stream of events, `/eventsocket`: no selection of devices, no login, the local network only. Not
// documented by the vendor; used by the hub's own pages.
import type { Clock } from '../../lib/clock.ts';
import { CausewayError } from '../../lib/errors.ts';
import { parseJson } from '../../lib/json.ts';
import type { Counters } from './counters.ts';
import { keepSocket } from './live-socket.ts';
import { type HubEvent, readEvent } from './wire.ts';

/** Where events come from, and what to do about it. */
export interface EventSource {
  /** Asks the hub anew to send them, where that is needed (the stored address may be lost). */
  renew(): Promise<void>;
  close(): Promise<void>;
}

/** Whom a source tells. */
export interface EventListener {
  onEvent(event: HubEvent): void;
  /** It was away for a moment: something may have been missed. */
  onGap(): void;
  onLost(reason: string): void;
}

const LONGEST_FRAME = 1024 * 1024;
/** A gap of this length is bridged; beyond it the hub counts as offline. */
const GIVE_UP_MS = 15_000;

/** Pieces that a message may come in. */
const MOST_PIECES = 64;

/** Puts frames together into events: a message may be split over several, and one that never ends costs no other. */
export function frameJoiner(counters: Counters): (frame: string) => HubEvent | undefined {
  let pieces: string[] = [];
  let length = 0;
  const startOver = () => {
    pieces = [];
    length = 0;
  };
  return frame => {
    pieces.push(frame);
    length += frame.length;
    // Each piece that may be a beginning, the last one first: mostly it is the whole.
    for (let from = pieces.length - 1; from >= 0; from--) {
      if (from > 0 && !pieces[from]?.startsWith('{')) continue;
      const body = parseJson(pieces.slice(from).join(''));
      if (body === undefined || body === null || typeof body !== 'object') continue;
      // What had begun before was never ended.
      if (from > 0) counters.garbled++;
      startOver();
      return readEvent(body, counters);
    }
    if (pieces.length > MOST_PIECES || length > LONGEST_FRAME) {
      startOver();
      counters.garbled++;
    }
    return undefined;
  };
}

/** Connects to the stream; resolves once connected. @throws BACKEND_OFFLINE */
export function openEventSocket(
  origin: string,
  { clock, counters, listener }: { clock: Clock; counters: Counters; listener: EventListener },
): Promise<EventSource> {
  const join = frameJoiner(counters);
  return new Promise((resolve, reject) => {
    let isOpen = false;
    const socket = keepSocket({
      url: `${origin.replace(/^http/, 'ws')}/eventsocket`,
      clock,
      giveUpMs: GIVE_UP_MS,
      onText(text) {
        const event = join(text);
        if (event) listener.onEvent(event);
      },
      onOpen(again) {
        isOpen = true;
        if (again) listener.onGap();
        else resolve({ renew: async () => {}, close: async () => socket.close() });
      },
      onLost(reason) {
        if (isOpen) listener.onLost(`the hub's eventsocket is gone: ${reason}`);
        else reject(new CausewayError('BACKEND_OFFLINE', `the hub's eventsocket cannot be opened: ${reason}`));
      },
    });
  });
}
