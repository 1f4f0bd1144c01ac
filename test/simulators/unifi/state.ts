// What the simulated console is, and what happens in it. All that its own pages would show by themselves is pushed over the
// websocket, in the shapes that real consoles push.
import {
  CLIENT,
  DEVICE,
  networkId,
  type SimClient,
  type SimRecord,
  simClients,
  simDevices,
  simNetworks,
  simObjects,
  simWlans,
  simZones,
  staOf,
  userOf,
} from './house.ts';

/** Which generation of the Network application is played. */
export type SimProfile = 'network9' | 'network10';

/** A command that arrived. */
export interface SimReceived {
  readonly method: string;
  readonly path: string;
  readonly body: SimRecord;
}

/** A WAN as the load balancing tells it. */
export interface SimWan {
  readonly name: string;
  readonly wan_networkgroup: string;
  state: string;
}

/** A flow as `traffic-flows` tells it. */
export type SimFlow = SimRecord & { id: string; time: number; action: string; risk: string };

/** Console version by profile. */
export const VERSIONS = { network9: '9.0.114', network10: '10.0.162' } as const;

const kindOf = (type: unknown) => ({ uap: 'AP', usw: 'SW', udm: 'DM', ugw: 'GW', uxg: 'XG' })[String(type)] ?? 'SW';

/** The console's state; changes are pushed as a real console does. */
export class SimConsole {
  readonly profile: SimProfile;
  clients: SimClient[];
  readonly devices: SimRecord[];
  readonly wlans = simWlans();
  readonly networks = simNetworks();
  readonly zones = simZones();
  readonly objects = simObjects();
  readonly wans: SimWan[] = [
    { name: 'Fibre', wan_networkgroup: 'WAN', state: 'ACTIVE' },
    { name: 'LTE', wan_networkgroup: 'WAN2', state: 'BACKUP' },
  ];
  readonly vouchers: SimRecord[] = [];
  readonly backups: SimRecord[] = [];
  /** Newest last. */
  readonly log: (SimRecord & { timestamp: number })[] = [];
  readonly events: SimRecord[] = [];
  readonly flows: SimFlow[] = [];
  readonly received: SimReceived[] = [];
  /** Rows of no known shape that stand in the lists of clients and devices. */
  readonly oddRows: unknown[] = [];
  /** Clients that have left stay listed for this long. */
  lingerMs = 0;
  /** Blocks are accepted and nothing comes of it. */
  ignoresBlocks = false;
  /** So many policies more are taken. */
  refusesPoliciesAfter = Number.POSITIVE_INFINITY;
  /** The console's clock differs by this from everyone's. */
  skewMs = 0;
  /** Since its start, at the beginning. */
  uptimeS = 900_000;
  private count = 0;
  private readonly clock: () => number;
  private readonly push: (message: string, data: unknown[]) => void;

  constructor(profile: SimProfile, clock: () => number, push: (message: string, data: unknown[]) => void) {
    this.profile = profile;
    this.clock = clock;
    this.push = push;
    this.clients = simClients(this.now());
    this.devices = simDevices(this.now());
  }

  /** Epoch ms as the console's clock shows it. */
  now(): number {
    return this.clock() + this.skewMs;
  }

  client(mac: string): SimClient {
    const found = this.clients.find(one => one.mac === mac);
    if (!found) throw new Error(`the simulated console has no client ${mac}`);
    return found;
  }

  device(mac: string): SimRecord {
    const found = this.devices.find(one => one.mac === mac);
    if (!found) throw new Error(`the simulated console has no device ${mac}`);
    return found;
  }

  // --- what is asked --------------------------------------------------------------------------------------------------

  /** `stat/sta`. Who is connected and awake was seen just now. */
  stations(): unknown[] {
    const now = this.now();
    for (const client of this.clients) if (client.connected && !client.asleep) client.lastSeen = now;
    const listed = this.clients.filter(
      client => client.connected || client.wiredBug || now - client.lastSeen < this.lingerMs,
    );
    return [...listed.map(client => staOf(client, now)), ...this.oddRows];
  }

  users(): unknown[] {
    return this.clients.map(userOf);
  }

  // --- what happens to clients ----------------------------------------------------------------------------------------

  /** @param how wired clients often come without any event */
  connect(mac: string, { ap = DEVICE.hall, quietly = false }: { ap?: string; quietly?: boolean } = {}): void {
    const client = this.client(mac);
    const now = this.now();
    Object.assign(client, { connected: true, asleep: false, wiredBug: false, lastSeen: now, connectedAt: now });
    if (!client.isWired) client.ap = ap;
    if (quietly) return;
    this.clientEvent(
      client,
      'Connected',
      client.isWired ? { network: client.network } : { ap: client.ap, ssid: client.network },
    );
    this.push('sta:sync', [staOf(client, now)]);
  }

  disconnect(mac: string, { quietly = false }: { quietly?: boolean } = {}): void {
    const client = this.client(mac);
    client.lastSeen = this.now();
    client.connected = false;
    if (!quietly) this.clientEvent(client, 'Disconnected', { ap: client.ap, duration: 467, bytes: 459_039 });
  }

