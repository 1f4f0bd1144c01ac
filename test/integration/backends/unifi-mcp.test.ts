// Every operation that only a UniFi console has, called over MCP: what it answers is what the simulated console holds, and
// what is wrong is refused with what to do next.
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { unifiOperations } from '../../../src/backends/unifi/operations/index.ts';
import { eventually } from '../../kit/eventually.ts';
import type { SimClient, SimRecord } from '../../simulators/unifi/house.ts';
import { CLIENT, type ConsoleSimulator, DEVICE, type SimConsole } from '../../simulators/unifi/index.ts';
import type { SimFlow } from '../../simulators/unifi/state.ts';
import { passing } from './clock.ts';
import { passTime } from './unifi-kit.ts';
import { type Refusal, stageMcp } from './unifi-mcp-kit.ts';

type Staged = Awaited<ReturnType<typeof stageMcp>>;

const client = (mac: string) => `unifi:client:${mac}`;
const device = (mac: string) => `unifi:device:${mac}`;
const isoOf = (ms: number) => new Date(Math.floor(ms / 1_000) * 1_000).toISOString();
const instant = (ms: number) => new Date(ms).toISOString();
const HOUR_MS = 3_600_000;

/** What has happened in the house before anybody asks. */
function furnish({ state }: Pick<ConsoleSimulator, 'state'>): void {
  const { laptop, camera, phone2 } = CLIENT;
  Object.assign(state.device(DEVICE.attic), { state: 0 });
  Object.assign(state.device(DEVICE.hall), { upgradable: true, upgrade_to_firmware: '7.1.66' });
  state.vouchers.push(
    { _id: 'v1', code: '1234500001', duration: 120, quota: 1, used: 0, status: 'VALID_ONE', note: 'for the guests' },
    { _id: 'v2', code: '1234500002', duration: 60, quota: 0, used: 3, status: 'USED_MULTIPLE', note: null },
  );
  state.connect(phone2);
  state.alertOfIds();
  // Half an hour ago.
  state.events.unshift({ ...state.events[0], _id: 'event-old', time: state.now() - HOUR_MS / 2 });
  const named = { domains: ['cloud.test'], host_name: 'cloud.test', ip: '198.51.100.3', port: 443, zone_name: 'WAN' };
  state.flow({ source: state.flowSource(laptop), traffic_data: { bytes_total: 5_000 } });
  state.flow({
    source: state.flowSource(laptop),
    traffic_data: { bytes_rx: '700', bytes_tx: 300 },
    direction: 'LOCAL',
  });
  state.flow({
    source: state.flowSource(camera),
    destination: named,
    action: 'BLOCK',
    risk: 'high',
    service: 'DNS',
    traffic_data: { bytes_total: 74 },
    policies: [{ name: 'no, cameras' }],
  });
  // One after the other, so that their order can be told: the log grows at its end, the newest flow is the first here.
  for (const [at, entry] of state.log.entries()) entry.timestamp += at - 10_000;
  for (const [at, flow] of state.flows.entries()) flow.time -= at * 1_000;
}

const SSIDS = { Home: 'Home', IoT: 'Things', Guest: 'Guests' } as const;

/** A client as it must be told, by what the console holds. */
const toldOf = (one: SimClient) => ({
  device: client(one.mac),
  mac: one.mac,
  name: one.name || one.hostname,
  connected: one.connected,
  presence: one.connected ? 'present' : 'not present',
  blocked: one.blocked,
  wired: one.isWired,
  guest: one.isGuest,
  ip: one.ip,
  network: one.connected ? one.network : null,
  ssid: one.connected && !one.isWired ? SSIDS[one.network] : null,
  access_point: one.connected && !one.isWired ? one.ap : null,
  signal: one.connected && !one.isWired ? one.signal : null,
  // Those who are here are seen at each look.
  last_seen: one.connected ? expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]+\.000Z$/) : isoOf(one.lastSeen),
});
const clientsWhere = (state: SimConsole, fits: (one: SimClient) => boolean) => state.clients.filter(fits).map(toldOf);

/** A device as it must be told. */
const listedOf = (state: SimConsole, of: keyof typeof DEVICE) => {
  const { mac, name, type, model, ip, version, uptime, num_sta: clients } = state.device(DEVICE[of]);
  const update = of === 'hall' ? '7.1.66' : false;
  return {
    ...{ device: device(DEVICE[of]), mac, name, type, model, ip, version, uptime, clients },
    ...{ state: of === 'attic' ? 'offline' : 'online', update },
  };
};
const ALL_DEVICES = Object.keys(DEVICE) as (keyof typeof DEVICE)[];

