// A device's attribute changes from something to something, and perhaps stays so.
import { z } from 'zod';
import type { Json } from '../../model/value.ts';
import { valuesEqual } from '../../model/value.ts';
import { attributeFields, byField, DynamicDuration, levelFields, OneOrMany, triggerFields } from '../fields.ts';
import { defineTrigger } from '../kind.ts';
import { keys } from '../signals.ts';
import { forWords, matchWords, targetWords, valueWords } from '../words.ts';
import { among, levelTrigger } from './level.ts';

const schema = z
  .strictObject({
    type: z.literal('state'),
    ...triggerFields,
    ...levelFields,
    ...byField,
    ...attributeFields,
    from: OneOrMany.optional().meta({ description: 'Only from this value, or one of a list; null is "nothing known"' }),
    to: OneOrMany.optional().meta({ description: 'Only to this value, or one of a list' }),
    not_from: OneOrMany.optional().meta({ description: 'Not from this value, nor one of a list' }),
    not_to: OneOrMany.optional().meta({ description: 'Not to this value, nor one of a list' }),
    for: DynamicDuration.optional().meta({ description: 'Fires once it has stayed so for this long' }),
  })
  .meta({
    id: 'TriggerState',
    title: 'State',
    description:
      'An attribute changes. Fires on a real change only; a value where there was none is none, unless from: null.',
    examples: [
      { type: 'state', device: 'hubitat:17', attribute: 'motion', to: 'active' },
      { type: 'state', device: { capability: 'lock' }, attribute: 'lock', to: 'unlocked', for: '30m' },
    ],
  });

/** True when a list names null, the value of "nothing known". */
const namesNull = (wanted: unknown): boolean => wanted === null || (Array.isArray(wanted) && wanted.includes(null));

export const state = defineTrigger({
  type: 'state',
  schema,
  describe(config) {
    const parts = [`when ${matchWords(config.match)}${targetWords(config.device)} changes ${config.attribute}`];
    if (config.from !== undefined) parts.push(`from ${valueWords(config.from)}`);
    if (config.not_from !== undefined) parts.push(`from other than ${valueWords(config.not_from)}`);
    if (config.to !== undefined) parts.push(`to ${valueWords(config.to)}`);
    if (config.not_to !== undefined) parts.push(`to other than ${valueWords(config.not_to)}`);
    return parts.join(' ') + forWords(config.for);
  },
  attach(config, context) {
    const equalOn = (device: string) => {
      const step = context.view.device(device)?.attributes[config.attribute]?.step;
      return (a: Json, b: Json) => valuesEqual(a, b, step);
    };
    const fits = (device: string, value: Json) => {
      const equal = equalOn(device);
      return (
        among(value, config.to, equal) &&
        (config.not_to === undefined || !among(value, config.not_to, equal)) &&
        // With `from` alone a hold lasts while the value is another.
        (config.to !== undefined ||
          config.not_to !== undefined ||
          config.from === undefined ||
          !among(value, config.from, equal))
      );
    };
    // What a hold waits on: the values of `to`; with `from` alone anything else; without both the very value.
    const named = config.to !== undefined || config.not_to !== undefined || config.from !== undefined;
    return levelTrigger(context, {
      target: config.device,
      attribute: config.attribute,
      match: config.match,
      resync: config.on_startup === 'compare',
      present: device => ({
        attribute: config.attribute,
        value: context.view.good(device, config.attribute)?.value ?? null,
      }),
      watch: device => context.signal(keys.attribute(device, config.attribute)),
      level(device, data) {
        const reading = context.view.good(device, config.attribute);
        if (!reading) return null;
        if (!named && data?.value !== undefined) return valuesEqual(reading.value, data.value);
        return fits(device, reading.value);
      },
      last(device) {
        const value = context.view.reading(device, config.attribute)?.value ?? null;
        return value === null ? null : fits(device, value);
      },
      edge(event) {
        const equal = equalOn(event.device);
        if (!fits(event.device, event.value)) return 'leave';
        if (event.previous === null && !namesNull(config.from)) return 'stay';
        if (!among(event.previous, config.from, equal)) return 'stay';
        if (config.not_from !== undefined && among(event.previous, config.not_from, equal)) return 'stay';
        // From one wanted value to another it fires anew without a hold; a running hold goes on.
        return named ? 'enter' : 'restart';
      },
    });
  },
});
