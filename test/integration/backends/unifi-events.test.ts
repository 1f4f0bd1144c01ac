// What happens at a console becomes values and events, whichever way it tells: pushed as Network 9 does, in the log as
// Network 10 does, or found by a poll.
import { afterEach, describe, expect, test } from 'vitest';
import { CLIENT, DEVICE } from '../../simulators/unifi/index.ts';
import { quiet, stageConsole, valuesOf } from './unifi-kit.ts';

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

const id = (mac: string) => `unifi:client:${mac}`;
const phone = id(CLIENT.phone);
const about = (lines: readonly string[], device: string, what = '') =>
  lines.filter(line => line.startsWith(`${device}${what}`));

describe('the start', () => {
  test('gives all as devices of ours, with canonical capabilities, and asks for nothing that consoles do not have', async () => {
    const { sink, console, backend } = await stage();
    const capabilities = (device: string) => sink.declared.get(device)?.capabilities;
    expect(capabilities(phone)).toEqual(['presence', 'connectivity']);
    expect(capabilities(`unifi:device:${DEVICE.switch}`)).toEqual(['connectivity', 'temperature', 'power']);
    expect(capabilities(`unifi:device:${DEVICE.plug}`)).toEqual(['connectivity', 'switch']);
    expect(capabilities('unifi:wlan:wlan-home')).toEqual(['switch']);
    expect(capabilities('unifi:wan:WAN2')).toEqual(['connectivity']);
    expect(capabilities('unifi:site:default')).toEqual(['connectivity']);
    expect(console.strangers).toEqual([]);
    expect(backend.counters).toMatchObject({ unreadable: 0, misfits: 0 });
  });

  test('reads numbers that are texts, and leaves out what is not known', async () => {
    const { sink } = await stage({
      prepare: ({ state }) => state.changeDevice(DEVICE.hall, { satisfaction: -1, general_temperature: [] }),
    });
    expect(valuesOf(sink, `unifi:device:${DEVICE.switch}`)).toMatchObject({
      cpu: 5.6,
      'port:4:power': 3.24,
      power: 13.24,
    });
    expect(valuesOf(sink, `unifi:device:${DEVICE.hall}`)).not.toHaveProperty('satisfaction');
    expect(sink.declared.get(`unifi:device:${DEVICE.hall}`)?.capabilities).toEqual(['connectivity']);
    expect(valuesOf(sink, phone)).toMatchObject({
      channel: 44,
      band: '5 GHz',
      network: 'Home',
      accessPoint: DEVICE.hall,
    });
  });

  test('tells no secret', async () => {
    const { sink, log } = await stage({ prepare: ({ state }) => state.changeSetting('mgmt') });
    const all = JSON.stringify([sink.reports, [...sink.declared.values()], log.lines]);
    expect(all).not.toContain('never-to-be-seen');
    expect(all).not.toContain('simulated-password');
  });

  test('lets an odd row cost no other', async () => {
    const { sink, backend } = await stage({
      prepare: ({ state }) => state.oddRows.push(null, 7, { mac: 'nonsense' }, []),
    });
    expect(valuesOf(sink, phone).presence).toBe('present');
    expect(backend.counters.unreadable).toBeGreaterThan(0);
  });

  test('leaves out who was not seen for long and has no name', async () => {
    const { sink } = await stage({
      prepare: ({ state }) => {
        const old = { connected: false, lastSeen: state.now() - 40 * 86_400_000 };
        Object.assign(state.client(CLIENT.tablet), old);
        Object.assign(state.client(CLIENT.bulb), old);
      },
    });
    expect(sink.declared.has(id(CLIENT.tablet))).toBe(true);
    expect(sink.declared.has(id(CLIENT.bulb))).toBe(false);
  });

  test('marks counters as telemetry', async () => {
    const { sink } = await stage();
    const telemetry = Object.entries(sink.declared.get(phone)?.attributes ?? {}).filter(([, { telemetry: is }]) => is);
    expect(telemetry.map(([name]) => name)).toEqual([
      'signal',
      'satisfaction',
      'download',
      'upload',
      'downloaded',
      'uploaded',
    ]);
  });
});

