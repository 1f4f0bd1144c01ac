// Who comes in, on every surface: open loopback, principals, proxies, foreign hosts and pages, scopes.
import { request } from 'node:http';
import { networkInterfaces } from 'node:os';
import { afterEach, describe, expect, it } from 'vitest';
import { CausewayError } from '../../../src/lib/errors.ts';
import { VirtualClock } from '../../../src/lib/virtual-clock.ts';
import { type FakeGateway, person, principalsOf, startGateway } from '../../kit/fake-gateway.ts';

let gateway: FakeGateway;
afterEach(() => gateway?.stop());

const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
});

interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

/** A request with headers that fetch would not let through. */
function call(method: string, path: string, headers: Record<string, string> = {}, body?: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      { host: '127.0.0.1', port: gateway.port, method, path, headers, agent: false },
      response => {
        let text = '';
        response.setEncoding('utf8');
        const done = () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
        response.on('data', chunk => {
          text += chunk;
          if (response.headers['content-type']?.includes('event-stream')) {
            outgoing.destroy();
            done();
          }
        });
        response.on('error', () => {});
        response.on('end', done);
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

const ACCEPT = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };

/** Every surface that wants a caller: how it is called, and how it answers one who may. */
const SURFACES: Record<string, (headers?: Record<string, string>) => Promise<Answer>> = {
  'GET /api/rules': headers => call('GET', '/api/rules', headers),
  'POST /api/call/list_rules': headers => call('POST', '/api/call/list_rules', headers, '{}'),
  'GET /api/openapi.json': headers => call('GET', '/api/openapi.json', headers),
  'GET /api/events/stream': headers => call('GET', '/api/events/stream', headers),
  'POST /mcp': headers => call('POST', '/mcp', { ...ACCEPT, ...headers }, INITIALIZE),
  'POST /hooks/bell': headers => call('POST', '/hooks/bell', headers, ''),
  'GET /status': headers => call('GET', '/status', headers),
  'GET /metrics': headers => call('GET', '/metrics', headers),
  'GET /': headers => call('GET', '/', headers),
};

const parts = { webhook: async () => 1 };
const otto = person('otto', 'read', 'devices:control');
const basic = (name: string, password: string) => ({
  Authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`,
});

describe.each(Object.entries(SURFACES))('%s', (_name, surface) => {
  it('is open to loopback while nobody exists', async () => {
    gateway = await startGateway({ parts });
    expect((await surface()).status).toBeLessThan(300);
  });

  it('is closed to what came through a proxy, even then', async () => {
    gateway = await startGateway({ parts });
    for (const header of ['X-Forwarded-For', 'Forwarded', 'X-Real-IP', 'Via', 'X-Forwarded-Proto']) {
      const { status, text } = await surface({ [header]: '203.0.113.7' });
      expect([header, status]).toEqual([header, 401]);
      expect(JSON.parse(text).error).toMatchObject({
        code: 'UNAUTHENTICATED',
        hint: expect.stringContaining('causeway user add'),
      });
    }
  });

  it('is closed when a public address is configured', async () => {
    gateway = await startGateway({ parts, config: { public_url: 'https://house.example' } });
    expect((await surface()).status).toBe(401);
  });

  it('wants a right credential once somebody exists, from loopback too', async () => {
    gateway = await startGateway({ parts, people: [otto] });
    const none = await surface();
    expect([none.status, none.headers['www-authenticate']]).toEqual([401, expect.stringContaining('Bearer')]);
    for (const headers of [
      { Authorization: 'Bearer wrong' },
      basic('otto', 'wrong'),
      basic('nobody', ''),
      { Authorization: 'Basic =' },
    ]) {
      expect((await surface(headers)).status).toBe(401);
    }
    expect((await surface({ Authorization: 'Bearer otto-token' })).status).toBeLessThan(300);
    expect((await surface(basic('otto', 'otto-password'))).status).toBeLessThan(300);
  });

  it('refuses a host that is not its own, whoever asks', async () => {
    gateway = await startGateway({ parts, people: [otto] });
    for (const Host of ['evil.example', `evil.example:${gateway.port}`, 'localhost.evil.example']) {
      const { status, text } = await surface({ Host, Authorization: 'Bearer otto-token' });
      expect([Host, status]).toEqual([Host, 403]);
      expect(JSON.parse(text).error.hint).toContain('allowed_hosts');
    }
  });

  it('refuses pages of other sites', async () => {
    gateway = await startGateway({ parts });
    const foreign: Record<string, string>[] = [
      { Origin: 'https://evil.example' },
      { Origin: 'null' },
      { Origin: 'http://10.0.0.9' },
      { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'no-cors' },
    ];
    for (const headers of foreign) {
      expect((await surface(headers)).status).toBe(403);
    }
    expect((await surface({ Origin: `http://localhost:${gateway.port}` })).status).toBeLessThan(300);
  });
});

