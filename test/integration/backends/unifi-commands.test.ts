// Commands at a simulated console: what arrives there, what comes of it, and what is not done.
import { afterEach, describe, expect, test } from 'vitest';
import { eventually } from '../../kit/eventually.ts';
import { CLIENT, DEVICE } from '../../simulators/unifi/index.ts';
import { commandTo, patience } from '../../unit/backends/kit.ts';
import { passing } from './clock.ts';
import { quiet, stageConsole, valuesOf } from './unifi-kit.ts';

let ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.reverse()) await end();
  ends = [];
});

async function stage(...options: Parameters<typeof stageConsole>) {
  const staged = await stageConsole(...options);
  ends.push(staged.end);
  const run = (device: string, command: string, args: Parameters<typeof commandTo>[2] = {}) =>
    staged.supervised.execute(commandTo(device, command, args), patience());
  const sent = () => staged.console.state.received.map(({ method, path, body }) => [method, path, body] as const);
  return { ...staged, run, sent };
}

const client = (mac: string) => `unifi:client:${mac}`;
const device = (mac: string) => `unifi:device:${mac}`;
const SITE = 'unifi:site:default';

describe('a client', () => {
  test('is blocked and unblocked, and what came of it is told', async () => {
    const { run, console, until } = await stage();
    await run(client(CLIENT.tv), 'block');
    expect(console.state.client(CLIENT.tv).blocked).toBe(true);
    await until(`${client(CLIENT.tv)}/access=blocked`);
    await run(client(CLIENT.tv), 'unblock');
    expect(console.state.client(CLIENT.tv).blocked).toBe(false);
    await until(`${client(CLIENT.tv)}!unblocked={}`);
  });

  test('that the console says to have blocked, and has not, is told as failed', async () => {
    const { run, clock } = await stage({
      prepare: ({ state }) => {
        state.ignoresBlocks = true;
      },
    });
    let error: unknown;
    run(client(CLIENT.tv), 'block').catch(one => {
      error = one;
    });
    await passing(clock, () => error !== undefined, 'the end');
    expect(error).toMatchObject({ code: 'BACKEND_UNCONFIRMED', message: expect.stringContaining('still not blocked') });
  });

  test('is blocked and unblocked by itself and by its site at one moment, one after the other', async () => {
    const { run, console } = await stage();
    const mac = CLIENT.tv;
    await Promise.all([
      run(client(mac), 'block'),
      run(SITE, 'unblockClient', { mac }),
      run(client(mac), 'block'),
      run(SITE, 'unblockClient', { mac: mac.toUpperCase() }),
    ]);
    expect(console.state.client(mac).blocked).toBe(false);
  });

  test('that is protected is blocked only with force', async () => {
    const { run, console } = await stage({ settings: { protected: [CLIENT.server] } });
    await expect(run(client(CLIENT.server), 'block')).rejects.toMatchObject({
      code: 'FORBIDDEN',
      hint: expect.stringContaining('force: true'),
    });
    expect(console.state.received).toEqual([]);
    await run(client(CLIENT.server), 'block', { force: true });
    expect(console.state.client(CLIENT.server).blocked).toBe(true);
  });

  test('is reconnected where it is wireless', async () => {
    const { run, sent } = await stage();
    await run(client(CLIENT.tablet), 'reconnect').catch(() => {});
    await run(client(CLIENT.phone), 'reconnect');
    expect(sent().at(-1)).toEqual(['POST', '/api/s/default/cmd/stamgr', { cmd: 'kick-sta', mac: CLIENT.phone }]);
    await expect(run(client(CLIENT.printer), 'reconnect')).rejects.toMatchObject({ code: 'UNSUPPORTED' });
  });

  test('that is a guest is let in for a time and put out again', async () => {
    const { run, sent, until } = await stage();
    await run(client(CLIENT.guest), 'authorizeGuest', { minutes: 90, download: 5_000, upload: 1_000, megabytes: 500 });
    expect(sent().at(-1)?.[2]).toEqual({
      cmd: 'authorize-guest',
      mac: CLIENT.guest,
      minutes: 90,
      up: 1_000,
      down: 5_000,
      bytes: 500,
    });
    await until(`${client(CLIENT.guest)}/authorized=true`);
    await run(client(CLIENT.guest), 'unauthorizeGuest');
    await until(`${client(CLIENT.guest)}/authorized=false`);
  });

  test('whose command the console refuses says why', async () => {
    const { run } = await stage();
    await expect(run(client(CLIENT.phone2), 'reconnect')).rejects.toMatchObject({
      code: 'BACKEND_REJECTED',
      message: expect.stringContaining('api.err.UnknownStation'),
    });
  });
});

