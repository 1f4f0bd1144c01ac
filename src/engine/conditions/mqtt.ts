// The last payload of an outside topic is a value or lies between bounds.
import { z } from 'zod';
import type { Ternary } from '../../model/run.ts';
import type { Json } from '../../model/value.ts';
import { DynamicNumber, nonEmptyInterval, OneOrMany, TopicFilter } from '../fields.ts';
import { defineCondition } from '../kind.ts';
import { loose, numberOf, partOf } from '../triggers/mqtt.ts';
import { boundsOf } from '../triggers/numeric.ts';
import { boundWords, valueWords } from '../words.ts';
import { countMembers } from './state.ts';

const schema = z
  .strictObject({
    type: z.literal('mqtt'),
    topic: TopicFilter.meta({ description: 'A topic, or a filter of which any topic will do' }),
    path: z.string().optional().meta({ description: 'The place inside a JSON payload: `value`, `state.temperature`' }),
    is: OneOrMany.optional().meta({ description: 'This value, or one of a list' }),
    above: DynamicNumber.optional().meta({ description: 'More than this' }),
    below: DynamicNumber.optional().meta({ description: 'Less than this' }),
  })
  .superRefine(nonEmptyInterval)
  .meta({
    id: 'ConditionMqtt',
    title: 'MQTT',
    description: 'The last payload of a topic (of any that a filter matches) is a value or lies between bounds',
    examples: [{ type: 'mqtt', topic: 'home/mode', path: 'value', is: 'home' }],
  });

export const mqtt = defineCondition({
  type: 'mqtt',
  schema,
  describe(config) {
    const parts = [config.topic, ...(config.path === undefined ? [] : [config.path])];
    if (config.is !== undefined) parts.push(`is ${valueWords(config.is)}`);
    if (config.above !== undefined || config.below !== undefined) parts.push(`is ${boundWords(config)}`);
    return parts.join(' ');
  },
  evaluate(config, context) {
    const seen: Record<string, Json> = {};
    const bounds = boundsOf(config, context.value);
    const levels = context.view.topics(config.topic).map((topic): Ternary => {
      const payload = context.view.topic(topic)?.value;
      const part = payload === undefined ? undefined : partOf(payload, config.path);
      seen[topic] = part ?? null;
      if (part === undefined || bounds === null) return null;
      if (config.is !== undefined && !(Array.isArray(config.is) ? config.is : [config.is]).some(w => loose(part, w)))
        return false;
      if (config.above === undefined && config.below === undefined) return true;
      const n = numberOf(part);
      return n === null ? null : n > bounds.above && n < bounds.below;
    });
    return { met: levels.length === 0 ? null : countMembers('any', levels), seen };
  },
});
