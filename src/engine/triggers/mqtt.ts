// A message arrives on a topic of the outside: every one, or when a value inside it changes or crosses a bound.
import { map } from 'rxjs';
import { z } from 'zod';
import { atPath } from '../../lib/json.ts';
import type { Event } from '../../model/event.ts';
import { coerce, type Json, valuesEqual } from '../../model/value.ts';
import { DynamicDuration, DynamicNumber, nonEmptyInterval, OneOrMany, TopicFilter, triggerFields } from '../fields.ts';
import { defineTrigger, type Edge, type TriggerContext, type TriggerData } from '../kind.ts';
import { boundWords, forWords, valueWords } from '../words.ts';
import { among, causeOf } from './level.ts';
import { boundsOf, clear, crossing, inside, observed } from './numeric.ts';

const schema = z
  .strictObject({
    type: z.literal('mqtt'),
    ...triggerFields,
    topic: TopicFilter.meta({ description: 'A topic filter; + is any one level, # at its end any number of them' }),
    path: z
      .string()
      .optional()
      .meta({ description: 'The place inside a JSON payload: `value`, `state.temperature`, `items.0`' }),
    is: OneOrMany.optional().meta({ description: 'Every message of this value, or one of a list' }),
    from: OneOrMany.optional().meta({ description: 'Changes from this value, or one of a list' }),
    to: OneOrMany.optional().meta({ description: 'Changes to this value, or one of a list' }),
    above: DynamicNumber.optional().meta({ description: 'Lower bound of the region that a number enters' }),
    below: DynamicNumber.optional().meta({ description: 'Upper bound of the region that a number enters' }),
    hysteresis: DynamicNumber.optional().meta({
      description: 'How far it must have left the region before it can enter it again',
    }),
    for: DynamicDuration.optional().meta({ description: 'Fires once it has stayed so for this long' }),
  })
  .superRefine(nonEmptyInterval)
  .meta({
    id: 'TriggerMqtt',
    title: 'MQTT',
    description:
      'A message on a topic filter. Without is, from, to, above, below every message fires; with them the value is compared with the last one of the same topic. Retained messages count as known before, never as news.',
    examples: [
      { type: 'mqtt', topic: 'zigbee2mqtt/desk', path: 'action', is: 'single' },
      { type: 'mqtt', topic: 'tele/+/SENSOR', path: 'AM2301.Temperature', above: 25, for: '5m' },
    ],
  });

/** The part of a payload that a kind looks at; undefined where the payload has no such part. */
export const partOf = (payload: Json, path: string | undefined): Json | undefined =>
  path === undefined ? payload : atPath(payload, path);

/** A payload's part as a number, as text that looks like one is too. */
export function numberOf(part: Json | undefined): number | null {
  const coerced = part === undefined || part === null ? undefined : coerce(part, { type: 'number' });
  return coerced?.ok && typeof coerced.value === 'number' ? coerced.value : null;
}

/** Equality that takes "1" for 1, since bare payloads are text. */
export const loose = (a: Json, b: Json): boolean =>
  valuesEqual(a, b) || (typeof a === 'string' && typeof b !== 'string' && b !== null && a === String(b));

