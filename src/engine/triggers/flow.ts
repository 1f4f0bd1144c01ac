// A network conversation that a UniFi console reported: each one, or so many, or so much, within a time.
import { filter, map } from 'rxjs';
import { z } from 'zod';
import { Duration, durationMs } from '../../lib/duration.ts';
import { atPath } from '../../lib/json.ts';
import type { Json } from '../../model/value.ts';
import { OneOrMany, triggerFields } from '../fields.ts';
import { defineTrigger, type Edge, type TriggerContext } from '../kind.ts';
import { keys } from '../signals.ts';
import { fieldWords } from '../words.ts';
import { type Asked, type Entry, isOver, isReached, measureOf, withAdded } from './flow-window.ts';
import { causeOf } from './level.ts';

const Bound = z.strictObject({ above: z.number().optional(), below: z.number().optional() });
const Field = z.union([OneOrMany, Bound]).optional();
const words = <const W extends readonly [string, ...string[]]>(...known: W) =>
  z.union([z.enum(known), z.array(z.enum(known)).min(1)]).optional();
const End = z
  .strictObject({ mac: Field, ip: Field, port: Field, network: Field, zone: Field, domain: Field, name: Field })
  .optional();

const schema = z
  .strictObject({
    type: z.literal('flow'),
    ...triggerFields,
    where: z
      .strictObject({
        site: Field,
        action: words('allowed', 'blocked'),
        risk: words('low', 'medium', 'high'),
        direction: words('incoming', 'outgoing', 'local'),
        protocol: Field,
        service: Field,
        bytes: Field,
        source: End,
        destination: End,
      })
      .optional()
      .meta({
        description:
          'What must fit, field by field: a value, a list, or { above, below }; words without regard to case',
      }),
    within: Duration.optional().meta({
      description: 'Counts or sums within this sliding time; without it each conversation fires',
    }),
    count: z.int().min(1).max(100_000).optional().meta({ description: 'Fires at this many' }),
    distinct: z.string().optional().meta({ description: 'Counts different values of this field: `destination.ip`' }),
    sum: z
      .strictObject({ field: z.string(), above: z.number() })
      .optional()
      .meta({ description: 'Fires when the sum of a field (`bytes`) goes above a number' }),
    per: z.string().optional().meta({ description: 'Keeps one window for each value of this field: `source.mac`' }),
  })
  .superRefine((config, context) => {
    const counts = config.count !== undefined || config.sum !== undefined;
    if (counts !== (config.within !== undefined)) {
      context.addIssue({
        code: 'custom',
        path: ['within'],
        message: 'count or sum go with within, and within with one of them',
      });
    }
    if (config.count !== undefined && config.sum !== undefined) {
      context.addIssue({ code: 'custom', path: ['sum'], message: 'give count or sum, not both' });
    }
    if (config.distinct !== undefined && config.count === undefined) {
      context.addIssue({ code: 'custom', path: ['distinct'], message: 'distinct goes with count' });
    }
  })
  .meta({
    id: 'TriggerFlow',
    title: 'Flow',
    description: 'A network conversation, or a count or sum of them within a time',
    examples: [
      { type: 'flow', where: { action: 'blocked', risk: 'high' } },
      {
        type: 'flow',
        where: { action: 'blocked' },
        within: '10m',
        count: 20,
        distinct: 'destination.ip',
        per: 'source.mac',
      },
    ],
  });

/** Windows of one trigger: a flood of addresses must not grow without end. */
const MAX_WINDOWS = 1_000;

function fits(flow: Json | undefined, wanted: unknown): boolean {
  if (wanted === undefined) return true;
  if (wanted !== null && typeof wanted === 'object' && !Array.isArray(wanted)) {
    const bounds = wanted as { above?: number; below?: number };
    if ('above' in bounds || 'below' in bounds) {
      return (
        typeof flow === 'number' &&
        (bounds.above === undefined || flow > bounds.above) &&
        (bounds.below === undefined || flow < bounds.below)
      );
    }
    return Object.entries(wanted).every(([key, inner]) =>
      fits(flow === undefined ? undefined : atPath(flow, key), inner),
    );
  }
  const text = (value: unknown) => (typeof value === 'string' ? value.toLowerCase() : value);
  return (Array.isArray(wanted) ? wanted : [wanted]).some(w => text(w) === text(flow ?? null));
}

type Config = z.output<typeof schema>;

const askedOf = ({ sum, count = 1, distinct }: Config): Asked =>
  sum ? { of: 'sum', above: sum.above } : { of: distinct === undefined ? 'count' : 'distinct', count };

/** Makes room for a window of a key that has none: those that are over go first, then the one that is over the soonest. */
function makeRoom(context: TriggerContext, within: number): void {
  const { memory, view } = context;
  const names = memory.names().filter(name => name.startsWith('w:'));
  if (names.length < MAX_WINDOWS) return;
  const entriesOf = (name: string) => (memory.get<Json[]>(name) ?? []) as Entry[];
  const over = names.filter(name => isOver(entriesOf(name), view.now(), within));
  for (const name of over) memory.set(name, undefined);
  if (over.length > 0) return;
  const newest = (name: string) => entriesOf(name).at(-1)?.[0] ?? 0;
  const soonest = names.reduce((a, b) => (newest(b) < newest(a) ? b : a));
  memory.set(soonest, undefined);
  context.warn(`more than ${MAX_WINDOWS} windows at a time; that of ${soonest.slice(2)} is given up`);
}

/** After an outage many are told at once that have ended one after the other. */
function ageOf(flow: Json): number {
  const age = atPath(flow, 'age');
  return typeof age === 'number' && age > 0 ? age : 0;
}

export const flow = defineTrigger({
  type: 'flow',
  schema,
  describe: ({ where = {}, within, count, distinct, sum, per }) => {
    const which = Object.keys(where).length > 0 ? ` (${fieldWords(where)})` : '';
    if (within === undefined) return `when there is a network conversation${which}`;
    const reached = sum
      ? `a sum of ${sum.field} above ${sum.above}`
      : `${count}${distinct ? ` different ${distinct}` : ''}`;
    return `when network conversations${which} within ${within} reach ${reached}${per ? ` of one ${per}` : ''}`;
  },
  attach: (config, context) => ({
    edges$: context.signal(keys.flow).pipe(
      // What a console told before it was ready has happened before.
      filter(signal => signal.change !== 'resync' && fits(signal.value, config.where)),
      map((signal): Edge | null => {
        const flowData = { flow: signal.value };
        const cause = causeOf(signal);
        if (config.within === undefined) return { do: 'enter', member: '', data: flowData, cause };
        const key = config.per === undefined ? '' : String(atPath(signal.value, config.per) ?? '');
        const name = `w:${key}`;
        const within = durationMs(config.within);
        const asked = askedOf(config);
        const field = config.distinct ?? config.sum?.field;
        const value = field === undefined ? null : (atPath(signal.value, field) ?? null);
        const known = context.memory.get<Json[]>(name) as Entry[] | undefined;
        if (!known) makeRoom(context, within);
        const entries = withAdded(known ?? [], [context.view.now() - ageOf(signal.value), value], within, asked);
        const measure = measureOf(entries, asked);
        if (!isReached(measure, asked)) {
          context.memory.set(name, entries as Json);
          return null;
        }
        context.memory.set(name, undefined);
        return {
          do: 'enter',
          member: '',
          data: { ...flowData, key, ...(config.sum ? { sum: measure } : { count: measure }) },
          cause,
        };
      }),
      filter(edge => edge !== null),
    ),
  }),
});
