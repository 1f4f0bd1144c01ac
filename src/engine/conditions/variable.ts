// A variable is a value or lies between bounds.
import { z } from 'zod';
import { type Json, valuesEqual } from '../../model/value.ts';
import { DynamicNumber, nonEmptyInterval, OneOrMany, VariableName } from '../fields.ts';
import { defineCondition } from '../kind.ts';
import { boundsOf } from '../triggers/numeric.ts';
import { boundWords, valueWords } from '../words.ts';

const schema = z
  .strictObject({
    type: z.literal('variable'),
    name: VariableName.meta({ description: 'A variable of the rule, or else of the house' }),
    is: OneOrMany.optional().meta({ description: 'This value, or one of a list' }),
    is_not: OneOrMany.optional().meta({ description: 'Not this value, nor one of a list' }),
    above: DynamicNumber.optional().meta({ description: 'More than this' }),
    below: DynamicNumber.optional().meta({ description: 'Less than this' }),
  })
  .superRefine(nonEmptyInterval)
  .superRefine((config, context) => {
    if ([config.is, config.is_not, config.above, config.below].every(field => field === undefined)) {
      context.addIssue({ code: 'custom', path: ['is'], message: 'give is, is_not, above or below' });
    }
  })
  .meta({
    id: 'ConditionVariable',
    title: 'Variable',
    description: 'A variable (the rule’s own first, then the house’s) is a value or lies between bounds',
    examples: [{ type: 'variable', name: 'guests', is: true }],
  });

export const variable = defineCondition({
  type: 'variable',
  schema,
  describe(config) {
    const parts = [`the variable ${config.name}`];
    if (config.is !== undefined) parts.push(`is ${valueWords(config.is)}`);
    if (config.is_not !== undefined) parts.push(`is not ${valueWords(config.is_not)}`);
    if (config.above !== undefined || config.below !== undefined) parts.push(`is ${boundWords(config)}`);
    return parts.join(' ');
  },
  evaluate(config, context) {
    const value = context.view.variable(config.name)?.value;
    const seen = { [config.name]: value ?? null };
    if (value === undefined) return { met: null, seen, note: 'no such variable' };
    const isOne = (wanted: Json | readonly Json[]) =>
      (Array.isArray(wanted) ? wanted : [wanted as Json]).some(w => valuesEqual(value, w));
    if (config.is !== undefined && !isOne(config.is)) return { met: false, seen };
    if (config.is_not !== undefined && isOne(config.is_not)) return { met: false, seen };
    if (config.above === undefined && config.below === undefined) return { met: true, seen };
    const bounds = boundsOf(config, context.value);
    if (bounds === null || typeof value !== 'number') return { met: null, seen };
    return { met: value > bounds.above && value < bounds.below, seen };
  },
});
