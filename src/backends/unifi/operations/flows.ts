// Flows of the past, as the console keeps them.
import { z } from 'zod';
import { CausewayError } from '../../../lib/errors.ts';
import { type Flow, type ShownFlow, shownFlow } from '../flows/flow.ts';
import { type FlowFilter, flowPage, PAGE } from '../flows/query.ts';
import type { UnifiBackend } from '../index.ts';
import { macOf, read } from './row.ts';

const HOUR_MS = 3_600_000;
const CLOCK_SLACK_MS = 5_000;

const End = z.object({
  mac: z.string().optional(),
  ip: z.string().optional(),
  port: z.number().optional(),
  name: z.string().optional(),
  network: z.string().optional(),
  zone: z.string().optional(),
  domain: z.string().optional(),
  region: z.string().optional(),
});
const FlowShape = z.object({
  id: z.string(),
  action: z.string(),
  risk: z.string().optional(),
  direction: z.string().optional(),
  protocol: z.string().optional(),
  service: z.string().optional(),
  bytes: z.number(),
  count: z.number(),
  at: z.string().optional(),
  ms: z.number().optional(),
  source: End,
  destination: End,
  policy: z.string().optional(),
});

/** How far back flows are looked for. */
export const hoursBack = z.number().min(0.01).max(720).describe('How far back');

const filters = {
  hours: hoursBack.default(1),
  action: z.enum(['allowed', 'blocked']).optional(),
  risk: z.enum(['low', 'medium', 'high']).optional(),
  direction: z.enum(['incoming', 'outgoing', 'local']).optional(),
  client: z.string().optional().describe('Id, alias or MAC of the client that it is from'),
  destination: z.string().optional().describe('A part of the name, domain or address that it is to'),
  min_bytes: z.number().min(0).optional(),
  max_flows: z.int().min(1).max(50_000).default(5_000).describe('How many are looked at, the newest first'),
};
type Filters = z.output<z.ZodObject<typeof filters>>;

/** Those that fit, newest first; what the console can filter it filters. `more`: not all were looked at. */
async function flowsOf(
  backend: UnifiBackend,
  input: Filters,
  signal: AbortSignal,
): Promise<{ flows: Flow[]; more: boolean }> {
  const { client, consoleNow } = backend.ready();
  // The console's clock is known to a second or so.
  const to = consoleNow() + CLOCK_SLACK_MS;
  const window = { from: to - input.hours * HOUR_MS, to };
  const asked: FlowFilter = {
    ...(input.action && { action: [input.action] }),
    ...(input.risk && { risk: [input.risk] }),
    ...(input.client !== undefined && { source_mac: [macOf(input.client, backend, 'client')] }),
  };
  const wanted = input.destination?.toLowerCase();
  const fits = ({ direction, bytes, destination: { name, domain, ip } }: Flow) =>
    (input.direction === undefined || direction === input.direction) &&
    (input.min_bytes === undefined || bytes >= input.min_bytes) &&
    (wanted === undefined || [name, domain, ip].some(text => text?.toLowerCase().includes(wanted)));
  const flows: Flow[] = [];
  let looked = 0;
  for (let number = 0; ; number++) {
    const size = Math.min(PAGE, input.max_flows);
    const page = await flowPage({ client, counters: backend.counters, signal }, window, asked, number, size);
    // Pages are whole, of the one size.
    const taken = page.flows.slice(0, input.max_flows - looked);
    looked += page.flows.length;
    flows.push(...taken.filter(fits));
    const isAll = taken.length === page.flows.length && (!page.hasNext || page.flows.length === 0);
    if (isAll || looked >= input.max_flows) return { flows, more: !isAll };
  }
}

const listFlows = read({
  name: 'list_unifi_flows',
  title: 'Traffic flows of a UniFi network',
  description:
    'Network conversations that have ended, newest first, by action, risk, direction, client, destination, size and time. `more` says that not all were looked at: narrow it down.',
  input: { ...filters, limit: z.int().min(1).max(1_000).default(50) },
  output: { flows: z.array(FlowShape), total: z.number(), more: z.boolean() },
  path: 'flows',
  async run(backend, { limit, ...input }, { signal }) {
    const { flows, more } = await flowsOf(backend, input, signal);
    return { flows: flows.slice(0, limit).map(shownFlow), total: flows.length, more };
  },
});

const getFlow = read({
  name: 'get_unifi_flow',
  title: 'One traffic flow',
  description: 'A network conversation by its id.',
  input: { id: z.string().min(1), hours: hoursBack.default(24) },
  output: { flow: FlowShape },
  path: 'flow',
  async run(backend, { id, hours }, { signal }) {
    return { flow: shownFlow(await flowById(backend, id, hours, signal)) };
  },
});

/** A flow of the last hours. @throws NOT_FOUND */
export async function flowById(backend: UnifiBackend, id: string, hours: number, signal: AbortSignal): Promise<Flow> {
  const { flows } = await flowsOf(backend, { hours, max_flows: 50_000 }, signal);
  const flow = flows.find(one => one.id === id);
  if (flow) return flow;
  throw new CausewayError('NOT_FOUND', `there is no flow ${id} of the last ${hours} hours`, {
    path: 'id',
    hint: 'give more hours',
  });
}

/** By what flows are put together. */
const GROUPS = {
  client: ({ source: { mac, name, ip } }: Flow) => name ?? mac ?? ip,
  destination: ({ destination: { domain, name, ip } }: Flow) => domain ?? name ?? ip,
  service: ({ service }: Flow) => service,
  policy: ({ policy }: Flow) => policy,
  network: ({ source: { network } }: Flow) => network,
} as const;
type Group = keyof typeof GROUPS;
const Ranked = z.object({ key: z.string(), flows: z.number(), bytes: z.number(), blocked: z.number() });

