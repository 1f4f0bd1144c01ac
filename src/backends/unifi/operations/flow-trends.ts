// How traffic has come and gone, out of what the gateway itself has written down: consoles keep no such thing.
import { z } from 'zod';
import { iso } from '../../../lib/clock.ts';
import { parseJson } from '../../../lib/json.ts';
import type { ShownFlow } from '../flows/flow.ts';
import { macOf, read } from './row.ts';

const HOUR_MS = 3_600_000;
const STEPS = { minute: 60_000, '5 minutes': 300_000, hour: HOUR_MS, day: 24 * HOUR_MS } as const;
const MOST_STEPS = 1_500;
/** Read at once; the loop has its chance between. */
const PAGE = 1_000;
const MOST_FLOWS = 500_000;

const Sums = z.object({
  at: z.string(),
  flows: z.number(),
  blocked: z.number(),
  risky: z.number(),
  bytes: z.number(),
  clients: z.number(),
});

interface Sum {
  flows: number;
  blocked: number;
  risky: number;
  bytes: number;
  readonly clients: Set<string>;
}

function add(sum: Sum, { count, bytes, action, risk, source: { mac } }: ShownFlow): Sum {
  sum.flows += count;
  sum.bytes += bytes;
  if (action === 'blocked') sum.blocked += count;
  if (risk === 'medium' || risk === 'high') sum.risky += count;
  if (mac !== undefined) sum.clients.add(mac);
  return sum;
}

const flowTrends = read({
  name: 'get_unifi_flow_trends',
  title: 'How traffic has come and gone',
  description:
    'Flows, blocked and risky ones, bytes and distinct clients by the minute, hour or day, from the gateway’s own journal: those that `flows` of the backend has told. `more` says that there were too many, and the oldest hours are left out.',
  input: {
    hours: z.number().min(0.1).max(2_160).default(24).describe('How far back'),
    step: z.enum(['minute', '5 minutes', 'hour', 'day']).default('hour'),
    client: z.string().optional().describe('Id, alias or MAC of the client that the flows are from'),
    action: z.enum(['allowed', 'blocked']).optional(),
    destination: z.string().optional().describe('A part of the name, domain or address that they are to'),
  },
  output: { told: z.string(), steps: z.array(Sums), flows: z.number(), more: z.boolean() },
  path: 'flows/trends',
  async run(backend, { hours, step, client, action, destination }, { journal, now, signal }) {
    const stepMs = Math.max(STEPS[step], Math.ceil((hours * HOUR_MS) / MOST_STEPS / STEPS[step]) * STEPS[step]);
    const [mac, wanted] = [
      client === undefined ? undefined : macOf(client, backend, 'client'),
      destination?.toLowerCase(),
    ];
    const fits = ({ source, destination: { domain, name, ip }, ...flow }: ShownFlow) =>
      (mac === undefined || source.mac === mac) &&
      (action === undefined || flow.action === action) &&
      (wanted === undefined || [domain, name, ip].some(text => text?.toLowerCase().includes(wanted)));
    const begin = Math.floor((now - hours * HOUR_MS) / stepMs) * stepMs;
    const sums = new Map<number, Sum>();
    let flows = 0;
    let looked = 0;
    // An hour after the other, the newest first: those are what is left of too many.
    let since = now + 1;
    while (since > begin && looked < MOST_FLOWS) {
      const to = since;
      since = Math.max(begin, to - HOUR_MS);
      for await (const page of journal.read(since, to, { kinds: ['flow'], pageSize: PAGE })) {
        signal.throwIfAborted();
        looked += page.length;
        for (const { ts, subject, body } of page) {
          if (!subject.startsWith(`${backend.id}:`)) continue;
          const flow = (parseJson(body) as { value?: ShownFlow } | undefined)?.value;
          if (!flow || !fits(flow)) continue;
          const at = Math.floor(ts / stepMs) * stepMs;
          const sum = sums.get(at) ?? { flows: 0, blocked: 0, risky: 0, bytes: 0, clients: new Set() };
          sums.set(at, add(sum, flow));
          flows++;
        }
      }
    }
    const steps = [...sums].sort(([a], [b]) => a - b);
    return {
      told: backend.flowChoice,
      steps: steps.map(([at, { clients, ...sum }]) => ({ at: iso(at), ...sum, clients: clients.size })),
      flows,
      more: since > begin,
    };
  },
});

/** What the journal tells of flows. */
export const flowTrendRows = [flowTrends];
