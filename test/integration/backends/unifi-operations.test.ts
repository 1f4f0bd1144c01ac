// What only a UniFi console can do, row by row of its table, at a simulated console.
import { afterEach, describe, expect, test } from 'vitest';
import { unifiOperations } from '../../../src/backends/unifi/operations/index.ts';
import type { JournalEntry } from '../../../src/store/journal-port.ts';
import { eventually } from '../../kit/eventually.ts';
import { CLIENT, DEVICE } from '../../simulators/unifi/index.ts';
import { commandTo, patience } from '../../unit/backends/kit.ts';
import { operationContext } from './operation-context.ts';
import { stageConsole } from './unifi-kit.ts';

let ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.reverse()) await end();
  ends = [];
});

async function stage(...options: Parameters<typeof stageConsole>) {
  const staged = await stageConsole(...options);
  ends.push(staged.end);
  const entries: JournalEntry[] = [];
  // biome-ignore lint/suspicious/noExplicitAny: what operations answer is for the tests to look into
  const call = async (name: string, input: object = {}): Promise<any> => {
    const row = unifiOperations.find(one => one.name === name);
    if (!row) throw new Error(`there is no row ${name}`);
    const context = operationContext({ backend: staged.supervised, entries });
    return row.output.parse(await row.run(staged.backend, row.input.parse(input), context));
  };
  return { ...staged, call, entries };
}

const client = (mac: string) => `unifi:client:${mac}`;
const device = (mac: string) => `unifi:device:${mac}`;

/** Each row of the table with an input, and what its answer must have. */
const CALLS: readonly (readonly [name: string, input: object, answer: object])[] = [
  ['list_unifi_sites', {}, { sites: [{ name: 'default', title: 'Home', is_ours: true }], version: '9.0.114' }],
  [
    'list_unifi_devices',
    { type: 'usw' },
    { total: 1, devices: [{ device: device(DEVICE.switch), name: 'Switch', state: 'online' }] },
  ],
  [
    'get_unifi_device',
    { device: device(DEVICE.switch) },
    {
      name: 'Switch',
      cpu: 5.6,
      temperature: 46,
      uplink: { device: device(DEVICE.gateway) },
      ports: expect.arrayContaining([
        { port: 4, name: 'Port 4', link: 'up', speed: 1_000, uplink: false, poe: 'auto', watts: 3.24 },
        { port: 8, name: 'Port 8', link: 'down', speed: 0, uplink: false, poe: null, watts: null },
      ]),
    },
  ],
  ['list_unifi_clients', { connected: true, network: 'IoT' }, { total: 4 }],
  [
    'get_unifi_client',
    { device: CLIENT.phone.toUpperCase() },
    {
      device: client(CLIENT.phone),
      presence: 'present',
      access_point: DEVICE.hall,
      values: { band: '5 GHz', satisfaction: 98 },
    },
  ],
  ['search_unifi', { query: 'phone' }, { found: [{ name: 'Phone' }, { name: 'Second phone' }] }],
  [
    'list_unifi_networks',
    {},
    { networks: [{ name: 'Home', vlan: 1, clients: 4 }, { name: 'IoT' }, { name: 'Guest', clients: 1 }] },
  ],
  [
    'list_unifi_wlans',
    {},
    {
      wlans: [
        { device: 'unifi:wlan:wlan-home', enabled: true, clients: 2 },
        { name: 'Things' },
        { name: 'Guests', guest: true },
      ],
    },
  ],
  ['list_unifi_vouchers', {}, { vouchers: [], total: 0 }],
  ['get_unifi_health', {}, { values: { wwwStatus: 'ok', connectivity: 'online' }, not_online: [], updates: [] }],
  [
    'get_unifi_wans',
    {},
    {
      wans: [
        { name: 'Fibre', values: { active: true } },
        { device: 'unifi:wan:WAN2', values: { state: 'backup' } },
      ],
    },
  ],
  ['list_unifi_events', {}, { events: [] }],
  ['list_unifi_port_forwards', {}, { forwards: [{ id: 'forward-ssh', port: '2222', to: '192.0.2.8', to_port: '22' }] }],
  [
    'list_unifi_firewall_policies',
    { zone: 'IoT' },
    { policies: [{ id: 'policy-iot', from: 'IoT', to: 'Home', action: 'BLOCK', built_in: false }] },
  ],
  [
    'list_unifi_firewall_zones',
    {},
    { zones: [{ name: 'Home', networks: ['Home'] }, { name: 'IoT' }, { name: 'Guest' }, { name: 'WAN' }] },
  ],
  [
    'list_unifi_traffic_rules',
    {},
    { rules: [{ name: 'No TV at night', enabled: false }], routes: [{ id: 'route-vpn' }] },
  ],
  ['list_unifi_flows', {}, { flows: [], total: 0, more: false }],
  ['rank_unifi_flows', {}, { ranking: [], flows: 0 }],
  ['analyse_unifi_flows', {}, { flows: 0, bytes: 0, by_action: {} }],
  ['export_unifi_flows', {}, { format: 'csv', flows: 0 }],
  ['get_unifi_topology', { clients: false }, { vertices: expect.any(Array), edges: expect.any(Array) }],
];

