// The devices of a site: their rows as they come, whole or in parts, and what has happened between two of them.
import type { Json } from '../../../model/value.ts';
import { type DeviceRow, definedOf } from '../console/wire.ts';
import type { Counters } from '../counters.ts';
import { createAbsent } from './absent.ts';
import { createHeard } from './heard.ts';
import { connectivityOf, deviceValues, type MappedDevice, mapDevice } from './map-device.ts';
import type { Told } from './told.ts';

/** A device that is known. */
export interface KnownDevice extends MappedDevice {
  readonly row: DeviceRow;
}

/** An event about a device. */
export interface DeviceEvent {
  readonly what: 'offline' | 'online' | 'restarted' | 'upgraded' | 'poeOverload' | 'poeDisconnected';
  readonly mac: string;
  /** Epoch ms by the console's clock. */
  readonly time: number;
  readonly version?: string | undefined;
}

/** The devices of a site. */
export interface Devices {
  /** All of them; those missing for long are gone. @param askedAt elapsed ms: what was told since is newer */
  takeList(askedAt: number, rows: readonly DeviceRow[]): void;
  /** News of some; what a row lacks stays as it was. */
  takeRows(rows: readonly DeviceRow[]): void;
  event(event: DeviceEvent): void;
  remove(mac: string): void;
  byId(id: string): KnownDevice | undefined;
  byMac(mac: string): KnownDevice | undefined;
  all(): Iterable<KnownDevice>;
}

/** What devices need. */
export interface DeviceParts {
  readonly backend: string;
  readonly site: string;
  readonly told: Told;
  readonly counters: Counters;
  readonly elapsed: () => number;
}

/** An event and the row that shows the same come within this. */
const RESTART_MS = 300_000;
/** Uptimes are those of the last heartbeat. */
const UPTIME_SLACK_S = 60;

/** For one connection. */
export function createDevices({ backend, site, told, counters, elapsed }: DeviceParts): Devices {
  const known = new Map<string, KnownDevice>();
  const restartedAt = new Map<string, number>();
  const heard = createHeard(elapsed);
  const absent = createAbsent(elapsed);
  const idOf = (mac: string) => `${backend}:device:${mac}`;

  const restarted = (mac: string, how: Json): void => {
    const last = restartedAt.get(mac) ?? Number.NEGATIVE_INFINITY;
    if (elapsed() - last < RESTART_MS) return;
    restartedAt.set(mac, elapsed());
    told.happen(idOf(mac), 'restarted', how);
  };

  const take = (news: DeviceRow, isWhole: boolean): void => {
    const { mac } = news;
    absent.forget(mac);
    // Those that wait to be adopted are somebody else's.
    if (news.adopted === false) return;
    const before = known.get(mac);
    const row = before && !isWhole ? { ...before.row, ...definedOf(news) } : news;
    if (!before && !isWhole && row.type === undefined) return;
    const after: KnownDevice = { ...mapDevice(idOf(mac), row, counters), row };
    known.set(mac, after);
    told.declare(after.device);
    told.set(after.device.id, deviceValues(row, after));
    if (before) tellChanges(before, after);
  };

  const tellChanges = (before: KnownDevice, after: KnownDevice): void => {
    const { id } = after.device;
    const { mac } = after.row;
    const [was, is] = [connectivityOf(before.row.state), connectivityOf(after.row.state)];
    if (is !== undefined && was !== undefined && is !== was) told.happen(id, is, {});
    const [versionBefore, version] = [before.row.version, after.row.version];
    if (version !== undefined && versionBefore !== undefined && version !== versionBefore) {
      told.happen(id, 'upgraded', { from: versionBefore, to: version });
    }
    const [uptimeBefore, uptime] = [before.row.uptime, after.row.uptime];
    if (uptime !== undefined && uptimeBefore !== undefined && uptime + UPTIME_SLACK_S < uptimeBefore)
      restarted(mac, {});
    for (const port of after.ports) {
      const { port_idx: index, name = `Port ${index}`, up, poe_mode: mode } = port;
      const old = before.ports.find(one => one.port_idx === index);
      if (!old) continue;
      if (up !== undefined && old.up !== undefined && up !== old.up)
        told.happen(id, up ? 'portUp' : 'portDown', { port: index, name });
      if (mode !== undefined && old.poe_mode !== undefined && mode !== old.poe_mode) {
        told.happen(id, 'poeChanged', { port: index, name, mode });
      }
    }
    const [testBefore, test] = [before.row['speedtest-status'], after.row['speedtest-status']];
    if (test?.rundate && test.rundate > (testBefore?.rundate ?? 0)) {
      const { xput_download: download = null, xput_upload: upload = null, latency = null } = test;
      told.happen(`${backend}:site:${site}`, 'speedTest', { download, upload, latency });
    }
  };

  const remove = (mac: string): void => {
    if (known.delete(mac)) told.remove(idOf(mac));
    restartedAt.delete(mac);
    absent.forget(mac);
  };

  return {
    takeList(askedAt, rows) {
      heard.sweep(askedAt);
      const macs = new Set(rows.map(({ mac }) => mac));
      for (const mac of known.keys()) {
        if (!macs.has(mac) && !heard.isSince(mac, askedAt) && absent.isGone(mac)) remove(mac);
      }
      for (const row of rows) if (!heard.isSince(row.mac, askedAt)) take(row, true);
    },
    takeRows(rows) {
      for (const row of rows) {
        heard.hear(row.mac);
        take(row, false);
      }
    },
    event({ what, mac, version }) {
      const one = known.get(mac);
      if (!one) return;
      heard.hear(mac);
      if (what === 'restarted') restarted(mac, {});
      else if (what === 'online') take({ ...one.row, state: 1 }, true);
      else if (what === 'offline') take({ ...one.row, state: 0 }, true);
      else if (what === 'upgraded') take({ ...one.row, version: version ?? one.row.version }, true);
      else told.happen(idOf(mac), what, {});
    },
    remove(mac) {
      remove(mac);
      heard.hear(mac);
    },
    byId: id => known.get(id.slice(idOf('').length)),
    byMac: mac => known.get(mac),
    all: () => known.values(),
  };
}
