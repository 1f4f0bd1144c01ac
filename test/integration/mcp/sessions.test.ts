// Sessions: their life, their bounds, what survives a lost stream, and what a reader who stops reading costs.
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from '../../kit/eventually.ts';
import { type FakeGateway, person, startGateway } from '../../kit/fake-gateway.ts';
import { connectV1, connectV2 } from '../../kit/mcp-clients.ts';
import { ENVELOPE, modernHeaders, openSession, openStream, post } from '../../kit/raw-mcp.ts';

let gateway: FakeGateway;
afterEach(() => gateway.stop());

const ping = { jsonrpc: '2.0', id: 7, method: 'ping' };
const subscribe = (uri: string) => ({ jsonrpc: '2.0', id: 2, method: 'resources/subscribe', params: { uri } });

describe('a session', () => {
  it('is unknown after DELETE, and one that never was is unknown too', async () => {
    gateway = await startGateway();
    const id = await openSession(gateway.url);
    expect((await post(gateway.url, ping, { 'Mcp-Session-Id': id })).status).toBe(200);
    const deleted = await fetch(`${gateway.url}/mcp`, { method: 'DELETE', headers: { 'Mcp-Session-Id': id } });
    expect(deleted.status).toBe(200);
    for (const dead of [id, 'never-was']) {
      const answer = await post(gateway.url, ping, { 'Mcp-Session-Id': dead });
      expect([answer.status, answer.json.error.code]).toEqual([404, -32001]);
      const headers = { 'Mcp-Session-Id': dead, Accept: 'text/event-stream' };
      expect((await fetch(`${gateway.url}/mcp`, { headers })).status).toBe(404);
      expect((await fetch(`${gateway.url}/mcp`, { method: 'DELETE', headers })).status).toBe(404);
    }
    expect(gateway.mcp.stats()).toEqual({ sessions: 0, subscribers: 0 });
  });

  it('belongs to who opened it', async () => {
    gateway = await startGateway({ people: [person('vera', 'read'), person('otto', 'read')] });
    const id = await openSession(gateway.url, { Authorization: 'Bearer vera-token' });
    const asVera = await post(gateway.url, ping, { 'Mcp-Session-Id': id, Authorization: 'Bearer vera-token' });
    const asOtto = await post(gateway.url, ping, { 'Mcp-Session-Id': id, Authorization: 'Bearer otto-token' });
    expect([asVera.status, asOtto.status]).toEqual([200, 404]);
  });

  it('ends when it was idle for long, but not while somebody listens', async () => {
    gateway = await startGateway({ limits: { idleMs: 200 } });
    const listening = await openSession(gateway.url);
    const stream = await openStream(gateway.url, { headers: { 'Mcp-Session-Id': listening } });
    const idle = await openSession(gateway.url);
    await eventually(() => gateway.mcp.stats().sessions === 1, 'the idle session to go');
    expect((await post(gateway.url, ping, { 'Mcp-Session-Id': idle })).status).toBe(404);
    expect((await post(gateway.url, ping, { 'Mcp-Session-Id': listening })).status).toBe(200);
    stream.destroy();
  });

  it('makes room by ending the one that was idle longest, and is refused when all are listened to', async () => {
    gateway = await startGateway({ limits: { maxSessions: 2 } });
    const first = await openSession(gateway.url);
    const second = await openSession(gateway.url);
    const third = await openSession(gateway.url);
    expect((await post(gateway.url, ping, { 'Mcp-Session-Id': first })).status).toBe(404);
    const streams = await Promise.all(
      [second, third].map(id => openStream(gateway.url, { headers: { 'Mcp-Session-Id': id } })),
    );
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } };
    const refused = await post(gateway.url, { jsonrpc: '2.0', id: 1, method: 'initialize', params });
    expect([refused.status, refused.json.error.message]).toEqual([503, expect.stringContaining('too many sessions')]);
    for (const stream of streams) stream.destroy();
  });

  it('is not left behind by an initialize that fails', async () => {
    gateway = await startGateway();
    const bad = await post(gateway.url, { jsonrpc: '2.0', id: 1, method: 'initialize', params: 7 });
    expect(bad.status).toBeGreaterThanOrEqual(400);
    expect(gateway.mcp.stats()).toEqual({ sessions: 0, subscribers: 0 });
  });

  it('is asked for by name when it is missing', async () => {
    gateway = await startGateway();
    const answer = await post(gateway.url, ping);
    expect([answer.status, answer.json.error.message]).toEqual([400, expect.stringContaining('initialize')]);
  });
});

