// What is never done without `force`: to cut off the way to the console, this machine, or the last WLAN.
import { networkInterfaces } from 'node:os';
import { CausewayError } from '../../../lib/errors.ts';
import type { ClientRow, DeviceRow } from '../console/wire.ts';
import type { KnownDevice } from '../network/devices.ts';

/** Whom nobody cuts off by mistake: this machine by its own addresses, and those whom the configuration names. */
export interface Own {
  readonly macs: ReadonlySet<string>;
  readonly addresses: ReadonlySet<string>;
}

/** This machine's, and further MACs. */
export function ownAddresses(further: readonly string[]): Own {
  const all = Object.values(networkInterfaces()).flatMap(one => one ?? []);
  const outward = all.filter(({ internal }) => !internal);
  return {
    macs: new Set([...outward.map(({ mac }) => mac.toLowerCase()), ...further]),
    addresses: new Set(outward.map(({ address }) => address)),
  };
}

/** True for a client that must not be cut off. */
export const isOwn = ({ mac, ip }: Pick<ClientRow, 'mac' | 'ip'>, { macs, addresses }: Own): boolean =>
  macs.has(mac) || (ip !== undefined && addresses.has(ip));

const HINT = 'if it is meant, say force: true';

/** @throws FORBIDDEN */
export function guardClient(client: Pick<ClientRow, 'mac' | 'ip'>, own: Own): void {
  if (!isOwn(client, own)) return;
  throw new CausewayError('FORBIDDEN', `${client.mac} is this machine, or one that the configuration protects`, {
    hint: HINT,
  });
}

/**
 * @param others WLANs that are on beside it
 * @throws FORBIDDEN
 */
export function guardWlan(
  name: string | undefined,
  others: number,
  connected: readonly Pick<ClientRow, 'mac' | 'ip' | 'is_wired' | 'essid'>[],
  own: Own,
): void {
  if (others === 0) throw new CausewayError('FORBIDDEN', 'it is the last WLAN that is on', { hint: HINT });
  if (!connected.some(row => row.is_wired !== true && row.essid === name && isOwn(row, own))) return;
  throw new CausewayError('FORBIDDEN', `over "${name}" this machine, or a protected one, is connected`, { hint: HINT });
}

/**
 * The ports over which a client is reached, as `<mac of the device> <number>`: its own, and those that its switch or access
 * point hangs on, up to the gateway.
 */
export function waysTo(
  client: Pick<ClientRow, 'sw_mac' | 'sw_port' | 'ap_mac'>,
  deviceOf: (mac: string) => Pick<DeviceRow, 'uplink'> | undefined,
): ReadonlySet<string> {
  const ways = new Set<string>();
  let at = client.sw_mac ?? client.ap_mac;
  if (client.sw_mac !== undefined && client.sw_port !== undefined) ways.add(`${client.sw_mac} ${client.sw_port}`);
  const seen = new Set<string>();
  while (at !== undefined && !seen.has(at)) {
    seen.add(at);
    const uplink: DeviceRow['uplink'] = deviceOf(at)?.uplink;
    if (uplink?.port_idx !== undefined) ways.add(`${at} ${uplink.port_idx}`);
    if (uplink?.uplink_mac !== undefined && uplink.uplink_remote_port !== undefined) {
      ways.add(`${uplink.uplink_mac} ${uplink.uplink_remote_port}`);
    }
    at = uplink?.uplink_mac;
  }
  return ways;
}

/**
 * @param ways of the clients that must not be cut off
 * @throws FORBIDDEN
 */
export function guardPort(device: Pick<KnownDevice, 'row' | 'ports'>, index: number, ways: ReadonlySet<string>): void {
  const { row, ports } = device;
  const isUplink = row.uplink?.port_idx === index || ports.some(one => one.port_idx === index && one.is_uplink);
  if (isUplink) {
    throw new CausewayError('FORBIDDEN', `port ${index} of ${row.name ?? row.mac} is its way to the console`, {
      hint: HINT,
    });
  }
  if (ways.has(`${row.mac} ${index}`)) {
    throw new CausewayError(
      'FORBIDDEN',
      `over port ${index} of ${row.name ?? row.mac} this machine, or a protected one, is reached`,
      {
        hint: HINT,
      },
    );
  }
}
