// The rows of a console's answers and messages as they come, made uniform. Kinds of values vary over versions (numbers as text,
// `-1` and `[]` for nothing, seconds and milliseconds): each row is read by itself and each field too, so that an odd one costs
// no other. Shapes: recordings of real consoles; absent is not null.
import { z } from 'zod';
import type { Counters } from '../counters.ts';

const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)$/;
const numeric = z.union([z.number(), z.string().trim().regex(DECIMAL).transform(Number)]);
/** A field that is left out where it is none of its kind. */
const maybe = <S extends z.ZodType>(schema: S) => schema.optional().catch(undefined);

const number = maybe(numeric);
/** `-1` is the consoles' word for "not known". */
const natural = maybe(numeric.refine(n => n >= 0));
const flag = maybe(z.boolean());
const text = maybe(z.string().refine(value => value !== ''));
/** Names, numbers or words: channels are both. */
const word = maybe(z.union([z.string().min(1), z.number()]).transform(String));
const list = maybe(z.array(z.unknown()));

/** Lower case, with colons; all that a console has of a MAC elsewhere may differ in case. */
const Mac = z
  .string()
  .regex(/^(?:[0-9a-f]{2}:){5}[0-9a-f]{2}$/i)
  .transform(mac => mac.toLowerCase());
const mac = maybe(Mac);
const epochSeconds = natural;

const Client = z.object({
  mac: Mac,
  _id: text,
  name: text,
  display_name: text,
  hostname: text,
  device_name: text,
  oui: text,
  noted: flag,
  ip: text,
  last_ip: text,
  is_wired: flag,
  is_guest: flag,
  authorized: flag,
  blocked: flag,
  essid: text,
  ap_mac: mac,
  channel: number,
  radio: text,
  signal: number,
  satisfaction: natural,
  sw_mac: mac,
  sw_port: natural,
  network: text,
  network_id: text,
  vlan: natural,
  first_seen: epochSeconds,
  last_seen: epochSeconds,
  _last_seen_by_uap: epochSeconds,
  rx_bytes: natural,
  tx_bytes: natural,
  'rx_bytes-r': natural,
  'tx_bytes-r': natural,
  'wired-rx_bytes': natural,
  'wired-tx_bytes': natural,
  'wired-rx_bytes-r': natural,
  'wired-tx_bytes-r': natural,
});

const Port = z.object({
  port_idx: numeric,
  name: text,
  up: flag,
  speed: natural,
  is_uplink: flag,
  port_poe: flag,
  poe_mode: text,
  poe_power: natural,
});
const Outlet = z.object({
  index: numeric,
  name: text,
  has_relay: flag,
  relay_state: flag,
  outlet_power: natural,
});
const Stats = z.object({ cpu: natural, mem: natural });
const Uplink = z.object({ type: text, uplink_mac: mac, uplink_remote_port: natural, port_idx: natural });
const Wired = z.object({ ip: text, latency: natural });

const Device = z.object({
  mac: Mac,
  _id: text,
  name: text,
  model: text,
  type: text,
  version: text,
  ip: text,
  adopted: flag,
  state: natural,
  uptime: natural,
  upgradable: flag,
  upgrade_to_firmware: text,
  num_sta: natural,
  satisfaction: natural,
  general_temperature: natural,
  overheating: flag,
  locating: flag,
  led_override: text,
  'system-stats': maybe(Stats),
  uplink: maybe(Uplink),
  port_table: list,
  outlet_table: list,
  outlet_ac_power_consumption: natural,
  wan1: maybe(Wired),
  wan2: maybe(Wired),
  last_wan_status: maybe(z.record(z.string(), z.unknown())),
  'speedtest-status': maybe(
    z.object({ xput_download: natural, xput_upload: natural, latency: natural, rundate: epochSeconds }),
  ),
});

const Wlan = z.object({ _id: z.string().min(1), name: text, enabled: flag, security: text, is_guest: flag });
const Wan = z.object({ name: text, state: text, wan_networkgroup: z.string().min(1) });
const Monitored = z.object({ availability: natural, latency_average: natural, uptime: natural });
const Health = z.object({
  subsystem: z.string().min(1),
  status: text,
  num_user: natural,
  num_guest: natural,
  latency: natural,
  xput_up: natural,
  xput_down: natural,
  isp_name: text,
  uptime_stats: maybe(z.record(z.string(), z.unknown())),
});

/** An event of the socket; everything beyond is in `rest`. */
const Happening = z.looseObject({
  _id: word,
  key: z.string().min(1),
  time: natural,
  user: mac,
  guest: mac,
  client: mac,
  ap: mac,
  sw: mac,
  gw: mac,
  dm: mac,
  xg: mac,
  ap_to: mac,
  network: text,
  version_to: text,
});

const Party = z.object({ id: word, name: text, hostname: text, ip: text });
const LogEntry = z.object({
  id: word,
  key: text,
  event: text,
  category: text,
  severity: text,
  timestamp: natural,
  message_raw: text,
  parameters: maybe(z.record(z.string(), z.unknown())),
});

