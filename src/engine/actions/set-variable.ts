// Sets, adds to or appends to a variable: the rule's own of that name, else the house's.
import { z } from 'zod';
import { CausewayError } from '../../lib/errors.ts';
import type { Json } from '../../model/value.ts';
import { DynamicValue, stepFields, VariableName } from '../fields.ts';
import type { VariableChange } from '../house-changes.ts';
import { defineAction, type StepContext } from '../kind.ts';
import { valueWords } from '../words.ts';

const schema = z
  .strictObject({
    type: z.literal('set_variable'),
    ...stepFields,
    name: VariableName.meta({ description: 'A variable of the rule, or else of the house' }),
    value: DynamicValue.optional().meta({ description: 'What it becomes' }),
    add: DynamicValue.optional().meta({ description: 'A number to add to it' }),
    append: DynamicValue.optional().meta({ description: 'An item for its list, or text to put at its end' }),
  })
  .superRefine((config, context) => {
    const given = [config.value, config.add, config.append].filter(field => field !== undefined).length;
    if (given !== 1) context.addIssue({ code: 'custom', path: ['value'], message: 'give one of value, add, append' });
  })
  .meta({
    id: 'ActionSetVariable',
    title: 'Set a variable',
    description: 'Sets a variable, or adds to it or appends to it in one go, so that two rules at once lose nothing',
    examples: [
      { type: 'set_variable', name: 'count', add: 1 },
      { type: 'set_variable', name: 'setpoint', value: { expr: 'vars.setpoint + 0.5' } },
    ],
  });

function changeOf(config: z.infer<typeof schema>, context: StepContext): VariableChange {
  if (config.append !== undefined) return { append: context.deep(config.append as Json) };
  if (config.add === undefined) return { value: context.deep(config.value as Json) };
  const add = context.deep(config.add as Json);
  if (typeof add === 'number') return { add };
  throw new CausewayError('VALUE_INVALID', `${JSON.stringify(add)} cannot be added`);
}

export const setVariable = defineAction({
  type: 'set_variable',
  schema,
  describe(config) {
    if (config.add !== undefined) return `add ${valueWords(config.add)} to ${config.name}`;
    if (config.append !== undefined) return `append ${valueWords(config.append)} to ${config.name}`;
    return `set ${config.name} to ${valueWords(config.value)}`;
  },
  start(config, context) {
    try {
      const set = context.setVariable(config.name, changeOf(config, context));
      return { do: 'done', ...(set === 'shadow' && { outcome: set }) };
    } catch (error) {
      return { do: 'fail', error };
    }
  },
});
