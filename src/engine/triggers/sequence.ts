// Triggers fire one after another within a time, and none that breaks the sequence between them.
import { filter, map, merge } from 'rxjs';
import { z } from 'zod';
import { Duration, durationMs } from '../../lib/duration.ts';
import type { Json } from '../../model/value.ts';
import { triggerFields } from '../fields.ts';
import { defineTrigger, type Edge, type TriggerConfig } from '../kind.ts';

/** A sequence begun: when, and which step is next. */
type Partial_ = { at: number; next: number };
// Enough for any house; the oldest goes first.
const MAX_PARTIALS = 100;

/** The kind, given the schema of all triggers. */
export const sequence = (trigger: () => z.ZodType) => {
  const schema = z
    .strictObject({
      type: z.literal('sequence'),
      ...triggerFields,
      steps: z.array(z.lazy(trigger)).min(2).max(10).meta({ description: 'Triggers, in their order' }),
      within: Duration.meta({ description: 'From the first to the last at most' }),
      without: z.lazy(trigger).optional().meta({ description: 'A trigger that ends what has begun' }),
    })
    .meta({
      id: 'TriggerSequence',
      title: 'Sequence',
      description:
        'Triggers fire in this order within a time from the first to the last; one that breaks it ends what has begun',
      examples: [
        {
          type: 'sequence',
          steps: [
            { type: 'state', device: 'hubitat:3', attribute: 'contact', to: 'open' },
            { type: 'state', device: 'hubitat:4', attribute: 'motion', to: 'active' },
          ],
          within: '30s',
        },
      ],
    });
  return defineTrigger({
    type: 'sequence',
    schema,
    describe: config => `when ${config.steps.length} things happen in order within ${config.within}`,
    attach(config, context) {
      const within = durationMs(config.within);
      const read = () => (context.memory.get<Json[]>('partials') ?? []) as unknown as Partial_[];
      const write = (partials: Partial_[]) =>
        context.memory.set('partials', partials.length === 0 ? undefined : (partials as unknown as Json));
      const steps = (config.steps as TriggerConfig[]).map((step, index) =>
        context.nested(step, `s${index}`).pipe(map(fired => ({ index, fired }))),
      );
      const broken$ = config.without
        ? context.nested(config.without as TriggerConfig, 'without').pipe(
            map((): Edge => {
              write([]);
              return { do: 'look', member: '' };
            }),
          )
        : undefined;
      const last = steps.length - 1;
      // The later steps first: an event that is two steps at once moves a sequence on by one, not by two.
      const edges$ = merge(...steps.reverse()).pipe(
        map(({ index, fired }): Edge | null => {
          const now = context.view.now();
          const alive = read().filter(partial => now - partial.at <= within);
          if (index === 0) {
            write([...alive, { at: now, next: 1 }].slice(-MAX_PARTIALS));
            return null;
          }
          if (!alive.some(partial => partial.next === index)) return null;
          if (index === last) {
            write([]);
            return { do: 'enter', member: '', data: { ...fired.data, type: 'sequence' }, cause: fired.cause };
          }
          write(alive.map(partial => (partial.next === index ? { ...partial, next: index + 1 } : partial)));
          return null;
        }),
        filter(edge => edge !== null),
      );
      return { edges$: broken$ ? merge(broken$, edges$) : edges$ };
    },
  });
};
