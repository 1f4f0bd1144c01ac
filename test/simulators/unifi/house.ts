// The seeded house of a simulated console: a gateway with two WANs, a switch with PoE, two access points, a plug, a strip,
// and a dozen clients. MACs are of the range for documentation (RFC 7042), addresses of RFC 5737.
import type { SimConsole } from './state.ts';

/** A record as a console has it. */
export type SimRecord = Record<string, unknown>;

const mac = (last: string) => `00:00:5e:00:53:${last}`;

/** Devices by what they are. */
export const DEVICE = {
  gateway: mac('f0'),
  switch: mac('f1'),
  hall: mac('f2'),
  attic: mac('f3'),
  plug: mac('f4'),
  strip: mac('f5'),
} as const;

/** Clients by what they are; `server` is the host that the gateway of the tests runs on. */
export const CLIENT = {
  phone: mac('01'),
  phone2: mac('02'),
  laptop: mac('03'),
  tablet: mac('04'),
  tv: mac('05'),
  printer: mac('06'),
  camera: mac('07'),
  server: mac('08'),
  thermostat: mac('09'),
  bulb: mac('0a'),
  guest: '02:00:5e:00:53:0b',
  blocked: mac('0c'),
} as const;

/** A client and where it is. */
export interface SimClient {
  readonly mac: string;
  readonly _id: string;
  name: string;
  hostname: string;
  readonly oui: string;
  ip: string;
  readonly isWired: boolean;
  isGuest: boolean;
  authorized: boolean;
  blocked: boolean;
  network: 'Home' | 'IoT' | 'Guest';
  connected: boolean;
  /** Connected and silent: `last_seen` stands still. */
  asleep: boolean;
  /** Listed as wired though it is not: what consoles do with wireless clients that leave. */
  wiredBug: boolean;
  ap: string;
  port: number;
  signal: number;
  firstSeen: number;
  /** Epoch ms at the console. */
  lastSeen: number;
  connectedAt: number;
  /** What its rows have beside. */
  more?: SimRecord;
}

const SSIDS = { Home: 'Home', IoT: 'Things', Guest: 'Guests' } as const;
const VLANS = { Home: 1, IoT: 20, Guest: 30 } as const;
export const networkId = (name: string) => `net-${name.toLowerCase()}`;

/** The dozen. */
export function simClients(now: number): SimClient[] {
  const client = (of: keyof typeof CLIENT, rest: Partial<SimClient>): SimClient => {
    const address = CLIENT[of];
    return {
      mac: address,
      _id: `user-${of}`,
      name: '',
      hostname: of,
      oui: 'Example',
      ip: `192.0.2.${Number.parseInt(address.slice(-2), 16)}`,
      isWired: false,
      isGuest: false,
      authorized: true,
      blocked: false,
      network: 'Home',
      connected: true,
      asleep: false,
      wiredBug: false,
      ap: DEVICE.hall,
      port: 0,
      signal: -58,
      firstSeen: now - 90 * 86_400_000,
      lastSeen: now,
      connectedAt: now - 3_600_000,
      ...rest,
    };
  };
  const away = { connected: false, lastSeen: now - 7_200_000 };
  return [
    client('phone', { name: 'Phone' }),
    client('phone2', { name: 'Second phone', ...away }),
    client('laptop', { name: 'Laptop', ap: DEVICE.attic }),
    client('tablet', { name: 'Tablet', ...away }),
    client('tv', { hostname: 'living-tv', network: 'IoT' }),
    client('printer', { name: 'Printer', isWired: true, port: 6 }),
    client('camera', { name: 'Camera', isWired: true, port: 4, network: 'IoT' }),
    client('server', { name: 'Server', isWired: true, port: 5 }),
    client('thermostat', { name: 'Thermostat', network: 'IoT' }),
    client('bulb', { hostname: 'bulb', network: 'IoT', ap: DEVICE.attic, signal: -74 }),
    client('guest', { hostname: 'visitor', isGuest: true, authorized: false, network: 'Guest' }),
    client('blocked', { name: 'Old console', blocked: true, ...away }),
  ];
}

