// The site, its WLANs and its WANs.
import type { Json } from '../../../model/value.ts';
import { definedOf, type HealthRow, readMonitored, type WanRow, type WlanRow } from '../console/wire.ts';
import { createAbsent } from './absent.ts';
import type { Clients } from './clients.ts';
import type { Devices } from './devices.ts';
import { createHeard } from './heard.ts';
import { isWanUp, siteDevice, siteValues, wanDevice, wanValues, wlanDevice, wlanValues } from './map-site.ts';
import type { Origin, Told } from './told.ts';

/** The site as a whole. */
export interface Site {
  readonly id: string;
  /** All of them; those missing for long are gone. @param askedAt elapsed ms: what was told since is newer */
  takeWlans(askedAt: number, rows: readonly WlanRow[]): void;
  /** News of some. */
  takeWlanRows(rows: readonly WlanRow[]): void;
  removeWlan(wlan: string): void;
  /** The WANs and the health of all, with what the clients and devices are now. */
  takeHealth(wans: readonly WanRow[] | undefined, health: readonly HealthRow[] | undefined): void;
  /** Counts the clients anew. */
  recount(): void;
  /** Something happened that belongs to no device. */
  happen(name: string, value: Json, origin?: Origin): void;
  wlans(): ReadonlyMap<string, WlanRow>;
}

/** What the site needs. */
export interface SiteParts {
  readonly backend: string;
  readonly site: string;
  readonly name: string;
  readonly version: string | undefined;
  readonly told: Told;
  readonly clients: Clients;
  readonly devices: Devices;
  readonly elapsed: () => number;
}

/** For one connection. */
export function createSite({ backend, site, name, version, told, clients, devices, elapsed }: SiteParts): Site {
  const id = `${backend}:site:${site}`;
  const heard = createHeard(elapsed);
  const absent = createAbsent(elapsed);
  const wlanId = (wlan: string) => `${backend}:wlan:${wlan}`;
  const wanId = (group: string) => `${backend}:wan:${group}`;
  const wlans = new Map<string, WlanRow>();
  const wans = new Map<string, { readonly row: WanRow; readonly isUp: boolean | undefined }>();
  let health: readonly HealthRow[] = [];
  told.declare(siteDevice(id, name));
  told.set(id, { version });

  const takeWlan = (row: WlanRow, bySsid: ReadonlyMap<string, number>): void => {
    absent.forget(wlanId(row._id));
    const now = { ...wlans.get(row._id), ...definedOf(row), _id: row._id };
    wlans.set(row._id, now);
    told.declare(wlanDevice(wlanId(row._id), now));
    told.set(wlanId(row._id), wlanValues(now, bySsid.get(now.name ?? '') ?? 0));
  };

  const removeWlan = (wlan: string): void => {
    absent.forget(wlanId(wlan));
    if (wlans.delete(wlan)) told.remove(wlanId(wlan));
  };

  const gateway = () =>
    [...devices.all()].map(({ row }) => row).find(({ last_wan_status: status }) => status !== undefined);

  const takeWans = (rows: readonly WanRow[]): void => {
    const groups = new Set(rows.map(({ wan_networkgroup: group }) => group));
    for (const group of wans.keys()) {
      if (groups.has(group)) {
        absent.forget(wanId(group));
        continue;
      }
      if (!absent.isGone(wanId(group))) continue;
      absent.forget(wanId(group));
      wans.delete(group);
      told.remove(wanId(group));
    }
    const { last_wan_status: statuses, wan1, wan2 } = gateway() ?? {};
    const measured = readMonitored(health.find(({ subsystem }) => subsystem === 'wan')?.uptime_stats);
    const before = new Map(wans);
    for (const row of rows) {
      const group = row.wan_networkgroup;
      const isUp = isWanUp(row, statuses?.[group]);
      wans.set(group, { row, isUp });
      told.declare(wanDevice(wanId(group), row));
      const ip = { WAN: wan1?.ip, WAN2: wan2?.ip }[group];
      told.set(wanId(group), wanValues(row, isUp, { ip, measured: measured.get(group) }));
    }
    tellChanges(before);
  };

  const tellChanges = (
    before: ReadonlyMap<string, { readonly row: WanRow; readonly isUp: boolean | undefined }>,
  ): void => {
    const isActive = (row: WanRow | undefined) => row?.state?.toUpperCase() === 'ACTIVE';
    const yielded = [...before].find(([group, { row }]) => isActive(row) && !isActive(wans.get(group)?.row))?.[1].row;
    for (const [group, { row, isUp }] of wans) {
      const old = before.get(group);
      if (!old) continue;
      if (isUp === false && old.isUp === true) told.happen(wanId(group), 'down', {});
      if (isUp === true && old.isUp === false) told.happen(wanId(group), 'restored', {});
      // Another line takes over; one that was down and is active again is restored and no more.
      if (isActive(row) && !isActive(old.row) && old.isUp && yielded) {
        told.happen(wanId(group), 'failover', { from: yielded.name ?? yielded.wan_networkgroup });
      }
    }
  };

  const recount = (): void => {
    const { all, guests, bySsid } = clients.count();
    told.set(id, siteValues(health, all, guests));
    for (const row of wlans.values()) told.set(wlanId(row._id), { clients: bySsid.get(row.name ?? '') ?? 0 });
  };

  return {
    id,
    takeWlans(askedAt, rows) {
      heard.sweep(askedAt);
      const ids = new Set(rows.map(({ _id }) => _id));
      for (const wlan of wlans.keys()) {
        if (!ids.has(wlan) && !heard.isSince(wlan, askedAt) && absent.isGone(wlanId(wlan))) removeWlan(wlan);
      }
      const { bySsid } = clients.count();
      for (const row of rows) if (!heard.isSince(row._id, askedAt)) takeWlan(row, bySsid);
    },
    takeWlanRows(rows) {
      const { bySsid } = clients.count();
      for (const row of rows) {
        heard.hear(row._id);
        takeWlan(row, bySsid);
      }
    },
    removeWlan(wlan) {
      heard.hear(wlan);
      removeWlan(wlan);
    },
    takeHealth(rows, latest) {
      health = latest ?? health;
      if (rows) takeWans(rows);
      recount();
    },
    recount,
    happen: (what, value, origin) => told.happen(id, what, value, origin),
    wlans: () => wlans,
  };
}
