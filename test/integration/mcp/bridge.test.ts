// The stdio bridge as a real child process, under clients of both SDK lines and both eras; the gateway restarts below.
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import * as v2 from '@modelcontextprotocol/client';
import { StdioClientTransport as V2Transport } from '@modelcontextprotocol/client/stdio';
import { Client as V1Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as V1Transport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from '../../kit/eventually.ts';
import { type FakeGateway, person, startGateway } from '../../kit/fake-gateway.ts';

const RUN = ['--import', 'tsx', new URL('../../kit/run-bridge.ts', import.meta.url).pathname];

let gateway: FakeGateway | undefined;
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
  await gateway?.stop();
});

const parametersOf = (url: string, env: Record<string, string> = {}) => ({
  command: process.execPath,
  args: [...RUN, url],
  env: { PATH: process.env.PATH ?? '', ...env },
  stderr: 'pipe' as const,
});

async function connectV1(url: string, env?: Record<string, string>) {
  const updates: string[] = [];
  const client = new V1Client({ name: 'v1', version: '1' });
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void updates.push(params.uri));
  await client.connect(new V1Transport(parametersOf(url, env)));
  closers.push(() => client.close());
  return { client, updates };
}

async function connectV2(url: string) {
  const updates: string[] = [];
  const client = new v2.Client({ name: 'v2', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => void updates.push(params.uri));
  await client.connect(new V2Transport(parametersOf(url)));
  closers.push(() => client.close());
  return { client, updates };
}

/** A bridge by hand: its answers as lines. */
function rawBridge(url: string, env: Record<string, string> = {}) {
  const child: ChildProcess = spawn(process.execPath, [...RUN, url], { env: { PATH: process.env.PATH ?? '', ...env } });
  const lines: string[] = [];
  let errors = '';
  createInterface({ input: child.stdout as NonNullable<typeof child.stdout> }).on('line', line => lines.push(line));
  child.stderr?.on('data', chunk => {
    errors += chunk;
  });
  const exited = new Promise<number | null>(resolve => child.once('exit', resolve));
  closers.push(() => child.kill());
  return {
    lines,
    exited,
    errors: () => errors,
    send: (message: unknown) =>
      child.stdin?.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`),
    end: () => child.stdin?.end(),
  };
}

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
};

describe('the bridge', () => {
  it('carries tools, resources and updates in the session era', async () => {
    gateway = await startGateway({ people: [person('vera', 'read')] });
    const { client, updates } = await connectV1(gateway.url, { CAUSEWAY_TOKEN: 'vera-token' });
    expect((await client.listTools()).tools.map(tool => tool.name)).toContain('list_rules');
    expect(
      (await client.callTool({ name: 'get_rule', arguments: { id: 'attic-fan' } })).structuredContent,
    ).toHaveProperty('rule');
    await client.subscribeResource({ uri: 'rule://a' });
    const { views } = gateway;
    await eventually(() => {
      views.update('rule://a', 'rule://b');
      return updates.length > 0;
    });
    expect(new Set(updates)).toEqual(new Set(['rule://a']));
  });

  it('carries tools, resources and updates in the revision 2026-07-28', async () => {
    gateway = await startGateway();
    const { client, updates } = await connectV2(gateway.url);
    expect(client.getProtocolEra()).toBe('modern');
    expect(
      (await client.callTool({ name: 'get_rule', arguments: { id: 'attic-fan' } })).structuredContent,
    ).toHaveProperty('rule');
    expect((await client.readResource({ uri: 'rule://attic-fan' })).contents).toHaveLength(1);
    const listening = await client.listen({ resourceSubscriptions: ['rule://a'] });
    gateway.views.update('rule://a', 'rule://b');
    await eventually(() => updates.length > 0);
    expect(updates).toEqual(['rule://a']);
    await listening.close();
    const { mcp } = gateway;
    await eventually(() => mcp.stats().subscribers === 0, 'the listener to go');
  });

  it('survives a restart of the gateway: same client, same subscriptions, told that all may have changed', async () => {
    gateway = await startGateway();
    const { port, url } = gateway;
    const first = await connectV1(url);
    const second = await connectV2(url);
    await first.client.subscribeResource({ uri: 'rule://a' });
    await second.client.listen({ resourceSubscriptions: ['rule://a'] });
    await gateway.stop();
    gateway = await startGateway({ port });
    // Both eras ask for what they missed without being told to.
    await eventually(() => first.updates.length > 0 && second.updates.length > 0, 'the renewal', 15_000);
    expect((await first.client.callTool({ name: 'get_rule', arguments: { id: 'attic-fan' } })).isError).toBeFalsy();
    expect((await second.client.callTool({ name: 'get_rule', arguments: { id: 'attic-fan' } })).isError).toBeFalsy();
    const before = [first.updates.length, second.updates.length];
    const { views } = gateway;
    await eventually(() => {
      views.update('rule://a');
      return first.updates.length > (before[0] as number) && second.updates.length > (before[1] as number);
    });
  });

  it('lets a request wait while the gateway restarts', async () => {
    gateway = await startGateway();
    const { port, url } = gateway;
    const { client } = await connectV1(url);
    await gateway.stop();
    const answer = client.callTool({ name: 'get_rule', arguments: { id: 'attic-fan' } });
    gateway = await startGateway({ port });
    expect((await answer).structuredContent).toHaveProperty('rule');
  });

  it('says what to do when no gateway runs, and keeps stdout clean', async () => {
    const bridge = rawBridge('http://127.0.0.1:9');
    bridge.send(INITIALIZE);
    await eventually(() => bridge.lines.length === 1, 'the answer', 15_000);
    expect(JSON.parse(bridge.lines[0] ?? '')).toEqual({
      jsonrpc: '2.0',
      id: 1,
      error: {
        code: -32000,
        message: expect.stringMatching(/no Causeway gateway answers at http:\/\/127.0.0.1:9; start it with/),
      },
    });
    expect(bridge.errors()).toContain('no Causeway gateway answers');
    bridge.end();
    expect(await bridge.exited).toBe(0);
  });

  it('says what to do when the token is missing', async () => {
    gateway = await startGateway({ people: [person('vera', 'read')] });
    const bridge = rawBridge(gateway.url);
    bridge.send(INITIALIZE);
    await eventually(() => bridge.lines.length === 1, 'the answer', 15_000);
    expect(JSON.parse(bridge.lines[0] ?? '').error.message).toContain('set CAUSEWAY_TOKEN');
  });

  it('answers all that was asked before its input ends, refuses what is no message, and closes its session', async () => {
    gateway = await startGateway();
    const bridge = rawBridge(gateway.url);
    bridge.send(INITIALIZE);
    bridge.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    bridge.send('this is no JSON');
    bridge.send({ jsonrpc: '2.0', id: 2, method: 'tools/list' });
    bridge.send({ jsonrpc: '2.0', id: 3, method: 'tools/call', params: { name: 'nothing', arguments: {} } });
    bridge.end();
    expect(await bridge.exited).toBe(0);
    const answers = bridge.lines.map(line => JSON.parse(line));
    expect(answers.map(answer => answer.id).sort()).toEqual([1, 2, 3, null]);
    expect(answers.find(answer => answer.id === null).error.code).toBe(-32700);
    expect(answers.find(answer => answer.id === 3).error.code).toBe(-32602);
    expect(bridge.errors()).toBe('');
    expect(gateway.mcp.stats().sessions).toBe(0);
  });
});