for (const profile of ['network9', 'network10'] as const) {
  // What the socket does not push is in the log ten seconds later at most.
  const wait = profile === 'network9' ? 0 : 12_000;

  describe(`on ${profile}`, () => {
    test('a client comes: present and connected at once', async () => {
      const { console, sink, until, pass } = await stage({ profile });
      console.state.connect(CLIENT.phone2, { ap: DEVICE.attic });
      await pass(wait);
      await until(`${id(CLIENT.phone2)}/presence=present`);
      const lines = about(sink.lines, id(CLIENT.phone2));
      expect(lines).toContain(`${id(CLIENT.phone2)}/connectivity=online`);
      expect(about(lines, id(CLIENT.phone2), '!')).toEqual([
        `${id(CLIENT.phone2)}!connected={"accessPoint":"${DEVICE.attic}"}`,
      ]);
    });

    test('a client leaves: disconnected after moments, not present after the grace time', async () => {
      const { console, sink, until, pass, clock } = await stage({ profile });
      console.state.disconnect(CLIENT.phone);
      const leftAt = clock.elapsed();
      await quiet(console);
      await pass(45_000);
      await until(`${phone}/connectivity=offline`);
      expect(about(sink.lines, phone, '!disconnected')).toHaveLength(1);
      await pass(250_000 - (clock.elapsed() - leftAt));
      expect(about(sink.lines, phone, '/presence')).toEqual([]);
      await pass(60_000);
      expect(about(sink.lines, phone, '/presence')).toEqual([`${phone}/presence=not present`]);
      expect(clock.elapsed() - leftAt).toBeLessThan(315_000);
    });

    test('a client roams: neither leaving nor coming', async () => {
      const { console, sink, until, pass } = await stage({ profile });
      console.state.roam(CLIENT.phone, DEVICE.attic, 'reconnect');
      await pass(wait + 12_000);
      await until(`${phone}/accessPoint=${DEVICE.attic}`);
      expect(about(sink.lines, phone, '!')).toEqual([
        `${phone}!roamed={"from":"${DEVICE.hall}","to":"${DEVICE.attic}"}`,
      ]);
      expect(about(sink.lines, phone, '/presence')).toEqual([]);
      expect(about(sink.lines, phone, '/connectivity')).toEqual([]);
    });

    test('a threat is an event of the site', async () => {
      const { console, sink, until, pass } = await stage({ profile });
      console.state.alertOfIds();
      await pass(wait);
      await until(/^unifi:site:default!threat=/);
      const [threat] = sink.reports.filter(report => report.type === 'event');
      expect(threat).toMatchObject({ name: 'threat', sourceTime: expect.any(Number), id: expect.any(String) });
      expect(JSON.stringify(threat)).toContain(profile === 'network9' ? 'SIM Example Attack' : CLIENT.camera);
      await pass(40_000);
      expect(about(sink.lines, 'unifi:site:default!threat')).toHaveLength(1);
    });

    test('a device is lost and comes back: each told once', async () => {
      const { console, sink, pass } = await stage({ profile });
      const device = `unifi:device:${DEVICE.attic}`;
      console.state.loseDevice(DEVICE.attic);
      await pass(wait + 31_000);
      console.state.regainDevice(DEVICE.attic);
      await pass(wait + 31_000);
      expect(about(sink.lines, device).filter(line => /connectivity|!/.test(line))).toEqual([
        `${device}/connectivity=offline`,
        `${device}!offline={}`,
        `${device}/connectivity=online`,
        `${device}!online={}`,
      ]);
    });

    test('a newcomer is told once, with a random address flagged', async () => {
      const { console, sink, pass } = await stage({ profile });
      console.state.newClient('da:00:5e:00:53:99');
      await pass(wait + 31_000);
      const news = about(sink.lines, 'unifi:site:default!newClient');
      expect(news).toHaveLength(1);
      expect(news[0]).toContain('"mac":"da:00:5e:00:53:99"');
      expect(news[0]).toContain('"random":true');
      expect(valuesOf(sink, id('da:00:5e:00:53:99'))).toMatchObject({ presence: 'present', connectivity: 'online' });
    });
  });
}

