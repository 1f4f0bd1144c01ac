// Presence over a UniFi console, through what the backend really does with lists, messages and events: 100 clients that come,
// go, nap and roam for a thousand hours, with silent sockets, ghosts of the wired bug, lost events and restarts of the console.
// Nobody may be away who was seen within the grace time, and nobody present who was not.
import { join } from 'node:path';
import type { Benchmark } from './benchmark.ts';

const CLIENTS = 100;
const HOURS = 1_000;
const POLL_MS = 30_000;
const GRACE_MS = 300_000;
const EPOCH = 1_800_000_000_000;
const APS = ['00:00:5e:00:53:f1', '00:00:5e:00:53:f2', '00:00:5e:00:53:f3'] as const;
const SECOND = 1_000;
const MINUTE = 60_000;

/** mulberry32: the same house in each run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** What is true of a client. */
interface Truth {
  readonly mac: string;
  isHome: boolean;
  /** When that changes. */
  turnsAt: number;
  /** Silent, though at home, until then. */
  napsUntil: number;
  /** Listed as wired after it has left, until then. */
  ghostUntil: number;
  seenAt: number;
  /** When a list or event had it for the last time: what nobody could see counts for nothing. */
  shownAt: number;
  ap: string;
  /** What we were told. */
  told: 'present' | 'not present' | undefined;
}

type Unifi = typeof import('../src/backends/unifi/network/network.ts') &
  typeof import('../src/backends/unifi/network/clients.ts') &
  typeof import('../src/backends/unifi/network/told.ts') &
  typeof import('../src/backends/unifi/counters.ts') &
  typeof import('../src/backends/unifi/console/wire.ts') &
  typeof import('../src/lib/log.ts');

async function load(dist: string): Promise<Unifi> {
  const files = ['network/network', 'network/clients', 'network/told', 'counters', 'console/wire'];
  const parts = await Promise.all([
    ...files.map(file => import(join(dist, `src/backends/unifi/${file}.js`))),
    import(join(dist, 'src/lib/log.js')),
  ]);
  return Object.assign({}, ...parts) as Unifi;
}

