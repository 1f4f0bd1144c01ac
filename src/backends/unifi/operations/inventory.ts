// What there is: sites, devices, clients, networks, WLANs, vouchers.
import { z } from 'zod';
import { CausewayError } from '../../../lib/errors.ts';
import type { Json } from '../../../model/value.ts';
import type { UnifiBackend } from '../index.ts';
import type { KnownDevice } from '../network/devices.ts';
import { device, fresh, instantOf, LASTS, macOf, Plain, pageOf, paging, plain, read, rowsOf, sameAs } from './row.ts';

const listSites = read({
  name: 'list_unifi_sites',
  title: 'Sites of a UniFi console',
  description: 'The sites of a UniFi console that we may see, and which of them this backend is at.',
  input: { fresh },
  output: { sites: z.array(z.object({ name: z.string(), title: Plain, is_ours: z.boolean() })), version: Plain },
  path: 'sites',
  async run(backend, input, { signal }) {
    const rows = await rowsOf(backend, ['os', '/proxy/network/api/self/sites'], LASTS.sites, { ...input, signal });
    const { probed, site } = backend.ready();
    return {
      sites: rows.map(({ name, desc }) => ({ name: String(name), title: plain(desc), is_ours: name === site })),
      version: probed.version ?? null,
    };
  },
});

const DeviceShape = z.object({
  device: z.string(),
  mac: z.string(),
  name: z.string(),
  type: Plain,
  model: Plain,
  state: Plain,
  ip: Plain,
  version: Plain,
  update: Plain,
  uptime: Plain,
  clients: Plain,
});

const shownDevice = ({ row, device: { id, name } }: KnownDevice, backend: UnifiBackend) => ({
  device: id,
  mac: row.mac,
  name,
  type: row.type ?? null,
  model: row.model ?? null,
  state: plain(backend.ready().value(id, 'state')),
  ip: row.ip ?? null,
  version: row.version ?? null,
  update: row.upgradable ? (row.upgrade_to_firmware ?? true) : false,
  uptime: row.uptime ?? null,
  clients: row.num_sta ?? null,
});

const listDevices = read({
  name: 'list_unifi_devices',
  title: 'Devices of a UniFi network',
  description:
    'Access points, switches, gateways, plugs and PDUs of a UniFi site with their state, firmware and whether an update waits. As known now.',
  input: { type: z.string().optional().describe('uap, usw, udm, ugw, uxg …'), ...paging },
  output: { devices: z.array(DeviceShape), total: z.number() },
  path: 'devices',
  async run(backend, input) {
    const { network } = backend.ready();
    const all = [...network.devices.all()].filter(({ row }) => input.type === undefined || row.type === input.type);
    return { devices: pageOf(all, input).map(one => shownDevice(one, backend)), total: all.length };
  },
});

const getDevice = read({
  name: 'get_unifi_device',
  title: 'One device of a UniFi network',
  description:
    'A device of a UniFi site with its load, temperature, uplink, ports (link, speed, PoE mode and power) and outlets. As known now.',
  input: { device },
  output: {
    ...DeviceShape.shape,
    cpu: Plain,
    memory: Plain,
    temperature: Plain,
    satisfaction: Plain,
    uplink: z.object({ device: z.string().nullable(), port: Plain }).nullable(),
    ports: z.array(z.record(z.string(), Plain)),
    outlets: z.array(z.record(z.string(), Plain)),
  },
  path: 'device',
  async run(backend, { device: asked }) {
    const mac = macOf(asked, backend);
    const known = backend.ready().network.devices.byMac(mac);
    if (!known) throw notFound('device', mac);
    const { row, ports, outlets } = known;
    const { uplink_mac: above, uplink_remote_port: port } = row.uplink ?? {};
    return {
      ...shownDevice(known, backend),
      cpu: row['system-stats']?.cpu ?? null,
      memory: row['system-stats']?.mem ?? null,
      temperature: row.general_temperature ?? null,
      satisfaction: row.satisfaction ?? null,
      uplink: row.uplink
        ? { device: above === undefined ? null : `${backend.id}:device:${above}`, port: port ?? null }
        : null,
      ports: ports.map(one => ({
        port: one.port_idx,
        name: one.name ?? null,
        link: one.up === undefined ? null : one.up ? 'up' : 'down',
        speed: one.speed ?? null,
        uplink: one.is_uplink ?? false,
        poe: one.port_poe ? (one.poe_mode ?? null) : null,
        watts: one.port_poe ? (one.poe_power ?? null) : null,
      })),
      outlets: outlets.map(one => ({
        outlet: one.index,
        name: one.name ?? null,
        on: one.relay_state ?? null,
        watts: one.outlet_power ?? null,
      })),
    };
  },
});