/** A flow as it must be told. */
function flowOf(state: SimConsole, at: number) {
  const { id, time, source } = state.flows[at] as SimFlow & { source: SimRecord };
  const { mac, ip, port, client_name: name, network_name: network, zone_name: zone } = source;
  const from = { mac, ip, port, name: name || source.host_name, network, zone };
  const common = { id, at: instant(time), ms: 1_200, protocol: 'tcp', count: 1, source: from };
  const allowed = { action: 'allowed', risk: 'low', service: 'HTTPS', policy: 'FIREWALL' };
  const example = { ip: '203.0.113.20', port: 443, name: 'example.test', domain: 'example.test', zone: 'WAN' };
  const rest = [
    { ...allowed, direction: 'outgoing', bytes: 5_000, destination: example },
    { ...allowed, direction: 'local', bytes: 1_000, destination: example },
    {
      ...{ action: 'blocked', risk: 'high', service: 'DNS', policy: 'no, cameras', direction: 'outgoing', bytes: 74 },
      destination: { ip: '198.51.100.3', port: 443, name: 'cloud.test', domain: 'cloud.test', zone: 'WAN' },
    },
  ];
  return { ...common, ...rest[at] };
}

const csvRow = (state: SimConsole, at: number) => {
  const { id, time, source } = state.flows[at] as SimFlow & { source: SimRecord };
  const from = `${source.client_name},${source.ip}`;
  const to = 'example.test,203.0.113.20,443,FIREWALL';
  const iso = new Date(time).toISOString();
  return [
    `${id},${iso},allowed,low,outgoing,tcp,HTTPS,5000,${from},${to}`,
    `${id},${iso},allowed,low,local,tcp,HTTPS,1000,${from},${to}`,
    `${id},${iso},blocked,high,outgoing,tcp,DNS,74,${from},cloud.test,198.51.100.3,443,"no, cameras"`,
  ][at];
};
const CSV_HEAD =
  'id,at,action,risk,direction,protocol,service,bytes,source,source_ip,destination,destination_ip,destination_port,policy';

const network = (name: string, vlan: number, clients: number) => ({
  ...{ id: `net-${name.toLowerCase()}`, name, vlan, clients, subnet: '192.0.2.1/24', dhcp: true, enabled: true },
  purpose: name === 'Guest' ? 'guest' : 'corporate',
});
const wlan = (id: string, name: string, clients: number) => ({
  ...{ device: `unifi:wlan:${id}`, name, clients, enabled: true, security: 'wpapsk', wpa: 'wpa2', hidden: null },
  guest: name === 'Guests',
});
const policy = (id: string, name: string, from: string, to: string, index: number) => ({
  ...{ id, name, from, to, index, protocol: 'all', action: 'BLOCK' },
  ...{ enabled: id !== 'policy-web', built_in: id === 'policy-built-in' },
});
const POLICIES = [
  policy('policy-iot', 'IoT to Home', 'IoT', 'Home', 10_000),
  policy('policy-web', 'Games after nine', 'Home', 'WAN', 10_001),
  policy('policy-built-in', 'Block invalid traffic', 'WAN', 'Home', 30_000),
];
const HEALTH = {
  ...{ wlanStatus: 'ok', lanStatus: 'ok', wanStatus: 'ok', wwwStatus: 'ok', vpnStatus: 'unknown' },
  ...{ connectivity: 'online', provider: 'Example Fibre', version: '9.0.114' },
  ...{ clients: 10, guests: 1, latency: 9, download: 999, upload: 1_017 },
};
const wired = (from: string, to: string, port: number | null) => ({ from, to, how: 'wired', port });
const wireless = (from: string, to: string) => ({ from, to, how: 'wireless', port: null });
const event = (state: SimConsole, at: number, category: string | null) => {
  const { _id: id, time, key } = state.events[at] as Record<string, unknown>;
  return { id, at: instant(time as number), name: key, category, severity: null, text: key };
};

