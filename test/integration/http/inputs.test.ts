// What comes in and goes out beside REST: webhooks, the event stream, MQTT over WebSocket, the port itself.
import { createServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { Subject } from 'rxjs';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { type StreamedEvent, streamOf } from '../../../src/http/event-stream.ts';
import type { WebhookCall } from '../../../src/http/webhooks.ts';
import { VirtualClock } from '../../../src/lib/virtual-clock.ts';
import { eventually } from '../../kit/eventually.ts';
import { type FakeGateway, startGateway } from '../../kit/fake-gateway.ts';

let gateway: FakeGateway;
afterEach(() => gateway?.stop());

describe('a webhook', () => {
  const calls: WebhookCall[] = [];
  const webhook = async (call: WebhookCall) => {
    calls.push(call);
    return call.id === 'bell' ? 2 : 0;
  };
  const hook = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`${gateway.url}/hooks/${path}`, init);
    return { status: response.status, json: (await response.json()) as { error?: object } };
  };

  it('takes JSON, forms and text, with the query', async () => {
    gateway = await startGateway({ parts: { webhook } });
    const json = { 'Content-Type': 'application/json' };
    expect(await hook('bell?a=1', { method: 'POST', headers: json, body: '{"door":"front"}' })).toEqual({
      status: 202,
      json: { accepted: true, rules: 2 },
    });
    expect(calls.at(-1)).toMatchObject({ id: 'bell', method: 'POST', query: { a: '1' }, body: { door: 'front' } });
    await hook('bell', { method: 'PUT', body: new URLSearchParams({ door: 'back', n: '2' }) });
    expect(calls.at(-1)).toMatchObject({ method: 'PUT', body: { door: 'back', n: '2' } });
    const form = new FormData();
    form.append('door', 'side');
    form.append('photo', new Blob(['x']), 'photo.jpg');
    await hook('bell', { method: 'POST', body: form });
    expect(calls.at(-1)).toMatchObject({ body: { door: 'side', photo: 'photo.jpg' } });
    await hook('bell', { method: 'POST', headers: { 'Content-Type': 'text/plain' }, body: 'ding' });
    expect(calls.at(-1)).toMatchObject({ body: 'ding' });
    await hook('bell');
    expect(calls.at(-1)).toMatchObject({ method: 'GET', body: null });
  });

  it('that nobody listens to, that is too large or that does not parse is refused', async () => {
    gateway = await startGateway({ parts: { webhook } });
    expect((await hook('door')).json.error).toMatchObject({
      code: 'NOT_FOUND',
      hint: expect.stringContaining('type: webhook, id: door'),
    });
    const before = calls.length;
    const headers = { 'Content-Type': 'application/json' };
    expect((await hook('bell', { method: 'POST', headers, body: '{"a":' })).status).toBe(400);
    expect((await hook('bell', { method: 'POST', body: 'x'.repeat(1024 * 1024 + 1) })).status).toBe(400);
    expect((await fetch(`${gateway.url}/hooks/bell`, { method: 'DELETE' })).status).toBe(404);
    const link = { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate' };
    expect((await hook('bell', { headers: link })).status).toBe(403);
    expect(calls.length).toBe(before);
  });
});

