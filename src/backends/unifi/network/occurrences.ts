// What the console tells to have happened, in its two forms: events of the socket (`EVT_…`, up to Network 9 and some of 10) and
// entries of the system log (from Network 10 on). One table each says what becomes of them; names beyond them are counted.
import type { Json } from '../../../lib/json.ts';
import { type HappeningRow, isMac, type LogRow, type PartyRow, readParties } from '../console/wire.ts';
import { type Counters, countUnknown } from '../counters.ts';
import type { ClientEvent } from './clients.ts';
import type { DeviceEvent } from './devices.ts';

/** What has happened. */
export type Occurrence =
  | ({ readonly about: 'client' } & ClientEvent)
  | { readonly about: 'access'; readonly mac: string; readonly access: 'allowed' | 'blocked' }
  | ({ readonly about: 'device' } & DeviceEvent)
  /** A line came or went: which, the WANs themselves tell. */
  | { readonly about: 'wan' }
  | {
      readonly about: 'site';
      readonly name: string;
      readonly value: Json;
      readonly time: number;
      readonly id: string | undefined;
    };

type Fields = Readonly<Record<string, unknown>>;
const clip = (value: unknown): string | number | boolean | null =>
  typeof value === 'string'
    ? value.slice(0, 300)
    : typeof value === 'number' || typeof value === 'boolean'
      ? value
      : null;

/** Fields of a row by our names; those that it lacks are left out. */
const pick = (row: Fields, names: Readonly<Record<string, string>>): { [name: string]: Json } =>
  Object.fromEntries(
    Object.entries(names).flatMap(([ours, theirs]) => (row[theirs] === undefined ? [] : [[ours, clip(row[theirs])]])),
  );

// --- events of the socket --------------------------------------------------------------------------------------------

const CLIENT_EVENT = /^EVT_(W|L)(U|G)_(Connected|Disconnected|Roam|RoamRadio)$/;
const ACCESS_EVENT = /^EVT_(?:WC|LC|WU|LU)_(Blocked|Unblocked)$/;
const DEVICE_EVENT = /^EVT_(?:AP|SW|GW|DM|XG|BB|PD)_(\w+)$/;

const CLIENT_WORDS: Readonly<Record<string, ClientEvent['what']>> = {
  Connected: 'connected',
  Disconnected: 'disconnected',
  Roam: 'roamed',
  RoamRadio: 'roamed',
};
const DEVICE_WORDS: Readonly<Record<string, DeviceEvent['what']>> = {
  Connected: 'online',
  Lost_Contact: 'offline',
  Restarted: 'restarted',
  RestartedUnknown: 'restarted',
  Upgraded: 'upgraded',
  PoeOverload: 'poeOverload',
  PoeDisconnect: 'poeDisconnected',
};
const SITE_EVENTS: Readonly<
  Record<string, { readonly name: string; readonly fields: Readonly<Record<string, string>> }>
> = {
  EVT_IPS_IpsAlert: {
    name: 'threat',
    fields: {
      signature: 'inner_alert_signature',
      category: 'inner_alert_category',
      severity: 'inner_alert_severity',
      action: 'inner_alert_action',
      sourceIp: 'src_ip',
      sourceMac: 'src_mac',
      sourcePort: 'src_port',
      destinationIp: 'dest_ip',
      destinationMac: 'dst_mac',
      destinationPort: 'dest_port',
      protocol: 'proto',
      country: 'srcipCountry',
    },
  },
  EVT_HS_AuthedByNoAuth: { name: 'guestAuthorized', fields: { mac: 'guest' } },
  EVT_HS_AuthedByPassword: { name: 'guestAuthorized', fields: { mac: 'guest' } },
  EVT_HS_VoucherUsed: { name: 'voucherUsed', fields: { mac: 'guest', code: 'voucher_code' } },
  EVT_AD_VoucherCreated: { name: 'voucherCreated', fields: { admin: 'admin' } },
  EVT_AD_Login: { name: 'adminLogin', fields: { admin: 'admin', ip: 'ip' } },
};

/** Told otherwise, or too often to be worth it. */
const NOISE =
  /^EVT_(?:AP_(?:Notification|ChannelChanged|PossibleInterference|DetectRogueAP)|\w+_(?:Adopted|AutoReadopted)|AD_Update_Available)$/;

/** What an event of the socket means. */
export function fromHappening(row: HappeningRow, counters: Counters, now: number): Occurrence | undefined {
  const { key, time = now } = row;
  const mac = row.user ?? row.guest ?? row.client;
  const client = CLIENT_EVENT.exec(key);
  if (client && mac) {
    const [, medium, , word = ''] = client;
    const name = typeof row.hostname === 'string' ? row.hostname : undefined;
    const what = CLIENT_WORDS[word] as ClientEvent['what'];
    return { about: 'client', what, mac, time, isWired: medium === 'L', ap: row.ap_to ?? row.ap, name };
  }
  const access = ACCESS_EVENT.exec(key);
  if (access && mac) return { about: 'access', mac, access: access[1] === 'Blocked' ? 'blocked' : 'allowed' };
  if (/WANTransition$/.test(key)) return { about: 'wan' };
  const what = DEVICE_WORDS[DEVICE_EVENT.exec(key)?.[1] ?? ''];
  const device = row.ap ?? row.sw ?? row.gw ?? row.dm ?? row.xg;
  if (what && device) return { about: 'device', what, mac: device, time, version: row.version_to };
  const site = SITE_EVENTS[key];
  if (site) return { about: 'site', name: site.name, value: pick(row, site.fields), time, id: row._id };
  if (!NOISE.test(key)) countUnknown(counters, key);
  return undefined;
}

