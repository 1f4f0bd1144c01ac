// How the network does, and what has happened in it.
import { z } from 'zod';
import { hasCode } from '../../../lib/errors.ts';
import type { Json } from '../../../model/value.ts';
import type { UnifiBackend } from '../index.ts';
import { instantOf, Plain, plain, read } from './row.ts';

const getHealth = read({
  name: 'get_unifi_health',
  title: 'How a UniFi network does',
  description:
    'The state of WLAN, LAN, WAN, internet and VPN, latency and speed of the last test, how many clients, and which devices are not online or want an update.',
  input: {},
  output: { values: z.record(z.string(), z.json()), not_online: z.array(z.string()), updates: z.array(z.string()) },
  path: 'health',
  async run(backend) {
    const { network, values } = backend.ready();
    const devices = [...network.devices.all()];
    return {
      values: values(network.site.id),
      not_online: devices.filter(({ device }) => values(device.id).state !== 'online').map(({ device: { id } }) => id),
      updates: devices.filter(({ row }) => row.upgradable).map(({ device: { id } }) => id),
    };
  },
});

const getWans = read({
  name: 'get_unifi_wans',
  title: 'The lines of a UniFi gateway',
  description: 'The WANs of a gateway: up or down, which is active, address, latency and availability.',
  input: {},
  output: { wans: z.array(z.object({ device: z.string(), name: z.string(), values: z.record(z.string(), z.json()) })) },
  path: 'wans',
  async run(backend) {
    const { ids, values, name } = backend.ready();
    return { wans: ids('wan').map(id => ({ device: id, name: name(id), values: values(id) })) };
  },
});

const HOUR_MS = 3_600_000;
const CLOCK_SLACK_MS = 5_000;
const PAGE = 100;
const EventShape = z.object({
  id: Plain,
  at: z.string().nullable(),
  name: Plain,
  category: Plain,
  severity: Plain,
  text: Plain,
});

type Fields = { [key: string]: Json };
const listIn = (body: Json): Fields[] => {
  const rows = Array.isArray(body) ? body : ((body as { data?: Json } | null)?.data ?? []);
  return (Array.isArray(rows) ? rows : []) as Fields[];
};

/** The text of an entry, with names in the places of its placeholders. */
function textOf(raw: Json | undefined, parameters: Json | undefined): string | null {
  if (typeof raw !== 'string') return null;
  const parties = (parameters ?? {}) as Record<string, { name?: Json; hostname?: Json; id?: Json } | undefined>;
  return raw.replace(/\{(\w+)\}/g, (whole, role: string) => {
    const { name, hostname, id } = parties[role] ?? {};
    return String(name ?? hostname ?? id ?? whole);
  });
}

/** From the system log; consoles before Network 10 have none, and a list of events in its place. */
async function eventsOf(backend: UnifiBackend, hours: number, limit: number, signal: AbortSignal) {
  const { client, consoleNow } = backend.ready();
  // The console's clock is known to a second or so.
  const now = consoleNow() + CLOCK_SLACK_MS;
  const from = now - hours * HOUR_MS;
  try {
    const events: z.output<typeof EventShape>[] = [];
    for (let pageNumber = 0; events.length < limit; pageNumber++) {
      const body = { timestampFrom: Math.floor(from), timestampTo: Math.ceil(now), pageNumber, pageSize: PAGE };
      const rows = listIn(await client.read('internal', 'system-log/all', { body, signal }));
      events.push(
        ...rows.map(row => ({
          id: plain(row.id),
          at: instantOf(row.timestamp),
          name: plain(row.event ?? row.key),
          category: plain(row.category),
          severity: plain(row.severity),
          text: textOf(row.message_raw, row.parameters),
        })),
      );
      if (rows.length < PAGE) break;
    }
    return events;
  } catch (error) {
    if (!hasCode(error, 'BACKEND_REJECTED')) throw error;
  }
  const body = {
    _sort: '-time',
    within: Math.max(1, Math.ceil(hours)),
    _start: 0,
    _limit: Math.min(limit, 3_000),
    type: null,
  };
  const rows = listIn(await client.read('legacy', 'stat/event', { body, signal }));
  const events = rows.map(row => ({
    id: plain(row._id),
    at: instantOf(row.time),
    name: plain(row.key),
    category: plain(row.subsystem),
    severity: null,
    text: plain(row.msg),
  }));
  // It can only be asked for whole hours.
  return events.filter(({ at }) => at === null || Date.parse(at) >= from);
}

const listEvents = read({
  name: 'list_unifi_events',
  title: 'What has happened in a UniFi network',
  description:
    'The console’s own record, newest first: clients that came and went, devices, threats, what was blocked, changes.',
  input: {
    hours: z.number().min(0.1).max(720).default(24),
    name: z.string().optional().describe('A part of the name, such as CLIENT or THREAT'),
    limit: z.int().min(1).max(1_000).default(100),
  },
  output: { events: z.array(EventShape) },
  path: 'events',
  async run(backend, { hours, name, limit }, { signal }) {
    const events = await eventsOf(backend, hours, name === undefined ? limit : 1_000, signal);
    const wanted = name?.toLowerCase();
    return {
      events: events
        .filter(event => wanted === undefined || String(event.name).toLowerCase().includes(wanted))
        .slice(0, limit),
    };
  },
});

/** How the network does. */
export const stateRows = [getHealth, getWans, listEvents];
