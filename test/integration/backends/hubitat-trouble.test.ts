// Trouble with hubs: wrong credentials, outages, overload, odd answers, many devices. One hub's trouble stays its own.
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { request } from '../../../src/backends/hubitat/http.ts';
import { supervise } from '../../../src/backends/supervisor.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { eventually } from '../../kit/eventually.ts';
import { simMany, startHubSimulator } from '../../simulators/hubitat/index.ts';
import { certificate } from '../../simulators/unifi/certificate.ts';
import { commandTo, patience, recorder } from '../../unit/backends/kit.ts';
import { jumpingClock, passing } from './clock.ts';
import { backendAt, recordingLog, stageHub } from './hubitat-kit.ts';

let ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.reverse()) await end();
  ends = [];
});

async function stage(...options: Parameters<typeof stageHub>) {
  const staged = await stageHub(...options);
  ends.push(staged.end);
  return staged;
}

/** A supervised backend that need not become ready. */
async function begin(hub: { url: string; app: number; token: string }, settings: Parameters<typeof backendAt>[1] = {}) {
  const clock = jumpingClock();
  const log = recordingLog();
  const backend = backendAt(hub, settings, { clock, log });
  const supervised = supervise(backend, { clock, log, random: () => 1 });
  const sink = recorder();
  await supervised.start(sink);
  ends.push(() => supervised.stop());
  const offline = () => eventually(() => sink.lines.find(line => line.startsWith('offline: ')), 'offline');
  return { clock, log, backend, supervised, sink, offline };
}

async function simulator(...options: Parameters<typeof startHubSimulator>) {
  const hub = await startHubSimulator(...options);
  ends.push(() => hub.stop());
  return hub;
}

describe('a wrong token', () => {
  test('says what to do, asks the list of devices once, and tries again after minutes', async () => {
    const hub = await simulator();
    const { offline, clock, supervised } = await begin({ ...hub, token: 'wrong' });
    expect(await offline()).toMatch(/refused the access token/);
    expect(hub.requests).toEqual(['/apps/api/12/devices/*']);
    expect(clock.nextIn()).toBeGreaterThan(200_000);
    expect(await supervised.test()).toMatchObject({ ok: false, hint: expect.stringMatching(/token.*config\.yaml/) });
  });

  test.each(['eventsocket', 'listener'])(
    'that becomes wrong later is offered once by a command, and then not for a minute (%s)',
    async events => {
      const { hub, supervised, sink, clock } = await stage({ settings: { events } });
      hub.token = 'renewed';
      const asked = hub.requests.length;
      const press = () => supervised.execute(commandTo('hubitat:location', 'setMode', { mode: 'Night' }), patience());
      await expect(press()).rejects.toMatchObject({ code: 'BACKEND_AUTH', hint: expect.stringContaining('token') });
      await eventually(() => sink.lines.some(line => /offline: .*access token/.test(line)), 'offline');
      await expect(press()).rejects.toMatchObject({ code: 'BACKEND_OFFLINE' });
      await clock.jump(60_000);
      // Neither a retry, nor the poll, nor what a stop clears up.
      expect(hub.requests.length - asked).toBe(1);
      await clock.jump(60_000);
      await eventually(() => hub.requests.length - asked > 1, 'the next attempt');
    },
  );

  test('that becomes wrong later is noticed by the next poll, and does not become a storm either', async () => {
    const { hub, sink, clock } = await stage({ settings: { poll: '5m' } });
    hub.token = 'renewed';
    const asked = hub.requests.length;
    await clock.jump(300_000);
    await eventually(() => sink.lines.some(line => /offline: .*access token/.test(line)), 'offline');
    expect(hub.requests.length - asked).toBeLessThanOrEqual(4);
  });

  test('is never written to the log, nor is the path of the listener', async () => {
    const { hub, log, clock } = await stage({ settings: { events: 'listener' }, token: 'token-of-the-hub' });
    const path = new URL(hub.state.postUrl as string).pathname.slice(1);
    hub.token = 'renewed';
    hub.state.set(1, 'switch', 'on');
    await clock.jump(300_000);
    await eventually(() => log.lines.some(line => line.includes('offline')), 'the log');
    const written = log.lines.join('\n');
    expect(written).not.toContain('token-of-the-hub');
    expect(written).not.toContain(path);
  });

  test('is not told when the registration of the listener fails, nor is its path', async () => {
    const hub = await simulator();
    hub.trouble.status = { code: 500, times: 99, path: /postURL/ };
    const { offline } = await begin(hub, { events: 'listener' });
    const told = await offline();
    expect(told).toContain('/postURL');
    expect(told.length).toBeLessThan(120);
  });
});