  /** It goes over to another access point. @param how with an event of its own, or as consoles do: away and back */
  roam(mac: string, ap: string, how: 'roam' | 'reconnect' | 'radio' = 'roam'): void {
    const client = this.client(mac);
    const from = client.ap;
    const now = this.now();
    if (how === 'reconnect') this.disconnect(mac);
    Object.assign(client, { ap, connected: true, lastSeen: now });
    if (how === 'roam') this.clientEvent(client, 'Roam', { ap_from: from, ap_to: ap });
    if (how === 'radio') {
      this.clientEvent(client, 'RoamRadio', {
        ap,
        radio_from: 'ng',
        radio_to: 'na',
        channel_from: '6',
        channel_to: '44',
      });
    }
    if (how === 'reconnect') this.clientEvent(client, 'Connected', { ap, ssid: client.network });
    this.push('sta:sync', [staOf(client, now)]);
  }

  /** Back and forth between two access points, ending at the second. */
  roamBurst(mac: string, times: number): void {
    const aps = [DEVICE.hall, DEVICE.attic];
    for (let i = 0; i < times; i++) this.roam(mac, aps[(times - i) % 2] as string, i % 2 === 0 ? 'roam' : 'reconnect');
  }

  /** A wireless client leaves, and is listed as wired for a while. */
  leaveByWiredBug(mac: string): void {
    const client = this.client(mac);
    client.wiredBug = true;
    this.clientEvent({ ...client, isWired: true }, 'Connected', { network: client.network });
    this.push('sta:sync', [staOf(client, this.now())]);
  }

  endWiredBug(mac: string): void {
    const client = this.client(mac);
    Object.assign(client, { wiredBug: false, connected: false });
    this.clientEvent({ ...client, isWired: true }, 'Disconnected', { network: client.network, duration: 5, bytes: 0 });
  }

  /** Somebody who was never here. */
  newClient(mac: string, rest: Partial<SimClient> = {}): void {
    const now = this.now();
    const [first] = simClients(now) as [SimClient];
    this.clients.push({
      ...first,
      mac,
      _id: `user-${++this.count}`,
      name: '',
      hostname: 'newcomer',
      firstSeen: now,
      ...rest,
    });
    this.connect(mac);
  }

  /** @param by the page of the console, which pushes it, or the API */
  setBlocked(mac: string, blocked: boolean): void {
    const client = this.client(mac);
    client.blocked = blocked;
    if (blocked) client.connected = false;
    this.push('user:sync', [userOf(client)]);
    this.event(blocked ? 'EVT_WC_Blocked' : 'EVT_WC_Unblocked', { client: mac, subsystem: 'wlan' });
  }

  private clientEvent(client: SimClient, what: string, more: SimRecord): void {
    const kind = `${client.isWired ? 'L' : 'W'}${client.isGuest ? 'G' : 'U'}`;
    const who = { [client.isGuest ? 'guest' : 'user']: client.mac, hostname: client.hostname };
    this.event(`EVT_${kind}_${what}`, { ...who, subsystem: client.isWired ? 'lan' : 'wlan', ...more });
    const shape = { Connected: 'CLIENT_CONNECTED', Disconnected: 'CLIENT_DISCONNECTED', Roam: 'CLIENT_ROAMED' }[what];
    if (!shape) return;
    this.logEntry({
      event: shape,
      key: `${shape}_${client.isWired ? 'WIRED' : 'WIRELESS'}`,
      category: 'CLIENT_DEVICES',
      severity: 'LOW',
      parameters: {
        CLIENT: { id: client.mac, name: client.name, hostname: client.hostname },
        ...(!client.isWired && { AP: { id: client.ap, name: String(this.device(client.ap).name) } }),
      },
    });
  }

  // --- what happens to devices ----------------------------------------------------------------------------------------

  /** Changes a device's record; `device:sync` tells it. */
  changeDevice(mac: string, change: SimRecord, quietly = false): void {
    const device = this.device(mac);
    Object.assign(device, change, { last_seen: Math.floor(this.now() / 1_000) });
    if (!quietly) this.push('device:sync', [device]);
  }

  private deviceEvent(mac: string, what: string, more: SimRecord = {}): void {
    const { type, name } = this.device(mac);
    const kind = kindOf(type);
    this.event(`EVT_${kind}_${what}`, { [kind.toLowerCase()]: mac, [`${kind.toLowerCase()}_name`]: name, ...more });
  }

  loseDevice(mac: string): void {
    this.changeDevice(mac, { state: 0 });
    this.deviceEvent(mac, 'Lost_Contact');
    this.logEntry({
      event: 'DEVICE_OFFLINE',
      key: 'DEVICE_OFFLINE',
      category: 'UNIFI_DEVICES',
      parameters: { DEVICE: { id: mac } },
    });
  }

