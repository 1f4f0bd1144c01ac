// Waits for a time.
import { z } from 'zod';
import { durationMs, parseDuration } from '../../lib/duration.ts';
import { CausewayError } from '../../lib/errors.ts';
import { DynamicDuration, Id, stepFields } from '../fields.ts';
import { type Dynamic, defineAction, type StepContext } from '../kind.ts';
import { valueWords } from '../words.ts';

const schema = z
  .strictObject({
    type: z.literal('delay'),
    ...stepFields,
    for: DynamicDuration.meta({ description: 'How long' }),
    name: Id.optional().meta({ description: 'For a cancel step' }),
  })
  .meta({
    id: 'ActionDelay',
    title: 'Delay',
    description: 'Waits; survives restarts with its due time. `name` lets a cancel step find it.',
    examples: [{ type: 'delay', for: '10m' }],
  });

/** A dynamic duration in ms. @throws VALUE_INVALID where it cannot be told or is negative */
export function dynamicMs(dynamic: Dynamic<string>, context: Pick<StepContext, 'value'>): number {
  if (typeof dynamic === 'string') return durationMs(dynamic);
  const value = context.value(dynamic);
  const ms = typeof value === 'number' ? value : typeof value === 'string' ? parseDuration(value) : undefined;
  if (ms === undefined || !(ms >= 0))
    throw new CausewayError('VALUE_INVALID', `${JSON.stringify(value ?? null)} is no duration`);
  return ms;
}

export const delay = defineAction({
  type: 'delay',
  schema,
  describe: config => `wait ${valueWords(config.for)}`,
  start(config, context) {
    try {
      const due = context.view.now() + dynamicMs(config.for, context);
      return { do: 'wait', state: null, due, ...(config.name !== undefined && { name: config.name }) };
    } catch (error) {
      return { do: 'fail', error };
    }
  },
  resume: (_config, _state, by) => (by.with === 'cancel' ? { do: 'done', outcome: 'cancelled' } : { do: 'done' }),
});