describe('the table', () => {
  test('says by each name of which system it is, and has each route once', () => {
    expect(unifiOperations.filter(({ name }) => !/^[a-z]+_unifi(_[a-z_]+)?$/.test(name) || name.length > 40)).toEqual(
      [],
    );
    expect(new Set(unifiOperations.map(({ path }) => path)).size).toBe(unifiOperations.length);
  });

  test('is called here row by row', () => {
    const called = new Set([
      ...CALLS.map(([name]) => name),
      'get_unifi_flow',
      'block_unifi_flow',
      'get_unifi_flow_trends',
    ]);
    expect(unifiOperations.map(({ name }) => name).filter(name => !called.has(name))).toEqual([]);
  });

  test.each(CALLS)('%s', async (name, input, answer) => {
    const { call, console } = await stage();
    const got = await call(name, input);
    expect(got).toMatchObject(answer);
    expect(console.strangers).toEqual([]);
    expect(JSON.stringify(got)).not.toContain('never-to-be-seen');
  });

  test('is refused while the console is gone', async () => {
    const { call, supervised } = await stage();
    await supervised.stop();
    for (const [name, input] of CALLS)
      await expect(call(name, input), name).rejects.toMatchObject({ code: 'BACKEND_OFFLINE' });
  });
});

describe('answers', () => {
  test('are kept for a while, asked anew with fresh, and forgotten by what is changed', async () => {
    const { call, console, supervised, pass } = await stage();
    const asked = () => console.requests.filter(line => line.endsWith('/rest/portforward')).length;
    await call('list_unifi_port_forwards');
    await call('list_unifi_port_forwards');
    expect(asked()).toBe(1);
    await call('list_unifi_port_forwards', { fresh: true });
    expect(asked()).toBe(2);
    await supervised.execute(
      commandTo('unifi:site:default', 'setPortForward', { forward: 'SSH', state: 'off' }),
      patience(),
    );
    const before = asked();
    expect(await call('list_unifi_port_forwards')).toMatchObject({ forwards: [{ enabled: false }] });
    expect(asked()).toBe(before + 1);
    await pass(301_000);
    await call('list_unifi_port_forwards');
    expect(asked()).toBe(before + 2);
  });

  test('that were on their way while something was changed are not kept', async () => {
    const { call, console, supervised } = await stage();
    let release = () => {};
    const until = new Promise<void>(resolve => {
      release = resolve;
    });
    console.trouble.holds = path => (path.endsWith('/trafficroutes') ? until : undefined);
    const asked = () => console.requests.filter(line => line.endsWith('/trafficroutes')).length;
    const reading = call('list_unifi_traffic_rules');
    await eventually(() => asked() === 1, 'the question');
    await supervised.execute(
      commandTo('unifi:site:default', 'setPortForward', { forward: 'SSH', state: 'off' }),
      patience(),
    );
    release();
    await reading;
    await call('list_unifi_traffic_rules');
    expect(asked()).toBe(2);
  });

  test('say what is missing, and where to look', async () => {
    const { call } = await stage();
    await expect(call('get_unifi_device', { device: '00:00:5e:00:53:ee' })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
    await expect(call('get_unifi_client', { device: 'the phone' })).rejects.toMatchObject({
      code: 'INPUT_INVALID',
      path: 'device',
    });
  });
});

test('a client whose last sighting is nonsense is told without it', async () => {
  const { call } = await stage({
    prepare: ({ state }) => {
      state.client(CLIENT.tablet).lastSeen = 1e24;
    },
  });
  expect(await call('get_unifi_client', { device: CLIENT.tablet })).toMatchObject({ name: 'Tablet', last_seen: null });
});

describe('events', () => {
  test('are those of the system log where there is one, and of the list before', async () => {
    for (const profile of ['network9', 'network10'] as const) {
      const { call, console } = await stage({ profile });
      console.state.connect(CLIENT.phone2);
      console.state.alertOfIds();
      const { events } = await call('list_unifi_events', { name: profile === 'network9' ? 'Ips' : 'THREAT' });
      expect(events).toHaveLength(1);
      expect(Date.parse(events[0].at)).toBeGreaterThan(console.state.now() - 60_000);
    }
  });
});

describe('flows', () => {
  async function withFlows() {
    const staged = await stage();
    const { state } = staged.console;
    const laptop = { source: state.flowSource(CLIENT.laptop) };
    const camera = { source: state.flowSource(CLIENT.camera) };
    state.flow({ ...laptop, traffic_data: { bytes_total: 5_000 } });
    state.flow({ ...laptop, traffic_data: { bytes_rx: '700', bytes_tx: 300 }, direction: 'LOCAL' });
    state.flow({
      ...camera,
      action: 'BLOCK',
      risk: 'high',
      traffic_data: { bytes_total: 74 },
      destination: { ip: '198.51.100.3', domains: ['=bad.test'] },
      policies: [{ name: 'no, cameras' }],
    });
    return staged;
  }

  test('are found by action, client, destination, direction and size', async () => {
    const { call, console } = await withFlows();
    const ids = async (input: object) =>
      (await call('list_unifi_flows', input)).flows.map(({ id }: { id: string }) => id);
    const [first, second, third] = console.state.flows.map(({ id }) => id);
    expect(await ids({ action: 'blocked' })).toEqual([third]);
    expect((await ids({ client: client(CLIENT.laptop) })).sort()).toEqual([first, second]);
    expect(await ids({ destination: 'bad' })).toEqual([third]);
    expect(await ids({ direction: 'local' })).toEqual([second]);
    expect(await ids({ min_bytes: 2_000 })).toEqual([first]);
    expect(await call('get_unifi_flow', { id: second })).toMatchObject({ flow: { id: second, bytes: 1_000 } });
    await expect(call('get_unifi_flow', { id: 'flow-none' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  test('are blocked at their source, destination or application, for one client or everybody', async () => {
    const { call, console } = await withFlows();
    const [first, , third] = console.state.flows.map(({ id }) => id);
    const policies = () => console.state.objects['firewall-policies'].map(({ name }) => String(name));
    expect(await call('block_unifi_flow', { id: third, what: 'source', minutes: 30 })).toEqual({
      flow: third,
      device: 'unifi:site:default',
      command: 'blockClient',
      args: { mac: CLIENT.camera, minutes: 30 },
      outcome: 'ok',
    });
    expect(console.state.client(CLIENT.camera).blocked).toBe(true);
    await call('block_unifi_flow', { id: first, what: 'destination', for: 'client' });
    expect(policies()).toContain(`Causeway: example.test for ${CLIENT.laptop} (Home)`);
    await call('block_unifi_flow', { id: first, what: 'destination' });
    expect(policies()).toContain('Causeway: example.test (IoT)');
    await expect(call('block_unifi_flow', { id: first, what: 'application' })).rejects.toMatchObject({
      code: 'UNSUPPORTED',
      hint: expect.stringContaining('api_key'),
    });
  });

  test('from the internet are blocked by their address', async () => {
    const { call, console } = await stage();
    const { id } = console.state.flow({ direction: 'incoming', source: { ip: '198.51.100.9', mac: '' } });
    expect(await call('block_unifi_flow', { id, what: 'source' })).toMatchObject({
      command: 'blockSource',
      args: { address: '198.51.100.9' },
    });
    await expect(call('block_unifi_flow', { id, what: 'destination', for: 'client' })).rejects.toMatchObject({
      code: 'UNSUPPORTED',
      hint: 'block it for everybody',
    });
    const nameless = console.state.flow({ source: {}, destination: {} });
    for (const what of ['source', 'destination'])
      await expect(call('block_unifi_flow', { id: nameless.id, what })).rejects.toMatchObject({ code: 'UNSUPPORTED' });
  });

  test('come and go: out of the journal, by the hour, client and action', async () => {
    const { call, entries } = await stage({ settings: { flows: 'all' } });
    const hour = Math.floor(Date.now() / 3_600_000) * 3_600_000;
    const entry = (ts: number, flow: object, subject = 'unifi:site:default'): JournalEntry => ({
      ts,
      seq: entries.length,
      kind: 'flow',
      subject,
      attribute: 'flow',
      body: JSON.stringify({ value: flow }),
    });
    const flow = (mac: string, more: object = {}) => ({
      action: 'allowed',
      bytes: 100,
      count: 1,
      source: { mac },
      destination: { domain: 'example.test' },
      ...more,
    });
    entries.push(
      entry(hour - 2 * 3_600_000, flow(CLIENT.laptop)),
      entry(hour - 1, flow(CLIENT.camera, { action: 'blocked', risk: 'high', count: 3 })),
      entry(hour - 2, flow(CLIENT.laptop)),
      entry(hour - 3, flow(CLIENT.tv), 'another:site:default'),
      { ...entry(hour - 4, {}), body: 'no json' },
      entry(hour - 40 * 3_600_000, flow(CLIENT.laptop)),
    );
    const at = (hours: number) => new Date(hour - hours * 3_600_000).toISOString();
    expect(await call('get_unifi_flow_trends', { hours: 24 })).toEqual({
      told: 'all',
      flows: 3,
      more: false,
      steps: [
        { at: at(2), flows: 1, blocked: 0, risky: 0, bytes: 100, clients: 1 },
        { at: at(1), flows: 4, blocked: 3, risky: 3, bytes: 200, clients: 2 },
      ],
    });
    expect(await call('get_unifi_flow_trends', { client: CLIENT.camera })).toMatchObject({ flows: 1 });
    expect(await call('get_unifi_flow_trends', { action: 'allowed', destination: 'EXAMPLE' })).toMatchObject({
      flows: 2,
    });
    expect((await call('get_unifi_flow_trends', { hours: 72, step: 'day' })).steps).toHaveLength(
      new Set([hour - 2 * 3_600_000, hour - 1, hour - 40 * 3_600_000].map(ts => Math.floor(ts / 86_400_000))).size,
    );
    expect((await call('get_unifi_flow_trends', { hours: 2_160, step: 'minute' })).steps.length).toBeLessThan(1_500);
  });

  test('say when not all were looked at', async () => {
    const { call } = await withFlows();
    expect(await call('list_unifi_flows', { max_flows: 2 })).toMatchObject({ total: 2, more: true });
  });

  test('are ranked and counted', async () => {
    const { call } = await withFlows();
    expect((await call('rank_unifi_flows')).ranking).toEqual([
      { key: 'Laptop', flows: 2, bytes: 6_000, blocked: 0 },
      { key: 'Camera', flows: 1, bytes: 74, blocked: 1 },
    ]);
    expect(await call('analyse_unifi_flows')).toMatchObject({
      flows: 3,
      bytes: 6_074,
      by_action: { allowed: 2, blocked: 1 },
      by_risk: { low: 2, high: 1 },
      by_direction: { outgoing: 2, local: 1 },
      most_blocked: [{ key: 'Camera' }],
      blocking_policies: [{ key: 'no, cameras' }],
      risky_destinations: [{ key: '=bad.test' }],
    });
  });

  test('go out as a file that no spreadsheet takes for a program', async () => {
    const { call } = await withFlows();
    const { content, flows } = await call('export_unifi_flows', { action: 'blocked' });
    expect(flows).toBe(1);
    const [head, row] = content.split('\r\n');
    expect(head).toMatch(/^id,at,action,risk,/);
    expect(row).toContain(",'=bad.test,198.51.100.3,");
    expect(row).toMatch(/,"no, cameras"$/);
    expect(JSON.parse((await call('export_unifi_flows', { format: 'json' })).content)).toHaveLength(3);
  });
});

describe('the topology', () => {
  test('says what hangs on what, and at which port', async () => {
    const { call } = await stage();
    const { edges } = await call('get_unifi_topology');
    expect(edges).toEqual(
      expect.arrayContaining([
        { from: device(DEVICE.switch), to: device(DEVICE.hall), how: 'wired', port: 2 },
        { from: device(DEVICE.hall), to: client(CLIENT.phone), how: 'wireless', port: null },
        { from: device(DEVICE.switch), to: client(CLIENT.camera), how: 'wired', port: 4 },
      ]),
    );
  });

  test('is text for other programs, whatever names there are', async () => {
    const { call } = await stage({
      prepare: ({ state }) => {
        state.device(DEVICE.hall).name = 'Hall "AP" <1> & \\';
      },
    });
    const { content: dot } = await call('get_unifi_topology', { format: 'dot' });
    expect(dot).toContain('[label="Hall \\"AP\\" <1> & \\\\", shape=box]');
    const { content: graphml } = await call('get_unifi_topology', { format: 'graphml' });
    expect(graphml).toContain('<data key="name">Hall &quot;AP&quot; &lt;1&gt; &amp; \\</data>');
  });
});