describe('a device', () => {
  test('shows itself until it is told to stop', async () => {
    const { run, console, until } = await stage();
    await run(device(DEVICE.hall), 'locate', { seconds: 20 });
    await until(`${device(DEVICE.hall)}/locating=true`);
    await run(device(DEVICE.hall), 'stopLocating');
    expect(console.state.device(DEVICE.hall).locating).toBe(false);
  });

  test('is restarted, and lit', async () => {
    const { run, sent, until } = await stage();
    await run(device(DEVICE.hall), 'restart');
    expect(sent().at(-1)?.[2]).toEqual({ cmd: 'restart', mac: DEVICE.hall, reboot_type: 'soft' });
    await run(device(DEVICE.hall), 'setLed', { mode: 'off' });
    await until(`${device(DEVICE.hall)}/led=off`);
    expect(sent().at(-1)).toEqual(['PUT', '/api/s/default/rest/device/device-hall', { led_override: 'off' }]);
  });

  test('is upgraded only where there is something newer', async () => {
    const { run, console, until } = await stage();
    await expect(run(device(DEVICE.hall), 'upgrade')).rejects.toMatchObject({ code: 'UNSUPPORTED' });
    console.state.changeDevice(DEVICE.hall, { upgradable: true, upgrade_to_firmware: '7.1.66' });
    await until(`${device(DEVICE.hall)}/updateAvailable=true`);
    await run(device(DEVICE.hall), 'upgrade');
    await until(`${device(DEVICE.hall)}/version=7.1.66`);
  });

  test('gives power to a port or not, and keeps what else is set for its ports', async () => {
    const { run, console, until } = await stage();
    await run(device(DEVICE.switch), 'setPoe:4', { mode: 'off' });
    await until(`${device(DEVICE.switch)}/port:4:poe=off`);
    await run(device(DEVICE.switch), 'setPoe:6', { mode: 'auto' });
    await quiet(console);
    expect(console.state.device(DEVICE.switch).port_overrides).toEqual([
      { port_idx: 5, poe_mode: 'off', portconf_id: 'profile-all' },
      { port_idx: 4, name: 'Port 4', poe_mode: 'off', portconf_id: 'profile-iot' },
      { port_idx: 6, portconf_id: 'profile-all', poe_mode: 'auto' },
    ]);
  });

  test('is set once for a port whose number the console writes as text', async () => {
    const { run, console } = await stage();
    const record = console.state.device(DEVICE.switch);
    const text = (rows: unknown) =>
      (rows as { port_idx: number }[]).map(row => ({ ...row, port_idx: String(row.port_idx) }));
    const first = Number((record.port_overrides as { port_idx: number }[])[0]?.port_idx);
    Object.assign(record, { port_overrides: text(record.port_overrides), port_table: text(record.port_table) });
    const before = (record.port_overrides as object[]).length;
    await run(device(DEVICE.switch), `setPoe:${first}`, { mode: 'off', force: true });
    expect(console.state.received.at(-1)?.body.port_overrides).toHaveLength(before);
  });

  test('written twice at one moment keeps both', async () => {
    const { run, console } = await stage();
    await Promise.all([
      run(device(DEVICE.switch), 'setPoe:4', { mode: 'off' }),
      run(device(DEVICE.switch), 'setPoe:6', { mode: 'off' }),
    ]);
    const modes = (console.state.device(DEVICE.switch).port_overrides as { port_idx: number; poe_mode: string }[]).map(
      ({ port_idx: port, poe_mode: mode }) => `${port} ${mode}`,
    );
    expect(modes).toEqual(['5 off', '4 off', '6 off']);
  });

  test('cycles the power of a port, never of its uplink nor of that of a protected machine', async () => {
    const { run, sent } = await stage({ settings: { protected: [CLIENT.server] } });
    await run(device(DEVICE.switch), 'cyclePoe:4');
    expect(sent().at(-1)?.[2]).toEqual({ cmd: 'power-cycle', mac: DEVICE.switch, port_idx: 4 });
    const before = sent().length;
    for (const port of [1, 5]) {
      await expect(run(device(DEVICE.switch), `cyclePoe:${port}`)).rejects.toMatchObject({ code: 'FORBIDDEN' });
      await expect(run(device(DEVICE.switch), `setPoe:${port}`, { mode: 'off' })).rejects.toMatchObject({
        code: 'FORBIDDEN',
      });
    }
    expect(sent()).toHaveLength(before);
    await run(device(DEVICE.switch), 'cyclePoe:5', { force: true });
    expect(sent()).toHaveLength(before + 1);
  });

  test('has no power for a port that can give none', async () => {
    const { sink } = await stage();
    const commands = Object.keys(sink.declared.get(device(DEVICE.switch))?.commands ?? {});
    expect(commands).toContain('setPoe:7');
    expect(commands).not.toContain('setPoe:8');
  });

  test('switches its outlets; the only one of a plug is a switch', async () => {
    const { run, console, until } = await stage();
    await run(device(DEVICE.strip), 'setOutlet:2', { state: 'on' });
    await until(`${device(DEVICE.strip)}/outlet:2:switch=on`);
    expect(console.state.device(DEVICE.strip).outlet_overrides).toEqual([
      { index: 1, name: 'Outlet 1', relay_state: true, cycle_enabled: false },
      { index: 2, name: 'Outlet 2', relay_state: true, cycle_enabled: false },
    ]);
    await run(device(DEVICE.plug), 'off');
    await until(`${device(DEVICE.plug)}/switch=off`);
    await run(device(DEVICE.plug), 'toggle');
    await quiet(console);
    expect((console.state.device(DEVICE.plug).outlet_table as { relay_state: boolean }[])[0]?.relay_state).toBe(true);
  });
});

