// A device goes offline or comes back, and perhaps stays so.
import { z } from 'zod';
import { Match, Target } from '../../model/target.ts';
import { DynamicDuration, levelFields, triggerFields } from '../fields.ts';
import { defineTrigger } from '../kind.ts';
import { keys } from '../signals.ts';
import { forWords, matchWords, targetWords } from '../words.ts';
import { levelTrigger } from './level.ts';

const schema = z
  .strictObject({
    type: z.literal('availability'),
    ...triggerFields,
    on_startup: levelFields.on_startup,
    device: Target,
    match: Match.optional(),
    to: z.enum(['online', 'offline', 'unknown']).optional().meta({ description: 'Only this; every change without it' }),
    for: DynamicDuration.optional().meta({ description: 'Fires once it has stayed so for this long' }),
  })
  .meta({
    id: 'TriggerAvailability',
    title: 'Availability',
    description: 'A device becomes online, offline or unknown',
    examples: [{ type: 'availability', device: { backend: 'hubitat' }, to: 'offline', for: '10m' }],
  });

export const availability = defineTrigger({
  type: 'availability',
  schema,
  describe: config =>
    `when ${matchWords(config.match)}${targetWords(config.device)} becomes ${config.to ?? 'otherwise reachable'}${forWords(config.for)}`,
  attach: (config, context) =>
    levelTrigger(context, {
      target: config.device,
      match: config.match,
      watch: device => context.signal(keys.availability(device)),
      level: (device, data) => context.view.availability(device) === (config.to ?? data?.value ?? ''),
      edge(event) {
        if (config.to === undefined) return 'restart';
        return event.value === config.to ? 'enter' : 'leave';
      },
    }),
});