const notFound = (what: string, mac: string): CausewayError =>
  new CausewayError('NOT_FOUND', `the console knows no ${what} ${mac}`, {
    path: 'device',
    hint: 'see list_unifi_devices or list_unifi_clients',
  });

const ClientShape = z.object({
  device: z.string(),
  mac: z.string(),
  name: Plain,
  connected: z.boolean(),
  presence: Plain,
  blocked: z.boolean(),
  wired: Plain,
  guest: Plain,
  ip: Plain,
  network: Plain,
  ssid: Plain,
  access_point: Plain,
  signal: Plain,
  last_seen: Plain,
});

/** Everybody whom the console remembers, with what is known of those who are here. */
async function clientsOf(backend: UnifiBackend, isFresh: boolean | undefined, signal: AbortSignal) {
  const { network, value } = backend.ready();
  const rows = await rowsOf(backend, ['legacy', 'rest/user'], LASTS.clients, { fresh: isFresh, signal });
  return rows.map(row => {
    const mac = String(row.mac).toLowerCase();
    const id = `${backend.id}:client:${mac}`;
    const here = network.clients.row(mac);
    return {
      device: id,
      mac,
      name: plain(row.name ?? row.hostname ?? here?.hostname),
      connected: here !== undefined,
      presence: plain(value(id, 'presence')),
      blocked: row.blocked === true,
      wired: here?.is_wired ?? plain(row.is_wired),
      guest: here?.is_guest ?? plain(row.is_guest),
      ip: here?.ip ?? plain(row.last_ip),
      network: here?.network ?? null,
      ssid: here?.essid ?? null,
      access_point: here?.ap_mac ?? null,
      signal: here?.signal ?? null,
      last_seen: instantOf(typeof row.last_seen === 'number' ? row.last_seen * 1_000 : null),
    };
  });
}

const listClients = read({
  name: 'list_unifi_clients',
  title: 'Clients of a UniFi network',
  description:
    'Who is, or was ever, in a UniFi network: connected or not, present, blocked, where, with which signal. Filters may be put together.',
  input: {
    connected: z.boolean().optional().describe('Only those that are, or are not, connected now'),
    blocked: z.boolean().optional(),
    guest: z.boolean().optional(),
    network: z.string().optional(),
    ssid: z.string().optional(),
    fresh,
    ...paging,
  },
  output: { clients: z.array(ClientShape), total: z.number() },
  path: 'clients',
  async run(backend, input, { signal }) {
    const filters = ['connected', 'blocked', 'guest', 'network', 'ssid'] as const;
    const all = (await clientsOf(backend, input.fresh, signal)).filter(client =>
      filters.every(name => input[name] === undefined || sameAs(client[name], input[name])),
    );
    return { clients: pageOf(all, input), total: all.length };
  },
});

const getClient = read({
  name: 'get_unifi_client',
  title: 'One client of a UniFi network',
  description:
    'A client of a UniFi network with its statistics: signal, satisfaction, rates (kbit/s) and amounts (B) of traffic.',
  input: { device, fresh },
  output: { ...ClientShape.shape, values: z.record(z.string(), z.json()) },
  path: 'client',
  async run(backend, { device: asked, fresh: isFresh }, { signal }) {
    const mac = macOf(asked, backend);
    const client = (await clientsOf(backend, isFresh, signal)).find(one => one.mac === mac);
    if (!client) throw notFound('client', mac);
    const { value, network } = backend.ready();
    const names = [
      'satisfaction',
      'channel',
      'band',
      'port',
      'wiredTo',
      'download',
      'upload',
      'downloaded',
      'uploaded',
      'vlan',
      'authorized',
    ];
    const isHere = network.clients.row(mac) !== undefined;
    const values = isHere
      ? names.map(name => [name, value(client.device, name)] as const).filter(([, one]) => one !== undefined)
      : [];
    return { ...client, values: Object.fromEntries(values) as Record<string, Json> };
  },
});

/** A MAC or the most of one, as labels and other systems write it. */
const MAC_LIKE = /^(?:[0-9a-f]{2}(?:[:-][0-9a-f]{2})+|[0-9a-f]{12})$/i;

