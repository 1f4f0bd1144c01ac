// The operations that all systems share, called over MCP on what a UniFi console has: devices and their values, every
// command with what it changes at the simulated console, what guards refuse, waiting, history, backups.
import { networkInterfaces } from 'node:os';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../../kit/eventually.ts';
import type { SimRecord } from '../../simulators/unifi/house.ts';
import { CLIENT, type ConsoleSimulator, DEVICE, type SimConsole } from '../../simulators/unifi/index.ts';
import { stageMcp } from './unifi-mcp-kit.ts';

type Staged = Awaited<ReturnType<typeof stageMcp>>;

const client = (mac: string, backend = 'unifi') => `${backend}:client:${mac}`;
const device = (mac: string) => `unifi:device:${mac}`;
const wlan = (id: string) => `unifi:wlan:${id}`;
const SITE = 'unifi:site:default';
/** One of each kind, by which commands it has. */
const EACH = {
  client: client(CLIENT.phone),
  gateway: device(DEVICE.gateway),
  switch: device(DEVICE.switch),
  'access point': device(DEVICE.hall),
  plug: device(DEVICE.plug),
  strip: device(DEVICE.strip),
  WLAN: wlan('wlan-guests'),
  WAN: 'unifi:wan:WAN',
  site: SITE,
} as const;

const portOf = (state: SimConsole, index: number): SimRecord =>
  (state.device(DEVICE.switch).port_table as SimRecord[]).find(({ port_idx: one }) => one === index) ?? {};
const outletOf = (state: SimConsole, mac: string, index: number): SimRecord =>
  (state.device(mac).outlet_table as SimRecord[]).find(one => one.index === index) ?? {};
const wlanOf = (state: SimConsole, id: string) => state.wlans.find(({ _id }) => _id === id)?.enabled;
/** Our policies of the firewall. */
const ours = ({ objects }: SimConsole) =>
  objects['firewall-policies']
    .map(({ name }) => String(name))
    .filter(name => name.startsWith('Causeway: '))
    .map(name => name.slice(10));
const sent = ({ received }: SimConsole) => received.at(-1)?.body;

/** A command, what must be so at the console after it, and which value tells of it. Each begins where the last has ended. */
interface Row {
  readonly device: string;
  readonly command: string;
  readonly args?: object;
  /** What happens at the console before. */
  readonly before?: (state: SimConsole) => void;
  readonly done: (state: SimConsole) => unknown;
  readonly is: unknown;
  readonly value?: readonly [attribute: string, value: unknown];
}
const { phone, guest, tv } = CLIENT;
const { hall, plug, strip } = DEVICE;
const THE_SWITCH = device(DEVICE.switch);

