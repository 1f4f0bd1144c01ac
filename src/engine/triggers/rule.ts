// Another rule finished, failed, was refused or suspended.
import { filter, map } from 'rxjs';
import { z } from 'zod';
import { Id, triggerFields } from '../fields.ts';
import { defineTrigger, type Edge } from '../kind.ts';
import { keys } from '../signals.ts';
import { causeOf } from './level.ts';

const What = z.enum(['finished', 'failed', 'refused', 'suspended']);
const schema = z
  .strictObject({
    type: z.literal('rule'),
    ...triggerFields,
    rule: Id.meta({ description: 'Id of the other rule' }),
    event: z
      .union([What, z.array(What).min(1)])
      .optional()
      .meta({ description: 'finished (default), failed, refused, suspended, or a list of them' }),
  })
  .meta({
    id: 'TriggerRule',
    title: 'Rule',
    description: 'Another rule finished (default), failed, was refused or suspended',
    examples: [{ type: 'rule', rule: 'attic-fan', event: 'failed' }],
  });

export const rule = defineTrigger({
  type: 'rule',
  schema,
  describe: config => `when the rule ${config.rule} has ${[config.event ?? 'finished'].flat().join(' or ')}`,
  attach: (config, context) => ({
    edges$: context.signal(keys.rule(config.rule)).pipe(
      filter(signal => [config.event ?? 'finished'].flat().includes(signal.attribute as 'finished')),
      map(
        (signal): Edge => ({
          do: 'enter',
          member: '',
          data: { rule: config.rule, outcome: String(signal.value) },
          cause: causeOf(signal),
        }),
      ),
    ),
  }),
});