describe('a WLAN', () => {
  test('goes off the air and comes back; the last one only with force', async () => {
    const { run, console, until } = await stage();
    await run('unifi:wlan:wlan-guests', 'off');
    await until('unifi:wlan:wlan-guests/switch=off');
    await run('unifi:wlan:wlan-things', 'toggle');
    await until('unifi:wlan:wlan-things/switch=off');
    await expect(run('unifi:wlan:wlan-home', 'off')).rejects.toMatchObject({ code: 'FORBIDDEN' });
    expect(console.state.wlans.find(({ _id }) => _id === 'wlan-home')?.enabled).toBe(true);
    await run('unifi:wlan:wlan-home', 'off', { force: true });
    await run('unifi:wlan:wlan-guests', 'on');
    expect(console.state.wlans.map(({ enabled }) => enabled)).toEqual([false, false, true]);
  });
});

describe('the site', () => {
  test('switches policies, rules, routes and forwards by name or id, and writes the whole of each', async () => {
    const { run, console } = await stage();
    await run(SITE, 'setFirewallPolicy', { policy: 'iot to home', state: 'off' });
    await run(SITE, 'setTrafficRule', { rule: 'rule-tv', state: 'on' });
    await run(SITE, 'setTrafficRoute', { route: 'Laptop by the second line', state: 'off' });
    await run(SITE, 'setPortForward', { forward: 'SSH', state: 'off' });
    const { objects } = console.state;
    expect(objects['firewall-policies'][0]).toMatchObject({
      enabled: false,
      action: 'BLOCK',
      schedule: { mode: 'ALWAYS' },
    });
    expect(objects.trafficrules[0]).toMatchObject({ enabled: true, target_devices: [{ client_mac: CLIENT.tv }] });
    expect(objects.trafficroutes[0]).toMatchObject({ enabled: false, network_id: 'net-wan2' });
    expect(objects.portforward[0]).toMatchObject({ enabled: false, dst_port: '2222', fwd: '192.0.2.8' });
  });

  test('writes nothing where nothing is to be changed', async () => {
    const { run, console } = await stage();
    await run(SITE, 'setFirewallPolicy', { policy: 'policy-iot', state: 'on' });
    expect(console.state.received).toEqual([]);
  });

  test('knows no others, and does not touch what is the console’s own', async () => {
    const { run } = await stage();
    await expect(run(SITE, 'setFirewallPolicy', { policy: 'IoT to Homes', state: 'off' })).rejects.toMatchObject({
      code: 'NOT_FOUND',
      hint: expect.stringContaining('IoT to Home'),
    });
    await expect(run(SITE, 'setFirewallPolicy', { policy: 'policy-built-in', state: 'off' })).rejects.toMatchObject({
      code: 'UNSUPPORTED',
    });
  });

  test('asks which one is meant where a name stands twice', async () => {
    const { run } = await stage({
      prepare: ({ state }) => {
        const [first] = state.objects.portforward;
        state.objects.portforward.push({ ...first, _id: 'forward-other' });
      },
    });
    await expect(run(SITE, 'setPortForward', { forward: 'SSH', state: 'off' })).rejects.toMatchObject({
      code: 'ARGUMENT_INVALID',
      hint: expect.stringContaining('forward-other'),
    });
  });

  test('makes vouchers, and tells their codes', async () => {
    const { run, until, console } = await stage();
    await run(SITE, 'createVoucher', { minutes: 120, count: 2, note: 'for the guests' });
    await until(/^unifi:site:default!vouchers=.*"codes":\["1234500000","1234500001"\].*for the guests/);
    expect(console.state.vouchers[0]).toMatchObject({ duration: 120, quota: 1 });
  });

  test('that has made vouchers and is lost before it tells them leaves it in doubt whether there are any', async () => {
    const { run, console, clock } = await stage();
    console.trouble.holds = path => {
      if (path.endsWith('/stat/voucher')) console.trouble.status = 502;
      return undefined;
    };
    let error: unknown;
    run(SITE, 'createVoucher', { minutes: 60 }).catch(one => {
      error = one;
    });
    await passing(clock, () => error !== undefined, 'the end');
    expect(console.state.vouchers).toHaveLength(1);
    expect(error).toMatchObject({ code: 'BACKEND_TIMEOUT', message: expect.stringContaining('not known') });
  });

  test('blocks a client by its address, under the same guard', async () => {
    const { run, console } = await stage({ settings: { protected: [CLIENT.server] } });
    await run(SITE, 'blockClient', { mac: CLIENT.tv.toUpperCase() });
    expect(console.state.client(CLIENT.tv).blocked).toBe(true);
    await run(SITE, 'unblockClient', { mac: CLIENT.tv });
    expect(console.state.client(CLIENT.tv).blocked).toBe(false);
    await expect(run(SITE, 'blockClient', { mac: CLIENT.server })).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await expect(run(SITE, 'blockClient', { mac: 'the tv' })).rejects.toMatchObject({ code: 'ARGUMENT_INVALID' });
  });

  test('measures its line', async () => {
    const { run, until } = await stage();
    await run(SITE, 'speedTest');
    await until('unifi:site:default!speedTest={"download":940.5,"upload":510.25,"latency":8}');
  });
});