describe('clients', () => {
  test('that are blocked at the console’s own pages', async () => {
    const { console, sink, until } = await stage();
    console.state.setBlocked(CLIENT.tv, true);
    await until(`${id(CLIENT.tv)}/access=blocked`);
    console.state.setBlocked(CLIENT.tv, false);
    await until(`${id(CLIENT.tv)}/access=allowed`);
    expect(about(sink.lines, id(CLIENT.tv), '!').filter(line => line.includes('blocked'))).toEqual([
      `${id(CLIENT.tv)}!blocked={}`,
      `${id(CLIENT.tv)}!unblocked={}`,
    ]);
  });

  test('that come by wire without any event are found by a poll', async () => {
    const { console, until, pass } = await stage({
      prepare: ({ state }) =>
        Object.assign(state.client(CLIENT.printer), { connected: false, lastSeen: state.now() - 900_000 }),
    });
    console.state.connect(CLIENT.printer, { quietly: true });
    await pass(31_000);
    await until(`${id(CLIENT.printer)}/presence=present`);
    await until(/printer|06!connected/);
  });

  test('that leave as “wired” leave (home-assistant #30029)', async () => {
    const { console, sink, pass } = await stage();
    console.state.leaveByWiredBug(CLIENT.phone);
    await pass(35_000);
    expect(about(sink.lines, phone).filter(line => /connectivity|wired/.test(line))).toEqual([
      `${phone}/connectivity=offline`,
    ]);
    console.state.endWiredBug(CLIENT.phone);
    await pass(200_000);
    expect(about(sink.lines, phone, '/presence')).toEqual([]);
    await pass(75_000);
    expect(about(sink.lines, phone, '/presence')).toEqual([`${phone}/presence=not present`]);
  });

  test('that roam in a burst end where they are, and stay', async () => {
    const { console, sink, until, pass } = await stage();
    console.state.roamBurst(CLIENT.phone, 11);
    await pass(15_000);
    await until(`${phone}/accessPoint=${DEVICE.attic}`);
    expect(valuesOf(sink, phone)).toMatchObject({
      accessPoint: DEVICE.attic,
      connectivity: 'online',
      presence: 'present',
    });
    expect(about(sink.lines, phone, '!').every(line => line.includes('!roamed'))).toBe(true);
    expect(about(sink.lines, phone, '/presence')).toEqual([]);
  });

  test('that change the radio are home, though no coming is told (home-assistant #34798)', async () => {
    const { console, sink, until, pass } = await stage();
    console.state.disconnect(CLIENT.phone);
    await pass(100_000);
    console.state.roam(CLIENT.phone, DEVICE.hall, 'radio');
    await until(`${phone}/connectivity=online`);
    await pass(300_000);
    expect(about(sink.lines, phone, '/presence')).toEqual([]);
  });

  test('that sleep longer than the grace time are away, and home when they wake', async () => {
    const { console, until, pass } = await stage();
    console.state.client(CLIENT.phone).asleep = true;
    await pass(330_000);
    await until(`${phone}/presence=not present`);
    console.state.client(CLIENT.phone).asleep = false;
    await pass(31_000);
    await until(`${phone}/presence=present`);
  });

  test('that the console lists on after they have left are gone', async () => {
    const { console, sink, pass } = await stage({
      prepare: ({ state }) => {
        state.lingerMs = 600_000;
      },
    });
    console.state.disconnect(CLIENT.phone);
    await pass(330_000);
    expect(about(sink.lines, phone).filter(line => /connectivity|presence|!/.test(line))).toEqual([
      `${phone}/connectivity=offline`,
      `${phone}!disconnected={"accessPoint":"${DEVICE.hall}"}`,
      `${phone}/presence=not present`,
    ]);
  });

  test('are judged by the console’s own clock, however wrong it is', async () => {
    for (const skewMs of [-7_200_000, 7_200_000]) {
      const { console, sink, pass } = await stage({
        prepare: ({ state }) => {
          state.skewMs = skewMs;
          for (const client of state.clients) client.lastSeen += skewMs;
        },
      });
      expect(valuesOf(sink, phone).presence).toBe('present');
      expect(valuesOf(sink, id(CLIENT.phone2)).presence).toBe('not present');
      console.state.disconnect(CLIENT.phone);
      await pass(280_000);
      expect(about(sink.lines, phone, '/presence')).toEqual([]);
      await pass(40_000);
      expect(about(sink.lines, phone, '/presence')).toEqual([`${phone}/presence=not present`]);
    }
  });

  test('that the console forgets are gone', async () => {
    const { console, sink, until } = await stage();
    console.state.clients = console.state.clients.filter(({ mac }) => mac !== CLIENT.tablet);
    console.state.message('user:delete', [{ _id: 'user-tablet', mac: CLIENT.tablet, is_wired: false }]);
    await until(`removed: ${id(CLIENT.tablet)}`);
    expect(sink.declared.has(id(CLIENT.tablet))).toBe(false);
  });
});

