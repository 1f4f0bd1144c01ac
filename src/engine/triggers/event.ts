// A momentary event of a device: a button press.
import { filter, map } from 'rxjs';
import { z } from 'zod';
import { Target } from '../../model/target.ts';
import { valuesEqual } from '../../model/value.ts';
import { byField, OneOrMany, triggerFields } from '../fields.ts';
import { defineTrigger, type Edge } from '../kind.ts';
import { keys } from '../signals.ts';
import { targetWords, valueWords } from '../words.ts';
import { among, causeOf, eventData } from './level.ts';

const schema = z
  .strictObject({
    type: z.literal('event'),
    ...triggerFields,
    ...byField,
    device: Target,
    name: z
      .string()
      .min(1)
      .meta({ description: 'pushed, held, doubleTapped, released, or another momentary event of the device' }),
    value: OneOrMany.optional().meta({
      description: 'Only with this value (the number of the button), or one of a list',
    }),
  })
  .meta({
    id: 'TriggerEvent',
    title: 'Event',
    description:
      'A momentary event, such as pushed, held, doubleTapped, released of a button. Never restored, never retained.',
    examples: [{ type: 'event', device: 'hubitat:5', name: 'pushed', value: 1 }],
  });

export const event = defineTrigger({
  type: 'event',
  schema,
  describe: config =>
    `when ${targetWords(config.device)} is ${config.name}${config.value === undefined ? '' : ` (${valueWords(config.value)})`}`,
  attach: (config, context) => ({
    edges$: context.each(config.device, device =>
      context.signal(keys.attribute(device, config.name)).pipe(
        filter(signal => signal.change !== 'resync' && among(signal.value, config.value, valuesEqual)),
        map((signal): Edge => ({ do: 'enter', member: device, data: eventData(signal), cause: causeOf(signal) })),
      ),
    ),
  }),
});
