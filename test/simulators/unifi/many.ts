// A large site for a simulated console: so many devices and clients, with all that the records of real consoles have (as
// recorded of Network 8 to 10), also what nobody reads, and what goes on there. Addresses are of RFC 2544.
import { networkId, type SimClient, type SimRecord, staOf } from './house.ts';
import type { SimConsole, SimFlow } from './state.ts';

const SITE = '0123456789abcdef01234567';
const PORTS = 24;
/** Devices tell of themselves as often. */
export const HEARTBEAT_S = 25;

const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0');
const address = (group: number, i: number): string => `00:00:5e:${hex(group, 2)}:${hex(i >> 8, 2)}:${hex(i & 255, 2)}`;
const ip = (net: number, i: number): string => `198.${18 + (net & 1)}.${i >> 8}.${i & 255}`;
const id = (i: number): string => `65a0${hex(i, 20)}`;
const clientMac = (i: number): string => address(0x60, i);
const deviceMac = (i: number): string => address(0x61, i);

/** So many fields of a kind. */
const fields = (names: string, value: unknown): SimRecord =>
  Object.fromEntries(names.split(' ').map(name => [name, value]));
const between = (low: number, high: number): number => low + Math.floor(Math.random() * (high - low));

// --- devices ----------------------------------------------------------------------------------------------------------

const TRAFFIC = 'rx_bytes rx_packets rx_broadcast rx_multicast tx_bytes tx_packets tx_broadcast tx_multicast';

const port = (index: number, hasPoe: boolean): SimRecord => ({
  port_idx: index,
  name: `Port ${index}`,
  media: 'GE',
  enable: true,
  up: index % 4 !== 0,
  speed: index % 4 === 0 ? 0 : 1_000,
  is_uplink: index === 1,
  port_poe: hasPoe,
  ...(hasPoe && {
    poe_caps: 7,
    poe_class: 'Class 4',
    poe_current: '102.34',
    poe_enable: index % 2 === 0,
    poe_good: index % 2 === 0,
    poe_mode: 'auto',
    poe_power: '5.31',
    poe_voltage: '53.12',
  }),
  ...fields('autoneg full_duplex attr_no_edit', true),
  ...fields('aggregated_by flowctrl_rx flowctrl_tx jumbo masked', false),
  ...fields(TRAFFIC, 2_027_844_548),
  ...fields('rx_dropped rx_errors tx_dropped tx_errors', 0),
  'bytes-r': 1_042,
  'rx_bytes-r': 712,
  'tx_bytes-r': 330,
  dot1x_mode: 'unknown',
  dot1x_status: 'disabled',
  lldp_table: [{ lldp_chassis_id: deviceMac(index), lldp_port_id: '0/5', lldp_system_name: `Switch ${index}` }],
  mac_table: [1, 2].map(n => ({ age: n, mac: clientMac(index * n), static: false, uptime: 3_971_792, vlan: 1 })),
  port_delta: { ...fields('rx_bytes rx_packets tx_bytes tx_packets', 4_136), time_delta: 24, time_delta_activity: 24 },
  op_mode: 'switch',
  portconf_id: 'profile-all',
  satisfaction: 100,
  speed_caps: 1_048_623,
  stp_pathcost: 20_000,
  stp_state: 'forwarding',
});

const ANOMALIES =
  'high_dns_latency high_tcp_latency high_tcp_packet_loss high_wifi_latency high_wifi_retries low_phy_rate poor_stream_eff sleepy_client sta_arp_timeout sta_dns_timeout sta_ip_timeout weak_signal';