/** Each operation, with arguments and what must come back; several rows where filters matter. */
const ROWS: readonly (readonly [name: string, args: object, answer: (state: SimConsole) => object])[] = [
  ['list_unifi_sites', {}, () => ({ sites: [{ name: 'default', title: 'Home', is_ours: true }], version: '9.0.114' })],
  ['list_unifi_devices', {}, state => ({ devices: ALL_DEVICES.map(of => listedOf(state, of)), total: 6 })],
  ['list_unifi_devices', { type: 'usw' }, state => ({ devices: [listedOf(state, 'switch')], total: 1 })],
  ['list_unifi_devices', { limit: 1, offset: 2 }, state => ({ devices: [listedOf(state, 'hall')], total: 6 })],
  [
    'get_unifi_device',
    { device: device(DEVICE.switch) },
    state => ({
      ...listedOf(state, 'switch'),
      ...{ cpu: 5.6, memory: 42.1, temperature: 46, satisfaction: 99, outlets: [] },
      uplink: { device: device(DEVICE.gateway), port: null },
      ports: (state.device(DEVICE.switch).port_table as Record<string, unknown>[]).map(one => ({
        ...{ port: one.port_idx, name: one.name, link: one.up ? 'up' : 'down', speed: one.speed },
        uplink: one.is_uplink,
        ...(one.port_poe ? { poe: one.poe_mode, watts: Number(one.poe_power) } : { poe: null, watts: null }),
      })),
    }),
  ],
  [
    'get_unifi_device',
    { device: DEVICE.strip.toUpperCase().replaceAll(':', '-') },
    state => ({
      ...listedOf(state, 'strip'),
      ...{ cpu: 5.6, memory: 42.1, temperature: null, satisfaction: 99, uplink: null, ports: [] },
      outlets: [
        { outlet: 1, name: 'Outlet 1', on: true, watts: 12.5 },
        { outlet: 2, name: 'Outlet 2', on: false, watts: null },
        { outlet: 3, name: 'Outlet 3', on: true, watts: null },
      ],
    }),
  ],
  ['list_unifi_clients', {}, state => ({ clients: clientsWhere(state, () => true), total: 12 })],
  [
    'list_unifi_clients',
    { connected: true, network: 'IoT' },
    state => ({ clients: clientsWhere(state, ({ network }) => network === 'IoT'), total: 4 }),
  ],
  [
    'list_unifi_clients',
    { connected: false },
    state => ({ clients: clientsWhere(state, one => !one.connected), total: 2 }),
  ],
  ['list_unifi_clients', { blocked: true }, state => ({ clients: clientsWhere(state, one => one.blocked), total: 1 })],
  ['list_unifi_clients', { guest: true }, state => ({ clients: clientsWhere(state, one => one.isGuest), total: 1 })],
  [
    'list_unifi_clients',
    { ssid: 'things' },
    state => ({ clients: clientsWhere(state, one => one.network === 'IoT' && !one.isWired), total: 3 }),
  ],
  [
    'list_unifi_clients',
    { limit: 2, offset: 4 },
    state => ({ clients: clientsWhere(state, () => true).slice(4, 6), total: 12 }),
  ],
  [
    'get_unifi_client',
    { device: CLIENT.phone },
    state => ({
      ...toldOf(state.client(CLIENT.phone)),
      values: {
        ...{ satisfaction: 98, channel: 44, band: '5 GHz', vlan: 1, authorized: true },
        ...{ download: 4, upload: 3, downloaded: 8_000_000, uploaded: 4_000_000 },
      },
    }),
  ],
  [
    'get_unifi_client',
    { device: 'printer' },
    state => ({
      ...toldOf(state.client(CLIENT.printer)),
      values: {
        ...{ satisfaction: 98, port: 6, wiredTo: DEVICE.switch, vlan: 1, authorized: true },
        ...{ download: 8, upload: 4, downloaded: 9_000_000, uploaded: 5_000_000 },
      },
    }),
  ],
  [
    'get_unifi_client',
    { device: client(CLIENT.tablet) },
    state => ({ ...toldOf(state.client(CLIENT.tablet)), values: {} }),
  ],
  [
    'search_unifi',
    { query: 'pHoNe' },
    () => ({
      found: [
        { device: client(CLIENT.phone), kind: 'client', name: 'Phone', mac: CLIENT.phone, ip: '192.0.2.1' },
        { device: client(CLIENT.phone2), kind: 'client', name: 'Second phone', mac: CLIENT.phone2, ip: '192.0.2.2' },
      ],
    }),
  ],
  [
    'search_unifi',
    { query: 'UP6' },
    () => ({
      found: [{ device: device(DEVICE.strip), kind: 'device', name: 'Strip', mac: DEVICE.strip, ip: '192.0.2.205' }],
    }),
  ],
  ...['00-00-5E-00-53-F5', '00005e0053f5'].map(
    query =>
      [
        'search_unifi',
        { query },
        () => ({
          found: [
            { device: device(DEVICE.strip), kind: 'device', name: 'Strip', mac: DEVICE.strip, ip: '192.0.2.205' },
          ],
        }),
      ] as const,
  ),
  [
    'search_unifi',
    { query: '192.0.2.20', limit: 1 },
    () => ({
      found: [
        { device: device(DEVICE.gateway), kind: 'device', name: 'Gateway', mac: DEVICE.gateway, ip: '192.0.2.200' },
      ],
    }),
  ],
  [
    'list_unifi_networks',
    {},
    () => ({ networks: [network('Home', 1, 5), network('IoT', 20, 4), network('Guest', 30, 1)] }),
  ],
  [
    'list_unifi_wlans',
    {},
    () => ({
      wlans: [wlan('wlan-home', 'Home', 3), wlan('wlan-things', 'Things', 3), wlan('wlan-guests', 'Guests', 1)],
    }),
  ],
  [
    'list_unifi_vouchers',
    {},
    () => ({
      vouchers: [
        { code: '1234500001', minutes: 120, uses: 1, used: 0, status: 'VALID_ONE', note: 'for the guests' },
        { code: '1234500002', minutes: 60, uses: 0, used: 3, status: 'USED_MULTIPLE', note: null },
      ],
      total: 2,
    }),
  ],
  [
    'list_unifi_vouchers',
    { offset: 1 },
    () => ({
      vouchers: [{ code: '1234500002', minutes: 60, uses: 0, used: 3, status: 'USED_MULTIPLE', note: null }],
      total: 2,
    }),
  ],
  [
    'get_unifi_health',
    {},
    () => ({ values: HEALTH, not_online: [device(DEVICE.attic)], updates: [device(DEVICE.hall)] }),
  ],
  [
    'get_unifi_wans',
    {},
    () => ({
      wans: [
        {
          device: 'unifi:wan:WAN',
          name: 'Fibre',
          values: {
            ...{ connectivity: 'online', state: 'active', active: true },
            ...{ ip: '203.0.113.7', latency: 9, availability: 100 },
          },
        },
        {
          device: 'unifi:wan:WAN2',
          name: 'LTE',
          values: {
            ...{ connectivity: 'online', state: 'backup', active: false },
            ...{ ip: '203.0.113.77', latency: 41, availability: 99.5 },
          },
        },
      ],
    }),
  ],
  [
    'list_unifi_events',
    {},
    state => ({ events: [event(state, 2, 'ips'), event(state, 1, 'wlan'), event(state, 0, 'wlan')] }),
  ],
  ['list_unifi_events', { name: 'ips' }, state => ({ events: [event(state, 2, 'ips')] })],
  ['list_unifi_events', { limit: 1 }, state => ({ events: [event(state, 2, 'ips')] })],
  [
    'list_unifi_port_forwards',
    {},
    () => ({
      forwards: [
        {
          ...{ id: 'forward-ssh', name: 'SSH', enabled: true, port: '2222', to: '192.0.2.8', to_port: '22' },
          ...{ protocol: 'tcp', from: 'any' },
        },
      ],
    }),
  ],
  ['list_unifi_firewall_policies', {}, () => ({ policies: POLICIES })],
  ['list_unifi_firewall_policies', { zone: 'iot' }, () => ({ policies: [POLICIES[0]] })],
  ['list_unifi_firewall_policies', { zone: 'zone-wan' }, () => ({ policies: POLICIES.slice(1) })],
  ['list_unifi_firewall_policies', { zone: 'Guest' }, () => ({ policies: [] })],
  [
    'list_unifi_firewall_zones',
    {},
    () => ({
      zones: ['Home', 'IoT', 'Guest', 'WAN'].map(name => ({
        ...{ id: `zone-${name.toLowerCase()}`, name, key: name.toLowerCase() },
        networks: name === 'WAN' ? [] : [name],
      })),
    }),
  ],
  [
    'list_unifi_traffic_rules',
    {},
    () => ({
      rules: [{ id: 'rule-tv', name: 'No TV at night', enabled: false, action: 'BLOCK', target: 'INTERNET' }],
      routes: [
        {
          ...{ id: 'route-vpn', name: 'Laptop by the second line', enabled: true, target: 'INTERNET' },
          network: 'net-wan2',
        },
      ],
    }),
  ],
  ['list_unifi_flows', { limit: 2 }, state => ({ flows: [0, 1].map(at => flowOf(state, at)), total: 3, more: false })],
  [
    'list_unifi_flows',
    { action: 'blocked', destination: 'CLOUD' },
    state => ({ flows: [flowOf(state, 2)], total: 1, more: false }),
  ],
  [
    'list_unifi_flows',
    { client: client(CLIENT.laptop), direction: 'local', risk: 'low', hours: 2 },
    state => ({ flows: [flowOf(state, 1)], total: 1, more: false }),
  ],
  ['list_unifi_flows', { min_bytes: 5_000 }, state => ({ flows: [flowOf(state, 0)], total: 1, more: false })],
  [
    'list_unifi_flows',
    { max_flows: 2 },
    state => ({ flows: [0, 1].map(at => flowOf(state, at)), total: 2, more: true }),
  ],
  ['get_unifi_flow', { id: 'the second' }, state => ({ flow: flowOf(state, 1) })],
  [
    'rank_unifi_flows',
    {},
    () => ({
      ranking: [
        { key: 'Laptop', flows: 2, bytes: 6_000, blocked: 0 },
        { key: 'Camera', flows: 1, bytes: 74, blocked: 1 },
      ],
      ...{ flows: 3, more: false },
    }),
  ],
  [
    'rank_unifi_flows',
    { of: 'destination', by: 'blocked', limit: 1 },
    () => ({ ranking: [{ key: 'cloud.test', flows: 1, bytes: 74, blocked: 1 }], flows: 3, more: false }),
  ],
  [
    'analyse_unifi_flows',
    {},
    () => ({
      ...{ flows: 3, bytes: 6_074, more: false },
      by_action: { allowed: 2, blocked: 1 },
      by_risk: { low: 2, high: 1 },
      by_direction: { outgoing: 2, local: 1 },
      by_protocol: { tcp: 3 },
      most_blocked: [{ key: 'Camera', flows: 1, bytes: 74, blocked: 1 }],
      blocking_policies: [{ key: 'no, cameras', flows: 1, bytes: 74, blocked: 1 }],
      risky_destinations: [{ key: 'cloud.test', flows: 1, bytes: 74, blocked: 1 }],
    }),
  ],
  [
    'export_unifi_flows',
    {},
    state => ({
      ...{ format: 'csv', flows: 3, more: false },
      content: `${[CSV_HEAD, ...[0, 1, 2].map(at => csvRow(state, at))].join('\r\n')}\r\n`,
    }),
  ],
  [
    'export_unifi_flows',
    { format: 'json', action: 'blocked' },
    state => ({
      ...{ format: 'json', flows: 1, more: false },
      content: expect.toSatisfy((text: string) => isDeepStrictEqual(JSON.parse(text), [flowOf(state, 2)])),
    }),
  ],
  ['get_unifi_flow_trends', {}, () => ({ told: 'off', steps: [], flows: 0, more: false })],
  [
    'block_unifi_flow',
    { id: 'the second', what: 'destination', for: 'client', minutes: 30, confirm: true },
    state => ({
      flow: state.flows[1]?.id,
      ...{ device: 'unifi:site:default', command: 'blockDestination', outcome: 'ok' },
      ends_at: expect.stringMatching(/^\d{4}-/),
      args: expect.toSatisfy(
        (args: unknown) =>
          isDeepStrictEqual(args, { destination: 'example.test', client: CLIENT.laptop, minutes: 30 }) &&
          state.objects['firewall-policies'].some(
            ({ name }) => name === `Causeway: example.test for ${CLIENT.laptop} (Home)`,
          ),
      ),
    }),
  ],
  [
    'get_unifi_topology',
    { clients: false },
    state => ({
      vertices: ALL_DEVICES.map(of => ({
        ...{ id: device(DEVICE[of]), name: state.device(DEVICE[of]).name, kind: state.device(DEVICE[of]).type },
      })),
      edges: [
        wired(device(DEVICE.gateway), device(DEVICE.switch), null),
        wired(device(DEVICE.switch), device(DEVICE.hall), 2),
        wired(device(DEVICE.switch), device(DEVICE.attic), 3),
      ],
    }),
  ],
  [
    'get_unifi_topology',
    {},
    state => ({
      vertices: expect.toSatisfy((all: unknown[]) => all.length === 6 + 10),
      edges: expect.arrayContaining([
        wired(device(DEVICE.gateway), device(DEVICE.switch), null),
        ...state.clients
          .filter(({ connected }) => connected)
          .map(({ mac, isWired, ap, port }) =>
            isWired ? wired(device(DEVICE.switch), client(mac), port) : wireless(device(ap), client(mac)),
          ),
      ]),
    }),
  ],
  [
    'get_unifi_topology',
    { format: 'dot', clients: false },
    () => ({
      content: expect.stringMatching(
        /^digraph network \{\n {2}"unifi:device:00:00:5e:00:53:f0" \[label="Gateway", shape=box\];\n[\s\S]+ \[style=solid, label="3"\];\n\}\n$/,
      ),
    }),
  ],
  [
    'get_unifi_topology',
    { format: 'graphml', clients: false },
    () => ({
      content: expect.stringContaining(
        `<edge source="${device(DEVICE.switch)}" target="${device(DEVICE.hall)}"><data key="how">wired</data><data key="port">2</data></edge>`,
      ),
    }),
  ],
];