/** presenceFalseAway, presenceMissedAway, presenceLateHome, presenceUsPerRow. */
export const presence: Benchmark = async ({ dist, quick }) => {
  const unifi = await load(dist);
  const random = seeded(7);
  const between = (low: number, high: number) => low + random() * (high - low);
  const end = (quick ? HOURS / 10 : HOURS) * 60 * MINUTE;
  let now = 0;

  const clients: Truth[] = Array.from({ length: CLIENTS }, (_, i) => ({
    mac: `00:00:5e:00:54:${i.toString(16).padStart(2, '0')}`,
    isHome: random() < 0.5,
    turnsAt: between(MINUTE, 240 * MINUTE),
    napsUntil: 0,
    ghostUntil: 0,
    seenAt: -GRACE_MS * 2,
    shownAt: Number.NEGATIVE_INFINITY,
    ap: APS[0],
    told: undefined,
  }));
  const byId = new Map(clients.map(client => [`unifi:client:${client.mac}`, client]));

  let connectedAt = Number.NEGATIVE_INFINITY;
  let [falseAway, missedAway, lateHome, roams, naps, silences, restarts, turns] = [0, 0, 0, 0, 0, 0, 0, 0];
  const memory = unifi.noClients();
  const counters = unifi.newCounters();
  const sink = {
    devices() {},
    device() {},
    removed() {},
    online() {},
    ready() {},
    offline() {},
    report(report: { type: string; device?: string; attribute?: string; value?: unknown }) {
      const client = byId.get(report.device ?? '');
      if (!client || report.attribute !== 'presence') return;
      // After an outage everybody has the whole grace time to be seen.
      if (report.value === 'not present' && client.told === 'present') {
        if (now - Math.max(client.shownAt, connectedAt) < GRACE_MS) falseAway++;
      }
      client.told = report.value as Truth['told'];
    },
  };
  const connect = (watchedSince: number) => {
    connectedAt = watchedSince;
    const told = unifi.createTold(sink, counters, () => now);
    const network = unifi.createNetwork({
      backend: 'unifi',
      site: 'default',
      siteName: 'Home',
      version: undefined,
      told,
      memory,
      log: unifi.silentLog,
      counters,
      graceMs: GRACE_MS,
      knownForMs: 30 * 24 * 60 * MINUTE,
      watchedSince,
      elapsed: () => now,
      consoleOffset: () => EPOCH,
      onWan: () => {},
      onConfigured: () => {},
    });
    return { told, network };
  };

  const rowOf = (client: Truth, isWired: boolean) => ({
    mac: client.mac,
    name: client.mac,
    is_wired: isWired,
    ...(!isWired && { ap_mac: client.ap }),
    _last_seen_by_uap: Math.floor((EPOCH + client.seenAt) / SECOND),
    last_seen: Math.floor((EPOCH + (isWired ? now : client.seenAt)) / SECOND),
  });
  const users = () => clients.map(client => ({ ...rowOf(client, false), noted: true }));
  let rows = 0;
  const stations = () => {
    const listed = clients.flatMap(client => {
      if (client.isHome && now >= client.napsUntil) client.seenAt = client.shownAt = now;
      if (client.isHome) return [rowOf(client, false)];
      // Consoles go on listing those who have left for a minute or two.
      if (now < client.ghostUntil) return [rowOf(client, true)];
      return now - client.seenAt < 90 * SECOND ? [rowOf(client, false)] : [];
    });
    rows += listed.length;
    return unifi.readClients(listed, counters);
  };
  const take = (isWhole: boolean, isEmpty = false) =>
    connection.network.takeSnapshot({
      askedAt: now,
      stations: isEmpty ? [] : stations(),
      devices: [],
      wans: undefined,
      health: undefined,
      users: isWhole ? unifi.readClients(users(), counters) : undefined,
      wlans: undefined,
    });

  let connection = connect(Number.NEGATIVE_INFINITY);
  take(true);
  await connection.told.tellAll();

  let blindSince: number | undefined;
  /** Since when the console tells of everybody again. */
  let sightedAt = 0;
  let silentUntil = 0;
  let comesBackAt = 0;
  let emptyUntil = 0;
  const wrong = new Map<Truth, number>();

  const isHeard = () => blindSince === undefined && now >= silentUntil;
  const event = (key: string, client: Truth, more: object = {}) => {
    // One in ten is lost, or never sent.
    if (!isHeard() || random() < 0.1) return false;
    // That somebody leaves who is away by all accounts brings nobody home.
    const isLate = key === 'EVT_WU_Disconnected' && client.told === 'not present';
    if (!key.startsWith('EVT_LU') && !isLate) client.shownAt = now;
    connection.network.takeMessage('events', [{ key, time: EPOCH + now, user: client.mac, ...more }]);
    return true;
  };

  const live = (client: Truth) => {
    if (now >= client.turnsAt) {
      turns++;
      const wasAwake = client.isHome && now >= client.napsUntil;
      client.isHome = !client.isHome;
      client.turnsAt = now + (client.isHome ? between(10 * MINUTE, 480 * MINUTE) : between(MINUTE, 480 * MINUTE));
      client.napsUntil = 0;
      if (client.isHome) {
        client.seenAt = now;
        client.ap = APS[Math.floor(random() * 3)] as string;
        client.ghostUntil = 0;
        event('EVT_WU_Connected', client, { ap: client.ap });
      } else {
        const isTold = event('EVT_WU_Disconnected', client, { ap: client.ap });
        // Whoever leaves asleep was seen before it fell asleep, unless its leaving is told.
        if (wasAwake || isTold) client.seenAt = now;
        if (random() < 0.2) {
          client.ghostUntil = now + between(MINUTE, 10 * MINUTE);
          event('EVT_LU_Connected', client, { network: 'LAN' });
        }
      }
      return;
    }
    if (!client.isHome || now < client.napsUntil) return;
    if (random() < 0.02) {
      roams++;
      const from = client.ap;
      client.ap = APS[Math.floor(random() * 3)] as string;
      client.seenAt = now;
      if (random() < 0.5) event('EVT_WU_Roam', client, { ap_from: from, ap_to: client.ap });
      else {
        event('EVT_WU_Disconnected', client, { ap: from });
        event('EVT_WU_Connected', client, { ap: client.ap });
      }
    } else if (random() < 0.01) {
      naps++;
      client.napsUntil = now + between(30 * SECOND, 240 * SECOND);
    }
  };

  const judge = (client: Truth) => {
    const isWronglyAway = client.told === 'not present' && now - client.shownAt < GRACE_MS;
    // Present though nobody has seen it for the grace time, a poll, and what nobody could see at all.
    const since = Math.max(client.seenAt, sightedAt);
    const isWronglyPresent = client.told === 'present' && now - since > GRACE_MS + 2 * POLL_MS;
    const isWronglyMissed =
      client.isHome && client.told !== 'present' && now - since > 2 * POLL_MS && client.seenAt === now;
    const key = isWronglyAway ? 1 : isWronglyPresent ? 2 : isWronglyMissed ? 3 : 0;
    if (key !== 0 && wrong.get(client) !== key) {
      if (key === 1) falseAway++;
      else if (key === 2) missedAway++;
      else lateHome++;
    }
    if (key === 0) wrong.delete(client);
    else wrong.set(client, key);
  };

  const began = process.cpuUsage();
  for (let poll = 1; now < end; poll++) {
    // Between two polls things happen every ten seconds or so.
    for (let step = 0; step < 3; step++) {
      now += POLL_MS / 3;
      for (const client of clients) live(client);
      connection.network.clients.settle();
    }
    if (blindSince !== undefined) {
      if (now < comesBackAt) continue;
      // The console is back and knows nobody for a while.
      connection = connect(now);
      take(true, true);
      await connection.told.tellAll();
      emptyUntil = now + between(0, 120 * SECOND);
      blindSince = undefined;
      sightedAt = emptyUntil;
      continue;
    }
    if (random() < 0.001) {
      restarts++;
      blindSince = now;
      comesBackAt = now + between(MINUTE, 20 * MINUTE);
      continue;
    }
    if (now >= silentUntil && random() < 0.005) {
      silences++;
      silentUntil = now + between(MINUTE, 15 * MINUTE);
    }
    take(poll % 10 === 0, now < emptyUntil);
    if (now < emptyUntil) continue;
    for (const client of clients) judge(client);
  }
  const { user, system } = process.cpuUsage(began);

  const told = `${turns} comings and goings, ${roams} roams, ${naps} naps, ${silences} silent sockets, ${restarts} restarts`;
  return [
    {
      key: 'presenceFalseAway',
      value: falseAway,
      target: 0,
      what: `away though there, in ${(CLIENTS * Math.round(end / MINUTE / 60)).toLocaleString('en')} client-hours (${told})`,
    },
    { key: 'presenceMissedAway', value: missedAway, target: 0, what: 'present though long gone' },
    { key: 'presenceLateHome', value: lateHome, target: 0, what: 'at home for two polls, and not present' },
    {
      key: 'presenceUsPerRow',
      value: (user + system) / rows,
      unit: 'µs',
      what: 'a row of a list of clients, from its text to what is told (and the house around it)',
    },
  ];
};
