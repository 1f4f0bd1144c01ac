// Trouble with consoles: silent sockets, odd frames, restarts, limits, keys that open little. Whoever is at home stays so.
import { afterEach, describe, expect, test } from 'vitest';
import { supervise } from '../../../src/backends/supervisor.ts';
import { eventually } from '../../kit/eventually.ts';
import {
  CLIENT,
  type ConsoleOptions,
  type ConsoleSimulator,
  DEVICE,
  startConsole,
} from '../../simulators/unifi/index.ts';
import { recorder } from '../../unit/backends/kit.ts';
import { jumpingClock, passing } from './clock.ts';
import { recordingLog } from './hubitat-kit.ts';
import { backendAt, quiet, type Settings, stageConsole, valuesOf } from './unifi-kit.ts';

let ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.reverse()) await end();
  ends = [];
});

async function stage(...options: Parameters<typeof stageConsole>) {
  const staged = await stageConsole(...options);
  ends.push(staged.end);
  staged.sink.take();
  return staged;
}

/** A supervised backend that need not become ready. */
async function begin(
  options: ConsoleOptions & { settings?: Settings; prepare?: (console: ConsoleSimulator) => void } = {},
) {
  const { settings = {}, prepare, ...simulated } = options;
  const clock = jumpingClock();
  const console = await startConsole({ now: () => clock.now(), ...simulated });
  ends.push(() => console.stop());
  const log = recordingLog();
  const backend = backendAt(console, settings, { clock, log });
  prepare?.(console);
  const supervised = supervise(backend, { clock, log, random: () => 1 });
  const sink = recorder();
  ends.push(() => supervised.stop());
  await supervised.start(sink);
  const offline = () => eventually(() => sink.lines.find(line => line.startsWith('offline: ')), 'offline');
  return { console, clock, log, backend, supervised, sink, offline };
}

const phone = `unifi:client:${CLIENT.phone}`;
const presences = (lines: readonly string[]) => lines.filter(line => line.includes('/presence='));

describe('a socket', () => {
  test('on which nothing comes any more is opened anew, and what it did not tell is found by the polls', async () => {
    const { console, sink, until, pass, backend } = await stage();
    console.trouble.silent = true;
    console.state.connect(CLIENT.phone2);
    await pass(31_000);
    await until(`unifi:client:${CLIENT.phone2}/presence=present`);
    await pass(70_000);
    await eventually(() => backend.counters.sockets === 2, 'another socket');
    console.trouble.silent = false;
    console.state.setWlan('wlan-guests', false);
    await until('unifi:wlan:wlan-guests/switch=off');
    // It was bridged: nothing is told anew, so that no news pass for old.
    expect(sink.lines).not.toContain('online');
  });

  test('on which nothing ever comes is not opened every minute and a half for ever', async () => {
    const { console, pass, backend } = await stage({ settings: { poll: '10m' } });
    console.trouble.silent = true;
    await pass(1_800_000);
    expect(backend.counters.sockets).toBeGreaterThan(2);
    expect(backend.counters.sockets).toBeLessThan(8);
  });

  test('that is broken off comes back within seconds', async () => {
    const { console, until, pass, sink } = await stage();
    console.dropSockets();
    await pass(2_000);
    await eventually(() => console.sockets === 1, 'the socket');
    console.state.setWlan('wlan-guests', false);
    await until('unifi:wlan:wlan-guests/switch=off');
    expect(sink.lines).not.toContain('online');
  });

  test('bears frames of no length, of no sense, and of eight megabytes', async () => {
    const { console, until, backend } = await stage();
    console.sendFrame('');
    console.sendFrame('pong');
    console.sendFrame('{"half":');
    console.sendFrame(JSON.stringify({ meta: {}, data: 'none' }));
    console.sendFrame(Buffer.from([1, 2, 3]));
    const many = Array.from({ length: 20_000 }, () => ({ mac: 'nobody', filler: 'x'.repeat(400) }));
    console.sendFrame(JSON.stringify({ meta: { message: 'sta:sync' }, data: many }));
    console.state.setWlan('wlan-guests', false);
    await until('unifi:wlan:wlan-guests/switch=off');
    expect(backend.counters.garbled).toBe(2);
    expect(backend.counters.sockets).toBe(1);
  });

  test('that gets a frame beyond all bounds is opened anew', async () => {
    const { console, until, pass, backend } = await stage();
    console.sendFrame(Buffer.alloc(65 * 1024 * 1024, 0x20).toString());
    await eventually(() => console.sockets === 0, 'the end of the socket');
    await pass(2_000);
    await eventually(() => backend.counters.sockets === 2, 'another socket');
    console.state.setWlan('wlan-guests', false);
    await until('unifi:wlan:wlan-guests/switch=off');
  });

  test('that is refused more than once is opened later, without a login each time', async () => {
    const { console, pass, until } = await stage();
    let refusals = 0;
    console.trouble.holds = path => {
      if (path.endsWith('/auth/login') && refusals++ < 2) setImmediate(() => console.endSessions());
      return undefined;
    };
    console.endSessions();
    console.dropSockets();
    await pass(20_000);
    const { logins } = console;
    await pass(300_000);
    await eventually(() => console.sockets === 1, 'the socket');
    expect(console.logins - logins).toBeLessThan(3);
    console.state.setWlan('wlan-guests', false);
    await until('unifi:wlan:wlan-guests/switch=off');
  });

  test('whose session has ended is opened with another login', async () => {
    const { console, pass } = await stage();
    console.endSessions();
    console.dropSockets();
    await pass(8_000);
    await eventually(() => console.sockets === 1, 'the socket');
    expect(console.logins).toBe(2);
  });
});