const NOBODY = '00:00:5e:00:53:ee';
const no = (code: string, path: string, hint?: string): Partial<Refusal> => ({
  ...{ code, path },
  ...(hint !== undefined && { hint: expect.stringContaining(hint) as unknown as string }),
});

/** What is refused, and how. */
const REFUSED: readonly (readonly [name: string, args: object, error: Partial<Refusal>])[] = [
  ['list_unifi_sites', { fresh: 'yes' }, no('INPUT_INVALID', 'fresh')],
  ['list_unifi_devices', { limit: 0 }, no('INPUT_INVALID', 'limit')],
  ['list_unifi_devices', { offset: -1 }, no('INPUT_INVALID', 'offset')],
  ['get_unifi_device', {}, no('INPUT_INVALID', 'device')],
  ['get_unifi_device', { device: 'the switch' }, no('INPUT_INVALID', 'device', 'MAC')],
  ['get_unifi_device', { device: device(NOBODY) }, no('NOT_FOUND', 'device', 'list_unifi_devices')],
  ['get_unifi_device', { device: `cabin:device:${DEVICE.switch}` }, no('INPUT_INVALID', 'device', 'cabin')],
  ['list_unifi_clients', { connected: 'yes' }, no('INPUT_INVALID', 'connected')],
  ['get_unifi_client', { device: 'unifi:site:default' }, no('INPUT_INVALID', 'device', 'unifi:client:')],
  ['get_unifi_client', { device: NOBODY }, no('NOT_FOUND', 'device', 'list_unifi_clients')],
  ['search_unifi', { query: 'x' }, no('INPUT_INVALID', 'query')],
  ['list_unifi_networks', { fresh: 1 }, no('INPUT_INVALID', 'fresh')],
  ['list_unifi_wlans', { fresh: 1 }, no('INPUT_INVALID', 'fresh')],
  ['list_unifi_vouchers', { limit: 501 }, no('INPUT_INVALID', 'limit')],
  ['get_unifi_health', { site: 'default' }, no('INPUT_INVALID', 'site')],
  ['get_unifi_wans', { wan: 'WAN2' }, no('INPUT_INVALID', 'wan')],
  ['list_unifi_events', { hours: 721 }, no('INPUT_INVALID', 'hours')],
  ['list_unifi_port_forwards', { name: 'SSH' }, no('INPUT_INVALID', 'name')],
  ['list_unifi_firewall_policies', { zone: 'Hom' }, no('NOT_FOUND', 'zone', '"Home"')],
  ['list_unifi_firewall_zones', { zone: 'Home' }, no('INPUT_INVALID', 'zone')],
  ['list_unifi_traffic_rules', { fresh: null }, no('INPUT_INVALID', 'fresh')],
  ['list_unifi_flows', { risk: 'critical' }, no('INPUT_INVALID', 'risk')],
  ['list_unifi_flows', { hours: 0 }, no('INPUT_INVALID', 'hours')],
  ['list_unifi_flows', { client: 'the laptop' }, { code: 'INPUT_INVALID' }],
  ['get_unifi_flow', { id: 'flow-none' }, no('NOT_FOUND', 'id', 'hours')],
  ['rank_unifi_flows', { of: 'country' }, no('INPUT_INVALID', 'of')],
  ['analyse_unifi_flows', { max_flows: 50_001 }, no('INPUT_INVALID', 'max_flows')],
  ['export_unifi_flows', { format: 'xlsx' }, no('INPUT_INVALID', 'format')],
  ['get_unifi_flow_trends', { step: 'week' }, no('INPUT_INVALID', 'step')],
  ['block_unifi_flow', { id: 'flow-none', what: 'source' }, { code: 'CONFIRM_REQUIRED' }],
  ['block_unifi_flow', { id: 'flow-none', what: 'source', confirm: true }, no('NOT_FOUND', 'id', 'hours')],
  ['block_unifi_flow', { id: 'flow-1', what: 'port', confirm: true }, no('INPUT_INVALID', 'what')],
  ['get_unifi_topology', { format: 'svg' }, no('INPUT_INVALID', 'format')],
];

