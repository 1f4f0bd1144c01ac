// Asking a console for flows: of a window of time, in pages, newest first. Every filter must be there, an empty list meaning
// none (recorded of Network 10).
import type { Json } from '../../../lib/json.ts';
import type { ConsoleClient } from '../console/client.ts';
import type { Counters } from '../counters.ts';
import { type FlowPage, readFlows } from './flow.ts';

const FILTERS = [
  'risk',
  'action',
  'direction',
  'protocol',
  'policy',
  'policy_type',
  'service',
  ...['source', 'destination'].flatMap(end =>
    ['host', 'mac', 'ip', 'port', 'network_id', 'domain', 'zone_id', 'region'].map(what => `${end}_${what}`),
  ),
  'in_network_id',
  'out_network_id',
  'next_ai_query',
  'except_for',
];

/** What is wanted; words as the console has them. */
export interface FlowFilter {
  readonly action?: readonly ('allowed' | 'blocked')[];
  readonly risk?: readonly ('low' | 'medium' | 'high')[];
  readonly source_mac?: readonly string[];
}

/** A window, epoch ms by the console's clock. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

/** The most that a page can have. */
export const PAGE = 1_000;

/** One page. @param number from 0 @throws as `ConsoleClient.read` */
export async function flowPage(
  { client, counters, signal }: { client: ConsoleClient; counters: Counters; signal?: AbortSignal },
  { from, to }: Window,
  filter: FlowFilter,
  number: number,
  size = PAGE,
): Promise<FlowPage> {
  const body: Record<string, Json> = {
    ...Object.fromEntries(FILTERS.map(name => [name, []])),
    ...(filter as Record<string, Json>),
    timestampFrom: Math.floor(from),
    timestampTo: Math.ceil(to),
    pageNumber: number,
    pageSize: size,
    search_text: '',
    skip_count: false,
  };
  const answer = await client.read('internal', 'traffic-flows', { body, timeoutMs: 20_000, ...(signal && { signal }) });
  return readFlows(answer, counters);
}