describe('with a key alone', () => {
  test('what came of a command is looked for', async () => {
    const { run, until, clock } = await stage({ settings: { who: 'key', poll: '10m' } });
    await run('unifi:wlan:wlan-guests', 'off');
    await run(device(DEVICE.plug), 'off');
    await clock.jump(3_000);
    await until(`${device(DEVICE.plug)}/switch=off`);
    await until('unifi:wlan:wlan-guests/switch=off');
  });
});

test('a backup is made and listed', async () => {
  const { backend, console, clock } = await stage();
  expect(await backend.backups(patience())).toEqual([]);
  const first = await backend.backup(patience());
  expect(first).toMatchObject({ name: expect.stringMatching(/\.unf$/), bytes: 1_048_576 });
  await clock.jump(1_000);
  const second = await backend.backup(patience());
  expect((await backend.backups(patience())).map(({ name }) => name)).toEqual([second.name, first.name]);
  expect(console.strangers).toEqual([]);
});

test('a backup over which the console takes minutes is waited for', async () => {
  const { backend, console, clock } = await stage({ settings: { poll: '10m' } });
  let finish = () => {};
  const made = new Promise<void>(resolve => {
    finish = resolve;
  });
  console.trouble.holds = (_path, body) => (body.includes('"cmd":"backup"') ? made : undefined);
  const backup = backend.backup(patience());
  await eventually(() => console.requests.filter(line => line.endsWith('/cmd/backup')).length === 2, 'the backup');
  await clock.jump(300_000);
  finish();
  expect(await backup).toMatchObject({ name: expect.stringMatching(/\.unf$/) });
  expect(console.state.backups).toHaveLength(1);
});