const search = read({
  name: 'search_unifi',
  title: 'Search a UniFi network',
  description: 'Finds clients and devices of a UniFi network by a part of their name, MAC, address or model.',
  input: { query: z.string().min(2), limit: paging.limit },
  output: {
    found: z.array(
      z.object({ device: z.string(), kind: z.enum(['client', 'device']), name: Plain, mac: z.string(), ip: Plain }),
    ),
  },
  path: 'search',
  async run(backend, { query, limit }, { signal }) {
    const wanted = MAC_LIKE.test(query)
      ? query
          .toLowerCase()
          .replace(/[:-]?(..)/g, ':$1')
          .slice(1)
      : query.toLowerCase();
    const fits = (...texts: (string | number | boolean | null | undefined)[]) =>
      texts.some(text =>
        String(text ?? '')
          .toLowerCase()
          .includes(wanted),
      );
    const devices = [...backend.ready().network.devices.all()]
      .filter(({ row, device: { name } }) => fits(name, row.mac, row.ip, row.model))
      .map(({ row, device: { id, name } }) => ({
        device: id,
        kind: 'device' as const,
        name,
        mac: row.mac,
        ip: row.ip ?? null,
      }));
    const clients = (await clientsOf(backend, false, signal))
      .filter(({ name, mac, ip }) => fits(name, mac, ip))
      .map(({ device: id, name, mac, ip }) => ({ device: id, kind: 'client' as const, name, mac, ip }));
    return { found: [...devices, ...clients].slice(0, limit) };
  },
});

const listNetworks = read({
  name: 'list_unifi_networks',
  title: 'Networks of a UniFi site',
  description:
    'The networks (VLANs) of a UniFi site: purpose, VLAN, subnet, DHCP, and how many clients are connected in each.',
  input: { fresh },
  output: {
    networks: z.array(
      z.object({
        id: z.string(),
        name: Plain,
        purpose: Plain,
        vlan: Plain,
        subnet: Plain,
        dhcp: Plain,
        enabled: Plain,
        clients: z.number(),
      }),
    ),
  },
  path: 'networks',
  async run(backend, input, { signal }) {
    const rows = await rowsOf(backend, ['legacy', 'rest/networkconf'], LASTS.networks, { ...input, signal });
    const connected = backend.ready().network.clients.connected();
    return {
      networks: rows.map(row => ({
        id: String(row._id),
        name: plain(row.name),
        purpose: plain(row.purpose),
        vlan: plain(row.vlan),
        subnet: plain(row.ip_subnet),
        dhcp: plain(row.dhcpd_enabled),
        enabled: plain(row.enabled),
        clients: connected.filter(({ network }) => network === row.name).length,
      })),
    };
  },
});

const listWlans = read({
  name: 'list_unifi_wlans',
  title: 'WLANs of a UniFi site',
  description:
    'The WLANs of a UniFi site: on the air or not, security, guests, how many clients. Passphrases are never told.',
  input: { fresh },
  output: {
    wlans: z.array(
      z.object({
        device: z.string(),
        name: Plain,
        enabled: Plain,
        security: Plain,
        wpa: Plain,
        guest: Plain,
        hidden: Plain,
        clients: z.number(),
      }),
    ),
  },
  path: 'wlans',
  async run(backend, input, { signal }) {
    const rows = await rowsOf(backend, ['legacy', 'rest/wlanconf'], LASTS.wlans, { ...input, signal });
    const { bySsid } = backend.ready().network.clients.count();
    return {
      wlans: rows.map(row => ({
        device: `${backend.id}:wlan:${String(row._id)}`,
        name: plain(row.name),
        enabled: plain(row.enabled),
        security: plain(row.security),
        wpa: plain(row.wpa_mode),
        guest: plain(row.is_guest),
        hidden: plain(row.hide_ssid),
        clients: bySsid.get(String(row.name)) ?? 0,
      })),
    };
  },
});

const listVouchers = read({
  name: 'list_unifi_vouchers',
  title: 'Vouchers of a UniFi hotspot',
  description: 'The vouchers of the guest network: code, minutes, how often used, note.',
  input: { ...paging },
  output: {
    vouchers: z.array(z.object({ code: Plain, minutes: Plain, uses: Plain, used: Plain, status: Plain, note: Plain })),
    total: z.number(),
  },
  path: 'vouchers',
  async run(backend, input, { signal }) {
    const rows = await rowsOf(backend, ['legacy', 'stat/voucher'], 0, { signal });
    return {
      vouchers: pageOf(rows, input).map(row => ({
        code: plain(row.code),
        minutes: plain(row.duration),
        uses: plain(row.quota),
        used: plain(row.used),
        status: plain(row.status),
        note: plain(row.note),
      })),
      total: rows.length,
    };
  },
});

/** What there is. */
export const inventoryRows = [
  listSites,
  listDevices,
  getDevice,
  listClients,
  getClient,
  search,
  listNetworks,
  listWlans,
  listVouchers,
];