/** A WLAN on a radio. */
const vap = (mac: string, essid: string, radio: string): SimRecord => ({
  ap_mac: mac,
  bssid: mac,
  essid,
  radio,
  radio_name: radio === 'na' ? 'wifi1' : 'wifi0',
  channel: radio === 'na' ? 44 : 6,
  ...fields(
    'anomalies_bar_chart anomalies_bar_chart_now reasons_bar_chart reasons_bar_chart_now',
    fields(ANOMALIES, 0),
  ),
  ...fields(`${TRAFFIC} rx_crypts rx_dropped rx_errors rx_frags rx_nwids`, 193_706),
  ...fields('tx_combined_retries tx_data_mpdu_bytes tx_dropped tx_errors tx_retries tx_rts_retries', 3_708_330),
  ...fields('tx_success tx_total wifi_tx_attempts wifi_tx_dropped', 64_435_416),
  ...fields('rx_tcp_stats tx_tcp_stats', {
    goodbytes: 16_307_156_809,
    lat_avg: 26,
    lat_max: 180,
    lat_min: 10,
    stalls: 0,
  }),
  wifi_tx_latency_mov: { avg: 968, max: 3_985, min: 97, total: 888_421, total_count: 917 },
  avg_client_signal: -65,
  satisfaction: 97,
  site_id: SITE,
  state: 'RUN',
  up: true,
  usage: 'user',
  wlanconf_id: 'wlan-home',
});

/** What a device has counted since it is there, by whom. */
const statistics = (mac: string, of: string, parts: readonly string[]): SimRecord => ({
  [of]: {
    [of]: mac,
    site_id: SITE,
    o: of,
    oid: mac,
    time: 1_587_859_200_000,
    datetime: '2026-04-26T00:00:00Z',
    duration: 316_470_000,
    ...Object.fromEntries(
      parts.flatMap(part =>
        `${TRAFFIC} rx_dropped rx_errors tx_errors tx_retries`
          .split(' ')
          .map(name => [`${part}-${name}`, 198_524_031_529]),
      ),
    ),
  },
});

const accessPoint = (mac: string): SimRecord => ({
  type: 'uap',
  model: 'U7PRO',
  uplink: { ...uplinkOf(mac), uplink_mac: deviceMac(1), uplink_remote_port: 2 },
  port_table: [port(1, false)],
  radio_table: ['ng', 'na', '6e'].map(radio => ({
    radio,
    name: `wifi-${radio}`,
    channel: 'auto',
    ht: '40',
    ...fields('antenna_gain builtin_ant_gain current_antenna_gain nss min_txpower', 6),
    ...fields('builtin_antenna has_dfs has_fccdfs is_11ac', true),
    ...fields('min_rssi_enabled sens_level_enabled hard_noise_floor_enabled', false),
    max_txpower: 22,
    radio_caps: 50_479_140,
    tx_power_mode: 'auto',
    wlangroup_id: id(7),
  })),
  radio_table_stats: ['ng', 'na', '6e'].map(radio => ({
    radio,
    name: `wifi-${radio}`,
    ...fields('ast_be_xmit channel cu_self_rx cu_self_tx cu_total extchannel gain guest-num_sta', 20),
    ...fields('num_sta satisfaction tx_packets tx_power tx_retries user-num_sta', 9),
    state: 'RUN',
  })),
  vap_table: ['ng', 'na'].flatMap(radio => ['Home', 'Things', 'Guests'].map(essid => vap(mac, essid, radio))),
  stat: statistics(mac, 'ap', ['user', 'guest', 'user-wifi0', 'user-wifi1', 'user-wifi0-ath0', 'user-wifi1-ath1']),
});

const networkSwitch = (mac: string): SimRecord => ({
  type: 'usw',
  model: 'US24PRO',
  general_temperature: 46,
  overheating: false,
  total_max_power: 400,
  uplink: { ...uplinkOf(mac), port_idx: 1, uplink_mac: deviceMac(0), uplink_remote_port: 1 },
  port_table: Array.from({ length: PORTS }, (_, i) => port(i + 1, i < 16)),
  stat: statistics(mac, 'sw', ['port_1', 'port_2', 'port_3', 'port_4']),
});

const gateway = (mac: string): SimRecord => ({
  type: 'udm',
  model: 'UDMPRO',
  general_temperature: 51,
  uplink: { ...uplinkOf(mac), port_idx: 9, latency: 9 },
  wan1: { up: true, ip: '203.0.113.7', ifname: 'eth8', latency: 9 },
  wan2: { up: true, ip: '203.0.113.77', ifname: 'eth9', latency: 41 },
  last_wan_status: { WAN: 'online', WAN2: 'online' },
  'speedtest-status': { xput_download: 0, xput_upload: 0, latency: 0, rundate: 0 },
  port_table: Array.from({ length: 11 }, (_, i) => port(i + 1, false)),
  stat: statistics(mac, 'gw', ['wan', 'wan2', 'lan']),
});

