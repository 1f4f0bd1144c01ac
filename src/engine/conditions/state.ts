// A device's attribute is, or is not, a value, and perhaps has been for a time.
import { z } from 'zod';
import { Duration, durationMs } from '../../lib/duration.ts';
import type { Ternary } from '../../model/run.ts';
import { type Json, valuesEqual } from '../../model/value.ts';
import { attributeFields, By, OneOrMany } from '../fields.ts';
import { type ConditionContext, defineCondition } from '../kind.ts';
import { matchWords, targetWords, valueWords } from '../words.ts';

const schema = z
  .strictObject({
    type: z.literal('state'),
    ...attributeFields,
    is: OneOrMany.optional().meta({ description: 'This value, or one of a list' }),
    is_not: OneOrMany.optional().meta({ description: 'Not this value, nor one of a list' }),
    for: Duration.optional().meta({ description: 'Its last change is at least this long ago' }),
    by: By.optional(),
  })
  .superRefine((config, context) => {
    if (config.is === undefined && config.is_not === undefined && config.by === undefined) {
      context.addIssue({ code: 'custom', path: ['is'], message: 'give is, is_not or by' });
    }
    if (config.is !== undefined && config.is_not !== undefined) {
      context.addIssue({ code: 'custom', path: ['is_not'], message: 'give is or is_not, not both' });
    }
  })
  .meta({
    id: 'ConditionState',
    title: 'State',
    description: 'An attribute is a value (or one of a list), and with `for` has been since at least that long',
    examples: [{ type: 'state', device: 'house:anyone', attribute: 'presence', is: 'present' }],
  });

/** Counts members by `match`: any (default), all, none; first and last mean any and all for a level. */
export function countMembers(match: string | undefined, levels: readonly Ternary[]): Ternary {
  if (levels.length === 0) return match === 'none' ? true : null;
  if (match === 'all' || match === 'last') return levels.includes(false) ? false : levels.includes(null) ? null : true;
  const any = levels.includes(true) ? true : levels.includes(null) ? null : false;
  return match === 'none' ? (any === null ? null : !any) : any;
}

/** A level that has to have held for a time: the moment at which it will have, if nothing changes, is asked to be looked at. */
export function heldFor(met: Ternary, since: number, forMs: number, context: ConditionContext): Ternary {
  if (met !== true || forMs === 0) return met;
  const due = since + forMs;
  if (context.view.now() >= due) return true;
  context.recheckAt(due);
  return false;
}

export const state = defineCondition({
  type: 'state',
  schema,
  describe(config) {
    const parts = [`${matchWords(config.match)}${targetWords(config.device)} ${config.attribute}`];
    if (config.is !== undefined) parts.push(`is ${valueWords(config.is)}`);
    if (config.is_not !== undefined) parts.push(`is not ${valueWords(config.is_not)}`);
    if (config.for !== undefined) parts.push(`for ${config.for}`);
    if (config.by !== undefined) parts.push(`by ${config.by}`);
    return parts.join(' ');
  },
  evaluate(config, context) {
    const seen: Record<string, Json> = {};
    const levels = context.view.members(config.device, config.attribute).map((device): Ternary => {
      const reading = context.view.good(device, config.attribute);
      seen[`${device}/${config.attribute}`] = reading?.value ?? null;
      if (!reading) return null;
      const step = context.view.device(device)?.attributes[config.attribute]?.step;
      const isOne = (wanted: Json | readonly Json[]) =>
        (Array.isArray(wanted) ? wanted : [wanted as Json]).some(w => valuesEqual(reading.value, w, step));
      if (config.is !== undefined && !isOne(config.is)) return false;
      if (config.is_not !== undefined && isOne(config.is_not)) return false;
      if (config.by !== undefined && !context.by(config.by, reading.cause)) return false;
      return heldFor(true, reading.lastChanged, config.for === undefined ? 0 : durationMs(config.for), context);
    });
    return { met: countMembers(config.match, levels), seen };
  },
});
