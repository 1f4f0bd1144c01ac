// Lists, messages and events put together, with the hands of the clock in the hands of the test: what is newer wins.
import { describe, expect, test } from 'vitest';
import type { Snapshot } from '../../../../src/backends/unifi/console/snapshot.ts';
import { readClients, readDevices, readWlans } from '../../../../src/backends/unifi/console/wire.ts';
import { newCounters } from '../../../../src/backends/unifi/counters.ts';
import { noClients } from '../../../../src/backends/unifi/network/clients.ts';
import { createNetwork } from '../../../../src/backends/unifi/network/network.ts';
import { createTold } from '../../../../src/backends/unifi/network/told.ts';
import { silentLog } from '../../../../src/lib/log.ts';
import { recorder } from '../kit.ts';

const PHONE = '00:00:5e:00:53:01';
const AP = '00:00:5e:00:53:f2';
const EPOCH = 1_800_000_000_000;

async function stage() {
  let now = 0;
  const counters = newCounters();
  const sink = recorder();
  const told = createTold(sink, counters, () => now);
  const network = createNetwork({
    backend: 'unifi',
    site: 'default',
    siteName: 'Home',
    version: '9.0.114',
    told,
    memory: noClients(),
    log: silentLog,
    counters,
    graceMs: 300_000,
    knownForMs: 86_400_000,
    watchedSince: Number.NEGATIVE_INFINITY,
    elapsed: () => now,
    consoleOffset: () => EPOCH,
    onWan: () => {},
    onConfigured: () => {},
  });
  const seconds = () => Math.floor((EPOCH + now) / 1_000);
  const sta = (more: object = {}) => ({
    mac: PHONE,
    name: 'Phone',
    is_wired: false,
    ap_mac: AP,
    last_seen: seconds(),
    ...more,
  });
  const ap = (more: object = {}) => ({
    mac: AP,
    type: 'uap',
    name: 'Hall AP',
    state: 1,
    adopted: true,
    version: '1',
    ...more,
  });
  const wlan = (more: object = {}) => ({ _id: 'w', name: 'Home', enabled: true, ...more });
  const list = (
    askedAt: number,
    rows: { sta?: object[]; users?: object[]; devices?: object[]; wlans?: object[] } = {},
  ): Snapshot => ({
    askedAt,
    stations: readClients(rows.sta ?? [sta()], counters),
    devices: readDevices(rows.devices ?? [ap()], counters),
    wans: undefined,
    health: undefined,
    users: rows.users && readClients(rows.users, counters),
    wlans: rows.wlans && readWlans(rows.wlans, counters),
  });
  network.takeSnapshot(list(0, { users: [sta()], wlans: [wlan()] }));
  await told.tellAll();
  sink.take();
  const event = (key: string, more: object) => network.takeMessage('events', [{ key, time: EPOCH + now, ...more }]);
  return {
    network,
    sink,
    counters,
    sta,
    ap,
    wlan,
    list,
    event,
    at: (ms: number) => {
      now = ms;
    },
  };
}