// --- entries of the system log ---------------------------------------------------------------------------------------

const party = (parties: ReadonlyMap<string, PartyRow>, ...roles: string[]): PartyRow | undefined =>
  roles.map(role => parties.get(role)).find(one => one !== undefined);

const shown = (
  { id, name, hostname, ip }: PartyRow = { id: undefined, name: undefined, hostname: undefined, ip: undefined },
) => ({
  ...(isMac(id) && { mac: id }),
  ...((name ?? hostname) !== undefined && { name: (name ?? hostname) as string }),
  ...(ip !== undefined ? { ip } : id !== undefined && !isMac(id) && { ip: id }),
});

const CLIENT_ENTRIES: Readonly<Record<string, ClientEvent['what']>> = {
  CLIENT_CONNECTED: 'connected',
  CLIENT_DISCONNECTED: 'disconnected',
  CLIENT_ROAMED: 'roamed',
};
// Recorded: THREAT_DETECTED, BLOCKED_BY_FIREWALL, CLIENT_CONNECTED. The others follow the manner of their names.
const DEVICE_ENTRIES: readonly (readonly [RegExp, DeviceEvent['what']])[] = [
  [/^(?:DEVICE_)?(?:OFFLINE|DISCONNECTED|UNREACHABLE)|DEVICE_(?:OFFLINE|DISCONNECTED|UNREACHABLE)/, 'offline'],
  [/DEVICE_(?:ONLINE|RECONNECTED|CONNECTED)/, 'online'],
  [/DEVICE_RESTARTED/, 'restarted'],
];
const SITE_ENTRIES: readonly (readonly [RegExp, string])[] = [
  [/^THREAT_/, 'threat'],
  [/^BLOCKED_BY_FIREWALL/, 'blockedByFirewall'],
  [/GUEST_AUTHORIZED/, 'guestAuthorized'],
  [/VOUCHER_USED/, 'voucherUsed'],
  [/VOUCHER_CREATED/, 'voucherCreated'],
  [/ADMIN.*(?:LOGIN|LOGGED_IN|ACCESSED)/, 'adminLogin'],
  [/^VPN.*_CONNECTED/, 'vpnConnected'],
  [/^VPN.*_DISCONNECTED/, 'vpnDisconnected'],
  [/(?:CONFIG|SETTING).*(?:CHANGED|UPDATED|MODIFIED)/, 'configurationChanged'],
];

/** What an entry of the system log means. */
export function fromLog(row: LogRow, counters: Counters, now: number): Occurrence | undefined {
  const { event = row.key ?? '', timestamp: time = now, category } = row;
  const parties = readParties(row);
  const client = party(parties, 'CLIENT', 'SRC_CLIENT');
  const mac = client?.id?.toLowerCase();
  const what = CLIENT_ENTRIES[event];
  if (what && isMac(mac)) {
    const ap = party(parties, 'AP', 'DEVICE')?.id?.toLowerCase();
    const isWired = /WIRED$/.test(row.key ?? '') && !/WIRELESS/.test(row.key ?? '');
    const name = client?.name ?? client?.hostname;
    return { about: 'client', what, mac, time, isWired, ap: isMac(ap) ? ap : undefined, name };
  }
  if (/^CLIENT_(?:UN)?BLOCKED/.test(event) && isMac(mac)) {
    return { about: 'access', mac, access: event.startsWith('CLIENT_UN') ? 'allowed' : 'blocked' };
  }
  if (category === 'INTERNET_AND_WAN' || /^WAN_/.test(event)) return { about: 'wan' };
  const device = party(parties, 'DEVICE', 'AP', 'SWITCH')?.id?.toLowerCase();
  const deviceWhat = DEVICE_ENTRIES.find(([pattern]) => pattern.test(event))?.[1];
  if (deviceWhat && isMac(device)) return { about: 'device', what: deviceWhat, mac: device, time };
  const name = SITE_ENTRIES.find(([pattern]) => pattern.test(event))?.[1];
  if (name === undefined) {
    countUnknown(counters, event);
    return undefined;
  }
  const trigger = parties.get('TRIGGER')?.name;
  const value: Json = {
    event,
    ...(row.severity !== undefined && { severity: row.severity }),
    ...(client && { source: shown(client) }),
    ...(parties.has('DST_IP') && { destination: shown(parties.get('DST_IP')) }),
    ...(trigger !== undefined && { by: trigger }),
  };
  return { about: 'site', name, value, time, id: row.id };
}