describe('what is no message', () => {
  it('is answered with a JSON-RPC error, never with HTML', async () => {
    gateway = await startGateway();
    const id = await openSession(gateway.url);
    for (const [body, status, code] of [
      ['{"jsonrpc":', 400, -32700],
      ['[]', 400, undefined],
      ['7', 400, undefined],
    ] as const) {
      const answer = await post(gateway.url, body, { 'Mcp-Session-Id': id });
      expect([answer.status, answer.headers.get('content-type')], body.slice(0, 20)).toEqual([
        status,
        expect.stringContaining('json'),
      ]);
      expect(answer.json.error).toMatchObject(code ? { code } : { message: expect.any(String) });
    }
  });
});

describe('a stream that was lost', () => {
  it('goes on after the last event that arrived', async () => {
    gateway = await startGateway();
    const id = await openSession(gateway.url);
    const headers = { 'Mcp-Session-Id': id };
    await post(gateway.url, subscribe('rule://a'), headers);
    const first = await openStream(gateway.url, { headers });
    for (let i = 1; i <= 3; i++) {
      gateway.views.update('rule://a');
      await eventually(() => first.frames.length === i);
    }
    const [one] = first.frames;
    first.destroy();
    // The client says that it has only the first of three.
    const second = await openStream(gateway.url, { headers: { ...headers, 'Last-Event-ID': one?.id ?? '' } });
    await eventually(() => second.frames.length === 2, 'the replay');
    expect(second.frames.map(frame => frame.data.params?.uri)).toEqual(['rule://a', 'rule://a']);
    gateway.views.update('rule://a');
    await eventually(() => second.frames.length === 3, 'the live event');
    second.destroy();
  });

  it('is told, once it is back, what changed while nobody listened', async () => {
    gateway = await startGateway();
    const headers = { 'Mcp-Session-Id': await openSession(gateway.url) };
    await post(gateway.url, subscribe('rule://a'), headers);
    await post(gateway.url, subscribe('rule://b'), headers);
    for (let i = 0; i < 1_000; i++) gateway.views.update('rule://a');
    const stream = await openStream(gateway.url, { headers });
    await eventually(() => stream.frames.length > 0);
    gateway.views.update('rule://b');
    await eventually(() => stream.frames.length > 1);
    expect(stream.frames.map(frame => frame.data.params?.uri)).toEqual(['rule://a', 'rule://b']);
    stream.destroy();
  });

  it('that comes back too late for a replay is told that all may have changed', async () => {
    gateway = await startGateway({ limits: { replay: { events: 2, bytes: 10_000 } } });
    const headers = { 'Mcp-Session-Id': await openSession(gateway.url) };
    for (const uri of ['rule://a', 'rule://b']) await post(gateway.url, subscribe(uri), headers);
    const first = await openStream(gateway.url, { headers });
    for (let i = 1; i <= 5; i++) {
      gateway.views.update('rule://a');
      await eventually(() => first.frames.length === i);
    }
    const lastSeen = first.frames[0]?.id ?? '';
    first.destroy();
    const second = await openStream(gateway.url, { headers: { ...headers, 'Last-Event-ID': lastSeen } });
    await eventually(() => second.frames.some(frame => frame.data.params?.uri === 'rule://b'), 'the notice of the gap');
    second.destroy();
  });

  it('with an event id that never was is refused, and the newer of two streams wins', async () => {
    gateway = await startGateway();
    const headers = { 'Mcp-Session-Id': await openSession(gateway.url) };
    const bad = await openStream(gateway.url, { headers: { ...headers, 'Last-Event-ID': 'nonsense' } });
    expect(bad.status).toBe(400);
    await post(gateway.url, subscribe('rule://a'), headers);
    const older = await openStream(gateway.url, { headers });
    const newer = await openStream(gateway.url, { headers });
    expect([older.status, newer.status]).toEqual([200, 200]);
    await eventually(
      () => older.response.readableEnded || older.response.destroyed || older.response.complete,
      'the older to end',
    );
    gateway.views.update('rule://a');
    await eventually(() => newer.frames.length === 1);
    newer.destroy();
  });
});

