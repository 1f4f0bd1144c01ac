// What a state was over time.
import { z } from 'zod';
import { iso } from '../../../lib/clock.ts';
import { parseDuration } from '../../../lib/duration.ts';
import { CausewayError } from '../../../lib/errors.ts';
import { instant } from '../../../lib/instant.ts';
import { AGGREGATES, aggregate, type Interval, numberOf } from '../../../lib/series.ts';
import { defineOperation } from '../../operation.ts';
import { adapterRows, historyInstanceOf, journalRows, type Rows } from '../history.ts';
import type { IobrokerBackend } from '../index.ts';
import { AnyObject, limited, requireObject } from './show.ts';

const DAY_MS = 86_400_000;
/** Rows that an aggregation reads. */
const MOST_ROWS = 100_000;
const MOST_INTERVALS = 5_000;

/** History with aggregations. */
export const getHistory = defineOperation({
  name: 'get_iobroker_history',
  title: 'History of an ioBroker state',
  description:
    'Values of a state over time, from the history adapter that logs it, else from the gateway’s own journal (`source` in ' +
    'the answer says which). raw: rows, oldest first. All other aggregates: one row per interval, named by its beginning; ' +
    'true and false count as 1 and 0, gaps for nothing. integral is value × minutes unless integral_unit says otherwise.',
  input: z.strictObject({
    id: z.string().min(1),
    from: z.string().optional().describe('Instant, or a duration ago (24h, the default)'),
    to: z.string().optional().describe('Now unless told; exclusive'),
    aggregate: z
      .enum(['raw', ...AGGREGATES])
      .optional()
      .describe('raw unless told'),
    interval: z.string().optional().describe('A duration (1h); the whole span unless told'),
    percentile: z.number().min(0).max(100).optional().describe('Of percentile; 50 unless told'),
    quantile: z.number().min(0).max(1).optional().describe('Of quantile; 0.5 unless told'),
    integral_unit: z.string().optional().describe('A duration; 1h makes Wh of W'),
    source: z.enum(['auto', 'adapter', 'journal']).optional(),
    limit: limited(10_000).describe('Rows of raw; 1000 unless told'),
  }),
  output: z.looseObject({ id: z.string(), source: z.string(), rows: z.array(AnyObject) }),
  effect: 'read',
  scope: 'read',
  path: 'history',
  async run(backend: IobrokerBackend, input, { journal }) {
    const connection = backend.live;
    const { id, aggregate: what = 'raw', source = 'auto', limit = 1_000 } = input;
    const now = backend.now();
    const to = instant(input.to, now, 'to') ?? now;
    const from = instant(input.from, now, 'from') ?? to - DAY_MS;
    if (from >= to) {
      throw new CausewayError('INPUT_INVALID', 'from is not before to', { path: 'from', hint: 'swap them' });
    }
    const intervalMs = span(input.interval, 'interval') ?? to - from;
    if (what !== 'raw' && (to - from) / intervalMs > MOST_INTERVALS) {
      const message = `that would be more than ${MOST_INTERVALS} intervals`;
      throw new CausewayError('INPUT_INVALID', message, { path: 'interval', hint: 'take a longer one' });
    }
    const object = await requireObject(connection, id);
    const instance = source === 'journal' ? undefined : await historyInstanceOf(connection, object);
    if (source === 'adapter' && instance === undefined) {
      throw new CausewayError('NOT_FOUND', `no history adapter logs ${id}`, {
        path: 'source',
        hint: 'switch one on for it in ioBroker, or leave source out',
      });
    }
    const asked = { from, to, most: what === 'raw' ? limit : MOST_ROWS };
    const found =
      instance === undefined
        ? await journalRows(connection, journal, id, asked)
        : await adapterRows(connection, instance, id, asked);
    const about = { id, source: instance ?? 'journal', from: iso(from), to: iso(to), aggregate: what };
    const last = found.rows.at(-1);
    const cut = found.isCut && last ? { truncated: true, next_from: iso(last.ts + 1) } : {};
    if (what === 'raw') {
      return { ...about, rows: found.rows.map(({ ts, ...row }) => ({ ts: iso(ts), ...row })), ...cut };
    }
    const intervals = aggregate(pointsOf(found), {
      aggregate: what,
      from,
      // What is to come holds nothing yet.
      to: Math.min(to, Math.max(now, from + 1)),
      intervalMs,
      quantile: what === 'percentile' ? (input.percentile ?? 50) / 100 : (input.quantile ?? 0.5),
      unitMs: span(input.integral_unit, 'integral_unit') ?? 60_000,
    });
    return { ...about, interval_ms: intervalMs, rows: intervals.map(shown), ...cut };
  },
});

const pointsOf = ({ rows, before }: Rows) =>
  [...(before ? [before] : []), ...rows].map(({ ts, value }) => ({ ts, value: numberOf(value) }));

const shown = ({ ts, ...interval }: Interval) => ({ ts: iso(ts), ...interval });

/** @throws INPUT_INVALID */
function span(text: string | undefined, path: string): number | undefined {
  if (text === undefined) return undefined;
  const ms = parseDuration(text);
  if (ms !== undefined && ms > 0) return ms;
  throw new CausewayError('INPUT_INVALID', `"${text}" is no duration`, { path, hint: 'write 15m, 1h or 1d' });
}
