// What a hub tells: events by both ways, in all their forms; snapshots; what a poll finds.
import { Agent, request } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { eventually } from '../../kit/eventually.ts';
import { type HubSimulator, simHouse, simOutlet } from '../../simulators/hubitat/index.ts';
import { stageHub } from './hubitat-kit.ts';

let ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends) await end();
  ends = [];
});

async function stage(...options: Parameters<typeof stageHub>) {
  const staged = await stageHub(...options);
  ends.push(staged.end);
  return staged;
}

const post = (hub: HubSimulator, body: string, type = 'application/json', method = 'POST') =>
  fetch(hub.state.postUrl as string, { method, body, headers: { 'content-type': type } });

describe('the way by which events come', () => {
  test('is the eventsocket while the gateway is on loopback only, and the log says so', async () => {
    const { hub, log } = await stage({ isLoopbackOnly: true });
    expect(hub.sockets.events).toBe(1);
    expect(hub.state.postUrl).toBeUndefined();
    expect(log.lines.join('\n')).toMatch(/loopback only.*eventsocket/);
  });

  test('is the listener otherwise: registered at the start, cleared at the stop, new with each start', async () => {
    const { hub, sink, supervised } = await stage({ isLoopbackOnly: false });
    const first = hub.state.postUrl as string;
    expect(first).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{43}$/);
    expect(hub.sockets.events).toBe(0);
    await supervised.stop();
    expect(hub.state.postUrl).toBeUndefined();
    sink.take();
    await supervised.start(sink);
    await eventually(() => sink.lines.includes('ready'), 'ready');
    expect(hub.state.postUrl).not.toBe(first);
  });

  test('can be told the address at which the hub reaches us', async () => {
    const { hub } = await stage({
      settings: { events: 'listener', listen: { host: '127.0.0.1', port: 0, url: 'http://gateway.lan:8481' } },
    });
    expect(hub.state.postUrl).toMatch(/^http:\/\/gateway\.lan:8481\/[\w-]{43}$/);
  });
});

describe('the listener', () => {
  const listening = () => stage({ settings: { events: 'listener' } });

  test.each([
    ['with content', { content: { name: 'switch', value: 'on', deviceId: '1', unit: null } }, 'application/json'],
    ['without content, as newer firmware posts', { name: 'switch', value: 'on', deviceId: '1' }, 'application/json'],
    ['labelled as text', { content: { name: 'switch', value: 'on', deviceId: '1' } }, 'text/plain'],
    ['with a numeric id', { content: { name: 'switch', value: 'on', deviceId: 1 } }, 'application/json'],
  ])('takes bodies %s', async (_, body, type) => {
    const { hub, until } = await listening();
    expect((await post(hub, JSON.stringify(body), type)).status).toBe(204);
    await until('hubitat:1/switch=on');
  });

  test('answers nobody who does not know its path, and takes posts alone', async () => {
    const { hub, backend } = await listening();
    const url = new URL(hub.state.postUrl as string);
    const body = '{"name":"switch","value":"on","deviceId":"1"}';
    const elsewhere = await fetch(`${url.origin}/${'x'.repeat(43)}`, { method: 'POST', body });
    expect(elsewhere.status).toBe(404);
    expect((await fetch(url)).status).toBe(405);
    expect(backend.counters.events).toBe(0);
  });

  test('refuses what is too large, and counts what is no event', async () => {
    const { hub, backend, sink } = await listening();
    expect((await post(hub, 'x'.repeat(300_000))).status).toBe(413);
    expect((await post(hub, 'not json')).status).toBe(204);
    expect((await post(hub, '{"content":{"value":1}}')).status).toBe(204);
    expect(backend.counters.garbled).toBe(2);
    expect(sink.lines.at(-1)).toBe('ready');
  });

  test('loses none of 2,000 events of one second, and keeps their order in each device', async () => {
    const { hub, sink, until } = await listening();
    await flood(hub);
    await until('hubitat:5/thermostatOperatingState=499');
    expectAll(sink.lines);
  });
});

