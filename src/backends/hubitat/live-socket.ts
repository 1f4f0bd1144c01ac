// A WebSocket that is kept up: pings, a limit to silence, and new attempts after a loss. The hub pings every two minutes
// or so; its own pages connect again after a second, at once when it says "Idle Timeout".
import WebSocket from 'ws';
import type { Cancel, Clock } from '../../lib/clock.ts';

/** What a socket is for. */
export interface SocketParts {
  readonly url: string;
  readonly clock: Clock;
  onText(text: string): void;
  /** Connected; `again` after a loss, in which something may have been missed. */
  onOpen(again: boolean): void;
  /** It could not be connected at first, or not again within `giveUpMs`; nothing more is tried. */
  onLost(reason: string): void;
  /** Infinity: it tries for ever, from the first attempt on. */
  readonly giveUpMs: number;
}

/** A socket that is kept up. */
export interface LiveSocket {
  close(): void;
}

const PING_MS = 60_000;
const SILENT_MS = 130_000;
const HANDSHAKE_MS = 10_000;
const MAX_FRAME = 4 * 1024 * 1024;
/** Waits before the attempts after a loss; the last one goes on. */
const WAITS_MS = [1_000, 3_000, 3_000, 3_000, 15_000, 15_000, 60_000];

/** Connects, and stays connected until closed or lost. */
export function keepSocket({ url, clock, onText, onOpen, onLost, giveUpMs }: SocketParts): LiveSocket {
  let socket: WebSocket | undefined;
  let isClosed = false;
  let wasOpen = false;
  let lostAt: number | undefined;
  let attempts = 0;
  let lastHeard = 0;
  let cancelTimer: Cancel = () => {};

  const close = () => {
    isClosed = true;
    cancelTimer();
    socket?.terminate();
  };

  const lost = (reason: string) => {
    cancelTimer();
    if (isClosed) return;
    const now = clock.elapsed();
    lostAt ??= now;
    const left = lostAt + giveUpMs - now;
    if (left <= 0 || (!wasOpen && giveUpMs !== Number.POSITIVE_INFINITY)) {
      close();
      onLost(reason);
      return;
    }
    const isIdle = attempts === 0 && /idle timeout/i.test(reason);
    const wait = isIdle ? 0 : (WAITS_MS[Math.min(attempts, WAITS_MS.length - 1)] as number);
    attempts++;
    cancelTimer = clock.after(Math.min(wait, left), connect);
  };

  const listen = (): void => {
    const silent = clock.elapsed() - lastHeard;
    if (silent >= SILENT_MS) {
      socket?.terminate();
      return;
    }
    socket?.ping();
    cancelTimer = clock.after(Math.min(PING_MS, SILENT_MS - silent), listen);
  };

  function connect(): void {
    const mine = new WebSocket(url, {
      handshakeTimeout: HANDSHAKE_MS,
      maxPayload: MAX_FRAME,
      perMessageDeflate: false,
      followRedirects: false,
    });
    socket = mine;
    let fault = '';
    const heard = () => {
      lastHeard = clock.elapsed();
    };
    mine.on('open', () => {
      heard();
      const again = wasOpen;
      wasOpen = true;
      lostAt = undefined;
      attempts = 0;
      cancelTimer = clock.after(PING_MS, listen);
      onOpen(again);
    });
    mine.on('message', data => {
      heard();
      if (!isClosed) onText(data.toString());
    });
    mine.on('ping', heard);
    mine.on('pong', heard);
    mine.on('error', error => {
      fault = error.message;
    });
    mine.on('close', (_code, reason) => lost(reason.toString() || fault || 'the connection ended'));
  }

  connect();
  return { close };
}
