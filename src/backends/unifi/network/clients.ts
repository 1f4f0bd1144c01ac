// The clients of a site: who there is, how they come and go, and where they are. What lists, messages and events tell goes
// through the machine of `presence.ts`; what it says has changed is told.
import type { Log } from '../../../lib/log.ts';
import { valuesEqual } from '../../../model/value.ts';
import { type ClientRow, isRandomMac } from '../console/wire.ts';
import { createAbsent } from './absent.ts';
import { createHeard } from './heard.ts';
import { clientDevice, clientName, clientValues, OF_CONNECTED } from './map-client.ts';
import { changeOf, type Learned, learn, nobody, type Presence, SETTLE_MS } from './presence.ts';
import type { Told } from './told.ts';

/** What is remembered of clients over connections. */
export interface ClientMemory {
  readonly members: Map<string, Member>;
  /** Everybody who was ever here, as the console remembers; undefined before its first answer. */
  known: Set<string> | undefined;
}

interface Member {
  presence: Presence;
  /** It was wireless once: what says later that it is wired says that it leaves. */
  isWireless: boolean;
  name: string;
}

/** Nothing yet. */
export const noClients = (): ClientMemory => ({ members: new Map(), known: undefined });

/** What clients need. */
export interface ClientParts {
  readonly backend: string;
  readonly site: string;
  readonly told: Told;
  readonly memory: ClientMemory;
  readonly log: Log;
  readonly graceMs: number;
  /** A client without a name is one of our devices for so long after it was seen. */
  readonly knownForMs: number;
  /** Since when nothing was missed, elapsed ms; −∞: long ago. */
  readonly watchedSince: number;
  /** Elapsed ms by our clock. */
  readonly elapsed: () => number;
  /** Epoch ms by the console's clock less those. */
  readonly consoleOffset: () => number;
}

/** An event about a client. */
export interface ClientEvent {
  readonly what: 'connected' | 'disconnected' | 'roamed';
  readonly mac: string;
  /** Epoch ms by the console's clock. */
  readonly time: number;
  readonly isWired: boolean;
  readonly ap?: string | undefined;
  readonly name?: string | undefined;
}

/** The clients of a site. */
export interface Clients {
  /** A whole list of those who are connected, and at times of all whom the console remembers. */
  takeList(askedAt: number, stations: readonly ClientRow[], users: readonly ClientRow[] | undefined): void;
  /** Rows of a message: news of some. */
  takeRows(rows: readonly ClientRow[]): void;
  /** Rows of a message about those whom the console remembers. */
  takeUsers(rows: readonly ClientRow[]): void;
  forget(mac: string): void;
  event(event: ClientEvent): void;
  access(mac: string, access: 'allowed' | 'blocked'): void;
  /** Lets time pass: who has left and not come back within moments is disconnected. */
  settle(): void;
  /** Elapsed ms at which `settle` has something to do. */
  settlesAt(): number | undefined;
  /** Elapsed ms at which a list may say that somebody is away; undefined while all are here or away. */
  decidesAt(): number | undefined;
  /** The last row of one that is connected. */
  row(mac: string): ClientRow | undefined;
  /** The last rows of all that are connected. */
  connected(): readonly ClientRow[];
  /** Connected ones: all, guests, and by SSID. */
  count(): { all: number; guests: number; bySsid: ReadonlyMap<string, number> };
}

/** A guest network of a fair must not fill the registry. */
const MOST = 5_000;
const MOST_KNOWN = 50_000;
/** Clocks of one console differ by less. */
const AHEAD_MS = 600_000;