describe('the listener, where many keep connections to it open', () => {
  test('takes the posts of all of them', async () => {
    const { hub, backend } = await stage({ settings: { events: 'listener' } });
    const agents = Array.from({ length: 600 }, () => new Agent({ keepAlive: true }));
    ends.unshift(async () => agents.forEach(agent => void agent.destroy()));
    for (const [count, agent] of agents.entries()) {
      await new Promise<void>(resolve => {
        const posted = request(hub.state.postUrl as string, { method: 'POST', agent }, response => {
          response.resume().once('end', resolve);
        });
        posted.once('error', () => resolve());
        posted.end(JSON.stringify({ name: 'count', value: String(count), deviceId: '8' }));
      });
    }
    expect(backend.counters.events).toBe(600);
  });
});

describe('the eventsocket', () => {
  test('takes split frames, absent words and numeric ids', async () => {
    const { hub, until, backend } = await stage();
    hub.state.quirks.splitFrames = true;
    hub.state.set(1, 'switch', 'on');
    await until('hubitat:1/switch=on');
    hub.state.set(8, 'count', null);
    await until('hubitat:8/count=null (unknown)');
    expect(backend.counters.garbled).toBe(0);
  });

  test('goes on after frames that are none', async () => {
    const { hub, until, backend } = await stage();
    hub.sendFrame('{"name":"sw');
    hub.state.set(1, 'switch', 'on');
    await until('hubitat:1/switch=on');
    hub.sendFrame('[1,2]');
    hub.sendFrame('{"name":""}');
    hub.state.set(1, 'switch', 'off');
    await eventually(() => backend.counters.events >= 2, 'the next event');
    expect(backend.counters.garbled).toBe(3);
  });

  test('loses none of 2,000 events of one second, and keeps their order in each device', async () => {
    const { hub, sink, until } = await stage();
    await flood(hub);
    await until('hubitat:5/thermostatOperatingState=499');
    expectAll(sink.lines);
  });

  test('is connected again after a short gap, in which nothing is said to be offline', async () => {
    const { hub, sink } = await stage();
    sink.take();
    hub.dropSockets('Idle Timeout');
    hub.state.set(1, 'switch', 'on', true);
    await eventually(() => sink.lines.includes('ready'), 'ready again');
    expect(sink.lines[0]).toBe('online');
    expect(sink.lines).toContain('hubitat:1/switch=on');
    expect(sink.lines.join()).not.toContain('offline');
  });

  test('tells nothing of devices that are not selected, and does not ask for them either', async () => {
    const { hub, sink, backend } = await stage();
    sink.take();
    const asked = hub.requests.length;
    const stranger = simOutlet({ id: 999, label: 'Not selected' });
    hub.state.happen({ name: 'switch', value: 'on', device: stranger });
    hub.state.happen({ name: 'state', value: 'x', source: 'APP' });
    await eventually(() => backend.counters.events === 2, 'the events');
    expect(backend.counters).toMatchObject({ unknownDevices: 1, otherEvents: 1 });
    expect(sink.lines).toEqual([]);
    expect(hub.requests).toHaveLength(asked);
  });
});

/** 500 events of each of four devices, mixed. */
async function flood(hub: HubSimulator): Promise<void> {
  for (let i = 0; i < 500; i++) {
    hub.state.set(2, 'level', i % 101);
    hub.state.set(3, 'temperature', i);
    hub.state.press(4, i);
    hub.state.set(5, 'thermostatOperatingState', String(i));
  }
  await hub.quiet();
}

function expectAll(lines: readonly string[]): void {
  const news = lines.slice(lines.indexOf('ready') + 1);
  const of = (prefix: string) => news.filter(line => line.startsWith(prefix)).map(line => line.slice(prefix.length));
  const numbers = Array.from({ length: 500 }, (_, i) => String(i));
  expect(of('hubitat:3/temperature=')).toEqual(numbers);
  expect(of('hubitat:4!pushed=')).toEqual(numbers);
  expect(of('hubitat:5/thermostatOperatingState=')).toEqual(numbers);
  expect(of('hubitat:2/level=')).toEqual(numbers.map(n => String(Number(n) % 101)));
  expect(news).toHaveLength(2_000);
}

