// A client of the network as a device: who and where it is. Coming and going is a matter of `presence.ts`.
import type { AttributeDecl, CommandDecl } from '../../../model/capability.ts';
import { type Device, deviceOf } from '../../../model/device.ts';
import type { Json } from '../../../model/value.ts';
import type { ClientRow } from '../console/wire.ts';
import { about, event, force, lasting, number, once, sets, telemetry } from './declare.ts';
import type { Values } from './told.ts';

/** Of every client. */
const ATTRIBUTES: Readonly<Record<string, AttributeDecl>> = {
  access: { type: 'enum', values: ['allowed', 'blocked'] },
  wired: { type: 'boolean' },
  guest: { type: 'boolean' },
  authorized: { type: 'boolean' },
  ip: { type: 'string' },
  network: { type: 'string' },
  vlan: { type: 'number' },
  ssid: { type: 'string' },
  accessPoint: { type: 'string' },
  wiredTo: { type: 'string' },
  port: { type: 'number' },
  channel: { type: 'number' },
  band: { type: 'enum', values: ['2.4 GHz', '5 GHz', '6 GHz'] },
  signal: telemetry('dBm', 2),
  satisfaction: telemetry('%', 2),
  download: telemetry('kbit/s', 1),
  upload: telemetry('kbit/s', 1),
  downloaded: telemetry('B'),
  uploaded: telemetry('B'),
  connected: event,
  disconnected: event,
  roamed: event,
  blocked: event,
  unblocked: event,
};

const kbits = { ...number('kbit/s'), min: 2, max: 100_000 };
const block = lasting({ args: [force], effects: [{ attribute: 'access', value: 'blocked' }] }, 'unblock');
const unblock = sets('access', 'allowed', [], 'block');
const COMMANDS: Readonly<Record<string, CommandDecl>> = {
  reconnect: once([force]),
  authorizeGuest: {
    args: [
      { name: 'minutes', ...number('min'), min: 1, max: 1_000_000 },
      { name: 'download', ...kbits, optional: true },
      { name: 'upload', ...kbits, optional: true },
      { name: 'megabytes', type: 'number', min: 1, max: 1_048_576, optional: true },
    ],
    effects: [{ attribute: 'authorized', value: true }],
    idempotent: true,
    opposes: 'unauthorizeGuest',
    // Another time, or other limits, are not nothing.
    always: true,
  },
  unauthorizeGuest: sets('authorized', false, [], 'authorizeGuest'),
};

/** The client as a device. */
export const clientDevice = (id: string, name: string): Device => {
  // The site can block it, too.
  const one = (command: CommandDecl) => about(`client "${id.slice(-17)}"`, command);
  const commands = { ...COMMANDS, block: one(block), unblock: one(unblock) };
  return deviceOf({ id, name, capabilities: ['presence', 'connectivity'] }, { attributes: ATTRIBUTES, commands });
};

/** The name that people know it by, as the console shows it. */
export const clientName = ({ name, display_name, hostname, device_name, oui, mac }: ClientRow): string =>
  name ?? display_name ?? hostname ?? device_name ?? (oui === undefined ? mac : `${oui} ${mac.slice(-5)}`);

const BANDS: Readonly<Record<string, string>> = { ng: '2.4 GHz', na: '5 GHz', '6e': '6 GHz' };
/** B/s → kbit/s. */
const kbitsOf = (bytes: number | undefined): number | undefined =>
  bytes === undefined ? undefined : Math.round((bytes * 8) / 1_000);

/**
 * What a row of a connected client tells; what it does not have stays as it is. Consoles count from the view of the access
 * point: what it sends is what the client gets.
 */
export function clientValues(row: ClientRow): Values {
  const isWired = row.is_wired === true;
  return {
    access: row.blocked === undefined ? undefined : row.blocked ? 'blocked' : 'allowed',
    wired: row.is_wired,
    guest: row.is_guest,
    authorized: row.authorized,
    ip: row.ip,
    network: row.network,
    vlan: row.vlan,
    ...(isWired
      ? {
          wiredTo: row.sw_mac,
          port: row.sw_port,
          download: kbitsOf(row['wired-tx_bytes-r']),
          upload: kbitsOf(row['wired-rx_bytes-r']),
          downloaded: row['wired-tx_bytes'],
          uploaded: row['wired-rx_bytes'],
        }
      : {
          ssid: row.essid,
          accessPoint: row.ap_mac,
          channel: row.channel,
          band: row.radio === undefined ? undefined : BANDS[row.radio],
          signal: row.signal,
          download: kbitsOf(row['tx_bytes-r']),
          upload: kbitsOf(row['rx_bytes-r']),
          downloaded: row.tx_bytes,
          uploaded: row.rx_bytes,
        }),
    satisfaction: row.satisfaction,
  };
}

/** Attributes that mean nothing of a client that is not connected. */
export const OF_CONNECTED: Readonly<Record<string, Json>> = {
  signal: null,
  download: null,
  upload: null,
  satisfaction: null,
};
