// The bridge's side of the session era. Clients do not come back by themselves when their session is gone
// (typescript-sdk#1708), so the bridge does it for them: it initializes again, subscribes again, and tells the client
// that everything it subscribed to may have changed.
import { type Clock, sleep } from '../lib/clock.ts';
import { type Exchange, failureOf, type GatewayLink, type Message, messagesOf, refusalOf } from './gateway-link.ts';

/** What both eras of the bridge are given. */
export interface BridgeContext {
  readonly link: GatewayLink;
  readonly clock: Clock;
  /** To the client; resolves when it can take more. */
  emit(message: Message): Promise<void>;
  /** The bridge ends. */
  readonly signal: AbortSignal;
}

const HEADERS = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };
const BACKOFF_MS = { first: 200, most: 5_000 };

/** One session for the life of the bridge. */
export function createSessionBridge({ link, clock, emit, signal }: BridgeContext) {
  let initialize: Message | undefined;
  let sessionId: string | undefined;
  let version = '';
  let renewing: Promise<void> | undefined;
  let renewals = 0;
  let streaming = false;
  const subscriptions = new Set<string>();

  const headers = (): Record<string, string> => ({
    ...HEADERS,
    ...(sessionId !== undefined && {
      'Mcp-Session-Id': sessionId,
      ...(version && { 'MCP-Protocol-Version': version }),
    }),
  });
  const post = (message: Message): Promise<Exchange> =>
    link.send({ method: 'POST', headers: headers(), body: JSON.stringify(message) }, signal);

  /** Sends an initialize; its answer. */
  const open = async (message: Message): Promise<Message> => {
    const exchange = await link.send({ method: 'POST', headers: HEADERS, body: JSON.stringify(message) }, signal);
    if (exchange.status >= 400) return refusalOf(message.id, exchange);
    for await (const { message: answer } of messagesOf(exchange.response)) {
      if (answer.id !== message.id) continue;
      sessionId = exchange.sessionId;
      version = String(answer.result?.protocolVersion ?? '');
      return answer;
    }
    return failureOf(message.id, 'the gateway ended the answer to initialize');
  };

  /** A new session with the same subscriptions, after the gateway forgot ours. */
  const renew = async (): Promise<void> => {
    if (!initialize) return;
    const answer = await open({ ...initialize, id: `bridge-initialize-${++renewals}` });
    if (answer.error) throw new Error(answer.error.message);
    await post({ jsonrpc: '2.0', method: 'notifications/initialized' });
    for (const uri of subscriptions) {
      const exchange = await post({
        jsonrpc: '2.0',
        id: `bridge-subscribe-${uri}`,
        method: 'resources/subscribe',
        params: { uri },
      });
      await exchange.response.body?.cancel();
    }
    for (const uri of subscriptions)
      await emit({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri } });
    await emit({ jsonrpc: '2.0', method: 'notifications/resources/list_changed' });
  };
  const renewOnce = (gone: string | undefined): Promise<void> => {
    if (gone !== sessionId) return Promise.resolve();
    renewing ??= renew().finally(() => {
      renewing = undefined;
    });
    return renewing;
  };

  /** Keeps the session's GET stream open for as long as the bridge lives. */
  const stream = async (): Promise<void> => {
    let backoff = BACKOFF_MS.first;
    let lastEventId: string | undefined;
    while (!signal.aborted) {
      const session = sessionId;
      try {
        const resume = lastEventId !== undefined && { 'Last-Event-ID': lastEventId };
        const exchange = await link.send(
          { method: 'GET', headers: { ...headers(), Accept: 'text/event-stream', ...resume } },
          signal,
        );
        if (exchange.status === 200) {
          backoff = BACKOFF_MS.first;
          for await (const { message, eventId } of messagesOf(exchange.response)) {
            lastEventId = eventId ?? lastEventId;
            await emit(message);
          }
        } else {
          await exchange.response.body?.cancel();
          lastEventId = undefined;
          if (exchange.status === 404) await renewOnce(session);
        }
      } catch {
        // The gateway is away, or the connection broke: both are tried again below.
      }
      await sleep(clock, backoff, signal).catch(() => {});
      backoff = Math.min(backoff * 2, BACKOFF_MS.most);
    }
  };

  const remember = ({ method, params }: Message) => {
    const uri = String(params?.uri ?? '');
    if (method === 'resources/subscribe') subscriptions.add(uri);
    if (method === 'resources/unsubscribe') subscriptions.delete(uri);
  };

  return {
    /** Forwards a message of the client; its answer goes to the client. */
    async handle(message: Message): Promise<void> {
      if (message.method === 'initialize') {
        initialize = message;
        return emit(await open(message));
      }
      remember(message);
      await renewing;
      const session = sessionId;
      let exchange = await post(message);
      if (exchange.status === 404 && session !== undefined) {
        await renewOnce(session);
        exchange = await post(message);
      }
      if (exchange.status >= 400) {
        const refusal = await refusalOf(message.id, exchange);
        return message.id === undefined ? undefined : emit(refusal);
      }
      if (message.method === 'notifications/initialized' && !streaming) {
        streaming = true;
        void stream();
      }
      for await (const { message: answer } of messagesOf(exchange.response)) await emit(answer);
    },

    /** Tells the gateway that the client went. */
    async close(): Promise<void> {
      if (sessionId === undefined) return;
      const gone = AbortSignal.timeout(1_000);
      await link.send({ method: 'DELETE', headers: headers() }, gone).catch(() => {});
    },
  };
}
