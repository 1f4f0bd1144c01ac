// An expression is true.
import { z } from 'zod';
import { defineCondition } from '../kind.ts';

const schema = z
  .strictObject({
    type: z.literal('expression'),
    expr: z.string().min(1).max(4096).meta({ description: 'CEL, true or false' }),
  })
  .meta({
    id: 'ConditionExpression',
    title: 'Expression',
    description: 'A CEL expression is true; one that errs is unknown, and the trace says why',
    examples: [{ type: 'expression', expr: 'trigger.value > vars.limit' }],
  });

export const expression = defineCondition({
  type: 'expression',
  schema,
  describe: config => config.expr,
  evaluate: (config, context) => context.expression(config.expr),
});