  regainDevice(mac: string): void {
    this.changeDevice(mac, { state: 1 });
    this.deviceEvent(mac, 'Connected');
  }

  restartDevice(mac: string): void {
    this.changeDevice(mac, { uptime: 12 });
    this.deviceEvent(mac, 'RestartedUnknown');
  }

  upgradeDevice(mac: string, version: string): void {
    const from = this.device(mac).version;
    this.changeDevice(mac, { state: 4 });
    this.changeDevice(mac, { state: 1, version, uptime: 30, upgradable: false });
    this.deviceEvent(mac, 'Upgraded', { version_from: from, version_to: version });
  }

  setPort(mac: string, index: number, change: SimRecord): void {
    const table = (this.device(mac).port_table as SimRecord[]).map(port =>
      port.port_idx === index ? { ...port, ...change } : port,
    );
    this.changeDevice(mac, { port_table: table });
  }

  // --- the rest ---------------------------------------------------------------------------------------------------------

  setWlan(id: string, enabled: boolean): void {
    const wlan = this.wlans.find(one => one._id === id);
    if (!wlan) throw new Error(`the simulated console has no WLAN ${id}`);
    wlan.enabled = enabled;
    this.push('wlanconf:sync', [wlan]);
  }

  setWan(group: string, state: string): void {
    for (const wan of this.wans) if (wan.wan_networkgroup === group) wan.state = state;
    this.event('EVT_GW_WANTransition', { gw: DEVICE.gateway, iface: group, state });
  }

  changeSetting(key: string): void {
    this.push('setting:sync', [{ _id: `setting-${key}`, key, x_secret: 'never-to-be-seen' }]);
  }

  alertOfIds(more: SimRecord = {}): void {
    const alert = {
      src_ip: '198.51.100.9',
      src_mac: DEVICE.gateway,
      src_port: 51_413,
      dest_ip: '192.0.2.7',
      dst_mac: CLIENT.camera,
      dest_port: 22,
      proto: 'TCP',
      catname: 'misc-attack',
      inner_alert_action: 'blocked',
      inner_alert_signature: 'SIM Example Attack',
      inner_alert_category: 'Misc Attack',
      inner_alert_severity: 1,
      srcipCountry: 'SE',
      dstipCountry: false,
      ...more,
    };
    this.event('EVT_IPS_IpsAlert', { ...alert, subsystem: 'ips', timestamp: Math.floor(this.now() / 1_000) });
    this.logEntry({
      event: 'THREAT_DETECTED',
      key: 'THREAT_DETECTED_KNOWN_SOURCE_CLIENT',
      category: 'SECURITY',
      severity: 'HIGH',
      parameters: {
        SRC_CLIENT: { id: CLIENT.camera, name: 'Camera', ip: '192.0.2.7' },
        DST_IP: { id: '198.51.100.9', name: '198.51.100.9' },
      },
    });
  }

  /** An event as consoles up to Network 9 push it. Later ones only keep a log. */
  event(key: string, more: SimRecord = {}): void {
    const time = this.now();
    const event = {
      _id: `event-${++this.count}`,
      key,
      site_id: 'site-1',
      time,
      datetime: new Date(time).toISOString(),
      msg: key,
      ...more,
    };
    this.events.push(event);
    if (this.profile === 'network9') this.push('events', [event]);
  }

  logEntry(entry: SimRecord): void {
    this.log.push({ id: `log-${++this.count}`, timestamp: this.now(), severity: 'MEDIUM', message_raw: '', ...entry });
  }

  /** A message of any kind. */
  message(kind: string, data: unknown[]): void {
    this.push(kind, data);
  }

  /** A completed conversation. */
  flow(more: SimRecord = {}): SimFlow {
    const time = this.now();
    const flow: SimFlow = {
      id: `flow-${++this.count}`,
      action: 'allowed',
      risk: 'low',
      direction: 'outgoing',
      protocol: 'tcp',
      service: 'HTTPS',
      count: 1,
      duration_milliseconds: 1_200,
      time,
      flow_start_time: time - 1_200,
      flow_end_time: time,
      source: more.source ?? this.flowSource(CLIENT.laptop),
      destination: {
        ip: '203.0.113.20',
        port: 443,
        domains: ['example.test'],
        host_name: 'example.test',
        mac: '',
        zone_name: 'WAN',
      },
      policies: [{ type: 'FIREWALL', internal_type: 'DEFAULT' }],
      traffic_data: { bytes_rx: 8_421, bytes_tx: 2_310, bytes_total: 10_731, packets_total: 23 },
      ...more,
    };
    this.flows.push(flow);
    return flow;
  }

  /** The end of a flow that a client is. */
  flowSource(mac: string): SimRecord {
    const { name, hostname, ip, network } = this.client(mac);
    return {
      client_name: name,
      host_name: hostname,
      ip,
      mac,
      port: 51_514,
      network_id: networkId(network),
      network_name: network,
      zone_name: network,
    };
  }

  id(what: string): string {
    return `${what}-${++this.count}`;
  }
}