const Sysinfo = z.object({ version: text, name: text, hostname: text, uptime: natural, timezone: text });
const SiteRow = z.object({ name: z.string().min(1), desc: text });
const OfficialSite = z.object({ id: z.string().min(1), internalReference: z.string().min(1), name: text });
const Envelope = z.object({ meta: z.object({ message: z.string().min(1) }), data: z.array(z.unknown()) });

/** A client, of `stat/sta`, `rest/user`, `sta:sync` or `user:sync`. */
export type ClientRow = z.output<typeof Client>;
/** A device, of `stat/device` or `device:sync`. */
export type DeviceRow = z.output<typeof Device>;
/** A port of a switch or gateway. */
export type PortRow = z.output<typeof Port>;
/** An outlet of a plug, strip or PDU. */
export type OutletRow = z.output<typeof Outlet>;
/** A WLAN. */
export type WlanRow = z.output<typeof Wlan>;
/** A WAN as the load balancing tells it. */
export type WanRow = z.output<typeof Wan>;
/** A subsystem of `stat/health`. */
export type HealthRow = z.output<typeof Health>;
/** What was measured of one WAN. */
export type MonitoredRow = z.output<typeof Monitored>;
/** An event that the socket told. */
export type HappeningRow = z.output<typeof Happening>;
/** An entry of the system log. */
export type LogRow = z.output<typeof LogEntry>;
/** Whom or what an entry of the log is about. */
export type PartyRow = z.output<typeof Party>;

/** The rows that fit; the others are counted. */
function rows<S extends z.ZodType>(schema: S, body: unknown, counters: Counters): z.output<S>[] {
  if (!Array.isArray(body)) {
    counters.unreadable++;
    return [];
  }
  return body.flatMap(row => {
    const parsed = schema.safeParse(row);
    if (parsed.success) return [parsed.data];
    counters.unreadable++;
    return [];
  });
}

type Read<T> = (body: unknown, counters: Counters) => T[];
const reader =
  <S extends z.ZodType>(schema: S): Read<z.output<S>> =>
  (body, counters) =>
    rows(schema, body, counters);

/** Clients, of `stat/sta`, `rest/user` and messages. */
export const readClients = reader(Client);
/** Devices, of `stat/device` and messages. */
export const readDevices = reader(Device);
/** Gateways list interfaces among their ports, which have no number. */
export const readPorts: Read<PortRow> = (body, counters) =>
  rows(
    Port,
    Array.isArray(body) ? body.filter(row => (row as { port_idx?: unknown } | null)?.port_idx !== undefined) : body,
    counters,
  );
/** Outlets, of `outlet_table`. */
export const readOutlets = reader(Outlet);
/** WLANs, of `rest/wlanconf` and messages. */
export const readWlans = reader(Wlan);
/** Subsystems, of `stat/health`. */
export const readHealth = reader(Health);
/** Events that the socket told. */
export const readHappenings = reader(Happening);
/** Sites, of `self/sites`. */
export const readSites = reader(SiteRow);
/** Entries of a page of the system log. */
export const readLog: Read<LogRow> = (body, counters) =>
  rows(LogEntry, (body as { data?: unknown } | null)?.data, counters);
/** Sites, of a page of the official API. */
export const readOfficialSites = (body: unknown, counters: Counters) =>
  rows(OfficialSite, (body as { data?: unknown } | null)?.data, counters);
/** Lines, of `wan/load-balancing/status`. */
export const readWans: Read<WanRow> = (body, counters) =>
  rows(Wan, (body as { wan_interfaces?: unknown } | null)?.wan_interfaces, counters);

/** What was measured of the WANs, by group. */
export const readMonitored = (stats: Record<string, unknown> = {}): ReadonlyMap<string, MonitoredRow> =>
  new Map(
    Object.entries(stats).flatMap(([group, one]): [string, MonitoredRow][] => {
      const { data } = Monitored.safeParse(one);
      return data ? [[group, data]] : [];
    }),
  );

/** Who and what stand in an entry of the log, by their role in its text. */
export const readParties = ({ parameters = {} }: LogRow): ReadonlyMap<string, PartyRow> =>
  new Map(
    Object.entries(parameters).flatMap(([role, one]): [string, PartyRow][] => {
      const { data } = Party.safeParse(one);
      return data ? [[role, data]] : [];
    }),
  );

/** The first row of `stat/sysinfo`. */
export const readSysinfo = (body: unknown, counters: Counters): z.output<typeof Sysinfo> | undefined =>
  rows(Sysinfo, body, counters)[0];

/** A frame of the socket: its kind and rows; undefined, and counted, when it is none. */
export function readMessage(frame: unknown, counters: Counters): { kind: string; data: unknown[] } | undefined {
  const parsed = Envelope.safeParse(frame);
  if (!parsed.success) {
    counters.garbled++;
    return undefined;
  }
  return { kind: parsed.data.meta.message, data: parsed.data.data };
}

/** What a row really has: for news that lack what did not change. */
export const definedOf = <R extends object>(row: R): Partial<R> =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined)) as Partial<R>;

/** True for what is a MAC, in lower case. */
export const isMac = (value: string | undefined): value is string =>
  value !== undefined && Mac.safeParse(value).success;

/** The MAC of somebody's own making, as phones do for privacy: the second bit of the first byte. */
export const isRandomMac = (address: string): boolean => /^.[26ae]/i.test(address);