describe('a wrong address', () => {
  test('of the app says so', async () => {
    const hub = await simulator();
    const { offline } = await begin({ url: hub.url, app: 99, token: hub.token });
    expect(await offline()).toMatch(/knows nothing of this/);
  });

  test('at which nobody listens says so', async () => {
    const gone = await startHubSimulator();
    await gone.stop();
    const { offline, supervised } = await begin(gone);
    expect(await offline()).toMatch(/eventsocket cannot be opened/);
    expect(await supervised.test()).toMatchObject({ ok: false, message: expect.stringContaining('ECONNREFUSED') });
  });

  test('with a certificate that is not trusted says so, and no command is in doubt for it', async () => {
    const server = createTlsServer(certificate, (_, response) => response.end('[]'));
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    ends.push(async () => server.close());
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { offline, supervised } = await begin({ url, app: 12, token: 'x' });
    expect(await offline()).toMatch(/certificate/);
    expect(await supervised.test()).toMatchObject({
      ok: false,
      message: expect.stringMatching(/cannot be reached \(.*CERT/),
      hint: expect.stringContaining('http://'),
    });
    const asked = request(systemClock, { url, what: '/', timeoutMs: 5_000, signal: patience() });
    await expect(asked).rejects.toMatchObject({ uncertain: false });
  });

  test('at which something else answers with pages says so', async () => {
    const server = createServer((_, response) => response.end('<!doctype html><p>Welcome'));
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    ends.push(async () => server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { supervised } = await begin({ url, app: 12, token: 'x' });
    expect(await supervised.test()).toMatchObject({
      ok: false,
      message: expect.stringContaining('a page instead of data'),
    });
  });
});

describe('a taken port of the listener', () => {
  test('is told with what to do', async () => {
    const hub = await simulator();
    const taken = createServer().listen(0, '127.0.0.1');
    await eventually(() => taken.listening, 'the port');
    ends.push(async () => taken.close());
    const { port } = taken.address() as AddressInfo;
    const { offline } = await begin(hub, { events: 'listener', listen: { host: '127.0.0.1', port } });
    expect(await offline()).toMatch(new RegExp(`127.0.0.1:${port} \\(EADDRINUSE\\)`));
  });
});

describe('a hub that is gone', () => {
  test('shows by the first command, where it pushes its events', async () => {
    const { hub, sink, supervised } = await stage({ settings: { events: 'listener' } });
    await hub.down();
    await expect(supervised.execute(commandTo('hubitat:1', 'on'), patience())).rejects.toMatchObject({
      code: 'BACKEND_OFFLINE',
      hint: expect.any(String),
    });
    await eventually(() => sink.lines.some(line => line.startsWith('offline: ')), 'offline');
  });

  test('for an hour comes back with all its values, and its events go on', async () => {
    const hub = await simulator();
    const { clock, sink } = await begin(hub);
    await eventually(() => sink.lines.includes('ready'), 'ready');
    await hub.down();
    await passing(clock, () => sink.lines.some(line => line.startsWith('offline: ')));
    hub.state.set(1, 'switch', 'on');
    // Nothing but the next attempt is pending between two of them.
    const nextAttempt = async () => {
      await eventually(() => clock.pending === 1, 'the wait for the next attempt');
      await clock.jump((clock.nextIn() as number) + 1);
    };
    const gone = clock.elapsed();
    while (clock.elapsed() - gone < 3_600_000) await nextAttempt();
    await eventually(() => clock.pending === 1, 'the end of the last attempt');
    sink.take();
    await hub.up();
    await nextAttempt();
    await eventually(() => sink.lines.includes('ready'), 'ready');
    expect(sink.lines).toContain('hubitat:1/switch=on');
    hub.state.set(1, 'switch', 'off');
    await eventually(() => sink.lines.includes('hubitat:1/switch=off'), 'the event');
  });

  test('does not trouble another one', async () => {
    const one = await stage();
    const hub = await simulator();
    const log = recordingLog();
    const clock = jumpingClock();
    const other = supervise(backendAt(hub, {}, { clock, log, id: 'cottage' }), { clock, log });
    ends.push(() => other.stop());
    const sink = recorder();
    await other.start(sink);
    await eventually(() => sink.lines.includes('ready'), 'ready');
    sink.take();
    await one.hub.down();
    await passing(one.clock, () => one.sink.lines.some(line => line.startsWith('offline: ')));
    await other.execute(commandTo('cottage:1', 'on'), patience());
    await eventually(() => sink.lines.includes('cottage:1/switch=on'), 'the event');
    expect(sink.lines.every(line => line.startsWith('cottage:1/'))).toBe(true);
  });
});

describe('a hub under load', () => {
  test.each([408, 500, 502, 503])('that answers %i now and then is asked again', async code => {
    const { sink } = await stage({
      prepare: hub => {
        hub.trouble.status = { code, times: 1 };
      },
    });
    expect(sink.lines).toContain('hubitat:1/switch=off');
  });

  test('is never asked for more than it bears', async () => {
    const { hub, sink } = await stage({
      devices: simMany(60, 4),
      prepare: hub => {
        hub.trouble.overloadAbove = 4;
      },
    });
    expect(hub.mostInFlight).toBeLessThanOrEqual(4);
    expect(sink.declared.size).toBe(61);
  });
});

describe('odd answers', () => {
  test('rows that nobody understands cost no other row, and are counted', async () => {
    const { sink, backend } = await stage({
      prepare: hub => {
        hub.state.oddRows.push(
          null,
          'text',
          { id: {} },
          { id: '77', attributes: [{ value: 1 }, { name: 'a', currentValue: 1 }] },
        );
      },
    });
    expect(sink.declared.size).toBe(10);
    expect(sink.declared.get('hubitat:77')?.name).toBe('Device 77');
    expect(backend.counters.unreadable).toBe(4);
  });

  test('fields of another type than is known cost neither their device nor their event', async () => {
    const { sink, hub, until } = await stage({
      prepare: ({ state }) => {
        state.oddRows.push({
          id: 77,
          label: 5,
          type: {},
          room: ['x'],
          capabilities: 'Switch',
          attributes: [
            { name: 'switch', currentValue: 'on', dataType: 4, unit: {}, values: 'on, off' },
            { name: 'wind', currentValue: 3, dataType: 'NUMBER' },
          ],
          commands: 'on',
        });
      },
    });
    expect(sink.declared.get('hubitat:77')).toMatchObject({ name: '5', capabilities: [], commands: {} });
    expect(sink.lines).toEqual(expect.arrayContaining(['hubitat:77/switch=on', 'hubitat:77/wind=3']));
    hub.sendFrame('{"source":5,"name":"wind","value":"4","unit":7,"deviceId":77}');
    await until('hubitat:77/wind=4');
  });

  test.each([
    ['an empty answer', ''],
    ['an object', '{}'],
    ['null', 'null'],
  ])('%s in the place of the list of devices removes none of them', async (_, body) => {
    const { hub, sink, clock } = await stage();
    sink.take();
    hub.trouble.instead = { body, times: 2, path: /devices\/(\*|all)$/ };
    await clock.jump(300_000);
    await eventually(() => sink.lines.some(line => line.startsWith('offline: ')), 'offline');
    expect(sink.lines.filter(line => line.startsWith('removed'))).toEqual([]);
    await passing(clock, () => sink.lines.includes('ready'));
    expect(sink.declared.size).toBe(9);
  });

  test('events that come twice change nothing twice, for the hub has no ids to know them by', async () => {
    const { hub, sink, backend } = await stage();
    hub.trouble.doubles = 1;
    hub.state.set(1, 'switch', 'on');
    await eventually(() => backend.counters.events === 2, 'both');
    expect(sink.lines.slice(-2)).toEqual(['hubitat:1/switch=on', 'hubitat:1/switch=on']);
  });
});

describe('a stop in the middle of the start', () => {
  test('leaves no timer and no connection, and what was on its way is not ready', async () => {
    const hub = await simulator({ devices: simMany(200, 4) });
    const clock = jumpingClock();
    const parts = { clock, log: recordingLog() };
    const backend = backendAt(hub, {}, parts);
    const sink = recorder();
    let stopped: Promise<void> | undefined;
    const started = backend.start({
      ...sink,
      devices(devices) {
        sink.devices(devices);
        stopped = backend.stop();
      },
    });
    await started;
    await stopped;
    expect(clock.pending).toBe(0);
    expect(sink.lines).not.toContain('ready');
    await eventually(() => hub.sockets.events === 0, 'the end of the eventsocket');
  });
});

describe('nothing is asked of a hub that it is not known to have', () => {
  test.each(['eventsocket', 'listener'])('with the %s', async events => {
    const { hub, supervised, sink, clock } = await stage({ settings: { events, logs: 'info' } });
    await supervised.execute(commandTo('hubitat:2', 'setLevel', { level: 3 }), patience());
    await supervised.test();
    await clock.jump(300_000);
    sink.take();
    await supervised.stop();
    expect(hub.refused).toEqual([]);
  });
});

describe('a large hub', () => {
  test('with 500 devices of 40 attributes is there in seconds', async () => {
    const hub = await simulator({ devices: simMany(500, 40) });
    const backend = backendAt(hub, {}, { clock: systemClock });
    ends.push(() => backend.stop());
    let reports = 0;
    let isReady = false;
    const nothing = () => {};
    const began = performance.now();
    await backend.start({
      devices: nothing,
      device: nothing,
      removed: nothing,
      report: () => void reports++,
      online: nothing,
      offline: nothing,
      ready: () => {
        isReady = true;
      },
    });
    const ms = Math.round(performance.now() - began);
    globalThis.gc?.();
    console.info(`500 devices × 40 attributes: ready after ${ms} ms (simulator in the same process)`);
    expect(isReady).toBe(true);
    // Each attribute of each device, and mode, HSM and three variables.
    expect(reports).toBe(500 * 40 + 6);
    expect(backend.counters.missed).toBe(0);
  });
});
