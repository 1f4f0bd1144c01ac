// Webhooks of bridged systems, as the HTTP server sees them: no credential, one answer to all that is wrong, slow guessing.
import { request } from 'node:http';
import { networkInterfaces } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { CausewayError } from '../../../src/lib/errors.ts';
import { VirtualClock } from '../../../src/lib/virtual-clock.ts';
import type { HookCall } from '../../../src/model/hook.ts';
import { type FakeGateway, person, startGateway } from '../../kit/fake-gateway.ts';

const PATH = 'a-path-that-nobody-guesses';

let gateway: FakeGateway;
let calls: HookCall[] = [];
/** How long the backend takes to find out who calls. */
let takesMs = 0;
afterEach(async () => {
  calls = [];
  takesMs = 0;
  await gateway?.stop();
});

/** A backend `console` that lets in whoever has the path or the header, and is away for those who say so. */
const systemHook = async (backend: string, call: HookCall) => {
  if (takesMs > 0) await pause(takesMs);
  if (backend !== 'console') return undefined;
  if (call.path === 'signed' ? call.headers['x-signature'] !== 'right' : call.path !== PATH) return undefined;
  calls.push(call);
  if (call.query.away !== undefined)
    throw new CausewayError('BACKEND_OFFLINE', 'the console is away', { details: { retryAfterMs: 30_000 } });
  return { status: 202, body: { status: 'accepted' } };
};

const open = async (options: Parameters<typeof startGateway>[0] = {}) => {
  const clock = new VirtualClock(0);
  gateway = await startGateway({
    people: [person('otto', 'read')],
    ...options,
    parts: { systemHook, webhook: async () => 1, clock },
  });
  return clock;
};

interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly text: string;
}

const call = async (path: string, init: RequestInit = {}): Promise<Answer> => {
  const answer = await fetch(`${gateway.url}/hooks/${path}`, { method: 'POST', ...init });
  return { status: answer.status, retryAfter: answer.headers.get('retry-after'), text: await answer.text() };
};

/** A request with headers that fetch would not let through. */
const raw = (path: string, headers: Record<string, string>) =>
  new Promise<number | undefined>((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port: gateway.port, method: 'POST', path, headers }, answer => {
      answer.resume();
      resolve(answer.statusCode);
    });
    outgoing.on('error', reject);
    outgoing.end();
  });

describe('a webhook of a backend', () => {
  it('wants no credential, though there are users, and gets what was sent as it was sent', async () => {
    await open();
    const body = Buffer.from([0x7b, 0x22, 0xff, 0x00, 0x22]);
    const headers = { 'X-Signature': 'right', 'Content-Type': 'application/json' };
    expect(await call('console/signed?a=1', { headers, body })).toMatchObject({
      status: 202,
      text: '{"status":"accepted"}',
    });
    const [taken] = calls;
    expect(taken).toMatchObject({ path: 'signed', method: 'POST', query: { a: '1' } });
    expect(taken?.headers).toMatchObject({ 'x-signature': 'right', 'content-type': 'application/json' });
    expect(taken?.body.equals(body)).toBe(true);
    expect((await call(`console/${PATH}`, { method: 'GET' })).status).toBe(202);
    expect((await fetch(`${gateway.url}/status`)).status).toBe(401);
  });

  it('is heard from outside, and through a proxy', async () => {
    await open({ config: { host: '0.0.0.0' } });
    expect(await raw(`/hooks/console/${PATH}`, { 'X-Forwarded-For': '203.0.113.7' })).toBe(202);
    const outside = Object.values(networkInterfaces())
      .flatMap(all => all ?? [])
      .find(one => !one.internal && one.family === 'IPv4');
    if (!outside) return;
    const answer = await fetch(`http://${outside.address}:${gateway.port}/hooks/console/${PATH}`, { method: 'POST' });
    expect(answer.status).toBe(202);
  });

  it('is not for hosts and pages that are not ours', async () => {
    await open();
    expect(await raw(`/hooks/console/${PATH}`, { Host: 'evil.example' })).toBe(403);
    expect(await raw(`/hooks/console/${PATH}`, { Origin: 'https://evil.example' })).toBe(403);
    expect(calls).toEqual([]);
  });

  it('answers a wrong backend as it does a wrong secret', async () => {
    await open();
    const wrong = await call('console/signed', { headers: { 'X-Signature': 'wrong' } });
    expect(wrong.status).toBe(401);
    expect(await call('nobody/signed', { headers: { 'X-Signature': 'wrong' } })).toEqual(wrong);
    const nowhere = await call('console/a-path-that-somebody-guessed');
    expect(nowhere.status).toBe(404);
    expect(await call('nobody/a-path-that-somebody-guessed')).toEqual(nowhere);
    expect(nowhere.text).not.toContain('guessed');
  });

  it('lets nobody guess: after five wrong ones in a minute the address waits, whatever it sends', async () => {
    const clock = await open();
    for (let i = 0; i < 5; i++) expect((await call(`console/guess-${i}`)).status).toBe(404);
    clock.advanceTo(20_000);
    expect(await call('console/guess-6')).toMatchObject({ status: 429, retryAfter: '40' });
    expect(await call(`console/${PATH}`)).toMatchObject({ status: 429, retryAfter: '40' });
    expect(calls).toEqual([]);
    clock.advanceTo(60_001);
    expect((await call(`console/${PATH}`)).status).toBe(202);
  });

  it('lets nobody guess a hundred at once either', async () => {
    await open();
    takesMs = 50;
    const answers = await Promise.all(Array.from({ length: 100 }, (_, i) => call(`console/guess-${i}`)));
    const told = answers.map(({ status }) => status).sort();
    expect(told.filter(status => status === 404)).toHaveLength(5);
    expect(told.filter(status => status === 429)).toHaveLength(95);
    expect(answers.every(({ status, retryAfter }) => status === 404 || Number(retryAfter) > 0)).toBe(true);
  });

  it('does not count what it was let in for', async () => {
    await open();
    for (let i = 0; i < 12; i++) expect((await call(`console/${PATH}`)).status).toBe(202);
    for (let i = 0; i < 12; i++)
      expect(await call(`console/${PATH}?away`)).toMatchObject({ status: 503, retryAfter: '30' });
    expect((await call(`console/${PATH}`)).status).toBe(202);
  });

  it('takes no body that is too large', async () => {
    await open();
    expect((await call(`console/${PATH}`, { body: 'x'.repeat(1024 * 1024 + 1) })).status).toBe(400);
    expect((await call(`console/${PATH}`, { body: 'x'.repeat(1024 * 1024) })).status).toBe(202);
    expect(calls).toHaveLength(1);
  });

  it('is called with GET and POST alone, and by no more than its two parts', async () => {
    await open({ people: [] });
    for (const method of ['PUT', 'DELETE', 'HEAD'])
      expect([method, (await call(`console/${PATH}`, { method })).status]).toEqual([method, 404]);
    for (const path of [`console/${PATH}/`, `console/${PATH}/more`, `console/x%2F${PATH}`, 'console/%', 'console/%00'])
      expect([path, (await call(path)).status]).toEqual([path, 404]);
    expect(calls).toEqual([]);
  });

  it('leaves those of rules as they are', async () => {
    await open();
    expect((await call('bell')).status).toBe(401);
  });
});
