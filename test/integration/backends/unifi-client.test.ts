// The client at a console: its certificate, logins and their limits, tokens, repetitions.
import { afterEach, describe, expect, test } from 'vitest';
import { type ConsoleClient, createClient, type Sessions } from '../../../src/backends/unifi/console/client.ts';
import { createHttp } from '../../../src/backends/unifi/console/http.ts';
import { keySession, loginSession } from '../../../src/backends/unifi/console/session.ts';
import type { TlsParts } from '../../../src/backends/unifi/console/tls.ts';
import { newCounters } from '../../../src/backends/unifi/counters.ts';
import {
  anotherCertificate,
  type ConsoleOptions,
  certificate,
  DEVICE,
  startConsole,
} from '../../simulators/unifi/index.ts';
import { jumpingClock, passing } from './clock.ts';

let ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.reverse()) await end();
  ends = [];
});

type Who = 'key' | 'login' | 'both';

async function stage(options: ConsoleOptions & { who?: Who; tls?: Partial<TlsParts>; username?: string } = {}) {
  const {
    who = 'key',
    tls = { ca: certificate.cert, serverName: 'unifi.local' },
    username = 'causeway',
    ...rest
  } = options;
  const clock = jumpingClock();
  const console = await startConsole({ now: () => clock.now(), ...rest });
  ends.push(() => console.stop());
  const counters = newCounters();
  const sessions: Sessions = {
    key: who === 'login' ? undefined : keySession(console.apiKey),
    login: who === 'key' ? undefined : loginSession({ clock, counters, username, password: console.password }),
    keyIsOfficialOnly: false,
    pauses: new Map(),
  };
  /** As after a reconnect: the session is the same. */
  const connect = (): ConsoleClient => {
    const http = createHttp({ clock, url: new URL(console.url), insecure: false, ...tls });
    const ending = new AbortController();
    ends.push(async () => {
      ending.abort();
      await http.close();
    });
    return createClient({ http, sessions, site: 'default', clock, counters, signal: ending.signal });
  };
  return { console, clock, counters, sessions, client: connect(), connect };
}

const patience = () => new AbortController().signal;
const locate = (client: ConsoleClient, again = true) =>
  client.ask('POST', 'legacy', 'cmd/devmgr', { cmd: 'set-locate', mac: DEVICE.hall }, { again, signal: patience() });

describe('the certificate', () => {
  test('of a console is taken with its authority and name', async () => {
    const { client } = await stage();
    expect(await client.read('legacy', 'stat/device')).toHaveLength(6);
  });

  test('that nobody has signed is refused, and the way out is told', async () => {
    const { client, console } = await stage({ tls: {} });
    await expect(client.read('legacy', 'stat/device')).rejects.toMatchObject({
      code: 'BACKEND_AUTH',
      message: expect.stringContaining('not trusted'),
      hint: expect.stringContaining('tls.fingerprint'),
    });
    expect(console.requests).toEqual([]);
  });

  test('of another name is refused', async () => {
    const { client } = await stage({ tls: { ca: certificate.cert, serverName: 'other.local' } });
    await expect(client.read('legacy', 'stat/device')).rejects.toMatchObject({ code: 'BACKEND_AUTH' });
  });

  test('that is pinned is taken, whoever signed it and for which name', async () => {
    const { X509Certificate } = await import('node:crypto');
    const { fingerprint256 } = new X509Certificate(certificate.cert);
    const { client } = await stage({ tls: { fingerprint: fingerprint256.toLowerCase() } });
    expect(await client.read('legacy', 'stat/device')).toHaveLength(6);
  });

  test('that is another than the pinned one gets nothing of us, neither key nor password', async () => {
    const { X509Certificate } = await import('node:crypto');
    const { fingerprint256 } = new X509Certificate(anotherCertificate.cert);
    const { client, console } = await stage({ who: 'both', tls: { fingerprint: fingerprint256 } });
    await expect(client.read('legacy', 'stat/device')).rejects.toMatchObject({
      code: 'BACKEND_AUTH',
      message: expect.stringContaining('another certificate'),
    });
    expect(console.requests).toEqual([]);
  });

  test('is not looked at where the configuration says so', async () => {
    const { client } = await stage({ tls: { insecure: true } });
    expect(await client.read('legacy', 'stat/device')).toHaveLength(6);
  });
});

