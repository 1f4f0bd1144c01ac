// `causeway mcp`: MCP over stdio for clients that start a process, forwarded to the running gateway. Nothing but
// messages goes to stdout; the gateway may restart underneath without the client noticing.
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { type Clock, sleep } from '../lib/clock.ts';
import { parseJson } from '../lib/json.ts';
import { claimedVersion, createModernBridge } from './bridge-modern.ts';
import { createSessionBridge } from './bridge-session.ts';
import { createLink, failureOf, GatewayGone, type Message } from './gateway-link.ts';

/** Both ends of the bridge. */
export interface BridgeOptions {
  /** The gateway, without `/mcp`. */
  readonly url: string;
  readonly token?: string | undefined;
  readonly input: Readable;
  readonly output: Writable;
  /** For people: stderr. */
  warn(line: string): void;
  readonly clock: Clock;
  /** How long a request waits for a gateway that restarts. */
  readonly patienceMs?: number;
  /** Ends the bridge as the client's going does. */
  readonly signal?: AbortSignal;
}

const LAST_ANSWERS_MS = 10_000;

/** Runs until the client closes its end. */
export async function runBridge(options: BridgeOptions): Promise<void> {
  const { input, output, warn, clock } = options;
  const end = new AbortController();
  const link = createLink({ ...options, patienceMs: options.patienceMs ?? 15_000 });
  const emit = async (message: Message): Promise<void> => {
    if (end.signal.aborted || output.write(`${JSON.stringify(message)}\n`)) return;
    await once(output, 'drain', { signal: end.signal }).catch(() => {});
  };
  const context = { link, clock, emit, signal: end.signal };
  const session = createSessionBridge(context);
  const modern = createModernBridge(context);

  const forward = async (message: Message): Promise<void> => {
    try {
      if (message.method === 'notifications/cancelled' && modern.cancel(message.params?.requestId)) return;
      await (claimedVersion(message) === undefined ? session.handle(message) : modern.handle(message));
    } catch (error) {
      if (end.signal.aborted) return;
      if (error instanceof GatewayGone) warn(error.message);
      if (message.id !== undefined && message.method !== undefined) await emit(failureOf(message.id, error));
    }
  };

  // Requests may overtake each other, but none an initialize or a notification that came before it.
  let before: Promise<void> = Promise.resolve();
  const running = new Set<Promise<void>>();
  const take = (message: Message): Promise<void> => {
    const done = before.then(() => forward(message)).finally(() => running.delete(done));
    // A listen stream ends only with the bridge.
    if (message.method !== 'subscriptions/listen') running.add(done);
    if (message.id === undefined || message.method === 'initialize') before = done;
    return done;
  };

  output.on('error', () => end.abort());
  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
  for (const signal of [end.signal, options.signal])
    signal?.addEventListener('abort', () => lines.close(), { once: true });
  for await (const line of lines) {
    if (line.trim() === '') continue;
    const message = parseJson(line);
    if (typeof message === 'object' && message !== null && !Array.isArray(message))
      void take(message as unknown as Message);
    else
      await emit({
        jsonrpc: '2.0',
        id: null,
        error: { code: -32700, message: 'parse error: a message is one JSON object a line' },
      });
  }
  // Whoever pipes requests in and closes is still answered.
  await Promise.race([Promise.all(running), sleep(clock, LAST_ANSWERS_MS, end.signal).catch(() => {})]);
  await session.close();
  end.abort();
}
