// The house's mode changes.
import { filter, map } from 'rxjs';
import { z } from 'zod';
import { valuesEqual } from '../../model/value.ts';
import { byField, triggerFields } from '../fields.ts';
import { defineTrigger, type Edge } from '../kind.ts';
import { keys } from '../signals.ts';
import { valueWords } from '../words.ts';
import { among, causeOf } from './level.ts';

const OneOrManyNames = z.union([z.string(), z.array(z.string()).min(1)]);
const schema = z
  .strictObject({
    type: z.literal('mode'),
    ...triggerFields,
    ...byField,
    from: OneOrManyNames.optional().meta({ description: 'Only from this mode, or one of a list' }),
    to: OneOrManyNames.optional().meta({ description: 'Only to this mode, or one of a list' }),
  })
  .meta({
    id: 'TriggerMode',
    title: 'Mode',
    description: 'The mode of the house changes',
    examples: [{ type: 'mode', to: 'night' }],
  });

export const mode = defineTrigger({
  type: 'mode',
  schema,
  describe(config) {
    const from = config.from === undefined ? '' : ` from ${valueWords(config.from)}`;
    return `when the house’s mode changes${from}${config.to === undefined ? '' : ` to ${valueWords(config.to)}`}`;
  },
  attach: (config, context) => ({
    edges$: context.signal(keys.mode).pipe(
      filter(
        signal =>
          signal.change === 'changed' &&
          among(signal.previous, config.from, valuesEqual) &&
          among(signal.value, config.to, valuesEqual),
      ),
      map(
        (signal): Edge => ({
          do: 'enter',
          member: '',
          data: { value: signal.value, previous: signal.previous },
          cause: causeOf(signal),
        }),
      ),
    ),
  }),
});
