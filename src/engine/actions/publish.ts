// Publishes on a topic of the outside.
import { z } from 'zod';
import { CausewayError } from '../../lib/errors.ts';
import { topicFault } from '../../lib/topic.ts';
import type { Json } from '../../model/value.ts';
import { DynamicValue, stepFields, Template } from '../fields.ts';
import { defineAction } from '../kind.ts';

const schema = z
  .strictObject({
    type: z.literal('publish'),
    ...stepFields,
    topic: Template.meta({ description: 'A topic outside the gateway’s own root; {{ … }} is computed' }),
    payload: DynamicValue.optional().meta({ description: 'Text as it is, all else as JSON; empty without it' }),
    retain: z.boolean().optional().meta({ description: 'The broker keeps it for those who subscribe later' }),
    qos: z
      .union([z.literal(0), z.literal(1), z.literal(2)])
      .optional()
      .meta({ description: '0 (default) promises nothing; 1 and 2 survive a crash' }),
  })
  .meta({
    id: 'ActionPublish',
    title: 'Publish',
    description:
      'Publishes on MQTT; text as it is, all else as JSON. The gateway’s own input topics cannot be addressed.',
    examples: [{ type: 'publish', topic: 'zigbee2mqtt/desk/set', payload: { state: 'ON' } }],
  });

export const publish = defineAction({
  type: 'publish',
  schema,
  describe: config => `publish on ${config.topic}`,
  start(config, context) {
    try {
      const topic = context.text(config.topic);
      const fault = topicFault(topic);
      if (fault) throw new CausewayError('INPUT_INVALID', `"${topic}" cannot be published to: ${fault}`);
      const value = config.payload === undefined ? '' : context.deep(config.payload as Json);
      const payload = typeof value === 'string' ? value : JSON.stringify(value);
      const qos = config.qos ?? 0;
      const { id, outcome } = context.effect({ type: 'publish', topic, payload, qos, retain: config.retain ?? false });
      // QoS 0 promises nothing and is not waited for.
      if (outcome === 'sent' && qos > 0) return { do: 'wait', state: null, answers: [id] };
      return { do: 'done', outcome: outcome === 'sent' ? 'ok' : outcome };
    } catch (error) {
      return { do: 'fail', error };
    }
  },
  resume(_config, _state, by) {
    if (by.with !== 'answer' || by.answer.outcome === 'ok') return { do: 'done', outcome: 'ok' };
    return { do: 'fail', error: new CausewayError('BACKEND_REJECTED', by.answer.error?.message ?? by.answer.outcome) };
  },
});