/** For one connection. */
export function createClients(parts: ClientParts): Clients {
  const { backend, site, told, memory, log, graceMs, knownForMs, watchedSince, elapsed, consoleOffset } = parts;
  const { members } = memory;
  const idOf = (mac: string) => `${backend}:client:${mac}`;
  const connected = new Map<string, ClientRow>();
  const ghosts = new Set<string>();
  const heard = createHeard(elapsed);
  /** By the console: a list that was asked for before still has them. */
  const forgotten = createHeard(elapsed);
  const absent = createAbsent(elapsed);
  let warned = false;

  /** Elapsed ms of an instant by the console's clock, now at most. */
  const at = (consoleMs: number): number => Math.min(elapsed(), consoleMs - consoleOffset());

  /** The same of a field of a row (s); undefined for none, and for one that lies ahead, which is nonsense. */
  const seenOf = (seconds: number | undefined): number | undefined =>
    seconds === undefined || seconds * 1_000 - consoleOffset() > elapsed() + AHEAD_MS ? undefined : at(seconds * 1_000);

  const member = (mac: string, name: string, isWireless: boolean): Member | undefined => {
    let found = members.get(mac);
    if (!found) {
      if (members.size >= MOST) {
        if (!warned) log.warn({ backend, most: MOST }, 'there are more clients than are kept; the others are left out');
        warned = true;
        return undefined;
      }
      found = { presence: nobody, isWireless: false, name };
      members.set(mac, found);
    }
    found.isWireless ||= isWireless;
    if (!told.device(idOf(mac))) told.declare(clientDevice(idOf(mac), found.name));
    return found;
  };

  const rename = (mac: string, one: Member, name: string): void => {
    if (name === one.name) return;
    one.name = name;
    told.declare(clientDevice(idOf(mac), name));
  };

  /** One step of the machine, and what has changed by it. */
  const step = (mac: string, one: Member, learned: Learned): void => {
    const before = one.presence;
    one.presence = learn(before, learned, graceMs);
    if (one.presence === before) return;
    const { presence, connected: isConnected, roamed } = changeOf(before, one.presence);
    const id = idOf(mac);
    if (roamed) {
      told.set(id, { accessPoint: roamed.to });
      told.happen(id, 'roamed', roamed);
    }
    if (isConnected !== undefined) {
      told.set(id, { connectivity: isConnected ? 'online' : 'offline', ...(!isConnected && OF_CONNECTED) });
      told.happen(id, isConnected ? 'connected' : 'disconnected', { accessPoint: one.presence.ap ?? null });
      if (!isConnected) connected.delete(mac);
    }
    if (presence !== undefined) told.set(id, { presence });
  };

  const meet = (row: Pick<ClientRow, 'mac' | 'is_wired' | 'is_guest' | 'network'>, name: string): void => {
    const { known } = memory;
    if (!known || known.has(row.mac) || !told.isLive()) return;
    if (known.size < MOST_KNOWN) known.add(row.mac);
    told.happen(`${backend}:site:${site}`, 'newClient', {
      mac: row.mac,
      name,
      random: isRandomMac(row.mac),
      wired: row.is_wired ?? null,
      guest: row.is_guest ?? false,
      network: row.network ?? null,
    });
  };

  /**
   * The wired bug: a wireless client that leaves is listed as wired for a while. With traffic at a port it is wired in truth (a
   * laptop that was plugged in with the same address).
   */
  const isGhost = (row: ClientRow, one: Member): boolean =>
    row.is_wired === true && one.isWireless && !row['wired-rx_bytes-r'] && !row['wired-tx_bytes-r'];

  /** @returns whether it is there */
  const takeRow = (row: ClientRow, isOlder: boolean, isWireless = false): boolean => {
    const { mac } = row;
    const one = member(mac, clientName(row), isWireless || row.is_wired === false);
    if (!one) return false;
    meet(row, one.name);
    const byAp = row._last_seen_by_uap;
    if (isGhost(row, one)) {
      ghosts.add(mac);
      // What the access points saw of it last is true all the same.
      const last = seenOf(byAp);
      if (last !== undefined) step(mac, one, { type: 'recalled', at: elapsed(), seenAt: last });
      return false;
    }
    ghosts.delete(mac);
    const sightings = [seenOf(row.last_seen), row.is_wired ? undefined : seenOf(byAp)].filter(one => one !== undefined);
    const seenAt = sightings.length === 0 ? undefined : Math.max(...sightings);
    if (isOlder) {
      if (seenAt !== undefined) step(mac, one, { type: 'recalled', at: elapsed(), seenAt });
      return one.presence.isConnected;
    }
    rename(mac, one, clientName({ ...row, name: row.name ?? (row.hostname === undefined ? one.name : undefined) }));
    if (seenAt !== undefined) step(mac, one, { type: 'seen', at: elapsed(), seenAt, ap: row.ap_mac });
    if (one.presence.isConnected) {
      connected.set(mac, row);
      setAccess(mac, row.blocked === undefined ? undefined : row.blocked ? 'blocked' : 'allowed');
      told.set(idOf(mac), { ...clientValues(row), access: undefined });
    }
    return true;
  };

  const setAccess = (mac: string, access: 'allowed' | 'blocked' | undefined): void => {
    if (access === undefined) return;
    const id = idOf(mac);
    const before = told.value(id, 'access');
    told.set(id, { access });
    if (before !== undefined && !valuesEqual(before, access))
      told.happen(id, access === 'blocked' ? 'blocked' : 'unblocked', {});
  };

  /** One that the console remembers. */
  const takeUser = (row: ClientRow, isWhole: boolean): void => {
    const { mac } = row;
    const seenAt = seenOf(row.last_seen);
    const isRecent = seenAt !== undefined && elapsed() - seenAt < knownForMs;
    const isNoted = row.name !== undefined || row.noted === true || row.blocked === true;
    if (!isRecent && !isNoted && !connected.has(mac) && (isWhole || !members.has(mac))) {
      if (members.delete(mac)) told.remove(idOf(mac));
      return;
    }
    const one = member(mac, clientName(row), row.is_wired === false);
    if (!one) return;
    meet(row, one.name);
    if (isWhole || row.name !== undefined) rename(mac, one, clientName(row));
    // At the start: later the lists tell of those who are here, and ghosts are remembered as seen, too.
    if (seenAt !== undefined && !told.isLive() && !ghosts.has(mac)) {
      step(mac, one, { type: 'recalled', at: elapsed(), seenAt });
    }
    if (isWhole || row.blocked !== undefined) setAccess(mac, row.blocked ? 'blocked' : 'allowed');
    told.set(idOf(mac), { wired: row.is_wired, guest: row.is_guest, ip: row.ip ?? row.last_ip });
    if (!one.presence.isConnected) told.set(idOf(mac), { connectivity: 'offline' });
  };

  const forget = (mac: string): void => {
    absent.forget(mac);
    members.delete(mac);
    connected.delete(mac);
    memory.known?.delete(mac);
    told.remove(idOf(mac));
  };

  return {
    takeList(askedAt, stations, users) {
      const there = new Set<string>();
      ghosts.clear();
      const wireless = new Set(users?.filter(({ is_wired: isWired }) => isWired === false).map(({ mac }) => mac));
      heard.sweep(askedAt);
      forgotten.sweep(askedAt);
      for (const row of stations) {
        if (forgotten.isSince(row.mac, askedAt)) continue;
        const isOlder = heard.isSince(row.mac, askedAt);
        if (takeRow(row, isOlder, wireless.has(row.mac))) there.add(row.mac);
      }
      for (const row of users ?? []) if (!forgotten.isSince(row.mac, askedAt)) takeUser(row, true);
      if (users) {
        const remembered = new Set([...users, ...stations].map(({ mac }) => mac));
        for (const mac of [...members.keys()]) {
          if (remembered.has(mac) || heard.isSince(mac, askedAt)) absent.forget(mac);
          else if (absent.isGone(mac)) forget(mac);
        }
        if (remembered.size > 0) memory.known ??= remembered;
      }
      for (const [mac, one] of members) {
        const isIn = there.has(mac) || heard.isSince(mac, askedAt);
        step(mac, one, { type: 'listed', at: elapsed(), isIn, watchedSince });
        // What was told in another connection, or never changed since it is known.
        const { is, isConnected } = one.presence;
        told.set(idOf(mac), { presence: is, connectivity: isConnected ? 'online' : 'offline' });
      }
    },
    takeRows(rows) {
      for (const row of rows) {
        takeRow(row, false);
        heard.hear(row.mac);
      }
    },
    takeUsers(rows) {
      // Whole records have this; what only tells of a change may lack all that is as before.
      for (const row of rows) takeUser(row, row.first_seen !== undefined);
    },
    forget(mac) {
      forgotten.hear(mac);
      forget(mac);
    },
    event({ what, mac, time, isWired, ap, name }) {
      const one = member(mac, name ?? mac, !isWired);
      // The wired bug again: see `isGhost`.
      if (!one || (isWired && one.isWireless)) return;
      meet({ mac, is_wired: isWired, is_guest: undefined, network: undefined }, one.name);
      heard.hear(mac);
      if (what === 'disconnected') step(mac, one, { type: 'left', at: elapsed(), leftAt: at(time) });
      else step(mac, one, { type: 'seen', at: elapsed(), seenAt: at(time), ap, isComing: true });
    },
    access(mac, access) {
      if (members.has(mac)) setAccess(mac, access);
    },
    settle() {
      for (const [mac, one] of members) {
        if (one.presence.leftAt !== undefined) step(mac, one, { type: 'settled', at: elapsed() });
      }
    },
    settlesAt() {
      let first: number | undefined;
      for (const { presence } of members.values()) {
        if (presence.leftAt === undefined || !presence.isConnected) continue;
        first = Math.min(first ?? Number.POSITIVE_INFINITY, presence.leftAt + SETTLE_MS);
      }
      return first;
    },
    decidesAt() {
      let first: number | undefined;
      for (const { presence } of members.values()) {
        if (presence.is === 'not present') continue;
        const due = Math.max(presence.seenAt, watchedSince) + graceMs;
        if (Number.isFinite(due)) first = Math.min(first ?? Number.POSITIVE_INFINITY, due);
      }
      return first;
    },
    row: mac => connected.get(mac),
    connected: () => [...connected.values()],
    count() {
      const bySsid = new Map<string, number>();
      let guests = 0;
      for (const { essid, is_guest: isGuest } of connected.values()) {
        if (isGuest) guests++;
        if (essid !== undefined) bySsid.set(essid, (bySsid.get(essid) ?? 0) + 1);
      }
      return { all: connected.size, guests, bySsid };
    },
  };
}