const ROWS: readonly Row[] = [
  {
    ...{ device: client(phone), command: 'block', done: state => state.client(phone).blocked, is: true },
    value: ['access', 'blocked'],
  },
  {
    ...{ device: client(phone), command: 'unblock', done: state => state.client(phone).blocked, is: false },
    value: ['access', 'allowed'],
  },
  {
    ...{ device: client(phone), command: 'reconnect', done: sent, is: { cmd: 'kick-sta', mac: phone } },
    before: state => state.connect(phone),
  },
  {
    ...{ device: client(guest), command: 'authorizeGuest', args: { minutes: 60, download: 5_000, upload: 1_000 } },
    ...{ done: state => [state.client(guest).authorized, sent(state)], value: ['authorized', true] },
    is: [true, { cmd: 'authorize-guest', mac: guest, minutes: 60, down: 5_000, up: 1_000 }],
  },
  {
    ...{ device: client(guest), command: 'unauthorizeGuest', done: state => state.client(guest).authorized, is: false },
    value: ['authorized', false],
  },
  { device: device(hall), command: 'restart', done: state => state.device(hall).uptime, is: 12 },
  {
    ...{ device: device(hall), command: 'locate', args: { seconds: 3_600 }, value: ['locating', true] },
    ...{ done: state => state.device(hall).locating, is: true },
  },
  {
    ...{ device: device(hall), command: 'stopLocating', done: state => state.device(hall).locating, is: false },
    value: ['locating', false],
  },
  {
    ...{ device: device(hall), command: 'setLed', args: { mode: 'off' }, value: ['led', 'off'] },
    ...{ done: state => state.device(hall).led_override, is: 'off' },
  },
  {
    ...{ device: device(hall), command: 'upgrade', value: ['version', '7.1.66'] },
    before: state => state.changeDevice(hall, { upgradable: true, upgrade_to_firmware: '7.1.66' }),
    ...{ done: state => state.device(hall).version, is: '7.1.66' },
  },
  {
    ...{ device: THE_SWITCH, command: 'setPoe:4', args: { mode: 'off' }, value: ['port:4:poe', 'off'] },
    ...{ done: state => portOf(state, 4).poe_mode, is: 'off' },
  },
  {
    ...{ device: THE_SWITCH, command: 'setPoe:4', args: { mode: 'auto' }, value: ['port:4:poe', 'auto'] },
    ...{ done: state => portOf(state, 4).poe_mode, is: 'auto' },
  },
  {
    ...{ device: THE_SWITCH, command: 'cyclePoe:4', done: sent },
    is: { cmd: 'power-cycle', mac: DEVICE.switch, port_idx: 4 },
  },
  {
    ...{ device: device(strip), command: 'setOutlet:2', args: { state: 'on' }, value: ['outlet:2:switch', 'on'] },
    ...{ done: state => [1, 2, 3].map(index => outletOf(state, strip, index).relay_state), is: [true, true, true] },
  },
  {
    ...{ device: device(plug), command: 'off', value: ['switch', 'off'] },
    ...{ done: state => outletOf(state, plug, 1).relay_state, is: false },
  },
  {
    ...{ device: device(plug), command: 'on', value: ['switch', 'on'] },
    ...{ done: state => outletOf(state, plug, 1).relay_state, is: true },
  },
  {
    ...{ device: device(plug), command: 'toggle', value: ['switch', 'off'] },
    ...{ done: state => outletOf(state, plug, 1).relay_state, is: false },
  },
  {
    ...{ device: wlan('wlan-guests'), command: 'off', value: ['switch', 'off'] },
    ...{ done: state => wlanOf(state, 'wlan-guests'), is: false },
  },
  {
    ...{ device: wlan('wlan-guests'), command: 'on', value: ['switch', 'on'] },
    ...{ done: state => wlanOf(state, 'wlan-guests'), is: true },
  },
  {
    ...{ device: wlan('wlan-guests'), command: 'toggle', value: ['switch', 'off'] },
    ...{ done: state => wlanOf(state, 'wlan-guests'), is: false },
  },
  {
    ...{ device: SITE, command: 'createVoucher', args: { minutes: 90, count: 2, uses: 3, note: 'a party' } },
    done: state => state.vouchers.map(({ duration, quota, note }) => [duration, quota, note]),
    is: [
      [90, 3, 'a party'],
      [90, 3, 'a party'],
    ],
  },
  {
    ...{ device: SITE, command: 'setFirewallPolicy', args: { policy: 'Games after nine', state: 'on' } },
    done: state => state.objects['firewall-policies'].map(({ enabled }) => enabled),
    is: [true, true, true],
  },
  {
    ...{ device: SITE, command: 'setTrafficRule', args: { rule: 'no tv at night', state: 'on' } },
    ...{ done: state => state.objects.trafficrules[0]?.enabled, is: true },
  },
  {
    ...{ device: SITE, command: 'setTrafficRoute', args: { route: 'route-vpn', state: 'off' } },
    ...{ done: state => state.objects.trafficroutes[0]?.enabled, is: false },
  },
  {
    ...{ device: SITE, command: 'setPortForward', args: { forward: 'SSH', state: 'off' } },
    ...{ done: state => state.objects.portforward[0]?.enabled, is: false },
  },
  {
    ...{ device: SITE, command: 'blockClient', args: { mac: tv.toUpperCase() } },
    ...{ done: state => state.client(tv).blocked, is: true },
  },
  {
    ...{ device: SITE, command: 'unblockClient', args: { mac: tv } },
    ...{ done: state => state.client(tv).blocked, is: false },
  },
  { device: SITE, command: 'speedTest', done: sent, is: { cmd: 'speedtest' }, value: ['download', 999] },
  ...(
    [
      [
        'Destination',
        { destination: 'bad.example' },
        ['bad.example (Home)', 'bad.example (IoT)', 'bad.example (Guest)'],
      ],
      [
        'Destination',
        { destination: '203.0.113.7', client: CLIENT.laptop, minutes: 5 },
        [`203.0.113.7 for ${CLIENT.laptop} (Home)`],
      ],
      ['Application', { application: '65540', client: phone }, [`application 65540 for ${phone} (Home)`]],
      ['Source', { address: '2001:db8::7' }, ['Home', 'IoT', 'Guest'].map(zone => `from 2001:db8::7 (${zone})`)],
    ] as const
  ).flatMap(([what, args, is]): Row[] => {
    const { minutes: _, ...same } = args as { minutes?: number };
    return [
      { device: SITE, command: `block${what}`, args, done: ours, is },
      { device: SITE, command: `unblock${what}`, args: same, done: ours, is: [] },
    ];
  }),
];