describe('a list that was asked for before', () => {
  test('an event of a device does not undo it', async () => {
    const { at, event, network, list, sink } = await stage();
    at(1_000);
    event('EVT_AP_Lost_Contact', { ap: AP });
    at(1_200);
    network.takeSnapshot(list(900));
    const lines = sink.take().filter(line => /connectivity|!/.test(line));
    expect(lines).toEqual([`unifi:device:${AP}/connectivity=offline`, `unifi:device:${AP}!offline={}`]);
    at(60_000);
    network.takeSnapshot(list(59_000));
    expect(sink.take()).toContain(`unifi:device:${AP}!online={}`);
  });

  test('a message of a WLAN does not undo it', async () => {
    const { at, network, list, sink, wlan } = await stage();
    at(1_000);
    network.takeMessage('wlanconf:sync', [wlan({ enabled: false })]);
    network.takeSnapshot(list(900, { wlans: [wlan()] }));
    expect(sink.take().filter(line => line.includes('switch'))).toEqual(['unifi:wlan:w/switch=off']);
  });

  test('a client came does not take it away again', async () => {
    const { at, network, list, sink, event } = await stage();
    at(30_000);
    network.takeSnapshot(list(29_900, { sta: [] }));
    at(40_000);
    event('EVT_WU_Connected', { user: PHONE, ap: AP });
    network.takeSnapshot(list(39_900, { sta: [] }));
    expect(sink.take().filter(line => line.includes('connectivity') || line.includes('connected'))).toEqual([
      `unifi:client:${PHONE}/connectivity=offline`,
      `unifi:client:${PHONE}!disconnected={"accessPoint":"${AP}"}`,
      `unifi:client:${PHONE}/connectivity=online`,
      `unifi:client:${PHONE}!connected={"accessPoint":"${AP}"}`,
    ]);
  });

  test('a new client came does not take it away, so that it is new once', async () => {
    const { at, network, list, sink, sta } = await stage();
    const newcomer = '02:00:5e:00:53:77';
    at(300_000);
    network.takeMessage('sta:sync', [sta({ mac: newcomer, last_seen: (EPOCH + 300_000) / 1_000 })]);
    at(300_100);
    network.takeSnapshot(list(299_900, { users: [sta()] }));
    at(330_000);
    network.takeSnapshot(list(329_900, { sta: [sta(), sta({ mac: newcomer })], users: [sta()] }));
    const lines = sink.take().filter(line => line.includes(newcomer));
    expect(lines.filter(line => /^removed|newClient/.test(line))).toHaveLength(1);
  });

  test('a client was forgotten does not bring it back', async () => {
    const { at, network, list, sink } = await stage();
    at(1_000);
    network.takeMessage('user:delete', [{ mac: PHONE }]);
    network.takeSnapshot(list(900));
    expect(sink.take().filter(line => line.includes(PHONE))).toEqual([`removed: unifi:client:${PHONE}`]);
  });
});

test('a message about one whom the console remembers changes nothing of what it does not tell', async () => {
  const { at, network, list, sink, sta } = await stage();
  const other = '00:00:5e:00:53:02';
  const users = [
    sta({ blocked: true, first_seen: 1 }),
    sta({ mac: other, name: undefined, hostname: 'other', first_seen: 1 }),
  ];
  at(300_000);
  network.takeSnapshot(list(300_000, { sta: [], users }));
  sink.take();
  network.takeMessage('user:sync', [
    { mac: PHONE, note: 'x' },
    { mac: other, note: 'x' },
  ]);
  network.takeMessage('user:sync', [{ mac: PHONE, name: 'Telephone' }]);
  expect(sink.take()).toEqual([`device: unifi:client:${PHONE} "Telephone"`]);
  network.takeMessage('user:sync', [{ mac: PHONE, blocked: false }]);
  network.takeMessage('user:sync', [sta({ blocked: true, first_seen: 1 })]);
  network.takeMessage('user:sync', [sta({ first_seen: 1 })]);
  expect(sink.take().filter(line => /access|locked/.test(line))).toEqual(
    ['allowed', 'blocked', 'allowed'].flatMap(access => [
      `unifi:client:${PHONE}/access=${access}`,
      `unifi:client:${PHONE}!${access === 'blocked' ? 'blocked' : 'unblocked'}={}`,
    ]),
  );
});

test('a sighting that lies hours ahead is none', async () => {
  const { at, network, list, sink, sta } = await stage();
  const ahead = (EPOCH + 7_200_000) / 1_000;
  at(30_000);
  network.takeSnapshot(list(30_000, { sta: [sta({ last_seen: ahead })] }));
  at(310_000);
  network.takeSnapshot(list(310_000, { sta: [sta({ last_seen: ahead })], users: [sta({ last_seen: ahead })] }));
  expect(sink.take()).toContain(`unifi:client:${PHONE}/presence=not present`);
});