describe('the event stream', () => {
  const event = (id: number, device = 'virtual:a'): StreamedEvent => ({
    id: `e${id}`,
    kind: 'state',
    backend: 'virtual',
    device,
  });

  it('sends events as they happen, narrowed by the query', async () => {
    gateway = await startGateway();
    const response = await fetch(`${gateway.url}/api/events/stream?device=virtual:b`);
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const reader = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader.read()).value).toBe(': open\n\n');
    gateway.events$.next(event(1, 'virtual:a'));
    gateway.events$.next(event(2, 'virtual:b'));
    expect((await reader.read()).value).toBe(`id: e2\ndata: ${JSON.stringify(event(2, 'virtual:b'))}\n\n`);
    await reader.cancel();
    await eventually(() => !gateway.events$.observed, 'the subscription to end');
  });

  it('drops the oldest for a reader who does not keep up, and says how many', async () => {
    const events$ = new Subject<StreamedEvent>();
    const reader = streamOf(events$, () => true, new VirtualClock(0)).getReader();
    for (let i = 1; i <= 5_000; i++) events$.next(event(i));
    events$.complete();
    const frames: string[] = [];
    for (let next = await reader.read(); !next.done; next = await reader.read())
      frames.push(new TextDecoder().decode(next.value));
    const dropped = Number(/"count":(\d+)/.exec(frames.find(frame => frame.startsWith('event: dropped')) ?? '')?.[1]);
    const ids = frames.filter(frame => frame.startsWith('id: ')).length;
    expect(dropped).toBeGreaterThan(3_000);
    expect(ids + dropped).toBe(5_000);
    expect(frames.at(-1)).toContain('"e5000"');
  });

  it('keeps itself alive', async () => {
    const clock = new VirtualClock(0);
    const reader = streamOf(new Subject(), () => true, clock).getReader();
    await reader.read();
    clock.advanceTo(15_000);
    expect(new TextDecoder().decode((await reader.read()).value)).toBe(': alive\n\n');
    await reader.cancel();
    expect(clock.nextDue()).toBeUndefined();
  });
});

describe('MQTT over WebSocket', () => {
  const connect = (path: string, protocols: string[], headers: Record<string, string> = {}) =>
    new Promise<WebSocket | Error>(resolve => {
      const socket = new WebSocket(`ws://127.0.0.1:${gateway.port}${path}`, protocols, { headers });
      socket.on('open', () => resolve(socket));
      socket.on('error', resolve);
    });

  it('hands the broker a byte stream, and says whether it is local', async () => {
    const streams: { stream: Duplex; local: boolean }[] = [];
    gateway = await startGateway({
      parts: { mqttUpgrade: (stream, _request, local) => void streams.push({ stream, local }) },
    });
    const socket = (await connect('/mqtt', ['mqtt'])) as WebSocket;
    expect(socket.protocol).toBe('mqtt');
    const [first] = streams;
    expect(first?.local).toBe(true);
    const received = new Promise(resolve => first?.stream.once('data', resolve));
    socket.send(Buffer.from([0x10, 0]));
    expect(await received).toEqual(Buffer.from([0x10, 0]));
    const answered = new Promise(resolve => socket.once('message', resolve));
    first?.stream.write(Buffer.from([0x20]));
    expect(await answered).toEqual(Buffer.from([0x20]));
    const proxied = (await connect('/mqtt', ['mqtt'], { 'X-Forwarded-For': '203.0.113.7' })) as WebSocket;
    expect(streams[1]?.local).toBe(false);
    for (const open of [socket, proxied]) open.terminate();
  });

  it('refuses pages of other sites, and other paths', async () => {
    gateway = await startGateway({ parts: { mqttUpgrade: () => {} } });
    expect(await connect('/mqtt', ['mqtt'], { Origin: 'https://evil.example' })).toMatchObject({
      message: expect.stringContaining('403'),
    });
    expect(await connect('/mqtt', ['mqtt'], { Host: 'evil.example' })).toMatchObject({
      message: expect.stringContaining('403'),
    });
    expect(await connect('/other', ['mqtt'])).toMatchObject({ message: expect.stringContaining('404') });
  });
});

describe('a taken port', () => {
  it('is an error that says who has it, and the two ways out', async () => {
    gateway = await startGateway();
    const second = startGateway({ port: gateway.port });
    await expect(second).rejects.toMatchObject({
      code: 'PORT_IN_USE',
      message: expect.stringMatching(/taken by another Causeway gateway/),
      hint: expect.stringMatching(/stop that process, or set http.port/),
    });
  });

  it.runIf(process.platform === 'linux')('names a process that is no gateway', async () => {
    const other = createServer();
    await new Promise<void>(resolve => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as { port: number };
    await expect(startGateway({ port })).rejects.toMatchObject({
      message: expect.stringContaining(`(pid ${process.pid})`),
    });
    other.close();
  });
});
