// What a state was: raw rows of a history adapter (history, sql, influxdb), or of our own journal. The arithmetic is ours
// for both (`lib/series.ts`), so that the same data gives the same results.
import { z } from 'zod';
import { CausewayError } from '../../lib/errors.ts';
import { parseJson } from '../../lib/json.ts';
import type { Json } from '../../model/value.ts';
import type { Journal } from '../../store/journal-port.ts';
import { deviceIdOf } from './blueprint.ts';
import type { Connection } from './connection.ts';
import { attributeFor } from './map.ts';

/** A row, oldest first. */
export interface Row {
  readonly ts: number;
  readonly value: Json;
  readonly q?: number;
}

/** Rows of a span, and the last one before it. */
export interface Rows {
  readonly rows: readonly Row[];
  readonly before: Row | undefined;
  /** There are more than were read. */
  readonly isCut: boolean;
}

/** A span: from ≤ ts < to, epoch ms. */
export interface Span {
  readonly from: number;
  readonly to: number;
  /** Rows at most. */
  readonly most: number;
}

const Entry = z.object({
  ts: z.number(),
  val: z.json().optional(),
  q: z.number().nullish().catch(undefined),
});

/** What an adapter gives at once: its own limit is 2000 unless somebody changed it. */
const PAGE = 2_000;

/** The history adapter of a state: the default one if it has it, else any that has; undefined where none does. */
export async function historyInstanceOf(connection: Connection, object: Readonly<Record<string, Json>>) {
  const config = (await connection.socket.ask('getObject', 'system.config')) as {
    common?: { defaultHistory?: unknown };
  } | null;
  const { custom } = (object.common ?? {}) as { custom?: Record<string, { enabled?: unknown } | null> | null };
  const enabled = Object.entries(custom ?? {}).flatMap(([id, settings]) => (settings?.enabled === true ? [id] : []));
  const preferred = config?.common?.defaultHistory;
  const sorted = enabled.sort((a, b) => Number(b === preferred) - Number(a === preferred));
  return sorted.find(id => connection.reachability.isAlive(id) !== false) ?? sorted[0];
}

/** Rows of a history adapter. @throws as `IobSocket.call`, BACKEND_REJECTED */
export async function adapterRows(connection: Connection, instance: string, id: string, span: Span): Promise<Rows> {
  const { from, to, most } = span;
  const ask = (options: Readonly<Record<string, Json>>) => getHistory(connection, id, { instance, ...options });
  const byTime = new Map<number, Row[]>();
  let isCut = false;
  let count = 0;
  for (let start = from; start < to; ) {
    const page = (await ask({ start, end: to, count: PAGE, limit: PAGE })).filter(({ ts }) => ts >= start && ts < to);
    for (const row of page) byTime.set(row.ts, [...(byTime.get(row.ts) ?? []), row]);
    count += page.length;
    const last = page.at(-1);
    if (page.length === 0 || !last) break;
    start = last.ts + 1;
    if (count <= most) continue;
    isCut = true;
    break;
  }
  const before = (await ask({ end: from - 1, count: 1, limit: 1, returnNewestEntries: true })).filter(
    ({ ts }) => ts < from,
  );
  return { rows: [...byTime.values()].flat().slice(0, most), before: before.at(-1), isCut };
}

async function getHistory(connection: Connection, id: string, options: Readonly<Record<string, Json>>): Promise<Row[]> {
  const given = { aggregate: 'none', ignoreNull: false, removeBorderValues: true, q: true, ...options };
  const answer = await connection.socket.ask('getHistory', id, given);
  const list = Array.isArray(answer) ? answer : ((answer as { result?: Json } | null)?.result ?? []);
  return (Array.isArray(list) ? list : [])
    .flatMap((raw): Row[] => {
      const parsed = Entry.safeParse(raw);
      if (!parsed.success) return [];
      const { ts, val = null, q } = parsed.data;
      return [{ ts, value: val, ...(typeof q === 'number' && q !== 0 && { q }) }];
    })
    .sort((a, b) => a.ts - b.ts);
}

/** Rows of our own journal, which has what came in while the gateway ran. @throws NOT_FOUND */
export async function journalRows(
  connection: Connection,
  journal: Pick<Journal, 'query'>,
  id: string,
  { from, to, most }: Span,
): Promise<Rows> {
  const mapped = connection.catalogue.devices.get(deviceIdOf(id));
  if (!mapped || !connection.catalogue.states.has(id)) {
    throw new CausewayError('NOT_FOUND', `no history adapter has ${id}, and it does not come in here`, {
      path: 'id',
      hint: 'switch a history adapter on for it in ioBroker, or let it in by `states` of this backend',
    });
  }
  const about = { subject: mapped.device.id, attribute: attributeFor(mapped, id), kinds: ['event'] as const };
  const [inside, before] = await Promise.all([
    journal.query({ ...about, from, to, limit: most + 1 }),
    journal.query({ ...about, to: from, newestFirst: true, limit: 1 }),
  ]);
  const rowOf = ({ ts, body }: { ts: number; body: string }): Row => {
    const { value = null, quality } = (parseJson(body) ?? {}) as { value?: Json; quality?: string };
    return { ts, value: quality === 'good' ? value : null };
  };
  return { rows: inside.slice(0, most).map(rowOf), before: before.map(rowOf)[0], isCut: inside.length > most };
}
