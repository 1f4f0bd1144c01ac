// Every so often, by elapsed time.
import { defer, map, repeat } from 'rxjs';
import { z } from 'zod';
import { Duration, durationMs } from '../../lib/duration.ts';
import { nextInterval } from '../../lib/time/interval.ts';
import { triggerFields } from '../fields.ts';
import { defineTrigger, type Edge } from '../kind.ts';

const schema = z
  .strictObject({
    type: z.literal('interval'),
    ...triggerFields,
    every: Duration.meta({ description: 'The period, at least 1s' }),
  })
  .superRefine((config, context) => {
    if (durationMs(config.every) < 1000) context.addIssue({ code: 'custom', path: ['every'], message: 'at least 1s' });
  })
  .meta({
    id: 'TriggerInterval',
    title: 'Interval',
    description:
      'First one period after it is armed; keeps its phase over a restart; follows elapsed time, not the clock',
    examples: [{ type: 'interval', every: '15m' }],
  });

export const interval = defineTrigger({
  type: 'interval',
  schema,
  describe: config => `every ${config.every}`,
  attach(config, context) {
    const every = durationMs(config.every);
    const phase = () => {
      const known = context.memory.get<number>('phase');
      if (known !== undefined) return known;
      context.memory.set('phase', context.view.now());
      return context.view.now();
    };
    return {
      edges$: defer(() => context.timer(nextInterval(phase(), every, context.view.now()))).pipe(
        map((): Edge => ({ do: 'enter', member: '', data: {} })),
        repeat(),
      ),
      next(after) {
        const { view } = context;
        const from = after === undefined ? view.now() : view.now() + after - view.wall();
        return { at: view.toWall(nextInterval(phase(), every, from)) };
      },
    };
  },
});