function ranked(flows: readonly Flow[], group: Group, by: 'bytes' | 'flows' | 'blocked'): z.output<typeof Ranked>[] {
  const sums = new Map<string, { key: string; flows: number; bytes: number; blocked: number }>();
  for (const flow of flows) {
    const key = GROUPS[group](flow) ?? 'unknown';
    const sum = sums.get(key) ?? { key, flows: 0, bytes: 0, blocked: 0 };
    sum.flows += flow.count;
    sum.bytes += flow.bytes;
    if (flow.action === 'blocked') sum.blocked += flow.count;
    sums.set(key, sum);
  }
  return [...sums.values()].sort((a, b) => b[by] - a[by]);
}

const rankFlows = read({
  name: 'rank_unifi_flows',
  title: 'Who and what makes the most traffic',
  description: 'Clients, destinations, services, policies or networks by bytes, flows or blocked flows within a time.',
  input: {
    ...filters,
    of: z.enum(['client', 'destination', 'service', 'policy', 'network']).default('client'),
    by: z.enum(['bytes', 'flows', 'blocked']).default('bytes'),
    limit: z.int().min(1).max(100).default(10),
  },
  output: { ranking: z.array(Ranked), flows: z.number(), more: z.boolean() },
  path: 'flows/ranking',
  async run(backend, { of, by, limit, ...input }, { signal }) {
    const { flows, more } = await flowsOf(backend, input, signal);
    return { ranking: ranked(flows, of, by).slice(0, limit), flows: flows.length, more };
  },
});

const counted = (flows: readonly Flow[], key: (flow: Flow) => string | undefined): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const flow of flows) {
    const name = key(flow) ?? 'unknown';
    counts[name] = (counts[name] ?? 0) + flow.count;
  }
  return counts;
};

const analyseFlows = read({
  name: 'analyse_unifi_flows',
  title: 'What the traffic is like',
  description:
    'Counts of flows by action, risk, direction and protocol, the bytes in all, who was blocked most and by which policy, and the riskiest destinations.',
  input: filters,
  output: {
    flows: z.number(),
    bytes: z.number(),
    by_action: z.record(z.string(), z.number()),
    by_risk: z.record(z.string(), z.number()),
    by_direction: z.record(z.string(), z.number()),
    by_protocol: z.record(z.string(), z.number()),
    most_blocked: z.array(Ranked),
    blocking_policies: z.array(Ranked),
    risky_destinations: z.array(Ranked),
    more: z.boolean(),
  },
  path: 'flows/analysis',
  async run(backend, input, { signal }) {
    const { flows, more } = await flowsOf(backend, input, signal);
    const blocked = flows.filter(({ action }) => action === 'blocked');
    const risky = flows.filter(({ risk }) => risk === 'high' || risk === 'medium');
    return {
      flows: flows.length,
      bytes: flows.reduce((sum, { bytes }) => sum + bytes, 0),
      by_action: counted(flows, ({ action }) => action),
      by_risk: counted(flows, ({ risk }) => risk),
      by_direction: counted(flows, ({ direction }) => direction),
      by_protocol: counted(flows, ({ protocol }) => protocol),
      most_blocked: ranked(blocked, 'client', 'blocked').slice(0, 5),
      blocking_policies: ranked(blocked, 'policy', 'blocked').slice(0, 5),
      risky_destinations: ranked(risky, 'destination', 'flows').slice(0, 5),
      more,
    };
  },
});

const COLUMNS: readonly (readonly [string, (flow: ShownFlow) => string | number | undefined])[] = [
  ['id', flow => flow.id],
  ['at', flow => flow.at],
  ['action', flow => flow.action],
  ['risk', flow => flow.risk],
  ['direction', flow => flow.direction],
  ['protocol', flow => flow.protocol],
  ['service', flow => flow.service],
  ['bytes', flow => flow.bytes],
  ['source', flow => flow.source.name ?? flow.source.mac],
  ['source_ip', flow => flow.source.ip],
  ['destination', flow => flow.destination.domain ?? flow.destination.name],
  ['destination_ip', flow => flow.destination.ip],
  ['destination_port', flow => flow.destination.port],
  ['policy', flow => flow.policy],
];

/** RFC 4180; what a spreadsheet would take for a formula is made a text, since names come from strangers. */
function cell(value: string | number | undefined): string {
  if (value === undefined || typeof value === 'number') return String(value ?? '');
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const exportFlows = read({
  name: 'export_unifi_flows',
  title: 'Traffic flows as a file',
  description: 'The flows that fit, as JSON or CSV in one text.',
  input: { ...filters, format: z.enum(['json', 'csv']).default('csv') },
  output: { format: z.string(), content: z.string(), flows: z.number(), more: z.boolean() },
  path: 'flows/export',
  async run(backend, { format, ...input }, { signal }) {
    const { flows, more } = await flowsOf(backend, input, signal);
    const lines = [
      COLUMNS.map(([name]) => name),
      ...flows.map(shownFlow).map(flow => COLUMNS.map(([, value]) => cell(value(flow)))),
    ];
    const content =
      format === 'json'
        ? JSON.stringify(flows.map(shownFlow))
        : `${lines.map(line => line.join(',')).join('\r\n')}\r\n`;
    return { format, content, flows: flows.length, more };
  },
});

/** Flows of the past. */
export const flowRows = [listFlows, getFlow, rankFlows, analyseFlows, exportFlows];