describe('a gateway without users', () => {
  it('listens on loopback only, whatever is configured', async () => {
    gateway = await startGateway({ config: { host: '0.0.0.0' } });
    expect((await call('GET', '/healthz')).status).toBe(200);
    const outside = Object.values(networkInterfaces())
      .flatMap(all => all ?? [])
      .find(one => !one.internal && one.family === 'IPv4');
    if (outside) await expect(fetch(`http://${outside.address}:${gateway.port}/healthz`)).rejects.toThrow();
  });
});

describe('the names of a gateway', () => {
  it('are loopback’s, the configured ones, and that of the public address', async () => {
    gateway = await startGateway({
      people: [otto],
      config: { allowed_hosts: ['House.local'], public_url: 'https://house.example/x' },
    });
    for (const Host of [
      'localhost',
      '127.0.0.1:8480',
      '[::1]:8480',
      '192.168.1.5:8480',
      'house.local',
      'HOUSE.LOCAL:1',
      'house.example',
    ]) {
      expect([Host, (await call('GET', '/status', { Host, Authorization: 'Bearer otto-token' })).status]).toEqual([
        Host,
        200,
      ]);
    }
  });
});

describe('scopes', () => {
  const who = (name: string) => ({ Authorization: `Bearer ${name}-token`, 'Content-Type': 'application/json' });

  it('are asked for by every surface', async () => {
    gateway = await startGateway({ parts, people: [person('vera', 'read'), person('bell', 'devices:control')] });
    const update = JSON.stringify({ name: 'x' });
    expect((await call('PUT', '/api/rules/attic-fan', who('vera'), update)).status).toBe(403);
    expect((await call('POST', '/hooks/bell', who('vera'))).status).toBe(403);
    expect((await call('POST', '/hooks/bell', who('bell'))).status).toBe(202);
    for (const path of ['/status', '/metrics', '/', '/api/events/stream', '/api/rules']) {
      expect([path, (await call('GET', path, who('bell'))).status]).toEqual([path, 403]);
    }
  });
});

describe('the probes', () => {
  it('need no credential and say nothing about the house', async () => {
    gateway = await startGateway({ people: [otto] });
    expect(JSON.parse((await call('GET', '/healthz')).text)).toEqual({ name: 'causeway', alive: true });
    expect(JSON.parse((await call('GET', '/readyz')).text)).toEqual({ name: 'causeway', ready: true });
    gateway.views.setHealth(false);
    expect((await call('GET', '/readyz')).status).toBe(503);
    expect((await call('GET', '/healthz')).status).toBe(200);
    expect((await call('GET', '/healthz', { Host: 'evil.example' })).status).toBe(403);
  });
});

describe('who guesses', () => {
  it('is told when to try again', async () => {
    const principals = {
      ...principalsOf([otto]),
      authenticatePassword: async () => {
        throw new CausewayError('RATE_LIMITED', 'too many failed sign-ins', { details: { retryAfterMs: 41_500 } });
      },
    };
    gateway = await startGateway({ parts: { principals } });
    const { status, headers } = await call('GET', '/status', basic('otto', 'x'));
    expect([status, headers['retry-after']]).toEqual([429, '42']);
  });
});

describe('an open stream', () => {
  const openStream = async (headers: Record<string, string> = {}) => {
    const { body } = await fetch(`${gateway.url}/api/events/stream`, { headers });
    const reader = (body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader.read()).value).toBe(': open\n\n');
    return reader;
  };

  it('ends soon after its caller was removed, and no other does', async () => {
    const clock = new VirtualClock(0);
    const people = [otto, person('vera', 'read')];
    gateway = await startGateway({ people, parts: { clock } });
    const ofOtto = await openStream({ Authorization: 'Bearer otto-token' });
    const ofVera = await openStream({ Authorization: 'Bearer vera-token' });
    people.shift();
    clock.advanceTo(15_000);
    await expect(ofOtto.read()).rejects.toThrow();
    // What the same tick of the clock sent to keep the stream alive comes first.
    expect((await ofVera.read()).value).toBe(': alive\n\n');
    gateway.events$.next({ id: 'e1' });
    expect((await ofVera.read()).value).toContain('"e1"');
    await ofVera.cancel();
  });

  it('of a gateway without users ends when the first one is added', async () => {
    const clock = new VirtualClock(0);
    const people: (typeof otto)[] = [];
    gateway = await startGateway({ people, parts: { clock } });
    const stream = await openStream();
    clock.advanceTo(15_000);
    expect((await stream.read()).value).toBe(': alive\n\n');
    people.push(otto);
    clock.advanceTo(30_000);
    await expect(stream.read()).rejects.toThrow();
  });
});
