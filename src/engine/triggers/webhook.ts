// An HTTP request arrives at /hooks/<id>.
import { filter, map } from 'rxjs';
import { z } from 'zod';
import type { Json } from '../../model/value.ts';
import { Id, triggerFields } from '../fields.ts';
import { defineTrigger, type Edge } from '../kind.ts';
import { keys } from '../signals.ts';
import { causeOf } from './level.ts';

const Method = z.enum(['GET', 'POST', 'PUT']);
const schema = z
  .strictObject({
    type: z.literal('webhook'),
    ...triggerFields,
    // `id` names the hook here, and so the trigger too.
    id: Id.meta({ description: 'The last part of the address, and the id of the trigger' }),
    method: z
      .union([Method, z.array(Method).min(1)])
      .optional()
      .meta({ description: 'Only this method, or one of a list' }),
  })
  .meta({
    id: 'TriggerWebhook',
    title: 'Webhook',
    description: 'An HTTP request to /hooks/<id>; GET, POST and PUT unless method says which',
    examples: [{ type: 'webhook', id: 'doorbell', method: 'POST' }],
  });

export const webhook = defineTrigger({
  type: 'webhook',
  schema,
  describe: config => `when a request arrives at /hooks/${config.id}`,
  attach: (config, context) => ({
    edges$: context.signal(keys.webhook(config.id)).pipe(
      filter(signal => config.method === undefined || [config.method].flat().includes(signal.attribute as 'GET')),
      map((signal): Edge => {
        const { body, query } = signal.value as { body: Json; query: Json };
        return { do: 'enter', member: '', data: { body, query, method: signal.attribute }, cause: causeOf(signal) };
      }),
    ),
  }),
});