/** A client as `stat/sta` tells it. */
export function staOf(client: SimClient, now: number): SimRecord {
  const seen = Math.floor(client.lastSeen / 1_000);
  const wired = client.isWired || client.wiredBug;
  return {
    _id: client._id,
    mac: client.mac,
    name: client.name,
    hostname: client.hostname,
    oui: client.oui,
    ip: client.ip,
    is_wired: wired,
    is_guest: client.isGuest,
    authorized: client.authorized,
    ...(client.blocked && { blocked: true }),
    network: client.network,
    network_id: networkId(client.network),
    vlan: VLANS[client.network],
    first_seen: Math.floor(client.firstSeen / 1_000),
    last_seen: seen,
    uptime: Math.floor((now - client.connectedAt) / 1_000),
    satisfaction: 98,
    ...(wired
      ? {
          sw_mac: DEVICE.switch,
          sw_port: client.port || 3,
          sw_depth: 1,
          _last_seen_by_usw: seen,
          'wired-rx_bytes': 5_000_000,
          'wired-tx_bytes': 9_000_000,
          'wired-rx_bytes-r': client.wiredBug ? 0 : 512,
          'wired-tx_bytes-r': client.wiredBug ? 0 : 1_024,
          wired_rate_mbps: 1_000,
        }
      : {
          essid: SSIDS[client.network],
          ap_mac: client.ap,
          bssid: client.ap,
          channel: client.ap === DEVICE.hall ? 44 : '6',
          radio: client.ap === DEVICE.hall ? 'na' : 'ng',
          signal: client.signal,
          rssi: client.signal + 96,
          noise: -96,
          _last_seen_by_uap: seen,
          rx_bytes: 4_000_000,
          tx_bytes: 8_000_000,
          'rx_bytes-r': 326,
          'tx_bytes-r': 483,
          roam_count: 0,
        }),
    ...client.more,
  };
}

/** A client as `rest/user` tells it. */
export const userOf = (client: SimClient): SimRecord => ({
  _id: client._id,
  mac: client.mac,
  ...(client.name !== '' && { name: client.name, noted: true }),
  hostname: client.hostname,
  oui: client.oui,
  is_wired: client.isWired,
  is_guest: client.isGuest,
  ...(client.blocked && { blocked: true }),
  first_seen: Math.floor(client.firstSeen / 1_000),
  last_seen: Math.floor(client.lastSeen / 1_000),
  last_ip: client.ip,
});

const port = (index: number, rest: SimRecord = {}): SimRecord => ({
  port_idx: index,
  name: `Port ${index}`,
  enable: true,
  up: true,
  speed: 1_000,
  full_duplex: true,
  is_uplink: false,
  port_poe: true,
  poe_enable: false,
  poe_mode: 'auto',
  poe_power: '0.00',
  poe_good: false,
  portconf_id: 'profile-all',
  'rx_bytes-r': 100,
  'tx_bytes-r': 200,
  ...rest,
});
const powered = (watts: string): SimRecord => ({ poe_enable: true, poe_power: watts, poe_good: true });
const outlet = (index: number, on: boolean, metered = false): SimRecord => ({
  index,
  name: `Outlet ${index}`,
  has_relay: true,
  has_metering: metered,
  relay_state: on,
  cycle_enabled: false,
  ...(metered && { outlet_power: '12.500' }),
});

