// The console's stream of events. It dies in silence (stays open, and nothing comes any more), so what counts is when the last
// message came; it is opened anew, ever more slowly while that does not help.
import WebSocket from 'ws';
import type { Cancel, Clock } from '../../../lib/clock.ts';
import { asCausewayError } from '../../../lib/errors.ts';
import type { Json } from '../../../lib/json.ts';
import type { Counters } from '../counters.ts';
import { dropSecrets, isFailure } from './answers.ts';
import type { Http } from './http.ts';
import type { Session } from './session.ts';
import { readMessage } from './wire.ts';

/** What a stream needs. */
export interface StreamParts {
  readonly http: Http;
  readonly session: Session;
  readonly site: string;
  readonly clock: Clock;
  readonly counters: Counters;
  readonly signal: AbortSignal;
  onMessage(kind: string, data: unknown[]): void;
  /** Open. */
  onOpen(): void;
  /** Away for a while; it is being opened again. */
  onGone(reason: string): void;
  /** The console does not take our credentials for it; a login is tried again seldom, a key no more. */
  onRefused(): void;
}

/** A stream that is kept up. */
export interface Stream {
  readonly isOpen: boolean;
  close(): void;
}

/** Frames of a list of clients can have megabytes: the limit of 4 MB of some clients was too low (home-assistant #129392). */
const MAX_FRAME = 64 * 1024 * 1024;
const HANDSHAKE_MS = 10_000;
/** Busy consoles push every few seconds; quiet ones tell of each device every 20 to 60 s. */
const SILENT_MS = 90_000;
const MOST_SILENT_MS = 720_000;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 300_000;
/** As many lead to the longest wait. */
const SELDOM_ATTEMPTS = 9;

/** Opens it, and keeps on. */
export function keepStream(parts: StreamParts): Stream {
  const { http, session, site, clock, counters, signal } = parts;
  const url = `wss://${http.url.host}/proxy/network/wss/s/${site}/events`;
  let socket: WebSocket | undefined;
  let isOpen = false;
  let isClosed = false;
  let attempts = 0;
  let silentMs = SILENT_MS;
  let wasRenewed = false;
  let lastHeard = 0;
  let cancelTimer: Cancel = () => {};

  const close = () => {
    isClosed = true;
    isOpen = false;
    cancelTimer();
    socket?.terminate();
  };

  const later = () => {
    cancelTimer();
    cancelTimer = clock.after(Math.min(FIRST_WAIT_MS * 2 ** attempts++, LONGEST_WAIT_MS), () => void open());
  };

  const gone = (reason: string) => {
    cancelTimer();
    const wasOpen = isOpen;
    isOpen = false;
    if (isClosed) return;
    if (wasOpen) parts.onGone(reason);
    later();
  };

  const watch = (): void => {
    const silent = clock.elapsed() - lastHeard;
    if (silent < silentMs) {
      cancelTimer = clock.after(silentMs - silent, watch);
      return;
    }
    // A site where nothing ever comes must not open it every minute and a half for ever.
    silentMs = Math.min(silentMs * 2, MOST_SILENT_MS);
    socket?.terminate();
  };

  const take = (text: string): void => {
    lastHeard = clock.elapsed();
    // Frames of no length, and answers to pings of others, come and say nothing.
    if (text.length < 2 || text === 'pong') return;
    let frame: Json;
    try {
      frame = JSON.parse(text) as Json;
    } catch {
      counters.garbled++;
      return;
    }
    dropSecrets(frame);
    const message = readMessage(frame, counters);
    if (!message) return;
    attempts = 0;
    silentMs = SILENT_MS;
    parts.onMessage(message.kind, message.data);
  };

  async function open(): Promise<void> {
    try {
      const status = await connect();
      if (status === 'open' || isClosed) return;
      // The session has ended, or keys are not taken here.
      if (status === 401 || status === 403 || status === 404) {
        if (status !== 404 && !wasRenewed) {
          // There is but one key.
          if (!session.drop(await session.pass(http, signal))) close();
          wasRenewed = true;
          if (!isClosed) return later();
        }
        parts.onRefused();
        // Sessions may have ended twice, and a console that is starting has no stream yet.
        attempts = SELDOM_ATTEMPTS;
        if (!isClosed) later();
        return;
      }
      later();
    } catch (thrown) {
      if (isClosed) return;
      const { code } = isFailure(thrown) ? thrown.error : asCausewayError(thrown);
      // The polls tell what is wrong with the credentials.
      if (code === 'BACKEND_AUTH') attempts = Math.max(attempts, 6);
      later();
    }
  }

  /** @returns `open`, or the status of the refusal; 0 when there was none */
  async function connect(): Promise<'open' | number> {
    const pass = await session.pass(http, signal);
    const transport = await http.connect();
    if (isClosed) {
      transport.destroy();
      return 0;
    }
    return new Promise(resolve => {
      const mine = new WebSocket(url, {
        createConnection: () => transport,
        headers: { ...pass.headers(true) },
        handshakeTimeout: HANDSHAKE_MS,
        maxPayload: MAX_FRAME,
        // Consoles were seen to send frames that do not decompress.
        perMessageDeflate: false,
        followRedirects: false,
      });
      socket = mine;
      let fault = '';
      mine.on('open', () => {
        counters.sockets++;
        isOpen = true;
        wasRenewed = false;
        lastHeard = clock.elapsed();
        cancelTimer();
        cancelTimer = clock.after(silentMs, watch);
        resolve('open');
        parts.onOpen();
      });
      mine.on('message', (data, isBinary) => {
        if (!isClosed && !isBinary) take(data.toString());
      });
      mine.on('unexpected-response', (request, response) => {
        request.destroy();
        resolve(response.statusCode ?? 0);
      });
      mine.on('error', error => {
        fault = error.message;
      });
      mine.on('close', (_code, reason) => {
        if (isOpen && socket === mine) gone(reason.toString() || fault || 'the connection ended');
        resolve(0);
      });
    });
  }

  void open();
  return {
    get isOpen() {
      return isOpen;
    },
    close,
  };
}
