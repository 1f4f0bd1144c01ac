// The house is in a mode.
import { z } from 'zod';
import { defineCondition } from '../kind.ts';
import { valueWords } from '../words.ts';

const Names = z.union([z.string(), z.array(z.string()).min(1)]);
const schema = z
  .strictObject({
    type: z.literal('mode'),
    is: Names.optional().meta({ description: 'This mode, or one of a list' }),
    is_not: Names.optional().meta({ description: 'Not this mode, nor one of a list' }),
  })
  .superRefine((config, context) => {
    if (config.is === undefined && config.is_not === undefined) {
      context.addIssue({ code: 'custom', path: ['is'], message: 'give is or is_not' });
    }
  })
  .meta({
    id: 'ConditionMode',
    title: 'Mode',
    description: 'The mode of the house is one of these',
    examples: [{ type: 'mode', is: ['home', 'night'] }],
  });

export const mode = defineCondition({
  type: 'mode',
  schema,
  describe: config =>
    config.is === undefined ? `the mode is not ${valueWords(config.is_not)}` : `the mode is ${valueWords(config.is)}`,
  evaluate(config, context) {
    const { value } = context.view.mode();
    const seen = { mode: value };
    if (typeof value !== 'string') return { met: null, seen };
    const isIn = config.is === undefined || [config.is].flat().includes(value);
    const isOut = config.is_not === undefined || ![config.is_not].flat().includes(value);
    return { met: isIn && isOut, seen };
  },
});