/** The devices. */
export function simDevices(now: number): SimRecord[] {
  const device = (of: keyof typeof DEVICE, type: string, name: string, rest: SimRecord): SimRecord => ({
    _id: `device-${of}`,
    mac: DEVICE[of],
    type,
    name,
    model: 'SIM',
    version: '7.0.66',
    ip: `192.0.2.${200 + Object.keys(DEVICE).indexOf(of)}`,
    adopted: true,
    state: 1,
    uptime: 400_000,
    last_seen: Math.floor(now / 1_000),
    next_interval: 25,
    upgradable: false,
    locating: false,
    led_override: 'default',
    satisfaction: 99,
    num_sta: 4,
    'system-stats': { cpu: '5.6', mem: '42.1', uptime: '400000' },
    port_table: [],
    port_overrides: [],
    x_authkey: 'never-to-be-seen',
    x_ssh_hostkey_fingerprint: 'never-to-be-seen',
    ...rest,
  });
  return [
    device('gateway', 'udm', 'Gateway', {
      general_temperature: 51,
      uplink: { type: 'wire', up: true, port_idx: 9, latency: 9 },
      wan1: { up: true, ip: '203.0.113.7', ifname: 'eth8', latency: 9 },
      wan2: { up: true, ip: '203.0.113.77', ifname: 'eth9', latency: 41 },
      last_wan_status: { WAN: 'online', WAN2: 'online' },
      'speedtest-status': { xput_download: 0, xput_upload: 0, latency: 0, rundate: 0 },
    }),
    device('switch', 'usw', 'Switch', {
      general_temperature: 46,
      overheating: false,
      total_max_power: 60,
      uplink: { type: 'wire', up: true, port_idx: 1, uplink_mac: DEVICE.gateway },
      port_table: [
        port(1, { is_uplink: true, poe_mode: 'off' }),
        port(2, powered('5.10')),
        port(3, powered('4.90')),
        port(4, powered('3.24')),
        port(5, { poe_mode: 'off' }),
        port(6),
        port(7, { up: false, speed: 0 }),
        port(8, { up: false, speed: 0, port_poe: false, poe_mode: undefined, poe_power: undefined }),
      ],
      port_overrides: [
        { port_idx: 4, name: 'Port 4', poe_mode: 'auto', portconf_id: 'profile-iot' },
        { port_idx: 5, poe_mode: 'off', portconf_id: 'profile-all' },
      ],
    }),
    device('hall', 'uap', 'Hall AP', { uplink: { type: 'wire', uplink_mac: DEVICE.switch, uplink_remote_port: 2 } }),
    device('attic', 'uap', 'Attic AP', { uplink: { type: 'wire', uplink_mac: DEVICE.switch, uplink_remote_port: 3 } }),
    device('plug', 'uap', 'Modem plug', { model: 'UP1', outlet_table: [outlet(1, true)], outlet_overrides: [] }),
    device('strip', 'uap', 'Strip', {
      model: 'UP6',
      outlet_table: [outlet(1, true, true), outlet(2, false), outlet(3, true)],
      outlet_overrides: [{ index: 1, name: 'Outlet 1', relay_state: true, cycle_enabled: false }],
    }),
  ];
}

/** The WLANs. */
export const simWlans = (): SimRecord[] =>
  [
    { _id: 'wlan-home', name: 'Home', is_guest: false },
    { _id: 'wlan-things', name: 'Things', is_guest: false },
    { _id: 'wlan-guests', name: 'Guests', is_guest: true },
  ].map(wlan => ({ ...wlan, enabled: true, security: 'wpapsk', wpa_mode: 'wpa2', x_passphrase: 'never-to-be-seen' }));

/** Networks, as `rest/networkconf` tells them. */
export const simNetworks = (): SimRecord[] =>
  (['Home', 'IoT', 'Guest'] as const).map(name => ({
    _id: networkId(name),
    name,
    purpose: name === 'Guest' ? 'guest' : 'corporate',
    vlan: VLANS[name],
    enabled: true,
    ip_subnet: '192.0.2.1/24',
    dhcpd_enabled: true,
  }));

const everyDay = { mode: 'ALWAYS', repeat_on_days: [], time_all_day: false };
const anyZone = (zone: string) => ({ zone_id: zone, matching_target: 'ANY', port_matching_type: 'ANY' });

