// A variable of the house changes, or enters a region.
import { filter, map } from 'rxjs';
import { z } from 'zod';
import { valuesEqual } from '../../model/value.ts';
import { byField, DynamicNumber, nonEmptyInterval, OneOrMany, triggerFields, VariableName } from '../fields.ts';
import { defineTrigger, type Edge } from '../kind.ts';
import { boundWords, valueWords } from '../words.ts';
import { among, causeOf } from './level.ts';
import { boundsOf, crossing } from './numeric.ts';

const schema = z
  .strictObject({
    type: z.literal('variable'),
    ...triggerFields,
    ...byField,
    name: VariableName.meta({ description: 'A variable of the house' }),
    from: OneOrMany.optional().meta({ description: 'Only from this value, or one of a list' }),
    to: OneOrMany.optional().meta({ description: 'Only to this value, or one of a list' }),
    above: DynamicNumber.optional().meta({ description: 'Fires on going above this number' }),
    below: DynamicNumber.optional().meta({ description: 'Fires on going below this number' }),
  })
  .superRefine(nonEmptyInterval)
  .meta({
    id: 'TriggerVariable',
    title: 'Variable',
    description: 'A variable changes from something to something, or enters the region of above and below',
    examples: [{ type: 'variable', name: 'setpoint', above: 22 }],
  });

export const variable = defineTrigger({
  type: 'variable',
  schema,
  describe(config) {
    const parts = [`when the variable ${config.name} changes`];
    if (config.from !== undefined) parts.push(`from ${valueWords(config.from)}`);
    if (config.to !== undefined) parts.push(`to ${valueWords(config.to)}`);
    if (config.above !== undefined || config.below !== undefined) parts.push(`and goes ${boundWords(config)}`);
    return parts.join(' ');
  },
  attach: (config, context) => ({
    edges$: context.variable(config.name).pipe(
      filter(signal => {
        if (signal.change !== 'changed') return false;
        if (!among(signal.previous, config.from, valuesEqual) || !among(signal.value, config.to, valuesEqual))
          return false;
        if (config.above === undefined && config.below === undefined) return true;
        const bounds = boundsOf(config, context.value);
        if (bounds === null || typeof signal.value !== 'number') return false;
        const previous = typeof signal.previous === 'number' ? signal.previous : null;
        return crossing(signal.value, previous, bounds, undefined) === 'enter';
      }),
      map(
        (signal): Edge => ({
          do: 'enter',
          member: '',
          data: { attribute: config.name, value: signal.value, previous: signal.previous },
          cause: causeOf(signal),
        }),
      ),
    ),
  }),
});