describe('values', () => {
  test('have the types that the hub declares; types that nobody knows are taken as they are, and counted', async () => {
    const { sink, backend } = await stage();
    const told = Object.fromEntries(
      sink.reports.flatMap(report =>
        report.type === 'value' && report.device === 'hubitat:8' ? [[report.attribute, report.value]] : [],
      ),
    );
    expect(told).toEqual({
      threeAxis: { x: 2, y: -4, z: 1.5 },
      range: [42.5, 24],
      details: { a: [1, 2] },
      armed: true,
      since: '2026-03-03T14:20:00+0000',
      effect: 'rainbow',
      wonder: '1 2 3 4',
      count: 3,
    });
    expect([...backend.counters.unknownTypes]).toEqual(['QUATERNION']);
  });

  test('are the same from the list without types, where the hub has no other', async () => {
    const { sink } = await stage({
      prepare: hub => {
        hub.state.quirks.lacksDetailList = true;
        hub.state.quirks.htmlLabel = true;
      },
    });
    expect(sink.lines).toContain('hubitat:2/level=40');
    expect(sink.lines).toContain('hubitat:3/temperature=21.5');
    expect(sink.declared.get('hubitat:8')?.attributes).not.toHaveProperty('dataType');
    expect(sink.declared.get('hubitat:1')?.commands).toHaveProperty('on');
  });

  test('of buttons are events, and no state', async () => {
    const { hub, sink, until } = await stage();
    expect(sink.lines.some(line => line.startsWith('hubitat:4/pushed'))).toBe(false);
    hub.state.press(4, 2);
    await until('hubitat:4!pushed=2');
  });

  test('that a driver has not declared are declared then, and stay so', async () => {
    const { hub, sink, until, backend, clock } = await stage();
    hub.state.happen({ name: 'mood', value: 'fine', device: hub.state.device(8) });
    await until('hubitat:8/mood=fine');
    hub.state.set(5, 'thermostatMode', 'vacation');
    await until('hubitat:5/thermostatMode=vacation');
    const expectDeclared = () => {
      expect(sink.declared.get('hubitat:8')?.attributes.mood).toEqual({ type: 'string' });
      expect(sink.declared.get('hubitat:5')?.attributes.thermostatMode?.values).toContain('vacation');
    };
    expectDeclared();
    expect(backend.counters.undeclared).toBe(1);
    await clock.jump(300_000);
    await eventually(() => backend.counters.snapshots === 2, 'the poll');
    expectDeclared();
  });

  test('unknown of a lock, and numbers that are none, are unknown', async () => {
    const { hub, until, backend } = await stage();
    hub.state.set(6, 'lock', 'unknown');
    await until('hubitat:6/lock=null (unknown)');
    hub.state.set(6, 'battery', 'low');
    await until('hubitat:6/battery=null (unknown)');
    expect(backend.counters.misfits).toBe(1);
  });

  test('lastActivity, in a form of its own, is left out', async () => {
    const { hub, sink, backend } = await stage();
    sink.take();
    hub.state.happen({ name: 'lastActivity', value: '2026 Jul 01 Wed 6:28:06 PM', device: hub.state.device(1) });
    await eventually(() => backend.counters.events === 1, 'the event');
    expect(sink.lines).toEqual([]);
  });
});