test('values of a plug that another has switched are told by a push', async () => {
  const { console, sink, until } = await stage();
  console.state.changeDevice(DEVICE.plug, { outlet_table: [{ index: 1, name: 'Outlet 1', relay_state: false }] });
  await until(`${device(DEVICE.plug)}/switch=off`);
  expect(valuesOf(sink, device(DEVICE.plug)).switch).toBe('off');
});

describe('the firewall', () => {
  const ours = (console: { state: { objects: { 'firewall-policies': object[] } } }) =>
    (console.state.objects['firewall-policies'] as Record<string, unknown>[]).filter(({ name }) =>
      String(name).startsWith('Causeway'),
    );

  test('keeps everybody from a domain, until it is let again', async () => {
    const { run, console } = await stage();
    await run(SITE, 'blockDestination', { destination: 'Bad.Example' });
    expect(ours(console).map(({ name }) => name)).toEqual([
      'Causeway: bad.example (Home)',
      'Causeway: bad.example (IoT)',
      'Causeway: bad.example (Guest)',
    ]);
    expect(ours(console)[0]).toMatchObject({
      enabled: true,
      action: 'BLOCK',
      ip_version: 'BOTH',
      source: { zone_id: 'zone-home', matching_target: 'ANY' },
      destination: { zone_id: 'zone-wan', matching_target: 'WEB', web_domains: ['bad.example'] },
    });
    await run(SITE, 'unblockDestination', { destination: 'bad.example' });
    expect(ours(console)).toEqual([]);
    expect(console.state.objects['firewall-policies']).toHaveLength(3);
  });

  test('keeps one client from it, in the zone where that is', async () => {
    const { run, console } = await stage();
    await run(SITE, 'blockDestination', { destination: 'bad.example', client: CLIENT.camera.toUpperCase() });
    expect(ours(console)).toEqual([
      expect.objectContaining({
        name: `Causeway: bad.example for ${CLIENT.camera} (IoT)`,
        source: expect.objectContaining({
          zone_id: 'zone-iot',
          matching_target: 'CLIENT',
          client_macs: [CLIENT.camera],
        }),
      }),
    ]);
    await run(SITE, 'unblockDestination', { destination: 'bad.example' });
    expect(ours(console)).toHaveLength(1);
    await run(SITE, 'unblockDestination', { destination: 'bad.example', client: CLIENT.camera });
    expect(ours(console)).toEqual([]);
  });

  test.each([
    ['203.0.113.20', 'IPV4', '203.0.113.20'],
    ['203.0.113.0/24', 'IPV4', '203.0.113.0/24'],
    ['2001:DB8::1', 'IPV6', '2001:db8::1'],
  ])('blocks the address %s', async (destination, family, told) => {
    const { run, console } = await stage();
    await run(SITE, 'blockDestination', { destination });
    expect(ours(console)[0]).toMatchObject({
      ip_version: family,
      destination: { matching_target: 'IP', matching_target_type: 'SPECIFIC', ips: [told] },
    });
    await run(SITE, 'unblockDestination', { destination });
    expect(ours(console)).toEqual([]);
  });

  test('keeps an address of the internet from all zones', async () => {
    const { run, console } = await stage();
    await run(SITE, 'blockSource', { address: '198.51.100.7' });
    expect(ours(console)[1]).toMatchObject({
      name: 'Causeway: from 198.51.100.7 (IoT)',
      source: { zone_id: 'zone-wan', matching_target: 'IP', ips: ['198.51.100.7'] },
      destination: { zone_id: 'zone-iot', matching_target: 'ANY' },
    });
    await run(SITE, 'unblockSource', { address: '198.51.100.7' });
    expect(ours(console)).toEqual([]);
  });

  test('blocks an application by its number, and by its name where a key tells it', async () => {
    const { run, console } = await stage({ settings: { who: 'both' } });
    await run(SITE, 'blockApplication', { application: 'video nasties' });
    expect(ours(console)[0]).toMatchObject({ destination: { matching_target: 'APP', app_ids: [65_766] } });
    await run(SITE, 'unblockApplication', { application: 'Video Nasties' });
    await run(SITE, 'blockApplication', { application: '65540', client: CLIENT.tv });
    expect(ours(console)).toHaveLength(1);
    await expect(run(SITE, 'blockApplication', { application: 'HTTPS' })).rejects.toMatchObject({
      code: 'NOT_FOUND',
      hint: expect.stringContaining('block the destination'),
    });
  });

  test('knows no application by its name without a key', async () => {
    const { run } = await stage();
    await expect(run(SITE, 'blockApplication', { application: 'Video Nasties' })).rejects.toMatchObject({
      code: 'UNSUPPORTED',
      hint: expect.stringContaining('api_key'),
    });
  });

  test('is not written twice, and a policy of ours that somebody switched off is on again', async () => {
    const { run, console } = await stage();
    const block = { destination: 'bad.example', client: CLIENT.camera };
    await run(SITE, 'blockDestination', block);
    await run(SITE, 'blockDestination', block);
    expect(ours(console)).toHaveLength(1);
    (ours(console)[0] as { enabled: boolean }).enabled = false;
    await run(SITE, 'blockDestination', block);
    expect(ours(console)).toEqual([expect.objectContaining({ enabled: true })]);
  });

  test('keeps nothing of a block of which a part was refused', async () => {
    const { run, console } = await stage({
      prepare: ({ state }) => {
        state.refusesPoliciesAfter = 1;
      },
    });
    await expect(run(SITE, 'blockDestination', { destination: 'bad.example' })).rejects.toMatchObject({
      code: 'BACKEND_REJECTED',
    });
    expect(ours(console)).toEqual([]);
  });

  test.each([
    ['192.168.1.5', 'UNSUPPORTED', 'blockClient'],
    ['fe80::1', 'UNSUPPORTED', 'blockClient'],
    ['0.0.0.0/0', 'ARGUMENT_INVALID', '/8'],
    ['203.0.113.0/40', 'ARGUMENT_INVALID', '203.0.113.0/24'],
    ['not a domain', 'ARGUMENT_INVALID', 'example.com'],
    ['localhost', 'ARGUMENT_INVALID', 'example.com'],
    ['*', 'ARGUMENT_INVALID', 'example.com'],
  ])('does not block %s', async (destination, code, hint) => {
    const { run, console } = await stage();
    await expect(run(SITE, 'blockDestination', { destination })).rejects.toMatchObject({
      code,
      hint: expect.stringContaining(hint),
    });
    expect(console.state.received).toEqual([]);
  });

  test('that has no zones says so', async () => {
    const { run } = await stage({
      prepare: ({ state }) => {
        state.zones.length = 0;
      },
    });
    await expect(run(SITE, 'blockDestination', { destination: 'bad.example' })).rejects.toMatchObject({
      code: 'UNSUPPORTED',
      message: expect.stringContaining('zones'),
    });
  });
});