/** What of the console each answer that is kept for a while comes from. */
const KEPT: readonly (readonly [name: string, args: object, path: string])[] = [
  ['list_unifi_sites', {}, 'self/sites'],
  ['list_unifi_clients', {}, 'rest/user'],
  ['get_unifi_client', { device: CLIENT.phone }, 'rest/user'],
  ['list_unifi_networks', {}, 'rest/networkconf'],
  ['list_unifi_wlans', {}, 'rest/wlanconf'],
  ['list_unifi_port_forwards', {}, 'rest/portforward'],
  ['list_unifi_firewall_policies', {}, 'firewall-policies'],
  ['list_unifi_firewall_zones', {}, 'firewall/zone'],
  ['list_unifi_traffic_rules', {}, 'trafficrules'],
];

const NAMES = unifiOperations.map(({ name }) => name);
/** The first arguments of each operation that it can be called with. */
const argsOf = (name: string): object => ROWS.find(([one]) => one === name)?.[1] ?? {};
/** Ids of flows are of the console’s making. */
const settled = (args: object, { flows }: SimConsole): object =>
  'id' in args && args.id === 'the second' ? { ...args, id: flows[1]?.id } : args;

describe('a gateway with one console', () => {
  let staged: Staged;
  let console: ConsoleSimulator;
  beforeAll(async () => {
    staged = await stageMcp({ unifi: { prepare: furnish } }, { aliases: { printer: client(CLIENT.printer) } });
    console = staged.consoles.get('unifi') as ConsoleSimulator;
  });
  afterAll(() => staged.end());

  test('has a row here for each operation, one that is answered and one that is refused', () => {
    expect([...new Set(ROWS.map(([name]) => name))]).toEqual(NAMES);
    expect([...new Set(REFUSED.map(([name]) => name))]).toEqual(NAMES);
  });

  test('has its operations in the catalogue, found by their names and by words', async () => {
    for (const { name, title, effect } of unifiOperations) {
      const { structuredContent } = await staged.tool('search_tools', { query: name.replaceAll('_', ' ') });
      const found = structuredContent.operations.find((one: { name: string }) => one.name === name);
      expect(found, name).toMatchObject({ title, effect, call_with: `call_${effect}_tool` });
      const { input_schema: schema } = await staged.describeTool(name);
      expect(Object.keys(schema.properties), name).toContain('backend');
    }
  });

  test('lists which of its answers are kept, and takes fresh for each of these alone', async () => {
    const takers: string[] = [];
    for (const name of NAMES)
      if ('fresh' in (await staged.describeTool(name)).input_schema.properties) takers.push(name);
    expect(KEPT.map(([name]) => name)).toEqual(takers);
  });

  test.each(ROWS)('%s %o', async (name, args, answer) => {
    await staged.calm();
    expect(await staged.ask(name, settled(args, console.state))).toEqual(answer(console.state));
    expect(console.strangers).toEqual([]);
  });

  test.each(REFUSED)('%s %o is refused', async (name, args, error) => {
    const refused = await staged.refusal(name, args);
    expect(refused).toMatchObject(error);
    // A value that does not fit is answered with those that do.
    expect(refused.hint ?? refused.message).toMatch(refused.hint === undefined ? /expected / : /./);
  });

  test.each(NAMES)('%s names an argument that it does not have, and a backend that there is not', async name => {
    const args = settled(argsOf(name), console.state);
    expect(await staged.refusal(name, { ...args, bakend: 'unifi' })).toMatchObject({
      code: 'INPUT_INVALID',
      path: 'bakend',
      hint: expect.stringContaining('backend'),
    });
    expect(await staged.refusal(name, { ...args, backend: 'unify' })).toMatchObject({
      code: 'NOT_FOUND',
      path: 'backend',
      hint: expect.stringContaining('"unifi"'),
    });
  });

  test.each(KEPT)('%s is answered from memory, and by the console with fresh', async (name, args, path) => {
    await staged.calm();
    const asked = () => console.requests.filter(line => line.endsWith(path)).length;
    await staged.ask(name, { ...args, fresh: true });
    const before = asked();
    await staged.ask(name, args);
    expect(asked()).toBe(before);
    await staged.ask(name, { ...args, fresh: true });
    expect(asked()).toBe(before + 1);
  });

  test('tells with fresh what was changed at the console itself', async () => {
    await staged.calm();
    const enabled = async (args: object) =>
      (await staged.ask('list_unifi_port_forwards', args)).forwards.map((one: { enabled: boolean }) => one.enabled);
    expect(await enabled({ fresh: true })).toEqual([true]);
    Object.assign(console.state.objects.portforward[0] as object, { enabled: false });
    expect(await enabled({})).toEqual([true]);
    expect(await enabled({ fresh: true })).toEqual([false]);
  });
});