describe('a reader who stops reading', () => {
  // Long URIs, so that the socket's buffers fill within few windows: 120 MB in all.
  const uris = Array.from({ length: 200 }, (_, i) => `rule://${i}-${'x'.repeat(2_000)}`);
  const last = 'rule://last';
  const listen = {
    jsonrpc: '2.0',
    id: 'l1',
    method: 'subscriptions/listen',
    params: { notifications: { resourceSubscriptions: [...uris, last] }, _meta: ENVELOPE },
  };
  const frozenListener = () =>
    openStream(gateway.url, { method: 'POST', headers: modernHeaders(listen.method), body: listen, frozen: true });

  async function frozenSession() {
    const headers = { 'Mcp-Session-Id': await openSession(gateway.url) };
    for (const uri of [...uris, last]) await post(gateway.url, subscribe(uri), headers);
    return openStream(gateway.url, { headers, frozen: true });
  }

  it.each([
    ['session', frozenSession],
    ['listen stream', frozenListener],
  ])('on a %s makes nothing queue, and is told everything once he reads again', async (_what, open) => {
    gateway = await startGateway({ limits: { windowMs: 1 } });
    const stream = await open();
    for (let round = 0; round < 300; round++) {
      gateway.views.update(...uris);
      await pause(2);
    }
    const told = new Set<string>();
    let bytes = 0;
    let rest = '';
    stream.response.setEncoding('utf8');
    stream.response.on('data', (chunk: string) => {
      bytes += chunk.length;
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) for (const [, uri] of line.matchAll(/"uri":"([^"]+)"/g)) told.add(uri as string);
    });
    gateway.views.update(last);
    stream.response.resume();
    await eventually(() => told.has(last), 'the last change');
    expect(told.size).toBe(uris.length + 1);
    // What the kernel's buffers took, and one window.
    expect(bytes).toBeLessThan(30e6);
    stream.destroy();
  });

  it('is cut off after a while, and frees his place', async () => {
    gateway = await startGateway({ limits: { windowMs: 1, stalledMs: 200 } });
    await frozenListener();
    await eventually(() => gateway.mcp.stats().subscribers === 1);
    await eventually(() => {
      gateway.views.update(...uris);
      return gateway.mcp.stats().subscribers === 0;
    }, 'the watchdog');
  });
});

describe('many clients of both eras', () => {
  it('leave nothing behind when they go', async () => {
    gateway = await startGateway();
    const clients = await Promise.all([
      ...Array.from({ length: 5 }, () => connectV1(gateway.url)),
      ...Array.from({ length: 5 }, () => connectV2(gateway.url, 'modern')),
    ]);
    for (const { client } of clients.slice(5))
      await (client as never as { listen(filter: object): Promise<unknown> }).listen({
        resourceSubscriptions: ['rule://a'],
      });
    expect(gateway.mcp.stats()).toEqual({ sessions: 5, subscribers: 10 });
    for (const { client, transport } of clients) {
      if ('terminateSession' in transport) await transport.terminateSession();
      await client.close();
    }
    await eventually(() => gateway.mcp.stats().subscribers === 0 && gateway.mcp.stats().sessions === 0);
  });
});
