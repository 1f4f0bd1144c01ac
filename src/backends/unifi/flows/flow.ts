// A traffic flow: a conversation of the network that has ended, as consoles tell it and as ours.
import { z } from 'zod';
import { iso } from '../../../lib/clock.ts';
import type { Json } from '../../../lib/json.ts';
import type { Counters } from '../counters.ts';

const numeric = z.union([z.number(), z.string().regex(/^\d+$/).transform(Number)]);
const maybe = <S extends z.ZodType>(schema: S) => schema.optional().catch(undefined);
const text = maybe(z.string().refine(value => value !== ''));
const number = maybe(numeric);

const End = z.object({
  mac: text,
  ip: text,
  port: number,
  client_name: text,
  host_name: text,
  network_name: text,
  network_id: text,
  zone_name: text,
  region: text,
  domains: maybe(z.array(z.string())),
});
const Row = z.object({
  id: z.union([z.string().min(1), z.number()]).transform(String),
  action: text,
  risk: text,
  direction: text,
  protocol: text,
  service: text,
  count: number,
  duration_milliseconds: number,
  time: number,
  flow_start_time: number,
  flow_end_time: number,
  source: maybe(End),
  destination: maybe(End),
  policies: maybe(
    z.array(z.object({ id: text, name: text, type: text }).catch({ id: undefined, name: undefined, type: undefined })),
  ),
  traffic_data: maybe(z.object({ bytes_rx: number, bytes_tx: number, bytes_total: number, packets_total: number })),
});
type FlowRow = z.output<typeof Row>;

/** An end of a flow. */
export interface FlowEnd {
  readonly mac?: string;
  readonly ip?: string;
  readonly port?: number;
  readonly name?: string;
  readonly network?: string;
  readonly zone?: string;
  /** The first of its names, where there are several. */
  readonly domain?: string;
  readonly region?: string;
}

/** A flow, with the words that the trigger `flow` knows. */
export interface Flow {
  readonly id: string;
  readonly action: 'allowed' | 'blocked';
  readonly risk?: string;
  readonly direction?: string;
  readonly protocol?: string;
  readonly service?: string;
  /** Both ways. */
  readonly bytes: number;
  /** Conversations that were put together. */
  readonly count: number;
  /** Its end, epoch ms by the console's clock. */
  readonly at?: number;
  readonly ms?: number;
  readonly source: FlowEnd;
  readonly destination: FlowEnd;
  /** What let it pass or stopped it. */
  readonly policy?: string;
}

// Versions differ: `ALLOW`, `allowed`; `UPLOAD`, `outgoing`.
const DIRECTIONS: Readonly<Record<string, string>> = {
  upload: 'outgoing',
  download: 'incoming',
  outgoing: 'outgoing',
  incoming: 'incoming',
  local: 'local',
};

const endOf = ({
  mac,
  ip,
  port,
  client_name,
  host_name,
  network_name,
  zone_name,
  region,
  domains,
}: z.output<typeof End>): FlowEnd => ({
  ...(mac !== undefined && { mac: mac.toLowerCase() }),
  ...(ip !== undefined && { ip }),
  ...(port !== undefined && { port }),
  ...((client_name ?? host_name) !== undefined && { name: client_name ?? host_name }),
  ...(network_name !== undefined && { network: network_name }),
  ...(zone_name !== undefined && { zone: zone_name }),
  ...(domains?.[0] !== undefined && { domain: domains[0] }),
  ...(region !== undefined && { region }),
});

const NONE = {
  mac: undefined,
  ip: undefined,
  port: undefined,
  client_name: undefined,
  host_name: undefined,
  network_name: undefined,
  network_id: undefined,
  zone_name: undefined,
  region: undefined,
  domains: undefined,
};

function flowOf(row: FlowRow): Flow {
  const { bytes_total: total, bytes_rx: rx = 0, bytes_tx: tx = 0 } = row.traffic_data ?? {};
  const at = row.time ?? row.flow_end_time;
  const policy = row.policies?.map(({ name, type }) => name ?? type).find(one => one !== undefined);
  const direction = DIRECTIONS[row.direction?.toLowerCase() ?? ''] ?? row.direction?.toLowerCase();
  return {
    id: row.id,
    action: row.action?.toLowerCase().startsWith('block') ? 'blocked' : 'allowed',
    ...(row.risk !== undefined && { risk: row.risk.toLowerCase() }),
    ...(direction !== undefined && { direction }),
    ...(row.protocol !== undefined && { protocol: row.protocol.toLowerCase() }),
    ...(row.service !== undefined && { service: row.service }),
    bytes: total ?? rx + tx,
    count: row.count ?? 1,
    ...(at !== undefined && { at }),
    ...(row.duration_milliseconds !== undefined && { ms: row.duration_milliseconds }),
    source: endOf(row.source ?? NONE),
    destination: endOf(row.destination ?? NONE),
    ...(policy !== undefined && { policy }),
  };
}

/** The last instant that a date can be. */
const LAST_MS = 8.64e15;

/** A flow as everybody else sees it: `at` in ISO 8601. */
export type ShownFlow = Omit<Flow, 'at'> & { readonly at?: string };

/** A flow as it is shown and told. */
export function shownFlow({ at, ...flow }: Flow): ShownFlow {
  return at === undefined || Math.abs(at) > LAST_MS ? flow : { ...flow, at: iso(at) };
}

/** A page of flows. */
export interface FlowPage {
  readonly flows: readonly Flow[];
  /** In the whole window, 10,000 at most. */
  readonly total: number;
  /** There are more than can be counted. */
  readonly orMore: boolean;
  readonly hasNext: boolean;
}

const Page = z.object({
  data: z.array(z.unknown()),
  total_element_count: number,
  or_more: maybe(z.boolean()),
  has_next: maybe(z.boolean()),
});

/** A page of an answer; rows that are no flow are counted. */
export function readFlows(body: Json, counters: Counters): FlowPage {
  const { data: page } = Page.safeParse(body);
  if (!page) {
    counters.unreadable++;
    return { flows: [], total: 0, orMore: false, hasNext: false };
  }
  const flows = page.data.flatMap(one => {
    const { data: row } = Row.safeParse(one);
    if (row) return [flowOf(row)];
    counters.unreadable++;
    return [];
  });
  const { total_element_count: total = flows.length, or_more: orMore = false, has_next: hasNext = false } = page;
  return { flows, total, orMore, hasNext };
}