describe('a login', () => {
  test('is done once for all requests, however many begin together', async () => {
    const { client, console } = await stage({ who: 'login' });
    await Promise.all(['stat/device', 'stat/sta', 'rest/user', 'stat/health'].map(path => client.read('legacy', path)));
    expect(console.logins).toBe(1);
  });

  test('outlives the connection', async () => {
    const { client, connect, console } = await stage({ who: 'login' });
    await client.read('legacy', 'stat/sta');
    await connect().read('legacy', 'stat/sta');
    expect(console.logins).toBe(1);
  });

  test('gives the token that commands need, from the cookie where no header has it', async () => {
    const { client, console } = await stage({ who: 'login' });
    console.trouble.csrfInCookieOnly = true;
    await locate(client);
    expect(console.state.device(DEVICE.hall).locating).toBe(true);
  });

  test('whose session has ended is done once more', async () => {
    const { client, console } = await stage({ who: 'login' });
    await client.read('legacy', 'stat/sta');
    console.endSessions();
    await Promise.all([client.read('legacy', 'stat/sta'), client.read('legacy', 'stat/device'), locate(client)]);
    expect(console.logins).toBe(2);
  });

  test('that is refused is not tried again for a minute, then once, then not for two', async () => {
    const { client, console, clock, connect } = await stage({ who: 'login', username: 'stranger' });
    const refused = () => expect(connect().read('legacy', 'stat/sta')).rejects.toMatchObject({ code: 'BACKEND_AUTH' });
    await expect(client.read('legacy', 'stat/sta')).rejects.toMatchObject({
      hint: expect.stringContaining('local admin'),
    });
    await refused();
    await refused();
    expect(console.logins).toBe(1);
    await clock.jump(61_000);
    await refused();
    await refused();
    expect(console.logins).toBe(2);
    await clock.jump(61_000);
    await refused();
    expect(console.logins).toBe(2);
    await clock.jump(61_000);
    await refused();
    expect(console.logins).toBe(3);
  });

  test('that the console limits waits, and works after the pause', async () => {
    const { client, console, clock } = await stage({ who: 'login', logins: 0 });
    await expect(client.read('legacy', 'stat/sta')).rejects.toMatchObject({
      message: expect.stringContaining('no more logins'),
    });
    await expect(client.read('legacy', 'stat/sta')).rejects.toMatchObject({
      hint: expect.stringMatching(/again in \d+ s/),
    });
    expect(console.logins).toBe(1);
    await clock.jump(61_000);
    await expect(client.read('legacy', 'stat/sta')).rejects.toMatchObject({ code: 'BACKEND_AUTH' });
    expect(console.logins).toBe(2);
  });

  test('at a console that is starting is no refused one', async () => {
    const { client, console, counters } = await stage({ who: 'login' });
    console.trouble.html = true;
    const reading = client.read('legacy', 'stat/sta', { tries: 2 });
    await expect(reading).rejects.toMatchObject({
      code: 'BACKEND_OFFLINE',
      message: expect.stringContaining('starting'),
    });
    console.trouble.html = false;
    expect(await client.read('legacy', 'stat/sta')).not.toEqual([]);
    expect(counters.logins).toBe(3);
  });
});

describe('an API key', () => {
  test('opens all surfaces', async () => {
    const { client } = await stage();
    expect(await client.read('official', 'info')).toEqual({ applicationVersion: '9.0.114' });
    expect(await client.read('internal', 'firewall/zone')).toHaveLength(4);
  });

  test('is asked for where there is none and nothing else is taken', async () => {
    const { client } = await stage({ who: 'login' });
    await expect(client.read('official', 'info')).rejects.toMatchObject({
      code: 'UNSUPPORTED',
      hint: expect.stringContaining('api_key'),
    });
  });

  test('that is wrong is told at once and shown nowhere', async () => {
    const { client, console } = await stage();
    console.apiKey = 'another';
    const error = await client.read('legacy', 'stat/sta').catch(one => one);
    expect(error).toMatchObject({ code: 'BACKEND_AUTH' });
    expect(JSON.stringify(error) + error.hint).not.toContain('simulated-key');
    expect(console.requests).toHaveLength(1);
  });
});