export const mqtt = defineTrigger({
  type: 'mqtt',
  schema,
  describe(config) {
    const parts = [`when a message arrives on ${config.topic}`];
    if (config.path !== undefined) parts.push(`with ${config.path}`);
    if (config.is !== undefined) parts.push(`being ${valueWords(config.is)}`);
    if (config.from !== undefined) parts.push(`changing from ${valueWords(config.from)}`);
    if (config.to !== undefined) parts.push(`changing to ${valueWords(config.to)}`);
    if (config.above !== undefined || config.below !== undefined) parts.push(`going ${boundWords(config)}`);
    return parts.join(' ') + forWords(config.for);
  },
  attach(config, context) {
    const test = testOf(config, context);
    return {
      edges$: context.topic(config.topic).pipe(map((message): Edge => test(message))),
      level(member) {
        const known = context.view.topic(member);
        if (!known) return null;
        const part = partOf(known.value, config.path);
        if (part === undefined) return null;
        const bounds =
          config.above === undefined && config.below === undefined ? undefined : boundsOf(config, context.value);
        if (bounds === null) return null;
        if (bounds) {
          const n = numberOf(part);
          if (n === null) return null;
          // Within the hysteresis of a region that was entered, a hold goes on.
          const isEntered = bounds.hysteresis > 0 && context.memory.get<boolean>(`armed:${member}`) === false;
          return isEntered ? !clear(n, bounds) : inside(n, bounds);
        }
        // With `from` alone a hold lasts while the value is another.
        const isBack = config.from !== undefined && config.to === undefined && among(part, config.from, loose);
        return among(part, config.is, loose) && among(part, config.to, loose) && !isBack;
      },
    };
  },
});

interface MqttConfig {
  path?: string | undefined;
  is?: Json | readonly Json[] | undefined;
  from?: Json | readonly Json[] | undefined;
  to?: Json | readonly Json[] | undefined;
  above?: unknown;
  below?: unknown;
  hysteresis?: unknown;
}

function testOf(config: MqttConfig, context: TriggerContext): (message: Event) => Edge {
  const bounded = config.above !== undefined || config.below !== undefined;
  const changing = config.from !== undefined || config.to !== undefined;
  const memoryOf = (topic: string) => ({
    get: () => context.memory.get<boolean>(`armed:${topic}`),
    set: (armed: boolean) => context.memory.set(`armed:${topic}`, armed),
  });
  return message => {
    const topic = message.device;
    const look: Edge = { do: 'look', member: topic };
    if (message.change === 'resync') {
      const bounds = bounded && config.hysteresis !== undefined ? boundsOf(config, context.value) : null;
      const n = numberOf(partOf(message.value, config.path));
      if (bounds && n !== null) observed(n, bounds, memoryOf(topic));
      return look;
    }
    const data: Partial<TriggerData> = { topic, payload: message.value };
    const enter: Edge = { do: 'enter', member: topic, data, cause: causeOf(message) };
    if (config.path === undefined && !bounded && !changing && config.is === undefined) {
      return { ...enter, data: { value: message.value, ...data } };
    }
    const part = partOf(message.value, config.path);
    const told = partOf(message.previous, config.path);
    // A payload without the part says nothing of it: the last that did is compared with.
    const name = `last:${topic}`;
    if (part === undefined) {
      if (config.path !== undefined && told !== undefined) context.memory.set(name, told);
      return look;
    }
    const before = told ?? context.memory.get<Json>(name);
    context.memory.set(name, undefined);
    const value = { value: part, ...data, ...(before !== undefined && { previous: before }) };
    if (config.is !== undefined && !among(part, config.is, loose)) return { do: 'leave', member: topic };
    if (changing) {
      if (!among(part, config.to, loose)) return { do: 'leave', member: topic };
      if (config.to === undefined && among(part, config.from, loose)) return { do: 'leave', member: topic };
      const wasKnown = before !== undefined && before !== null;
      if (wasKnown && valuesEqual(part, before)) return look;
      const namesNull = config.from === null || (Array.isArray(config.from) && config.from.includes(null));
      if (!wasKnown && !namesNull) return look;
      if (!among(before ?? null, config.from, loose)) return look;
    }
    if (bounded) {
      const bounds = boundsOf(config, context.value);
      const n = numberOf(part);
      if (bounds === null || n === null) return look;
      const edge = crossing(n, numberOf(before), bounds, config.hysteresis === undefined ? undefined : memoryOf(topic));
      if (edge === 'leave') return { do: 'leave', member: topic };
      if (edge === 'stay') return look;
    }
    return { ...enter, data: value };
  };
}