const nameOf = (command: string) => command.split(':')[0];

/** What is refused without a word to the console: arguments, names, and what the guards keep. */
const REFUSED: readonly (readonly [device: string, command: string, args: object, error: object])[] = [
  [client(phone), 'blok', {}, { code: 'COMMAND_UNKNOWN', hint: expect.stringContaining('"block"') }],
  [
    client('00:00:5e:00:53:ee'),
    'block',
    {},
    { code: 'DEVICE_NOT_FOUND', hint: expect.stringContaining('unifi:client:') },
  ],
  [client(phone), 'block', { force: 'perhaps' }, { code: 'ARGUMENT_INVALID', path: 'force' }],
  [client(guest), 'authorizeGuest', {}, { code: 'ARGUMENT_INVALID', path: 'minutes' }],
  [client(guest), 'authorizeGuest', { minutes: 0 }, { code: 'ARGUMENT_INVALID', path: 'minutes' }],
  [client(CLIENT.printer), 'reconnect', {}, { code: 'UNSUPPORTED', hint: expect.stringContaining('PoE') }],
  [device(hall), 'locate', { seconds: 0 }, { code: 'ARGUMENT_INVALID', path: 'seconds' }],
  [device(hall), 'setLed', { mode: 'blue' }, { code: 'ARGUMENT_INVALID', path: 'mode' }],
  [device(DEVICE.attic), 'upgrade', {}, { code: 'UNSUPPORTED', hint: expect.stringContaining('updateAvailable') }],
  [THE_SWITCH, 'setPoe:4', { mode: 'on' }, { code: 'ARGUMENT_INVALID', path: 'mode' }],
  [THE_SWITCH, 'setPoe:8', { mode: 'off' }, { code: 'COMMAND_UNKNOWN', hint: expect.stringContaining('setPoe:') }],
  [device(strip), 'setOutlet:2', {}, { code: 'ARGUMENT_INVALID', path: 'state' }],
  ['unifi:wan:WAN', 'off', {}, { code: 'COMMAND_UNKNOWN' }],
  [SITE, 'createVoucher', { count: 2 }, { code: 'ARGUMENT_INVALID', path: 'minutes' }],
  [
    SITE,
    'setFirewallPolicy',
    { policy: 'IoT to Hom', state: 'off' },
    { code: 'NOT_FOUND', hint: expect.stringContaining('"IoT to Home"') },
  ],
  [SITE, 'setFirewallPolicy', { policy: 'policy-built-in', state: 'off' }, { code: 'UNSUPPORTED' }],
  [SITE, 'setTrafficRule', { rule: 'rule-none', state: 'off' }, { code: 'NOT_FOUND' }],
  [SITE, 'setTrafficRoute', { route: 'route-vpn', state: 'maybe' }, { code: 'ARGUMENT_INVALID', path: 'state' }],
  [SITE, 'setPortForward', { state: 'off' }, { code: 'ARGUMENT_INVALID', path: 'forward' }],
  [SITE, 'blockDestination', { destination: '192.168.1.1' }, { code: 'UNSUPPORTED' }],
  [SITE, 'blockDestination', { destination: 'a.test', client: 'tv' }, { code: 'ARGUMENT_INVALID', path: 'client' }],
  [SITE, 'blockDestination', { destination: 'a.test', minutes: 0 }, { code: 'ARGUMENT_INVALID', path: 'minutes' }],
  [SITE, 'blockApplication', { application: 'HTTPS' }, { code: 'UNSUPPORTED', path: 'application' }],
  [SITE, 'blockSource', { address: 'example.test' }, { code: 'ARGUMENT_INVALID', path: 'address' }],
  [SITE, 'blockClient', { mac: 'the tv' }, { code: 'ARGUMENT_INVALID', hint: expect.stringContaining('00:00:5e') }],
  // Its way to the console, the way to a protected machine, and that machine itself.
  ...(['cyclePoe:1', 'cyclePoe:5'] as const).map(command => [THE_SWITCH, command, {}, { code: 'FORBIDDEN' }] as const),
  ...([1, 5] as const).flatMap(port =>
    (['off', '24v', 'pasv24', 'passthrough'] as const).map(
      mode => [THE_SWITCH, `setPoe:${port}`, { mode }, { code: 'FORBIDDEN' }] as const,
    ),
  ),
  ...(['block', 'reconnect'] as const).map(
    command => [client(CLIENT.server), command, {}, { code: 'FORBIDDEN' }] as const,
  ),
  [SITE, 'blockClient', { mac: CLIENT.server }, { code: 'FORBIDDEN' }],
];

