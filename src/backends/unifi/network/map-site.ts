// WLANs, WANs and the site itself as devices.
import type { ArgumentDecl, AttributeDecl, CommandDecl } from '../../../model/capability.ts';
import { CAPABILITIES } from '../../../model/capability.ts';
import { type Device, deviceOf } from '../../../model/device.ts';
import type { HealthRow, MonitoredRow, WanRow, WlanRow } from '../console/wire.ts';
import { about, event, force, lasting, number, once, telemetry } from './declare.ts';
import type { Values } from './told.ts';

// --- WLANs -----------------------------------------------------------------------------------------------------------

const { on, off, toggle } = CAPABILITIES.switch.commands as Record<string, CommandDecl>;

/** A WLAN: a switch, on while it is on the air. */
export const wlanDevice = (id: string, { name, _id }: WlanRow): Device =>
  deviceOf(
    { id, name: name ?? _id, capabilities: ['switch'] },
    {
      attributes: { security: { type: 'string' }, guest: { type: 'boolean' }, clients: telemetry() },
      commands: {
        on: on as CommandDecl,
        off: { ...(off as CommandDecl), args: [force] },
        toggle: { ...(toggle as CommandDecl), args: [force] },
      },
    },
  );

/** @param clients connected over it */
export const wlanValues = ({ enabled, security, is_guest: guest }: WlanRow, clients: number): Values => ({
  switch: enabled === undefined ? undefined : enabled ? 'on' : 'off',
  security,
  guest,
  clients,
});

// --- WANs ------------------------------------------------------------------------------------------------------------

const WAN_ATTRIBUTES: Readonly<Record<string, AttributeDecl>> = {
  state: { type: 'string' },
  active: { type: 'boolean' },
  ip: { type: 'string' },
  latency: telemetry('ms', 4),
  availability: telemetry('%', 0.2),
  down: event,
  failover: event,
  restored: event,
};

/** A line to the internet, by its group (WAN, WAN2): names change. */
export const wanDevice = (id: string, { name, wan_networkgroup: group }: WanRow): Device =>
  deviceOf({ id, name: name ?? group, capabilities: ['connectivity'] }, { attributes: WAN_ATTRIBUTES });

const DOWN = /off|down|disconnect|fail|inactive/i;

/**
 * ACTIVE and BACKUP are recorded states of lines that work; what else there is counts as down, unless the gateway says that
 * the line is online.
 */
export const isWanUp = ({ state }: WanRow, gatewaySays: unknown): boolean | undefined =>
  state === undefined && gatewaySays === undefined
    ? undefined
    : ['ACTIVE', 'BACKUP'].includes(state?.toUpperCase() ?? '') ||
      (gatewaySays === 'online' && !DOWN.test(state ?? ''));

/** @param isUp see `isWanUp` */
export const wanValues = (
  { state }: WanRow,
  isUp: boolean | undefined,
  { ip, measured }: { ip: string | undefined; measured: MonitoredRow | undefined },
): Values => ({
  connectivity: isUp === undefined ? undefined : isUp ? 'online' : 'offline',
  state: state?.toLowerCase(),
  active: state === undefined ? undefined : state.toUpperCase() === 'ACTIVE',
  ip,
  latency: measured?.latency_average,
  availability: measured?.availability,
});

// --- the site --------------------------------------------------------------------------------------------------------

const SUBSYSTEMS = ['wlan', 'lan', 'wan', 'www', 'vpn'] as const;
const status: AttributeDecl = { type: 'enum', values: ['ok', 'warning', 'error', 'unknown'] };

const SITE_ATTRIBUTES: Readonly<Record<string, AttributeDecl>> = {
  ...Object.fromEntries(SUBSYSTEMS.map(name => [`${name}Status`, status])),
  version: { type: 'string' },
  provider: { type: 'string' },
  clients: telemetry(),
  guests: telemetry(),
  latency: telemetry('ms', 4),
  download: telemetry('Mbit/s'),
  upload: telemetry('Mbit/s'),
  newClient: event,
  threat: event,
  blockedByFirewall: event,
  guestAuthorized: event,
  voucherUsed: event,
  voucherCreated: event,
  vouchers: event,
  configurationChanged: event,
  adminLogin: event,
  vpnConnected: event,
  vpnDisconnected: event,
  speedTest: event,
  flowsLost: event,
  alarm: event,
};

const which = (what: string) => ({ name: what, type: 'string' }) as const;
const STATE = { name: 'state', type: 'enum', values: ['on', 'off'] } as const;
const switches = (what: string): CommandDecl => ({ args: [which(what), STATE], effects: [], idempotent: true });

const client: ArgumentDecl = { ...which('client'), optional: true };
const blocks = (args: readonly ArgumentDecl[], unblock: string) => lasting({ args, effects: [] }, unblock);
const unblocks = (args: readonly ArgumentDecl[], opposes: string): CommandDecl => ({
  args,
  effects: [],
  idempotent: true,
  opposes,
});

const CLIENT = 'client {mac}';
const DESTINATION = 'destination {destination} for {client}';
const APPLICATION = 'application {application} for {client}';
const SOURCE = 'source {address}';

const SITE_COMMANDS: Readonly<Record<string, CommandDecl>> = {
  createVoucher: once([
    { name: 'minutes', ...number('min'), min: 1, max: 1_000_000 },
    { name: 'count', type: 'number', min: 1, max: 1_000, optional: true },
    { name: 'uses', type: 'number', min: 0, max: 10_000, optional: true },
    { name: 'note', type: 'string', optional: true },
  ]),
  setFirewallPolicy: switches('policy'),
  setTrafficRule: switches('rule'),
  setTrafficRoute: switches('route'),
  setPortForward: switches('forward'),
  blockClient: about(CLIENT, blocks([which('mac'), force], 'unblockClient')),
  unblockClient: about(CLIENT, unblocks([which('mac')], 'blockClient')),
  blockDestination: about(DESTINATION, blocks([which('destination'), client], 'unblockDestination')),
  unblockDestination: about(DESTINATION, unblocks([which('destination'), client], 'blockDestination')),
  blockApplication: about(APPLICATION, blocks([which('application'), client], 'unblockApplication')),
  unblockApplication: about(APPLICATION, unblocks([which('application'), client], 'blockApplication')),
  blockSource: about(SOURCE, blocks([which('address')], 'unblockSource')),
  unblockSource: about(SOURCE, unblocks([which('address')], 'blockSource')),
  speedTest: once(),
};

/** The site: its health, what happens in it and to no device, and what is switched in it as a whole. */
export const siteDevice = (id: string, name: string): Device =>
  deviceOf({ id, name, capabilities: ['connectivity'] }, { attributes: SITE_ATTRIBUTES, commands: SITE_COMMANDS });

const statusOf = (row: HealthRow | undefined): string | undefined =>
  row?.status === undefined ? undefined : status.values?.includes(row.status) ? row.status : 'unknown';

/** @param clients connected, and those of them that are guests */
export function siteValues(rows: readonly HealthRow[], clients: number, guests: number): Values {
  const of = new Map(rows.map(row => [row.subsystem, row]));
  const www = of.get('www');
  return {
    ...Object.fromEntries(SUBSYSTEMS.map(name => [`${name}Status`, statusOf(of.get(name))])),
    // The word `connectivity` of a site is that of its way to the internet.
    connectivity:
      www?.status === undefined || www.status === 'unknown' ? undefined : www.status === 'error' ? 'offline' : 'online',
    provider: of.get('wan')?.isp_name,
    clients,
    guests,
    latency: www?.latency,
    download: www?.xput_down,
    upload: www?.xput_up,
  };
}
