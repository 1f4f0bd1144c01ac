// What the hub itself remembers of its devices and of its location.
import { z } from 'zod';
import { iso } from '../../../lib/clock.ts';
import { hasCode } from '../../../lib/errors.ts';
import { instant } from '../../../lib/instant.ts';
import type { Json } from '../../../model/value.ts';
import type { Counters } from '../counters.ts';
import type { HubitatBackend } from '../index.ts';
import { hubTime } from '../times.ts';
import { device, limit, read } from './row.ts';

/** A row of `/device/eventsJson/<id>`, `/logs/eventsJson`, or of the Maker API's `/devices/<id>/events`. */
const Row = z.object({
  name: z.string(),
  value: z.json().optional(),
  unit: z.string().nullish(),
  descriptionText: z.string().nullish(),
  source: z.string().nullish(),
  type: z.string().nullish(),
  date: z.string(),
  isStateChange: z.boolean().nullish(),
  producedBy: z.string().nullish(),
});
type Row = z.infer<typeof Row>;

const plain = (text: string): string => text.replace(/<[^>]*>/g, '').trim();

/** A row as it is shown; what the hub left empty is left out. */
const shown = ({ name, value, date, producedBy, ...row }: Row): Record<string, Json> & { name: string } => {
  const at = hubTime(date);
  return {
    at: at === undefined ? date : iso(at),
    name,
    value: value ?? null,
    ...Object.fromEntries(Object.entries(row).filter(([, one]) => one !== null && one !== undefined && one !== 'null')),
    ...(producedBy && { by: plain(producedBy) }),
  };
};

/** Rows of no known shape are left out, and counted. */
const rowsOf = (page: Json, counters: Counters): Row[] =>
  (Array.isArray(page) ? page : []).flatMap(row => {
    const { data } = Row.safeParse(row);
    if (!data) counters.unreadable++;
    return data ? [data] : [];
  });

const filters = {
  attribute: z.string().min(1).optional(),
  since: z.string().optional().describe('`2h`, or an instant'),
  limit,
};

const chosen = (rows: Row[], input: { attribute?: string; since?: string; limit?: number }, now: number): Row[] => {
  const from = instant(input.since, now, 'since') ?? Number.NEGATIVE_INFINITY;
  return rows
    .filter(row => input.attribute === undefined || row.name === input.attribute)
    .filter(row => (hubTime(row.date) ?? Number.POSITIVE_INFINITY) > from)
    .slice(0, input.limit ?? 100);
};

/** The hub's own page says who did it; where it may not be asked, the Maker API's shorter list. */
async function historyOf(hub: HubitatBackend, id: string, signal: AbortSignal): Promise<{ page: Json; from: string }> {
  try {
    return { page: await hub.pages.json(`/device/eventsJson/${id}`, { signal }), from: 'hub' };
  } catch (error) {
    if (!hasCode(error, 'UNSUPPORTED', 'BACKEND_AUTH', 'BACKEND_REJECTED')) throw error;
    return { page: await hub.read(`/devices/${encodeURIComponent(id)}/events`, signal), from: 'maker' };
  }
}

const listEvents = read({
  name: 'list_hubitat_events',
  title: 'History of a device on its Hubitat hub',
  description:
    'What a Hubitat hub itself remembers of a device, newest first, also from before Causeway ran: values with time, unit, text, and who did it where the hub tells. list_events has what Causeway saw.',
  input: { device, ...filters },
  output: { from: z.string(), events: z.array(z.looseObject({ name: z.string() })) },
  path: 'events',
  async run(hub, input, { signal }) {
    const { page, from } = await historyOf(hub, hub.nativeId(input.device), signal);
    const rows = chosen(rowsOf(page, hub.counters), input, hub.clock.now());
    return { device: input.device, from, events: rows.map(shown) };
  },
});

const listLocationEvents = read({
  name: 'list_hubitat_location_events',
  title: 'History of a Hubitat hub’s location',
  description: 'What a Hubitat hub remembers of its modes, HSM, variables, sunrise and sunset, newest first.',
  input: filters,
  output: { events: z.array(z.looseObject({ name: z.string() })) },
  path: 'location-events',
  async run(hub, input, { signal }) {
    const page = await hub.pages.json('/logs/eventsJson', { signal });
    return { events: chosen(rowsOf(page, hub.counters), input, hub.clock.now()).map(shown) };
  },
});

/** What the hub remembers. */
export const historyRows = [listEvents, listLocationEvents];