/** What can be switched by writing the whole object back, by the last part of its path. */
export const simObjects = () => ({
  'firewall-policies': [
    {
      _id: 'policy-iot',
      name: 'IoT to Home',
      enabled: true,
      action: 'BLOCK',
      index: 10_000,
      protocol: 'all',
      ip_version: 'BOTH',
      predefined: false,
      create_allow_respond: false,
      connection_state_type: 'ALL',
      schedule: everyDay,
      source: anyZone('zone-iot'),
      destination: anyZone('zone-home'),
    },
    {
      _id: 'policy-web',
      name: 'Games after nine',
      enabled: false,
      action: 'BLOCK',
      index: 10_001,
      protocol: 'all',
      ip_version: 'BOTH',
      predefined: false,
      create_allow_respond: false,
      connection_state_type: 'ALL',
      schedule: everyDay,
      source: anyZone('zone-home'),
      destination: { ...anyZone('zone-wan'), matching_target: 'WEB' },
    },
    {
      _id: 'policy-built-in',
      name: 'Block invalid traffic',
      enabled: true,
      action: 'BLOCK',
      index: 30_000,
      protocol: 'all',
      ip_version: 'BOTH',
      predefined: true,
      create_allow_respond: false,
      connection_state_type: 'CUSTOM',
      schedule: everyDay,
      source: anyZone('zone-wan'),
      destination: anyZone('zone-home'),
    },
  ] as SimRecord[],
  trafficrules: [
    {
      _id: 'rule-tv',
      description: 'No TV at night',
      enabled: false,
      action: 'BLOCK',
      matching_target: 'INTERNET',
      target_devices: [{ client_mac: CLIENT.tv, type: 'CLIENT' }],
      schedule: everyDay,
      bandwidth_limit: { enabled: false, download_limit_kbps: 1024, upload_limit_kbps: 1024 },
    },
  ] as SimRecord[],
  trafficroutes: [
    {
      _id: 'route-vpn',
      description: 'Laptop by the second line',
      enabled: true,
      matching_target: 'INTERNET',
      target_devices: [{ client_mac: CLIENT.laptop, type: 'CLIENT' }],
      network_id: 'net-wan2',
    },
  ] as SimRecord[],
  portforward: [
    {
      _id: 'forward-ssh',
      name: 'SSH',
      enabled: true,
      dst_port: '2222',
      fwd: '192.0.2.8',
      fwd_port: '22',
      proto: 'tcp',
      src: 'any',
      pfwd_interface: 'wan',
    },
  ] as SimRecord[],
});

/** Zones, as the internal API tells them. */
export const simZones = (): SimRecord[] =>
  (['Home', 'IoT', 'Guest', 'WAN'] as const).map(name => ({
    _id: `zone-${name.toLowerCase()}`,
    name,
    zone_key: name.toLowerCase(),
    default_zone: true,
    network_ids: name === 'WAN' ? [] : [networkId(name)],
    external_id: `00000000-0000-4000-8000-00000000000${['Home', 'IoT', 'Guest', 'WAN'].indexOf(name)}`,
  }));

/** The health of the subsystems. */
export const simHealth = (console: Pick<SimConsole, 'clients' | 'wans'>): SimRecord[] => {
  const online = console.clients.filter(({ connected }) => connected);
  const isUp = console.wans.some(({ state }) => state === 'ACTIVE');
  return [
    { subsystem: 'wlan', status: 'ok', num_user: online.filter(({ isWired }) => !isWired).length, num_ap: 2 },
    {
      subsystem: 'wan',
      status: isUp ? 'ok' : 'error',
      wan_ip: '203.0.113.7',
      isp_name: 'Example Fibre',
      uptime_stats: {
        WAN: { availability: 100, latency_average: 9, uptime: 492_522 },
        WAN2: { availability: 99.5, latency_average: 41, uptime: 492_522 },
      },
    },
    {
      subsystem: 'www',
      status: isUp ? 'ok' : 'error',
      latency: 9,
      drops: 1,
      uptime: 492_506,
      xput_up: 1_017,
      xput_down: 999,
    },
    {
      subsystem: 'lan',
      status: 'ok',
      lan_ip: null,
      num_user: online.filter(({ isWired }) => isWired).length,
      num_sw: 1,
    },
    { subsystem: 'vpn', status: 'unknown' },
  ];
};
