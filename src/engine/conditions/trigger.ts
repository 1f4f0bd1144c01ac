// Which trigger started the run.
import { z } from 'zod';
import { Id } from '../fields.ts';
import { defineCondition } from '../kind.ts';
import { valueWords } from '../words.ts';

const schema = z
  .strictObject({
    type: z.literal('trigger'),
    id: z.union([Id, z.array(Id).min(1)]).meta({ description: 'Id of a trigger, or a list of them' }),
  })
  .meta({
    id: 'ConditionTrigger',
    title: 'Trigger',
    description: 'The run was started by this trigger (or one of a list)',
    examples: [{ type: 'trigger', id: 'motion' }],
  });

export const trigger = defineCondition({
  type: 'trigger',
  schema,
  describe: config => `it was started by ${valueWords(config.id)}`,
  evaluate(config, context) {
    const started = context.trigger?.id;
    return { met: started !== undefined && [config.id].flat().includes(started), seen: { trigger: started ?? null } };
  },
});