const uplinkOf = (mac: string): SimRecord => ({
  type: 'wire',
  up: true,
  mac,
  name: 'eth0',
  netmask: '0.0.0.0',
  ...fields(`${TRAFFIC} rx_dropped rx_errors tx_dropped tx_errors`, 131_000),
  full_duplex: true,
  max_speed: 1_000,
  speed: 1_000,
});

/** One gateway, a switch for each three access points. */
function device(i: number, now: number): SimRecord {
  const mac = deviceMac(i);
  const own = i === 0 ? gateway(mac) : i % 4 === 1 ? networkSwitch(mac) : accessPoint(mac);
  return {
    _id: id(i),
    mac,
    name: `${own.model} ${i}`,
    version: '7.0.66',
    ip: ip(1, i),
    adopted: true,
    state: 1,
    uptime: 400_000,
    last_seen: Math.floor(now / 1_000),
    next_interval: 25,
    num_sta: 8,
    satisfaction: 99,
    led_override: 'default',
    ...fields('upgradable locating isolated unsupported has_fan scanning two_phase_adopt jumboframe_enabled', false),
    ...fields(
      'architecture board_rev cfgversion config_network device_id fw_caps hash_id hw_caps inform_ip',
      'simulated',
    ),
    ...fields('inform_url kernel_version known_cfgversion license_state required_version serial site_id', 'simulated'),
    ...fields('bytes rx_bytes tx_bytes considered_lost_at next_heartbeat_at start_connected_millis', 1_588_175_755),
    'system-stats': { cpu: '5.6', mem: '42.1', uptime: '400000' },
    sys_stats: {
      ...fields('loadavg_1 loadavg_15 loadavg_5', '0.02'),
      ...fields('mem_buffer mem_total mem_used', 61_440),
    },
    ethernet_table: [{ mac, name: 'eth0', num_port: 2 }],
    port_overrides: [],
    ...fields('x_authkey x_aes_gcm x_fingerprint x_inform_authkey x_ssh_hostkey_fingerprint', 'never-to-be-seen'),
    ...own,
  };
}

// --- clients ----------------------------------------------------------------------------------------------------------

/** Each fifth is wired, each tenth has left a while ago. */
function client(i: number, devices: number, now: number): SimClient {
  const mac = clientMac(i);
  const isWired = i % 5 === 0;
  const isConnected = i % 10 !== 9;
  const [ap, behind] = isWired
    ? ['', 1 + 4 * (i % Math.ceil((devices - 1) / 4))]
    : [deviceMac(2 + 4 * (i % (devices >> 2))), 1];
  const network = (['Home', 'IoT', 'Guest'] as const)[i % 3] ?? 'Home';
  return {
    mac,
    _id: id(1_000 + i),
    name: i % 2 ? `Client ${i}` : '',
    hostname: `host-${i}`,
    oui: 'Example',
    ip: ip(0, i),
    isWired,
    isGuest: network === 'Guest',
    authorized: true,
    blocked: false,
    network,
    connected: isConnected,
    asleep: false,
    wiredBug: false,
    ap,
    port: 2 + (i % 16),
    signal: -58,
    firstSeen: now - 90 * 86_400_000,
    lastSeen: isConnected ? now : now - 7_200_000,
    connectedAt: now - 3_600_000,
    more: {
      site_id: SITE,
      user_id: id(1_000 + i),
      gw_mac: deviceMac(0),
      sw_mac: deviceMac(behind),
      ...fields('_is_guest_by_uap _is_guest_by_ugw _is_guest_by_usw is_11r powersave_enabled use_fixedip', false),
      ...fields('_last_seen_by_ugw assoc_time latest_assoc_time disconnect_timestamp', Math.floor(now / 1_000)),
      ...fields('_uptime_by_uap _uptime_by_ugw _uptime_by_usw anomalies bytes-r ccq idletime score', 318),
      ...fields('dev_cat dev_family dev_id dev_id_override dev_vendor os_class os_name fingerprint_source', 42),
      ...fields('rx_packets rx_rate tx_packets tx_power tx_rate tx_retries wifi_tx_attempts', 54_198),
      ...fields('fingerprint_override noted qos_policy_applied eagerly_discovered', true),
      ...fields('device_name usergroup_id fw_version hostname_source', 'simulated'),
      radio_name: 'wifi1',
      radio_proto: 'ax',
    },
  };
}