const outward = Object.values(networkInterfaces())
  .flatMap(one => one ?? [])
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;

describe('what a console has', () => {
  let staged: Staged;
  let console: ConsoleSimulator;
  let state: SimConsole;
  beforeAll(async () => {
    staged = await stageMcp(
      { unifi: { settings: { protected: [CLIENT.server] } } },
      { aliases: { phone: client(phone) } },
    );
    console = staged.consoles.get('unifi') as ConsoleSimulator;
    state = console.state;
  });
  afterAll(() => staged.end());

  const present = async (id: string, attribute: string) =>
    (await staged.ask('get_device', { device: id })).attributes[attribute]?.value;
  const command = (id: string, name: string, args: object = {}) =>
    staged.ask('send_command', { device: id, command: name, args });

  test('is listed as devices, by kind and by words', async () => {
    const ids = async (args: object) =>
      (await staged.ask('list_devices', { backend: 'unifi', ...args })).devices.map(({ id }: { id: string }) => id);
    expect((await ids({ limit: 500 })).sort()).toEqual(
      [
        ...state.clients.map(({ mac }) => client(mac)),
        ...state.devices.map(({ mac }) => device(String(mac))),
        ...state.wlans.map(({ _id }) => wlan(String(_id))),
        ...state.wans.map(({ wan_networkgroup: group }) => `unifi:wan:${group}`),
        SITE,
      ].sort(),
    );
    expect(await ids({ capability: 'presence' })).toHaveLength(12);
    expect(await ids({ search: 'hall ap' })).toEqual([device(hall)]);
    expect(await ids({ limit: 2, offset: 1 })).toEqual([client(CLIENT.phone2), client(CLIENT.laptop)]);
    const { devices } = await staged.ask('list_devices', { search: 'Camera' });
    expect(devices).toMatchObject([
      { id: client(CLIENT.camera), availability: 'online', state: { presence: 'present', wired: true, port: 4 } },
    ]);
    expect(await staged.ask('list_devices', { backend: 'unify' })).toMatchObject({
      total: 0,
      hint: expect.stringContaining('"unifi"'),
    });
  });

  test('is told one by one with its values', async () => {
    const { attributes, ...rest } = await staged.ask('get_device', { device: 'phone' });
    const { ip, mac, signal } = state.client(phone);
    expect(rest).toMatchObject({
      ...{ id: client(phone), name: 'Phone', backend: 'unifi', alias: 'phone', availability: 'online' },
      capabilities: ['presence', 'connectivity'],
    });
    const values = Object.fromEntries(
      Object.entries(attributes as Record<string, { value: unknown }>).map(([name, { value }]) => [name, value]),
    );
    expect(mac).toBe(phone);
    expect(values).toMatchObject({
      ...{ presence: 'present', connectivity: 'online', access: 'allowed', wired: false, guest: false, ip, signal },
      ...{ network: 'Home', ssid: 'Home', accessPoint: hall, band: '5 GHz', channel: 44, satisfaction: 98, vlan: 1 },
    });
    expect(await staged.refusal('get_device', { device: 'phon' })).toMatchObject({
      code: 'DEVICE_NOT_FOUND',
      hint: expect.stringContaining('phone'),
    });
  });

  test('has a row here for each of its commands', async () => {
    for (const [kind, id] of Object.entries(EACH)) {
      const declared = Object.keys((await staged.ask('get_device', { device: id })).commands).map(nameOf);
      const called = ROWS.filter(({ device: one }) => one.split(':')[1] === id.split(':')[1]).map(row =>
        nameOf(row.command),
      );
      expect(
        [...new Set(declared)].filter(name => !called.includes(name)),
        kind,
      ).toEqual([]);
    }
  });

  test.each(ROWS)('$device $command', async ({ device: id, command: name, args = {}, before, done, is, value }) => {
    await staged.calm();
    before?.(state);
    await staged.calm();
    const told = await command(id, name, args);
    expect(told).toMatchObject({ device: id, command: name, outcome: 'ok' });
    expect(done(state)).toEqual(is);
    expect(console.strangers).toEqual([]);
    if (!value) return;
    const [attribute, wanted] = value;
    const wait = { devices: [id], attribute, value: wanted, timeout: '5s' };
    expect(await staged.ask('wait_for_state', wait)).toMatchObject({
      met: true,
      devices: [{ device: id, value: wanted }],
    });
    expect(await present(id, attribute)).toBe(wanted);
  });

  test.each(REFUSED)('%s refuses %s %o', async (id, name, args, error) => {
    await staged.calm();
    const before = state.received.length;
    const refused = await staged.refusal('send_command', { device: id, command: name, args });
    expect(refused).toMatchObject(error);
    // A wrong argument is answered with those that are right.
    const { code, message, hint = /none of|within|is no /.exec(message)?.[0] } = refused;
    expect(hint, message).toMatch(code === 'FORBIDDEN' ? /force: true/ : /./);
    expect(state.received).toHaveLength(before);
  });

  test('tries a command in a dry run, and sends nothing', async () => {
    const before = state.received.length;
    const asked = { device: 'phone', command: 'block', dry_run: true };
    expect(await staged.ask('send_command', asked)).toMatchObject({ dry_run: true, outcome: 'would be sent' });
    expect(state.received).toHaveLength(before);
  });

  test('does with force what its guards keep', async () => {
    await staged.calm();
    await command(THE_SWITCH, 'setPoe:5', { mode: 'off', force: true });
    await command(THE_SWITCH, 'cyclePoe:1', { force: true });
    expect(sent(state)).toEqual({ cmd: 'power-cycle', mac: DEVICE.switch, port_idx: 1 });
    await command(client(CLIENT.server), 'block', { force: true });
    expect(state.client(CLIENT.server).blocked).toBe(true);
    await command(SITE, 'unblockClient', { mac: CLIENT.server });
    expect(state.client(CLIENT.server).blocked).toBe(false);
  });

  test('keeps the last WLAN on the air, but for force', async () => {
    await staged.calm();
    await command(wlan('wlan-things'), 'off');
    for (const name of ['off', 'toggle']) {
      expect(
        await staged.refusal('send_command', { device: wlan('wlan-home'), command: name, args: {} }),
      ).toMatchObject({ code: 'FORBIDDEN', hint: expect.stringContaining('force: true') });
    }
    expect(wlanOf(state, 'wlan-home')).toBe(true);
    await command(wlan('wlan-home'), 'off', { force: true });
    expect(state.wlans.map(({ enabled }) => enabled)).toEqual([false, false, false]);
    await command(wlan('wlan-home'), 'on');
    expect(wlanOf(state, 'wlan-home')).toBe(true);
  });

  test('takes several commands at once, each with a result of its own', async () => {
    await staged.calm();
    const commands = [
      { device: device(strip), command: 'setOutlet:1', args: { state: 'off' } },
      { device: client(CLIENT.server), command: 'block' },
      { device: device(strip), command: 'setOutlet:3', args: ['off'] },
      { device: THE_SWITCH, command: 'setPoe:8', args: { mode: 'off' } },
    ];
    const { results, failed } = await staged.ask('send_commands', { commands });
    const ends = results.map((one: { outcome: string; error?: { code: string } }) => one.error?.code ?? one.outcome);
    expect(ends).toEqual(['ok', 'FORBIDDEN', 'ok', 'COMMAND_UNKNOWN']);
    expect(failed).toBe(2);
    expect([1, 2, 3].map(index => outletOf(state, strip, index).relay_state)).toEqual([false, true, false]);
  });

  test('is waited for, and told when it does not come', async () => {
    await staged.calm();
    const tablet = client(CLIENT.tablet);
    const waiting = staged.ask('wait_for_state', {
      devices: [tablet],
      attribute: 'presence',
      value: 'present',
      timeout: '10s',
    });
    state.connect(CLIENT.tablet);
    expect(await waiting).toMatchObject({ met: true, met_count: 1, devices: [{ device: tablet, value: 'present' }] });
    const never = { devices: [tablet], attribute: 'presence', value: 'not present', timeout: '100ms' };
    expect(await staged.ask('wait_for_state', never)).toMatchObject({ met: false, timed_out: true });
    expect(
      await staged.refusal('wait_for_state', { devices: [tablet], attribute: 'presense', value: 'present' }),
    ).toMatchObject({ code: 'NOT_FOUND', path: 'attribute', hint: expect.stringContaining('"presence"') });
  });

  test('has a history, of memory and of the journal', async () => {
    await staged.calm();
    const tablet = client(CLIENT.tablet);
    state.roam(CLIENT.tablet, DEVICE.attic);
    const told = async (args: object) =>
      (await staged.ask('list_events', { device: tablet, ...args })).events as Record<string, unknown>[];
    const [newest] = await eventually(async () => {
      const events = await told({ attribute: 'accessPoint' });
      return events[0]?.value === DEVICE.attic && events;
    }, 'the other access point');
    expect(newest).toMatchObject({ device: tablet, backend: 'unifi', value: DEVICE.attic, previous: hall });
    const kept = await eventually(async () => {
      const events = await told({ since: '1d', attribute: 'presence' });
      return events.length > 0 && events;
    }, 'the journal');
    expect(kept[0]).toMatchObject({ device: tablet, attribute: 'presence', value: 'present', previous: 'not present' });
    expect(await staged.refusal('list_events', { since: 'yesterday' })).toMatchObject({ path: 'since' });
  });

  test('is listened to for what happens next', async () => {
    await staged.calm();
    const next = { device: client(CLIENT.tablet), attribute: 'roamed', timeout: '10s' };
    let told: { event: unknown } | undefined;
    void staged.ask('wait_for_event', next).then(answer => {
      told = answer;
    });
    // It is not seen when it begins to listen.
    let roams = 0;
    await eventually(() => {
      state.roam(CLIENT.tablet, roams++ % 2 === 0 ? hall : DEVICE.attic);
      return told !== undefined;
    }, 'the event');
    expect(told?.event).toMatchObject({ device: next.device, attribute: 'roamed', backend: 'unifi' });
  });

  test('tells the codes of the vouchers that were made', async () => {
    await staged.calm();
    const codes = state.vouchers.map(({ code }) => code);
    const { events } = await staged.ask('list_events', { device: SITE, attribute: 'vouchers' });
    expect(events).toMatchObject([{ value: { codes, minutes: 90, note: 'a party' } }]);
    const { vouchers } = await staged.ask('list_unifi_vouchers');
    expect(vouchers.map(({ code }: { code: string }) => code)).toEqual(codes);
  });

  test('tells that settings were changed, and not what is in them', async () => {
    await staged.calm();
    state.changeSetting('radius');
    const { events } = await eventually(async () => {
      const answer = await staged.ask('list_events', { device: SITE, attribute: 'configurationChanged' });
      return answer.events[0]?.value.what === 'setting' && answer;
    }, 'the change');
    expect(events[0].value).toEqual({ what: 'setting', action: 'sync', name: 'radius' });
  });

  test('is known by the causes of what was commanded', async () => {
    const { attributes } = await staged.ask('get_device', { device: device(plug) });
    expect(attributes.switch).toMatchObject({ value: 'off', by: 'user' });
  });

  test('keeps backups: none, then one, which is listed', async () => {
    await staged.calm();
    expect(await staged.ask('list_backups', { backend: 'unifi' })).toEqual({ backend: 'unifi', backups: [] });
    expect(await staged.ask('create_backup', { backend: 'unifi', dry_run: true })).toMatchObject({ dry_run: true });
    expect(state.backups).toEqual([]);
    const made = await staged.ask('create_backup', { backend: 'unifi' });
    const [kept] = state.backups;
    const shown = { name: kept?.filename, at: new Date(Number(kept?.time)).toISOString(), bytes: 1_048_576 };
    expect(made).toMatchObject({ backend: 'unifi', ...shown });
    const { backups } = await staged.ask('list_backups', { backend: 'unifi' });
    expect(backups).toMatchObject([shown]);
    expect(state.backups).toHaveLength(1);
    expect(await staged.refusal('create_backup', {})).toMatchObject({ code: 'INPUT_INVALID', path: 'backend' });
    expect(await staged.refusal('create_backup', { backend: 'unify' })).toMatchObject({
      ...{ code: 'NOT_FOUND', path: 'backend' },
      hint: expect.stringContaining('"unifi"'),
    });
    expect(await staged.refusal('list_backups', { backend: 'virtual' })).toMatchObject({ code: 'UNSUPPORTED' });
  });

  test('is told in the operations of the console as it is after a command', async () => {
    await staged.calm();
    const forwards = async () => (await staged.ask('list_unifi_port_forwards')).forwards[0].enabled;
    const before = await forwards();
    await command(SITE, 'setPortForward', { forward: 'SSH', state: before ? 'off' : 'on' });
    expect(await forwards()).toBe(!before);
  });
});

