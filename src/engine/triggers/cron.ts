// A cron expression.
import { z } from 'zod';
import { memoByObject } from '../../lib/memo.ts';
import { cronHasDate, nextCron, parseCron } from '../../lib/time/cron.ts';
import { catchUpField, triggerFields } from '../fields.ts';
import { defineTrigger } from '../kind.ts';
import { DstGap, issuesOf } from '../time-fields.ts';
import { scheduled } from './schedule.ts';

const schema = z
  .strictObject({
    type: z.literal('cron'),
    ...triggerFields,
    ...catchUpField,
    cron: z
      .string()
      .min(1)
      .max(200)
      .meta({ description: 'Minute, hour, day of month, month, weekday; with six fields the second comes first' }),
    dst_gap: DstGap.optional(),
  })
  .superRefine((config, context) =>
    issuesOf(
      () => {
        if (cronHasDate(parseCron(config.cron))) return;
        context.addIssue({
          code: 'custom',
          path: ['cron'],
          message: `"${config.cron}" never happens: no date fits it`,
        });
      },
      context,
      'cron',
    ),
  )
  .meta({
    id: 'TriggerCron',
    title: 'Cron',
    description: '5 or 6 fields; day of month and weekday both set means either',
    examples: [{ type: 'cron', cron: '*/15 8-20 * * 1-5' }],
  });

const parsed = memoByObject((config: { cron: string }) => parseCron(config.cron));

export const cron = defineTrigger({
  type: 'cron',
  schema,
  describe: config => `by cron “${config.cron}”`,
  attach: (config, context) =>
    scheduled(config, context, after => nextCron(parsed(config), context.view.zone, after, config.dst_gap ?? 'next')),
  next: (config, view, after) => nextCron(parsed(config), view.zone, after, config.dst_gap ?? 'next'),
});