describe('devices', () => {
  const hub = `unifi:device:${DEVICE.switch}`;

  test('that restart and that are upgraded', async () => {
    const { console, sink, until, pass } = await stage();
    console.state.restartDevice(DEVICE.hall);
    console.state.upgradeDevice(DEVICE.attic, '7.1.66');
    await until(`unifi:device:${DEVICE.attic}/version=7.1.66`);
    await pass(31_000);
    expect(about(sink.lines, `unifi:device:${DEVICE.hall}`, '!')).toEqual([`unifi:device:${DEVICE.hall}!restarted={}`]);
    expect(about(sink.lines, `unifi:device:${DEVICE.attic}`, '!')).toEqual([
      `unifi:device:${DEVICE.attic}!upgraded={"from":"7.0.66","to":"7.1.66"}`,
      `unifi:device:${DEVICE.attic}!restarted={}`,
    ]);
  });

  test('whose ports go down and come up, and whose PoE changes', async () => {
    const { console, sink, until } = await stage();
    console.state.setPort(DEVICE.switch, 6, { up: false, speed: 0 });
    console.state.setPort(DEVICE.switch, 6, { up: true, speed: 1_000 });
    console.state.setPort(DEVICE.switch, 4, { poe_mode: 'off', poe_power: '0.00' });
    await until(`${hub}/port:4:poe=off`);
    expect(about(sink.lines, hub).filter(line => /link|!|:poe=/.test(line))).toEqual([
      `${hub}/port:6:link=down`,
      `${hub}!portDown={"port":6,"name":"Port 6"}`,
      `${hub}/port:6:link=up`,
      `${hub}!portUp={"port":6,"name":"Port 6"}`,
      `${hub}/port:4:poe=off`,
      `${hub}!poeChanged={"port":4,"name":"Port 4","mode":"off"}`,
    ]);
  });

  test('of which only a part is told keep the rest', async () => {
    const { console, sink, until } = await stage();
    console.state.message('device:sync', [{ mac: DEVICE.switch, locating: true }]);
    await until(`${hub}/locating=true`);
    expect(about(sink.lines, 'device: ')).toEqual([]);
    expect(Object.keys(sink.declared.get(hub)?.attributes ?? {})).toContain('port:4:poe');
  });
});

describe('the rest', () => {
  test('a line fails, another takes over, and the first comes back', async () => {
    const { console, sink, pass } = await stage();
    console.state.setWan('WAN', 'OFFLINE');
    console.state.setWan('WAN2', 'ACTIVE');
    await pass(31_000);
    console.state.setWan('WAN2', 'BACKUP');
    console.state.setWan('WAN', 'ACTIVE');
    await pass(31_000);
    expect(about(sink.lines, 'unifi:wan:').filter(line => /!|connectivity/.test(line))).toEqual([
      'unifi:wan:WAN/connectivity=offline',
      'unifi:wan:WAN!down={}',
      'unifi:wan:WAN2!failover={"from":"Fibre"}',
      'unifi:wan:WAN/connectivity=online',
      'unifi:wan:WAN!restored={}',
    ]);
    expect(valuesOf(sink, 'unifi:wan:WAN2')).toMatchObject({ active: false, state: 'backup' });
  });

  test('a WLAN is switched off at the console’s pages, and the configuration has changed', async () => {
    const { console, sink, until } = await stage();
    console.state.setWlan('wlan-guests', false);
    await until('unifi:wlan:wlan-guests/switch=off');
    console.state.changeSetting('mgmt');
    await until(/configurationChanged=.*mgmt/);
    expect(about(sink.lines, 'unifi:site:default!configurationChanged')).toHaveLength(2);
  });

  test('guests and vouchers', async () => {
    const { console, until } = await stage();
    console.state.event('EVT_HS_VoucherUsed', { guest: CLIENT.guest, voucher_code: '1234500000' });
    await until(/^unifi:site:default!voucherUsed=.*1234500000/);
    console.state.event('EVT_HS_AuthedByPassword', { guest: CLIENT.guest });
    await until(/^unifi:site:default!guestAuthorized=/);
  });

  test('kinds that nobody knows are counted, and no reason to stop', async () => {
    const { console, until, backend } = await stage();
    console.state.message('mystery:sync', [{ a: 1 }]);
    console.state.event('EVT_XX_Mystery');
    console.state.setWlan('wlan-guests', false);
    await until('unifi:wlan:wlan-guests/switch=off');
    expect([...backend.counters.unknownKinds]).toEqual(['mystery:sync', 'EVT_XX_Mystery']);
  });
});
