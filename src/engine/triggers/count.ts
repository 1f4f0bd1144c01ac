// A trigger fires so many times within a sliding time.
import { filter, map } from 'rxjs';
import { z } from 'zod';
import { Duration, durationMs } from '../../lib/duration.ts';
import { triggerFields } from '../fields.ts';
import { defineTrigger, type Edge, type TriggerConfig } from '../kind.ts';

/** The kind, given the schema of all triggers. */
export const count = (trigger: () => z.ZodType) => {
  const schema = z
    .strictObject({
      type: z.literal('count'),
      ...triggerFields,
      of: z.lazy(trigger).meta({ description: 'The trigger that is counted' }),
      count: z.int().min(2).max(1000).meta({ description: 'How many times' }),
      within: Duration.meta({ description: 'The sliding time' }),
    })
    .meta({
      id: 'TriggerCount',
      title: 'Count',
      description: 'A trigger fires this many times within a sliding time; the count is emptied when it fires',
      examples: [{ type: 'count', of: { type: 'event', device: 'hubitat:5', name: 'pushed' }, count: 3, within: '5s' }],
    });
  return defineTrigger({
    type: 'count',
    schema,
    describe: config => `when the same happens ${config.count} times within ${config.within}`,
    attach(config, context) {
      const within = durationMs(config.within);
      return {
        edges$: context.nested(config.of as TriggerConfig, 'of').pipe(
          map(({ data, cause }): Edge | null => {
            const now = context.view.now();
            const times = [...(context.memory.get<number[]>('times') ?? []), now].filter(at => now - at < within);
            if (times.length < config.count) {
              context.memory.set('times', times);
              return null;
            }
            context.memory.set('times', undefined);
            return { do: 'enter', member: '', data: { ...data, type: 'count', count: times.length }, cause };
          }),
          filter(edge => edge !== null),
        ),
      };
    },
  });
};