test.skipIf(outward === undefined)('this machine is known by its own address, and is not cut off', async () => {
  const staged = await stageMcp({
    unifi: {
      prepare: ({ state }) => {
        state.client(CLIENT.server).ip = String(outward);
      },
    },
  });
  const { state } = staged.consoles.get('unifi') as ConsoleSimulator;
  for (const [id, command] of [
    [client(CLIENT.server), 'block'],
    [THE_SWITCH, 'cyclePoe:5'],
  ] as const) {
    const refused = await staged.refusal('send_command', { device: id, command });
    expect(refused).toMatchObject({ code: 'FORBIDDEN', message: expect.stringContaining('this machine') });
  }
  expect(state.received).toEqual([]);
  await staged.end();
});

test('of two consoles each has its own devices, and commands reach the one that is meant', async () => {
  const staged = await stageMcp({ unifi: {}, cabin: {} });
  const [here, there] = ['unifi', 'cabin'].map(id => (staged.consoles.get(id) as ConsoleSimulator).state);
  for (const backend of ['unifi', 'cabin']) {
    const { devices } = await staged.ask('list_devices', { backend, capability: 'presence' });
    expect(devices).toHaveLength(12);
  }
  await staged.ask('send_command', { device: client(tv, 'cabin'), command: 'block' });
  expect([here, there].map(state => state?.client(tv).blocked)).toEqual([false, true]);
  await staged.ask('create_backup', { backend: 'cabin' });
  expect([here, there].map(state => state?.backups.length)).toEqual([0, 1]);
  await staged.end();
});