test('events before Network 10 are of the time that was asked for, though such consoles count whole hours', async () => {
  const staged = await stageMcp({ unifi: { prepare: furnish } });
  const { state } = staged.consoles.get('unifi') as ConsoleSimulator;
  expect(await staged.ask('list_unifi_events', { hours: 0.25 })).toEqual({
    events: [event(state, 2, 'ips'), event(state, 1, 'wlan')],
  });
  await staged.end();
});

test('a console of Network 10 tells of events by its log', async () => {
  const staged = await stageMcp({ unifi: { profile: 'network10', prepare: furnish } });
  const { state } = staged.consoles.get('unifi') as ConsoleSimulator;
  const [connected, threat] = state.log.map(({ id, timestamp }) => ({ id, at: instant(timestamp) }));
  expect(await staged.ask('list_unifi_events')).toEqual({
    events: [
      { ...threat, name: 'THREAT_DETECTED', category: 'SECURITY', severity: 'HIGH', text: '' },
      { ...connected, name: 'CLIENT_CONNECTED', category: 'CLIENT_DEVICES', severity: 'LOW', text: '' },
    ],
  });
  expect((await staged.ask('list_unifi_events', { name: 'threat' })).events).toHaveLength(1);
  for (let i = 0; i < 250; i++)
    state.logEntry({ event: `NOISE_${i}`, key: 'NOISE', timestamp: state.now() - 60_000 + i });
  const { events } = await staged.ask('list_unifi_events', { limit: 150 });
  const noise = events.map(({ name }: { name: string }) => name).filter((name: string) => name.startsWith('NOISE'));
  expect(events).toHaveLength(150);
  expect(noise).toEqual(Array.from({ length: 148 }, (_, i) => `NOISE_${249 - i}`));
  expect(await staged.ask('list_unifi_sites')).toMatchObject({ version: '10.0.162' });
  await staged.end();
});

