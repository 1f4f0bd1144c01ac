import { describe, expect, test } from 'vitest';
import {
  guardClient,
  guardPort,
  guardWlan,
  isOwn,
  ownAddresses,
  waysTo,
} from '../../../../src/backends/unifi/commands/guards.ts';
import { readDevices, readPorts } from '../../../../src/backends/unifi/console/wire.ts';
import { newCounters } from '../../../../src/backends/unifi/counters.ts';
import { mapDevice } from '../../../../src/backends/unifi/network/map-device.ts';

const mac = (last: string) => `00:00:5e:00:53:${last}`;
const own = { macs: new Set([mac('08')]), addresses: new Set(['192.0.2.8']) };

describe('this machine', () => {
  test('is known by its address, its MAC, and what the configuration names', () => {
    expect(isOwn({ mac: mac('08'), ip: undefined }, own)).toBe(true);
    expect(isOwn({ mac: mac('99'), ip: '192.0.2.8' }, own)).toBe(true);
    expect(isOwn({ mac: mac('99'), ip: '192.0.2.9' }, own)).toBe(false);
    expect(ownAddresses([mac('77')]).macs.has(mac('77'))).toBe(true);
    expect(ownAddresses([]).addresses.has('127.0.0.1')).toBe(false);
  });

  test('is not cut off', () => {
    expect(() => guardClient({ mac: mac('08'), ip: undefined }, own)).toThrow(
      expect.objectContaining({ code: 'FORBIDDEN', hint: expect.stringContaining('force') }),
    );
    expect(() => guardClient({ mac: mac('01'), ip: '192.0.2.1' }, own)).not.toThrow();
  });
});

describe('a port', () => {
  // gateway ← core (port 9) ← desk (its port 1) ← this machine at port 5
  const rows = readDevices(
    [
      { mac: mac('f0'), type: 'udm' },
      { mac: mac('f1'), type: 'usw', uplink: { uplink_mac: mac('f0'), uplink_remote_port: 3, port_idx: 1 } },
      {
        mac: mac('f2'),
        type: 'usw',
        uplink: { uplink_mac: mac('f1'), uplink_remote_port: 9, port_idx: 1 },
        port_table: [{ port_idx: 1, is_uplink: true }, { port_idx: 5 }, { port_idx: 6 }],
      },
    ],
    newCounters(),
  );
  const deviceOf = (address: string) => rows.find(row => row.mac === address);
  const ways = waysTo({ sw_mac: mac('f2'), sw_port: 5, ap_mac: undefined }, deviceOf);
  const [, , desk] = rows;

  test('that leads to this machine, also over another switch, is known', () => {
    expect([...ways].sort()).toEqual(
      [`${mac('f0')} 3`, `${mac('f1')} 1`, `${mac('f1')} 9`, `${mac('f2')} 1`, `${mac('f2')} 5`].sort(),
    );
  });

  test('of a wireless machine is that of its access point', () => {
    expect([...waysTo({ sw_mac: undefined, sw_port: undefined, ap_mac: mac('f1') }, deviceOf)]).toContain(
      `${mac('f0')} 3`,
    );
  });

  test('that is the uplink, or on that way, is not cut off; any other is', () => {
    if (!desk) throw new Error('no desk switch');
    const device = { ...mapDevice('unifi:device:x', desk, newCounters()), row: desk };
    expect(() => guardPort(device, 1, new Set())).toThrow(/its way to the console/);
    expect(() => guardPort(device, 5, ways)).toThrow(/this machine/);
    expect(() => guardPort(device, 6, ways)).not.toThrow();
    expect(readPorts(desk.port_table, newCounters())).toHaveLength(3);
  });

  test('of devices that are said to hang on each other ends all the same', () => {
    const loop = readDevices(
      [
        { mac: mac('f1'), uplink: { uplink_mac: mac('f2'), uplink_remote_port: 1 } },
        { mac: mac('f2'), uplink: { uplink_mac: mac('f1'), uplink_remote_port: 1 } },
      ],
      newCounters(),
    );
    const found = waysTo({ sw_mac: mac('f1'), sw_port: 4, ap_mac: undefined }, address =>
      loop.find(row => row.mac === address),
    );
    expect(found.size).toBe(3);
  });
});

describe('a WLAN', () => {
  const row = { mac: mac('08'), ip: undefined, is_wired: false, essid: 'Home' };

  test('that is the last one stays on', () => {
    expect(() => guardWlan('Home', 0, [], own)).toThrow('last WLAN');
  });

  test('over which this machine or a protected one is connected stays on, others do not', () => {
    expect(() => guardWlan('Home', 2, [row], own)).toThrow('over "Home" this machine');
    expect(() => guardWlan('Guests', 2, [row], own)).not.toThrow();
    expect(() => guardWlan('Home', 2, [{ ...row, is_wired: true }], own)).not.toThrow();
    expect(() => guardWlan('Home', 2, [{ ...row, mac: mac('09') }], own)).not.toThrow();
  });
});