describe('temperatures', () => {
  test('are °C here whatever the hub reports in, which the history of a device tells', async () => {
    const { hub, until, sink, log } = await stage({
      scale: 'F',
      devices: simHouse().map(device => ({
        ...device,
        attributes: device.attributes.map(one => ({ ...one, value: one.name === 'temperature' ? 71.6 : one.value })),
      })),
      prepare: hub => hub.state.set(3, 'temperature', 63.99, true),
    });
    expect(sink.lines).toContain('hubitat:3/temperature=17.77');
    expect(sink.lines).toContain('hubitat:5/temperature=22');
    expect(log.lines.join('\n')).toContain('"scale":"F"');
    hub.state.set(3, 'temperature', 50);
    await until('hubitat:3/temperature=10');
    expect(sink.declared.get('hubitat:3')?.attributes.temperature).toMatchObject({ type: 'number', unit: '°C' });
  });

  test('are taken as °C where nobody tells, and the log says what to do', async () => {
    const { sink, log } = await stage();
    expect(sink.lines).toContain('hubitat:3/temperature=21.5');
    expect(log.lines.join('\n')).toMatch(/warn.*temperature_scale/);
  });

  test('are read anew, as no news, once an event has told the unit; a poll sees them in the same', async () => {
    const { hub, until, sink, clock, backend, log } = await stage({ scale: 'F' });
    expect(log.lines.join('\n')).toMatch(/warn.*temperature_scale/);
    expect(sink.take()).toContain('hubitat:5/temperature=19');
    hub.state.set(3, 'temperature', 68);
    await until('ready');
    expect(sink.lines[0]).toBe('hubitat:3/temperature=20');
    expect(sink.lines.slice(sink.lines.indexOf('online'))).toContain('hubitat:5/temperature=-7.22');
    expect(backend.counters.snapshots).toBe(2);
    sink.take();
    await clock.jump(300_000);
    await eventually(() => backend.counters.snapshots === 3, 'the poll');
    await clock.jump(300_000);
    await eventually(() => backend.counters.snapshots === 4, 'the next poll');
    expect(sink.lines.filter(line => line.startsWith('hubitat:3/'))).toEqual([]);
    expect(log.lines.filter(line => line.includes('temperature_scale'))).toHaveLength(1);
  });

  test('go by the unit of the event where that tells another one', async () => {
    const { hub, until } = await stage({ settings: { temperature_scale: 'C' } });
    hub.state.happen({ name: 'temperature', value: '212', unit: '°F', device: hub.state.device(3) });
    await until('hubitat:3/temperature=100');
  });
});

describe('the location', () => {
  test('tells mode, HSM and hub variables, typed', async () => {
    const { sink, hub, until } = await stage();
    expect(sink.lines).toEqual(
      expect.arrayContaining([
        'hubitat:location/mode=Day',
        'mode',
        'hubitat:location/hsmStatus=disarmed',
        'hubitat:location/variable:guests=0',
        'hubitat:location/variable:holiday=false',
      ]),
    );
    hub.state.setMode('Night');
    await until('hubitat:location/mode=Night');
    expect(sink.reports.at(-1)).toEqual({ type: 'mode', mode: 'Night' });
    hub.state.setHsm('armedAway');
    await until('hubitat:location/hsmStatus=armedAway');
    hub.state.setVariable('guests', '3');
    await until('hubitat:location/variable:guests=3');
    hub.state.setVariable('greeting', 'good evening', true);
    await until('hubitat:location/variable:greeting=good evening');
    hub.state.happen({ name: 'hsmAlert', value: 'water' });
    await until('hubitat:location!hsmAlert=water');
  });

  test('does not declare what is switched off in the Maker API', async () => {
    const { sink } = await stage({ modes: null, hsm: null, variables: null });
    const location = sink.declared.get('hubitat:location');
    expect(Object.keys(location?.attributes ?? {})).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^(mode|hsmStatus|variable:)/)]),
    );
    expect(location?.commands).toEqual({});
  });

  test('gets to know a mode and a variable that are made later', async () => {
    const { hub, sink, until } = await stage();
    hub.state.variables?.push({ name: 'new', type: 'string', value: 'fresh' });
    hub.state.modes?.push({ active: false, id: 9, name: 'Party' });
    hub.state.setMode('Party');
    await until('hubitat:location/mode=Party');
    expect(sink.declared.get('hubitat:location')?.attributes.mode?.values).toContain('Party');
    expect(sink.lines).toContain('hubitat:location/variable:new=fresh');
  });

  test('says that the hub was started, and everything is read anew', async () => {
    const { hub, sink, until } = await stage();
    sink.take();
    hub.state.set(1, 'switch', 'on', true);
    hub.state.happen({ name: 'systemStart', value: '2.5.0' });
    await until('ready');
    const [started, online, value] = ['hubitat:location!systemStart=2.5.0', 'online', 'hubitat:1/switch=on'].map(line =>
      sink.lines.indexOf(line),
    );
    expect(started).toBe(0);
    expect(online).toBeGreaterThan(0);
    expect(value).toBeGreaterThan(online as number);
  });
});

describe('a press while the snapshot is taken', () => {
  test('is told once that is complete: as news', async () => {
    const { sink } = await stage({
      prepare: hub => {
        hub.trouble.latencyMs = 50;
        const timer = setInterval(() => {
          if (hub.sockets.events === 0) return;
          clearInterval(timer);
          hub.state.press(4, 3);
        }, 1);
      },
    });
    await eventually(() => sink.lines.includes('hubitat:4!pushed=3'), 'the press');
    expect(sink.lines.indexOf('hubitat:4!pushed=3')).toBeGreaterThan(sink.lines.indexOf('ready'));
  });
});