describe('a gateway that follows the flows of a console', () => {
  test('tells them as they end to who has subscribed, counts them, and says of a block when it ends', async () => {
    const staged = await stageMcp({ unifi: { settings: { flows: 'blocked' } } });
    const console = staged.consoles.get('unifi') as ConsoleSimulator;
    const { state } = console;
    const uri = 'unififlows://unifi/blocked';
    const told = await staged.subscribe(uri);
    const { id } = state.flow({ action: 'blocked', source: state.flowSource(CLIENT.camera) });
    await passTime(staged.clock, console, 16_000);
    await eventually(() => told.includes(uri), 'the update');
    expect(await staged.read(uri)).toMatchObject({ told: 'blocked', flows: [{ id, source: { mac: CLIENT.camera } }] });
    expect(await staged.ask('get_unifi_flow_trends', { hours: 1 })).toEqual({
      told: 'blocked',
      steps: [{ at: expect.any(String), flows: 1, blocked: 1, risky: 0, bytes: 10_731, clients: 1 }],
      ...{ flows: 1, more: false },
    });
    const block = { id, what: 'source', minutes: 2, confirm: true };
    expect(await staged.ask('block_unifi_flow', { ...block, dry_run: true })).toMatchObject({ command: 'blockClient' });
    expect(state.client(CLIENT.camera).blocked).toBe(false);
    const { ends_at: endsAt } = await staged.ask('block_unifi_flow', block);
    expect(state.client(CLIENT.camera).blocked).toBe(true);
    const { ending } = await staged.ask('get_device', { device: 'unifi:site:default' });
    expect(ending).toEqual([{ command: 'unblockClient', args: { mac: CLIENT.camera }, at: endsAt }]);
    expect(Date.parse(ending[0].at) - staged.clock.now()).toBeGreaterThan(110_000);
    await passTime(staged.clock, console, 125_000);
    await eventually(() => !state.client(CLIENT.camera).blocked, 'the end of the block');
    await staged.end();
  });
});