/** Makes a console that of a site of this size, in the place of what it was. */
export function settleMany(console: SimConsole, devices: number, clients: number): void {
  const now = console.now();
  console.devices.splice(0, Number.POSITIVE_INFINITY, ...Array.from({ length: devices }, (_, i) => device(i, now)));
  console.clients = Array.from({ length: clients }, (_, i) => client(i, devices, now));
}

// --- what goes on -----------------------------------------------------------------------------------------------------

const nth = <T>(list: readonly T[], i: number): T => list[i % list.length] as T;

/** A client has moved and transferred; the console pushes its row. */
export function stir(console: SimConsole, i: number): void {
  const one = nth(
    console.clients.filter(({ connected }) => connected),
    i,
  );
  const [now, prefix] = [console.now(), one.isWired ? 'wired-' : ''];
  const total = `${prefix}tx_bytes`;
  one.signal = between(-80, -45);
  one.lastSeen = now;
  one.more = {
    ...one.more,
    [total]: Number(one.more?.[total] ?? 0) + between(0, 1_000_000),
    [`${prefix}tx_bytes-r`]: between(0, 100_000),
    [`${prefix}rx_bytes-r`]: between(1, 10_000),
  };
  console.message('sta:sync', [staOf(one, now)]);
}

/** A client goes over to the next access point. */
export function wander(console: SimConsole, i: number): void {
  const wireless = console.clients.filter(({ connected, isWired }) => connected && !isWired);
  const aps = console.devices.filter(({ type }) => type === 'uap');
  console.roam(nth(wireless, i).mac, String(nth(aps, i).mac));
}

/** A device tells of itself; the console pushes its whole record. */
export function inform(console: SimConsole, i: number): void {
  const { mac, uptime, type } = nth(console.devices, i);
  const ports = console.device(String(mac)).port_table as SimRecord[];
  console.changeDevice(String(mac), {
    uptime: Number(uptime) + HEARTBEAT_S,
    num_sta: between(4, 12),
    'system-stats': { cpu: String(between(2, 40)), mem: String(between(30, 60)), uptime: String(uptime) },
    ...(type === 'usw' && {
      general_temperature: between(44, 50),
      port_table: ports.map(one => ({ ...one, poe_power: `${between(3, 9)}.${between(10, 99)}` })),
    }),
  });
}

/** A conversation of a client that has ended then, in full. */
export function converse(console: SimConsole, i: number, endedAt: number): SimFlow {
  const one = nth(console.clients, i);
  const network = { network_id: networkId(one.network), network_name: one.network };
  const fingerprint = fields(
    'computed_dev_id computed_engine confidence dev_cat dev_family dev_id dev_vendor os_name',
    7,
  );
  const isBlocked = i % 50 === 0;
  return console.flow({
    action: isBlocked ? 'blocked' : 'allowed',
    risk: isBlocked ? 'medium' : 'low',
    time: endedAt,
    flow_start_time: endedAt - 1_200,
    flow_end_time: endedAt,
    source: {
      ...console.flowSource(one.mac),
      id: one._id,
      client_oui: one.oui,
      client_fingerprint: fingerprint,
      subnet: '198.18.0.0/16',
      zone_id: `zone-${one.network.toLowerCase()}`,
    },
    destination: {
      id: `destination-${i}`,
      ip: `203.0.113.${i % 250}`,
      port: 443,
      mac: '',
      domains: [`host-${i % 97}.example.test`],
      host_name: `host-${i % 97}.example.test`,
      region: 'SE',
      zone_id: 'zone-wan',
      zone_name: 'WAN',
      client_fingerprint: fingerprint,
      ...fields('client_name client_oui network_id network_name subnet', ''),
    },
    in: network,
    out: { network_id: 'net-wan', network_name: 'WAN' },
    next_ai: [],
  });
}