describe('what fails', () => {
  test('is read again, also after a cut', async () => {
    const { client, console, counters } = await stage();
    console.trouble.cuts = 2;
    expect(await client.read('legacy', 'stat/device')).toHaveLength(6);
    expect(counters.retries).toBe(2);
  });

  test('waits as long as the console asks', async () => {
    const { client, console, clock } = await stage();
    Object.assign(console.trouble, { limited: 1, retryAfter: 9 });
    const began = clock.elapsed();
    let rows: unknown;
    void client.read('legacy', 'stat/device').then(answer => {
      rows = answer;
    });
    await passing(clock, () => rows !== undefined, 'the answer');
    expect(clock.elapsed() - began).toBeGreaterThan(9_000);
  });

  test('is an error where the console asks for a long pause, and is not asked before it is over', async () => {
    const { client, console, clock, connect } = await stage();
    Object.assign(console.trouble, { limited: 1, retryAfter: 600 });
    const expected = { code: 'BACKEND_OFFLINE', message: expect.stringContaining('too many requests') };
    await expect(client.read('legacy', 'stat/device')).rejects.toMatchObject(expected);
    await expect(connect().read('legacy', 'stat/device')).rejects.toMatchObject(expected);
    expect(console.requests).toHaveLength(1);
    expect(await client.read('legacy', 'stat/sta')).not.toHaveLength(0);
    await clock.jump(601_000);
    expect(await client.read('legacy', 'stat/device')).toHaveLength(6);
  });

  test('is not sent again where twice is not once, and ends in doubt', async () => {
    const { client, console } = await stage();
    console.trouble.cuts = 1;
    await expect(locate(client, false)).rejects.toMatchObject({
      code: 'BACKEND_TIMEOUT',
      message: expect.stringContaining('not known'),
    });
    expect(console.requests).toHaveLength(1);
  });

  test('ends after its time', async () => {
    const { client, console, clock } = await stage();
    console.trouble.hangs = true;
    let error: { code?: string } | undefined;
    client.read('legacy', 'stat/device', { tries: 1 }).catch(one => {
      error = one;
    });
    await passing(clock, () => error !== undefined, 'the end');
    expect(error).toMatchObject({ code: 'BACKEND_TIMEOUT' });
  });

  test('is repeated within a budget', async () => {
    const { client, console, counters, clock } = await stage();
    console.trouble.status = 502;
    let settled = 0;
    for (let i = 0; i < 12; i++) void client.read('legacy', 'stat/device').catch(() => settled++);
    await passing(clock, () => settled === 12, 'the end');
    // Twelve reads of three tries each would be 24 repetitions.
    expect(counters.retries).toBeLessThan(13);
  });
});

test('nothing asked takes more than four connections and a hundred requests a minute', async () => {
  const { client, console, clock } = await stage();
  let most = 0;
  let done = 0;
  const began = clock.elapsed();
  for (let i = 0; i < 120; i++) {
    void client.read('legacy', 'stat/health').then(() => {
      done++;
      most = Math.max(most, console.inFlight);
    });
  }
  await passing(clock, () => done === 120, 'all');
  expect(most).toBeLessThanOrEqual(4);
  // Forty at once, the other eighty at 100 a minute.
  expect(clock.elapsed() - began).toBeGreaterThan(47_000);
});

test('the console’s clock is known by its answers', async () => {
  const { client, console, clock } = await stage();
  expect(client.consoleOffset()).toBeUndefined();
  console.state.skewMs = -3_600_000;
  await client.read('legacy', 'stat/sta');
  expect(Math.abs(clock.elapsed() + (client.consoleOffset() ?? 0) - (clock.now() - 3_600_000))).toBeLessThan(2_000);
});