test('what the console pushes of a change is told from then on, without fresh', async () => {
  const staged = await stageMcp({ unifi: {} });
  const { state } = staged.consoles.get('unifi') as ConsoleSimulator;
  const guests = async () =>
    (await staged.ask('list_unifi_wlans')).wlans.find((one: { name: string }) => one.name === 'Guests').enabled;
  const isBlocked = async () => (await staged.ask('get_unifi_client', { device: CLIENT.tv })).blocked;
  expect([await guests(), await isBlocked()]).toEqual([true, false]);
  state.setWlan('wlan-guests', false);
  state.setBlocked(CLIENT.tv, true);
  await eventually(async () => !(await guests()) && (await isBlocked()), 'the change');
  await staged.end();
});

test('while the console is gone, each operation says so, and what to do', async () => {
  const staged = await stageMcp({ unifi: { prepare: furnish } });
  const console = staged.consoles.get('unifi') as ConsoleSimulator;
  const { state } = console;
  await console.down();
  await staged.clock.jump(31_000);
  await passing(staged.clock, () => !staged.isReady('unifi'), 'offline');
  // What the gateway itself has written down is there all the same.
  expect(await staged.ask('get_unifi_flow_trends')).toMatchObject({ told: 'off' });
  for (const name of NAMES.filter(one => one !== 'get_unifi_flow_trends')) {
    expect(await staged.refusal(name, settled(argsOf(name), state)), name).toMatchObject({
      code: 'BACKEND_OFFLINE',
      message: expect.stringContaining('unifi'),
      hint: expect.stringContaining('state of the backend'),
    });
  }
  await console.up();
  await passing(staged.clock, () => staged.isReady('unifi'), 'online');
  expect(await staged.ask('list_unifi_devices', { type: 'usw' })).toMatchObject({ total: 1 });
  await staged.end();
});

describe('a gateway with two consoles', () => {
  let staged: Staged;
  beforeAll(async () => {
    staged = await stageMcp({
      unifi: { prepare: furnish },
      cabin: {
        prepare: console => {
          furnish(console);
          console.state.client(CLIENT.phone).name = 'Phone of the cabin';
        },
      },
    });
  });
  afterAll(() => staged.end());

  test.each(NAMES)('%s wants to know which one is meant, and then asks that one', async name => {
    await staged.calm();
    const consoles = [...staged.consoles.entries()] as [string, ConsoleSimulator][];
    const [, { state }] = consoles[0] as [string, ConsoleSimulator];
    // A device says by its id whose it is; here it is said by the MAC alone.
    const args = Object.fromEntries(
      Object.entries(settled(argsOf(name), state)).map(([key, one]) => [
        key,
        key === 'device' ? String(one).slice(-17) : one,
      ]),
    );
    expect(await staged.refusal(name, args)).toMatchObject({
      code: 'INPUT_INVALID',
      message: expect.stringContaining('unifi, cabin'),
      path: 'backend',
      hint: expect.stringContaining('which one'),
    });
    const answers: string[] = [];
    for (const [backend] of consoles) answers.push(JSON.stringify(await staged.ask(name, { ...args, backend })));
    for (const [at, [backend]] of consoles.entries()) {
      const others = consoles.filter(([id]) => id !== backend).map(([id]) => `"${id}:`);
      for (const other of others) expect(answers[at]).not.toContain(other);
    }
  });

  test('a device of the one is none of the other', async () => {
    const asked = { device: `unifi:client:${CLIENT.phone}`, backend: 'cabin' };
    expect(await staged.refusal('get_unifi_client', asked)).toMatchObject({
      code: 'INPUT_INVALID',
      path: 'device',
      hint: expect.stringContaining('backend: "unifi"'),
    });
    expect(await staged.ask('get_unifi_client', { device: CLIENT.phone, backend: 'cabin' })).toMatchObject({
      device: `cabin:client:${CLIENT.phone}`,
      name: 'Phone of the cabin',
    });
    expect(await staged.ask('get_unifi_client', { device: CLIENT.phone, backend: 'unifi' })).toMatchObject({
      name: 'Phone',
    });
  });
});