describe('a key alone', () => {
  test('opens no socket on most consoles: it is said once, and events come with polls and the log', async () => {
    const { console, log, pass, until } = await stage({ settings: { who: 'key' }, profile: 'network10' });
    await eventually(() => log.lines.some(line => /warn .*stream of events.*add login/.test(line)), 'the warning');
    console.state.alertOfIds();
    console.state.connect(CLIENT.phone2);
    await pass(12_000);
    await until(/^unifi:site:default!threat=/);
    await until(`unifi:client:${CLIENT.phone2}/presence=present`);
    await pass(300_000);
    expect(console.requests.filter(line => line.startsWith('UPGRADE'))).toHaveLength(1);
  });

  test('opens it where a console takes that', async () => {
    const { console, until } = await stage({ settings: { who: 'key' }, keys: { socket: true } });
    await eventually(() => console.sockets === 1, 'the socket');
    console.state.setWlan('wlan-guests', false);
    await until('unifi:wlan:wlan-guests/switch=off');
  });

  test('that a console takes for its official API alone asks for a login', async () => {
    const { offline, supervised } = await begin({ keys: { legacy: false }, settings: { who: 'key' } });
    expect(await offline()).toMatch(/official API alone/);
    expect(await supervised.test()).toMatchObject({ ok: false, hint: expect.stringContaining('add login') });
  });

  test('with a login beside it goes the other way then', async () => {
    const { sink, log, console } = await stage({ keys: { legacy: false }, settings: { who: 'both' } });
    expect(valuesOf(sink, phone).presence).toBe('present');
    expect(log.lines.some(line => line.includes('the rest goes by the login'))).toBe(true);
    expect(console.logins).toBe(1);
  });
});

describe('the system log', () => {
  test('is asked for once a console has it, though it had none before', async () => {
    const { console, clock, sink, pass, until } = await stage();
    await pass(30_000);
    await console.down();
    await passing(clock, () => sink.lines.some(line => line.startsWith('offline: ')), 'offline');
    Object.assign(console.state, { profile: 'network10' });
    await console.up();
    await passing(clock, () => sink.lines.includes('ready'), 'ready');
    console.state.alertOfIds();
    await pass(20_000);
    await until(/!threat=/);
  });

  test('that is refused for a moment is asked for again', async () => {
    const { console, pass, until } = await stage({ profile: 'network10' });
    const { state } = console;
    Object.assign(state, { profile: 'network9' });
    await pass(20_000);
    Object.assign(state, { profile: 'network10' });
    state.alertOfIds();
    await pass(600_000);
    await until(/!threat=/);
  });

  test('does not tell again what the stream has told, when that is gone', async () => {
    const { console, pass, sink } = await stage({ profile: 'network10' });
    const { state, trouble } = console;
    const threats = () => sink.lines.filter(line => line.includes('!threat=')).length;
    state.alertOfIds();
    // Some consoles have both.
    state.message('events', [state.events.at(-1)]);
    state.changeDevice(DEVICE.hall, {});
    await pass(5_000);
    expect(threats()).toBe(1);
    trouble.holds = path => (path.endsWith('/auth/login') ? new Promise(() => {}) : undefined);
    console.endSessions();
    console.dropSockets();
    await pass(5_000);
    state.alertOfIds();
    trouble.holds = undefined;
    await pass(60_000);
    expect(threats()).toBe(2);
  });
});

