// MCP clients of both SDK lines, for tests: what each was told lands in `updates`.
import * as v2 from '@modelcontextprotocol/client';
import { Client as V1Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as V1Transport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  ResourceListChangedNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';

const headersOf = (token?: string) => ({
  requestInit: { headers: token ? { Authorization: `Bearer ${token}` } : undefined },
});

/** A client of the session era, by the v1 SDK. */
export async function connectV1(url: string, token?: string) {
  const updates: string[] = [];
  let listChanges = 0;
  const client = new V1Client({ name: 'v1', version: '1' });
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void updates.push(params.uri));
  client.setNotificationHandler(ResourceListChangedNotificationSchema, () => void listChanges++);
  const transport = new V1Transport(new URL(`${url}/mcp`), headersOf(token) as never);
  await client.connect(transport as never);
  return { client, transport, updates, listChanges: () => listChanges };
}

/** A client of the v2 SDK; `legacy` speaks sessions, `modern` the revision 2026-07-28. */
export async function connectV2(url: string, era: 'legacy' | 'modern', token?: string) {
  const updates: string[] = [];
  let listChanges = 0;
  const mode = era === 'modern' ? { pin: '2026-07-28' } : 'legacy';
  const client = new v2.Client({ name: 'v2', version: '1' }, { versionNegotiation: { mode } });
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => void updates.push(params.uri));
  client.setNotificationHandler('notifications/resources/list_changed', () => void listChanges++);
  const transport = new v2.StreamableHTTPClientTransport(new URL(`${url}/mcp`), headersOf(token) as never);
  await client.connect(transport);
  return { client, transport, updates, listChanges: () => listChanges };
}
