// A number lies between bounds, and perhaps has for a time.
import { z } from 'zod';
import { Duration, durationMs } from '../../lib/duration.ts';
import type { Ternary } from '../../model/run.ts';
import type { Json } from '../../model/value.ts';
import { attributeFields, DynamicNumber, nonEmptyInterval, someBound } from '../fields.ts';
import { defineCondition } from '../kind.ts';
import { boundsOf } from '../triggers/numeric.ts';
import { boundWords, matchWords, targetWords } from '../words.ts';
import { countMembers, heldFor } from './state.ts';

const schema = z
  .strictObject({
    type: z.literal('numeric'),
    ...attributeFields,
    above: DynamicNumber.optional().meta({ description: 'More than this' }),
    below: DynamicNumber.optional().meta({ description: 'Less than this' }),
    for: Duration.optional().meta({ description: 'Its last change is at least this long ago' }),
  })
  .superRefine(nonEmptyInterval)
  .superRefine(someBound)
  .meta({
    id: 'ConditionNumeric',
    title: 'Numeric',
    description: 'A number lies in the open region above and below the bounds; `for` counts from its last change',
    examples: [{ type: 'numeric', device: 'hubitat:17', attribute: 'temperature', below: 23 }],
  });

export const numeric = defineCondition({
  type: 'numeric',
  schema,
  describe: config =>
    `${matchWords(config.match)}${targetWords(config.device)} ${config.attribute} is ${boundWords(config)}${config.for === undefined ? '' : ` for ${config.for}`}`,
  evaluate(config, context) {
    const seen: Record<string, Json> = {};
    const bounds = boundsOf(config, context.value);
    const levels = context.view.members(config.device, config.attribute).map((device): Ternary => {
      const reading = context.view.good(device, config.attribute);
      seen[`${device}/${config.attribute}`] = reading?.value ?? null;
      if (typeof reading?.value !== 'number' || bounds === null) return null;
      const met = reading.value > bounds.above && reading.value < bounds.below;
      return heldFor(met, reading.lastChanged, config.for === undefined ? 0 : durationMs(config.for), context);
    });
    return {
      met: countMembers(config.match, levels),
      seen,
      ...(bounds === null && { note: 'a bound cannot be told' }),
    };
  },
});
