// The bridge's side of the revision 2026-07-28: each request is an exchange of its own; a listen stream is opened
// again when it breaks, and the client is told that all it listens to may have changed.
import { sleep } from '../lib/clock.ts';
import type { BridgeContext } from './bridge-session.ts';
import { type Message, messagesOf, refusalOf } from './gateway-link.ts';

const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
const SUBSCRIPTION_KEY = 'io.modelcontextprotocol/subscriptionId';
const LISTEN = 'subscriptions/listen';
const BACKOFF_MS = { first: 200, most: 5_000 };
/** The header that proxies may route by, from this key of the parameters. */
const NAME_KEY: Record<string, string> = { 'tools/call': 'name', 'prompts/get': 'name', 'resources/read': 'uri' };

/** The revision a message claims in its envelope; undefined for the session era. */
export function claimedVersion(message: Message): string | undefined {
  const meta = message.params?._meta as Record<string, unknown> | undefined;
  return typeof meta?.[VERSION_KEY] === 'string' ? meta[VERSION_KEY] : undefined;
}

/** All requests of the newer revision. */
export function createModernBridge({ link, clock, emit, signal }: BridgeContext) {
  const running = new Map<unknown, AbortController>();

  const exchange = (message: Message, abort: AbortSignal) =>
    link.send({ method: 'POST', headers: headersOf(message), body: JSON.stringify(message) }, abort);

  const once = async (message: Message, abort: AbortSignal): Promise<void> => {
    const answer = await exchange(message, abort);
    if (answer.status >= 400) return emit(await refusalOf(message.id, answer));
    for await (const { message: part } of messagesOf(answer.response)) await emit(part);
  };

  const listen = async (message: Message, abort: AbortSignal): Promise<void> => {
    let backoff = BACKOFF_MS.first;
    for (let acknowledged = false; ; ) {
      try {
        const answer = await exchange(message, abort);
        if (answer.status >= 400 && !acknowledged) return emit(await refusalOf(message.id, answer));
        for await (const { message: part } of messagesOf(answer.response)) {
          // A result ends the stream because the gateway stops; it will be back.
          if (part.result !== undefined) break;
          if (part.error !== undefined) return emit(part);
          const isAck = part.method === 'notifications/subscriptions/acknowledged';
          if (isAck && acknowledged) await tellAll(message);
          else await emit(part);
          acknowledged ||= isAck;
          backoff = BACKOFF_MS.first;
        }
      } catch (error) {
        if (abort.aborted || !acknowledged) throw error;
      }
      await sleep(clock, backoff, abort);
      backoff = Math.min(backoff * 2, BACKOFF_MS.most);
    }
  };

  const tellAll = async ({ id, params }: Message): Promise<void> => {
    const filter = params?.notifications as
      | { resourceSubscriptions?: string[]; resourcesListChanged?: boolean }
      | undefined;
    const stamp = { _meta: { [SUBSCRIPTION_KEY]: id } };
    for (const uri of filter?.resourceSubscriptions ?? []) {
      await emit({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri, ...stamp } });
    }
    if (filter?.resourcesListChanged)
      await emit({ jsonrpc: '2.0', method: 'notifications/resources/list_changed', params: stamp });
  };

  return {
    /** Forwards a request; its answers go to the client. */
    async handle(message: Message): Promise<void> {
      const abort = new AbortController();
      running.set(message.id, abort);
      const either = AbortSignal.any([abort.signal, signal]);
      try {
        await (message.method === LISTEN ? listen(message, either) : once(message, either));
      } catch (error) {
        if (!either.aborted) throw error;
      } finally {
        running.delete(message.id);
      }
    },

    /** Ends a running request, which over HTTP is closing its stream; false when it is none of ours. */
    cancel(id: unknown): boolean {
      const abort = running.get(id);
      abort?.abort();
      return abort !== undefined;
    },
  };
}

function headersOf(message: Message): Record<string, string> {
  const method = message.method ?? '';
  const name = message.params?.[NAME_KEY[method] ?? ''];
  return {
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    'MCP-Protocol-Version': claimedVersion(message) ?? '',
    'Mcp-Method': method,
    ...(typeof name === 'string' && { 'Mcp-Name': headerValue(name) }),
  };
}

/** SEP-2243: text that a header cannot carry is sent as base64 between markers. */
const headerValue = (text: string): string =>
  /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith('=?base64?')
    ? text
    : `=?base64?${Buffer.from(text).toString('base64')}?=`;