describe('a ghost of the wired bug', () => {
  const ghost = (byAp: number) => ({
    mac: PHONE,
    is_wired: true,
    sw_port: 3,
    last_seen: EPOCH / 1_000 + 500,
    _last_seen_by_uap: (EPOCH + byAp) / 1_000,
    'wired-rx_bytes-r': 0,
  });
  const presences = (lines: string[]) => lines.filter(line => line.includes('/presence='));

  test('goes away after the time in which no access point saw it, however fresh the rest of it is', async () => {
    const { at, network, list, sink } = await stage();
    for (const ms of [30_000, 200_000, 319_000]) {
      at(ms);
      network.takeSnapshot(list(ms, { sta: [ghost(20_000)] }));
    }
    expect(presences(sink.take())).toEqual([]);
    at(320_000);
    network.takeSnapshot(list(320_000, { sta: [ghost(20_000)] }));
    expect(presences(sink.take())).toEqual([`unifi:client:${PHONE}/presence=not present`]);
  });

  test('with traffic at a port is none: it was plugged in', async () => {
    const { at, network, list, sink } = await stage();
    at(30_000);
    network.takeSnapshot(list(30_000, { sta: [{ ...ghost(0), 'wired-rx_bytes-r': 900 }] }));
    expect(sink.take()).toContain(`unifi:client:${PHONE}/wired=true`);
    at(400_000);
    network.takeSnapshot(list(400_000, { sta: [{ ...ghost(0), 'wired-rx_bytes-r': 900 }] }));
    expect(presences(sink.take())).toEqual([]);
  });
});

describe('what is told', () => {
  test('of counters comes once a minute at most', async () => {
    const { at, network, list, sink, sta } = await stage();
    const signals = () => sink.take().filter(line => line.includes('/signal='));
    at(10_000);
    network.takeSnapshot(list(10_000, { sta: [sta({ signal: -60 })] }));
    expect(signals()).toEqual([`unifi:client:${PHONE}/signal=-60`]);
    at(40_000);
    network.takeSnapshot(list(40_000, { sta: [sta({ signal: -80 })] }));
    expect(signals()).toEqual([]);
    at(70_000);
    network.takeSnapshot(list(70_000, { sta: [sta({ signal: -80 })] }));
    expect(signals()).toEqual([`unifi:client:${PHONE}/signal=-80`]);
    at(130_000);
    network.takeSnapshot(list(130_000, { sta: [sta({ signal: -81 })] }));
    expect(signals()).toEqual([]);
  });

  test('of one that has gone says that there is no signal any more', async () => {
    const { at, network, list, sink, sta } = await stage();
    at(10_000);
    network.takeSnapshot(list(10_000, { sta: [sta({ signal: -60 })] }));
    at(20_000);
    network.takeSnapshot(list(20_000, { sta: [] }));
    expect(sink.take()).toContain(`unifi:client:${PHONE}/signal=null (unknown)`);
    at(30_000);
    network.takeSnapshot(list(30_000, { sta: [sta({ signal: -70 })] }));
    expect(sink.take()).toContain(`unifi:client:${PHONE}/signal=-70`);
  });

  test('of a device with another name, or more ports, is a new declaration', async () => {
    const { network, sink, ap } = await stage();
    network.takeMessage('device:sync', [ap({ name: 'Attic AP' })]);
    network.takeMessage('device:sync', [ap({ name: 'Attic AP', port_table: [{ port_idx: 1, up: true }] })]);
    expect(sink.take().filter(line => line.startsWith('device: '))).toHaveLength(2);
    expect(Object.keys(sink.declared.get(`unifi:device:${AP}`)?.attributes ?? {})).toContain('port:1:link');
  });

  test('of a device that waits to be adopted is nothing', async () => {
    const { network, sink } = await stage();
    network.takeMessage('device:add', [{ mac: '00:00:5e:00:53:aa', type: 'uap', adopted: false }]);
    expect(sink.take()).toEqual([]);
  });

  test('of a value that is none of the declared words is unknown, and counted', async () => {
    const { network, sink, ap, counters } = await stage();
    network.takeMessage('device:sync', [ap({ led_override: 'on' })]);
    network.takeMessage('device:sync', [ap({ led_override: 'disco' })]);
    expect(sink.take()).toContain(`unifi:device:${AP}/led=null (unknown)`);
    expect(counters.misfits).toBe(1);
  });
});
