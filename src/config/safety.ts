// safety.yaml: what must never be, whatever the rules say. Conditions and targets are passed in, because they belong to
// folders above the configuration.
import { z } from 'zod';
import { Duration } from '../lib/duration.ts';

/**
 * The schema of safety.yaml: a list of invariants.
 * @param condition the engine's schema of a condition
 * @param target the model's schema of a target
 */
export function safetySchema<C extends z.ZodType, T extends z.ZodType>(condition: C, target: T) {
  const Invariant = z.strictObject({
    id: z.string().regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, 'an id has lower-case letters, digits, - and _'),
    description: z.string().default(''),
    never: condition,
    for: Duration.optional(),
    block: z.array(z.strictObject({ device: target, command: z.string().min(1) })).default([]),
  });
  return z
    .array(Invariant)
    .refine(list => new Set(list.map(item => item.id)).size === list.length, { error: 'an id stands here twice' })
    .prefault([]);
}