describe('the poll', () => {
  test('finds values whose events were lost, and tells them as news', async () => {
    const { hub, sink, clock, until, backend } = await stage();
    sink.take();
    hub.trouble.drops = 1;
    hub.state.set(1, 'switch', 'on');
    await clock.jump(300_000);
    await until('hubitat:1/switch=on');
    expect(sink.lines).toEqual(['hubitat:1/switch=on']);
    expect(backend.counters.missed).toBe(1);
  });

  test('asks the hub again to send its events, and says what to look at, when none arrive', async () => {
    const { hub, clock, until, log } = await stage({ settings: { events: 'listener' } });
    const address = hub.state.postUrl;
    hub.state.postUrl = undefined;
    hub.state.set(1, 'switch', 'on');
    await clock.jump(300_000);
    await until('hubitat:1/switch=on');
    await eventually(() => hub.state.postUrl === address, 'the registration');
    expect(log.lines.join('\n')).toMatch(/warn.*events do not arrive.*listen\.url/);
  });

  test('tells devices that were renamed, removed, added, or got another driver', async () => {
    const { hub, sink, clock } = await stage();
    sink.take();
    hub.state.device(1).label = 'Attic Fan';
    hub.state.devices.delete(7);
    hub.state.devices.set(20, simOutlet({ id: 20, label: 'New Outlet' }));
    const retyped = hub.state.device(8);
    retyped.driver = 'Another Driver';
    retyped.attributes = [{ name: 'count', dataType: 'STRING', value: 'three' }];
    await clock.jump(300_000);
    await eventually(() => sink.lines.includes('hubitat:20/switch=off'), 'the new device');
    expect(sink.lines).toEqual(
      expect.arrayContaining(['removed: hubitat:7', 'device: hubitat:1 "Attic Fan"', 'hubitat:8/count=three']),
    );
    expect(sink.lines).not.toContain('online');
    expect(sink.declared.get('hubitat:8')?.attributes).toEqual({ count: { type: 'string' } });
  });

  test('comes at once when the Maker API posts of a device that was selected since', async () => {
    const { hub, sink, until } = await stage({ settings: { events: 'listener' } });
    hub.state.devices.set(20, simOutlet({ id: 20, label: 'New Outlet' }));
    hub.state.set(20, 'switch', 'on');
    await until('hubitat:20/switch=on');
    expect(sink.declared.get('hubitat:20')?.name).toBe('New Outlet');
  });

  test('comes for each of two devices that are selected one after the other', async () => {
    const { hub, clock, until } = await stage({ settings: { events: 'listener' } });
    hub.state.devices.set(20, simOutlet({ id: 20, label: 'New Outlet' }));
    hub.state.set(20, 'switch', 'on');
    await until('hubitat:20/switch=on');
    hub.state.devices.set(21, simOutlet({ id: 21, label: 'Another' }));
    hub.state.set(21, 'switch', 'on');
    await hub.quiet();
    await clock.jump(30_000);
    await until('hubitat:21/switch=on');
  });
});

describe('the hub’s log', () => {
  test('is followed from a level on, without mark-up', async () => {
    const { hub, sink } = await stage({ settings: { logs: 'warn' } });
    await eventually(() => hub.sockets.logs === 1, 'the logsocket');
    hub.log({ name: 'Hall Lamp', msg: 'is on', id: 2, type: 'dev', level: 'info' });
    hub.log({ name: 'Hall Lamp', msg: '<b>fell</b> off', id: 2, type: 'dev', level: 'warn' });
    hub.log({ name: 'Some App', msg: 'broke', id: 40, type: 'app', level: 'error' });
    await eventually(() => sink.reports.filter(report => report.type === 'log').length === 2, 'the lines');
    expect(sink.reports.slice(-2)).toEqual([
      { type: 'log', device: 'hubitat:2', level: 'warn', message: 'fell off' },
      { type: 'log', level: 'error', message: 'Some App: broke' },
    ]);
  });
});
