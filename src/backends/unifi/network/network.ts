// What is known of a console's site, put together: lists, messages, events and the log all end here.
import type { Log } from '../../../lib/log.ts';
import type { Snapshot } from '../console/snapshot.ts';
import { type LogRow, readClients, readDevices, readHappenings, readWlans } from '../console/wire.ts';
import { type Counters, countUnknown } from '../counters.ts';
import { type ClientMemory, type Clients, createClients } from './clients.ts';
import { createDevices, type Devices } from './devices.ts';
import { fromHappening, fromLog, type Occurrence } from './occurrences.ts';
import { createSite, type Site } from './site.ts';
import type { Told } from './told.ts';

/** What it needs. */
export interface NetworkParts {
  readonly backend: string;
  readonly site: string;
  readonly siteName: string;
  readonly version: string | undefined;
  readonly told: Told;
  readonly memory: ClientMemory;
  readonly log: Log;
  readonly counters: Counters;
  readonly graceMs: number;
  readonly knownForMs: number;
  readonly watchedSince: number;
  readonly elapsed: () => number;
  /** Epoch ms by the console's clock less elapsed ms by ours. */
  readonly consoleOffset: () => number;
  /** The WANs want to be looked at now. */
  readonly onWan: () => void;
  /** Something was set otherwise: what the console has answered of it holds no longer. */
  readonly onConfigured: () => void;
}

/** A site, for one connection. */
export interface Network {
  readonly clients: Clients;
  readonly devices: Devices;
  readonly site: Site;
  takeSnapshot(snapshot: Snapshot): void;
  /** A message of the socket. */
  takeMessage(kind: string, data: readonly unknown[]): void;
  takeLog(rows: readonly LogRow[]): void;
}

/** Kinds of messages that tell of the configuration. */
const CONFIGURATION =
  /^(networkconf|portforward|firewallrule|firewallgroup|setting|usergroup|dpiapp|dpigroup|scheduletask|wlanconf):(add|sync|delete|update)$/;
/** What clients are called, and who is blocked. */
const USERS = /^user:/;
/** Known, and nothing to us. */
const IGNORED = new Set([
  'session-metadata:sync',
  'notification-toast',
  'speed-test:update',
  'ping-test:update',
  'vpn-connection:sync',
  'vpn-users:sync',
  'setup:sync',
  'alert',
]);

/** Nothing is known yet. */
export function createNetwork(parts: NetworkParts): Network {
  const {
    backend,
    site: siteId,
    siteName: name,
    version,
    told,
    counters,
    elapsed,
    consoleOffset,
    onWan,
    onConfigured,
  } = parts;
  const consoleNow = () => elapsed() + consoleOffset();
  const clients = createClients(parts);
  const devices = createDevices(parts);
  const site = createSite({ backend, site: siteId, name, version, told, clients, devices, elapsed });

  const apply = (occurrence: Occurrence | undefined): void => {
    if (occurrence?.about === 'client') clients.event(occurrence);
    else if (occurrence?.about === 'access') clients.access(occurrence.mac, occurrence.access);
    else if (occurrence?.about === 'device') devices.event(occurrence);
    else if (occurrence?.about === 'wan') onWan();
    else if (occurrence?.about === 'site') {
      const { name: what, value, time: sourceTime, id } = occurrence;
      site.happen(what, value, { sourceTime, id });
    }
  };

  const configured = (kind: string, data: readonly unknown[]): void => {
    const [, what = '', action = ''] = CONFIGURATION.exec(kind) ?? [];
    for (const row of data.slice(0, 10)) {
      const { name: called, key } = (row ?? {}) as { name?: unknown; key?: unknown };
      const label = typeof called === 'string' ? called : typeof key === 'string' ? key : null;
      site.happen('configurationChanged', { what, action, name: label });
    }
  };

  const macsOf = (data: readonly unknown[]): string[] => readClients(data, counters).map(({ mac }) => mac);

  /** By kind. */
  const takes: Readonly<Record<string, (data: readonly unknown[]) => void>> = {
    'sta:sync': data => clients.takeRows(readClients(data, counters)),
    'user:sync': data => clients.takeUsers(readClients(data, counters)),
    'user:delete': data => {
      for (const mac of macsOf(data)) clients.forget(mac);
    },
    'device:sync': data => devices.takeRows(readDevices(data, counters)),
    'device:delete': data => {
      for (const mac of macsOf(data)) devices.remove(mac);
    },
    'wlanconf:sync': data => site.takeWlanRows(readWlans(data, counters)),
    'wlanconf:delete': data => {
      for (const { _id } of readWlans(data, counters)) site.removeWlan(_id);
    },
    events: data => {
      for (const row of readHappenings(data, counters)) apply(fromHappening(row, counters, consoleNow()));
    },
    'vpn:connect': () => site.happen('vpnConnected', {}),
    'vpn:disconnect': () => site.happen('vpnDisconnected', {}),
  };
  const SAME: Readonly<Record<string, string>> = {
    'device:update': 'device:sync',
    'device:add': 'device:sync',
    'unifi-device:sync': 'device:sync',
    'unifi-device:add': 'device:sync',
    'wlanconf:add': 'wlanconf:sync',
  };

  return {
    clients,
    devices,
    site,
    takeSnapshot({ askedAt, stations, devices: rows, wans, health, users, wlans }) {
      devices.takeList(askedAt, rows);
      clients.takeList(askedAt, stations, users);
      if (wlans) site.takeWlans(askedAt, wlans);
      site.takeHealth(wans, health);
    },
    takeMessage(kind, data) {
      counters.messages++;
      const take = takes[SAME[kind] ?? kind];
      take?.(data);
      if (CONFIGURATION.test(kind) || USERS.test(kind)) onConfigured();
      if (CONFIGURATION.test(kind)) configured(kind, data);
      else if (!take && !IGNORED.has(kind)) countUnknown(counters, kind);
    },
    takeLog(rows) {
      for (const row of rows) apply(fromLog(row, counters, consoleNow()));
    },
  };
}
