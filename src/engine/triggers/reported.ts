// A device reports an attribute, changed or not.
import { filter, map } from 'rxjs';
import { z } from 'zod';
import { valuesEqual } from '../../model/value.ts';
import { attributeFields, byField, OneOrMany, triggerFields } from '../fields.ts';
import { defineTrigger, type Edge } from '../kind.ts';
import { keys } from '../signals.ts';
import { targetWords, valueWords } from '../words.ts';
import { among, causeOf, eventData } from './level.ts';

const schema = z
  .strictObject({
    type: z.literal('reported'),
    ...triggerFields,
    ...byField,
    ...attributeFields,
    is: OneOrMany.optional().meta({ description: 'Only reports of this value, or one of a list' }),
  })
  .meta({
    id: 'TriggerReported',
    title: 'Reported',
    description:
      'An attribute is reported, also when it did not change. What a backend tells before it is ready does not count.',
    examples: [{ type: 'reported', device: 'hubitat:8', attribute: 'scene', is: 1 }],
  });

export const reported = defineTrigger({
  type: 'reported',
  schema,
  describe: config =>
    `whenever ${targetWords(config.device)} reports ${config.attribute}${config.is === undefined ? '' : ` as ${valueWords(config.is)}`}`,
  attach: (config, context) => ({
    edges$: context.each(config.device, device =>
      context.signal(keys.attribute(device, config.attribute)).pipe(
        filter(
          event => event.change !== 'resync' && event.quality === 'good' && among(event.value, config.is, valuesEqual),
        ),
        map((event): Edge => ({ do: 'enter', member: device, data: eventData(event), cause: causeOf(event) })),
      ),
    ),
  }),
});