describe('a console', () => {
  test('that is gone for hours takes nobody away, nor does the time after it', async () => {
    const { console, sink, clock, pass } = await stage({ random: 1 });
    await console.down();
    await clock.jump(31_000);
    await passing(clock, () => sink.lines.some(line => line.startsWith('offline: ')), 'offline');
    await clock.jump(7_200_000);
    await console.up();
    await eventually(async () => {
      await clock.jump(2_000);
      return sink.lines.includes('ready');
    }, 'ready');
    await quiet(console);
    await pass(400_000);
    expect(presences(sink.lines).filter(line => line.includes('not present') && !/0[24c]\//.test(line))).toEqual([]);
    expect(valuesOf(sink, phone).presence).toBe('present');
  });

  test('that has restarted, and knows nobody yet, takes nobody away before the grace time is over', async () => {
    const { console, sink, clock, pass } = await stage();
    await console.down();
    await passing(clock, () => sink.lines.some(line => line.startsWith('offline: ')), 'offline');
    const { clients } = console.state;
    await clock.jump(600_000);
    Object.assign(console.state, { clients: clients.map(one => ({ ...one, connected: false })), uptimeS: 60 });
    await console.up();
    await passing(clock, () => sink.lines.includes('ready'), 'ready');
    await quiet(console);
    await pass(120_000);
    expect(valuesOf(sink, phone).presence).toBe('present');
    console.state.connect(CLIENT.phone);
    await pass(400_000);
    expect(valuesOf(sink, phone).presence).toBe('present');
    // Whoever did not come back has left meanwhile.
    expect(valuesOf(sink, `unifi:client:${CLIENT.laptop}`).presence).toBe('not present');
  });

  test('of which no list is there yet is not there: nothing vanishes, and nothing is new when it comes', async () => {
    const { console, sink, clock, pass } = await stage();
    const { state } = console;
    const { clients } = state;
    const declared = [...sink.declared.keys()].sort();
    const devices = state.devices.splice(0);
    await console.down();
    await passing(clock, () => sink.lines.some(line => line.startsWith('offline: ')), 'offline');
    Object.assign(state, { clients: [], uptimeS: 20 });
    await console.up();
    sink.take();
    await passing(
      clock,
      () => sink.lines.some(line => /^offline: .*neither devices nor clients/.test(line)),
      'offline',
    );
    expect(sink.lines).not.toContain('ready');
    state.clients = clients;
    state.devices.push(...devices);
    await passing(clock, () => sink.lines.includes('ready'), 'ready');
    await pass(400_000);
    expect([...sink.declared.keys()].sort()).toEqual(declared);
    expect(sink.lines.filter(line => /^removed|!/.test(line))).toEqual([]);
    expect(presences(sink.lines).filter(line => line.startsWith(phone))).toEqual([`${phone}/presence=present`]);
  });

  test('that has just started and does not list all yet does not make the rest vanish, until minutes have passed', async () => {
    const { console, sink, clock, pass } = await stage();
    const { state } = console;
    const [lost] = state.devices.splice(1, 1);
    await console.down();
    await passing(clock, () => sink.lines.some(line => line.startsWith('offline: ')), 'offline');
    state.uptimeS = 60;
    await console.up();
    await passing(clock, () => sink.lines.includes('ready'), 'ready');
    await pass(280_000);
    expect(sink.declared.has(`unifi:device:${lost?.mac}`)).toBe(true);
    await pass(60_000);
    expect(sink.declared.has(`unifi:device:${lost?.mac}`)).toBe(false);
    expect(sink.declared.has(`unifi:device:${DEVICE.hall}`)).toBe(true);
  });

  test('that suddenly lists nothing is starting: nobody leaves and nothing vanishes', async () => {
    const { console, sink, clock, pass } = await stage();
    const { state } = console;
    const { clients } = state;
    const devices = state.devices.splice(0);
    state.clients = [];
    await passing(
      clock,
      () => sink.lines.some(line => /^offline: .*neither devices nor clients/.test(line)),
      'offline',
    );
    await pass(60_000);
    state.clients = clients;
    state.devices.push(...devices);
    await passing(clock, () => sink.lines.includes('ready'), 'ready');
    await pass(60_000);
    expect(sink.lines.filter(line => /^removed|!/.test(line))).toEqual([]);
    expect(presences(sink.lines).filter(line => line.startsWith(phone))).toEqual([`${phone}/presence=present`]);
  });

  test('whose lists lack something for once takes nothing away, and nothing is new afterwards', async () => {
    const { console, sink, pass } = await stage({ settings: { poll: '10s' } });
    const { state } = console;
    const { clients } = state;
    const [wlans, devices, wans] = [state.wlans.splice(0), state.devices.splice(1), state.wans.splice(0)];
    state.clients = [];
    // As long as it takes until one look is a whole one.
    await pass(110_000);
    state.clients = clients;
    state.wlans.push(...wlans);
    state.devices.push(...devices);
    state.wans.push(...wans);
    await pass(110_000);
    expect(sink.lines.filter(line => /^removed|^device: |newClient|=not present/.test(line))).toEqual([]);
  });

  test('whose lists lack something for minutes has it no more', async () => {
    const { console, sink, pass } = await stage({ settings: { poll: '10s' } });
    const { state } = console;
    state.clients = state.clients.filter(({ mac }) => mac !== CLIENT.tablet);
    const [wlan] = state.wlans.splice(2, 1);
    const [device] = state.devices.splice(3, 1);
    const [wan] = state.wans.splice(1, 1);
    await pass(520_000);
    expect(sink.lines.filter(line => line.startsWith('removed')).sort()).toEqual([
      `removed: unifi:client:${CLIENT.tablet}`,
      `removed: unifi:device:${device?.mac}`,
      `removed: unifi:wan:${wan?.wan_networkgroup}`,
      `removed: unifi:wlan:${wlan?._id}`,
    ]);
  });

  test('that is young when we start says nothing of those whom it has not seen yet', async () => {
    const { sink, pass } = await stage({
      prepare: ({ state }) => {
        state.uptimeS = 30;
        for (const client of state.clients) {
          Object.assign(client, { connected: false, lastSeen: state.now() - 900_000 });
        }
      },
    });
    expect(valuesOf(sink, phone)).not.toHaveProperty('presence');
    await pass(290_000);
    expect(presences(sink.lines)).toEqual([]);
    await pass(45_000);
    expect(valuesOf(sink, phone).presence).toBe('not present');
  });

  test('that fails for a moment is asked again, and nobody hears of it', async () => {
    const { console, sink, clock, backend } = await stage();
    console.trouble.cuts = 2;
    await clock.jump(31_000);
    await passing(clock, () => backend.counters.retries >= 1 && console.trouble.cuts === 0, 'repetitions');
    await quiet(console);
    expect(sink.lines.some(line => line.startsWith('offline'))).toBe(false);
  });

  for (const [what, trouble] of [
    ['answers 502', { status: 502 }],
    ['answers with a page', { html: true }],
  ] as const) {
    test(`that ${what} is starting: offline, and online again with all values`, async () => {
      const { console, sink, clock } = await stage();
      Object.assign(console.trouble, trouble);
      await clock.jump(31_000);
      await passing(clock, () => sink.lines.some(line => /^offline: .*starting/.test(line)), 'offline');
      Object.assign(console.trouble, { status: undefined, html: false });
      sink.take();
      await passing(clock, () => sink.lines.includes('ready'), 'ready');
      expect(sink.lines).toContain(`${phone}/presence=present`);
      expect(console.logins).toBe(1);
    });
  }

  test('that is starting while we sign in is no refused login: it is signed in to once it has started', async () => {
    const { console, clock, sink, offline } = await begin({
      prepare: ({ trouble }) => {
        trouble.html = true;
      },
    });
    await passing(clock, () => sink.lines.some(line => line.startsWith('offline: ')), 'offline');
    expect(await offline()).toMatch(/is starting/);
    console.trouble.html = false;
    const before = console.logins;
    await passing(clock, () => sink.lines.includes('ready'), 'ready');
    expect(console.logins).toBe(before + 1);
  });

  for (const [how, trouble] of [
    ['wants a login', {}],
    ['knows nothing', { status: 404 }],
    ['leads elsewhere', { status: 302 }],
    ['has a page', { html: true }],
  ] as const) {
    for (const who of ['login', 'key'] as const) {
      test(`that is the older self-hosted application, and ${how} by ${who}, is called by its name`, async () => {
        const { clock, sink, offline, supervised } = await begin({
          settings: { who },
          prepare: console => void Object.assign(console.trouble, trouble, { classic: true }),
        });
        await passing(clock, () => sink.lines.some(line => line.startsWith('offline: ')), 'offline');
        expect(await offline()).toMatch(/at 127\.0\.0\.1:\d+ is the older self-hosted Network application/);
        const testing = supervised.test();
        let isTested = false;
        void testing.then(() => {
          isTested = true;
        });
        await passing(clock, () => isTested, 'the test');
        expect(await testing).toMatchObject({
          ok: false,
          message: expect.stringContaining('not supported'),
          hint: expect.stringContaining('UniFi OS'),
        });
      });
    }
  }

  test('that does not answer at all is noticed', async () => {
    const { console, sink, clock } = await stage();
    console.trouble.hangs = true;
    await clock.jump(31_000);
    await passing(clock, () => sink.lines.some(line => /^offline: .*did not answer/.test(line)), 'offline');
    console.trouble.hangs = false;
    await passing(clock, () => sink.lines.includes('ready'), 'ready');
  });

  test('that takes many seconds for each answer is read all the same', async () => {
    const { supervised, console, clock, sink } = await begin();
    await supervised.stop();
    console.trouble.holds = () => new Promise<void>(resolve => void clock.after(7_500, resolve));
    sink.take();
    await supervised.start(sink);
    await passing(clock, () => sink.lines.includes('ready'), 'ready');
    expect(sink.lines.filter(line => line.startsWith('offline: '))).toEqual([]);
    console.trouble.holds = undefined;
  });

  test('that limits us is asked more slowly, and stays online', async () => {
    const { console, sink, clock } = await stage();
    Object.assign(console.trouble, { limited: 1, retryAfter: 5 });
    await clock.jump(31_000);
    await passing(clock, () => console.trouble.limited === 0, 'the limit');
    await clock.jump(6_000);
    await quiet(console);
    expect(sink.lines.some(line => line.startsWith('offline'))).toBe(false);
  });

  test('of another site says which key is wrong', async () => {
    const { offline, supervised } = await begin({ settings: { site: 'other' } });
    expect(await offline()).toMatch(/no such site/);
    expect(await supervised.test()).toMatchObject({ ok: false, hint: expect.stringContaining('site') });
  });

  test('whose password is wrong is asked once, and not again for minutes', async () => {
    const { offline, console, clock } = await begin({
      prepare: simulated => {
        simulated.password = 'another';
      },
    });
    expect(await offline()).toMatch(/refused the username or password/);
    await clock.jump(250_000);
    await quiet(console);
    expect(console.logins).toBe(1);
  });
});

test('a newcomer during an outage is told after it', async () => {
  const { console, sink, clock, until, pass } = await stage();
  await console.down();
  await clock.jump(31_000);
  await passing(clock, () => sink.lines.some(line => line.startsWith('offline: ')), 'offline');
  console.state.newClient('00:00:5e:00:53:77');
  await console.up();
  await passing(clock, () => sink.lines.includes('ready'), 'ready');
  await pass(31_000);
  await until(/^unifi:site:default!newClient=.*53:77/);
});

test('a console of four hundred clients and sixty devices is ready within seconds', async () => {
  const { sink, console } = await stage({
    prepare: ({ state }) => {
      const [model] = state.clients;
      for (let i = 0; i < 390 && model; i++) {
        const mac = `00:00:5e:01:${(i >> 8).toString(16).padStart(2, '0')}:${(i & 255).toString(16).padStart(2, '0')}`;
        state.clients.push({ ...model, mac, _id: `user-many-${i}`, name: `Client ${i}` });
      }
      const hub = state.device(DEVICE.switch);
      for (let i = 0; i < 54; i++) {
        state.devices.push({
          ...hub,
          _id: `device-many-${i}`,
          mac: `00:00:5e:02:00:${i.toString(16).padStart(2, '0')}`,
        });
      }
    },
  });
  expect(sink.declared.size).toBe(402 + 60 + 3 + 2 + 1);
  expect(console.strangers).toEqual([]);
});
