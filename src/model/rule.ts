// The frame of a rule: everything but the kinds, whose schemas the engine's tables bring.
import { z } from 'zod';
import { Duration } from '../lib/duration.ts';
import { isZone } from '../lib/time/offsets.ts';

/** A rule's id: a slug that never changes. */
export const RuleId = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,79}$/, 'a rule’s id has a-z, 0-9, - and _, at most 80 characters')
  .meta({ id: 'RuleId' });

/** Run modes (FORMATS §2.10). */
export const RunMode = z
  .strictObject({
    type: z.enum(['single', 'restart', 'queued', 'parallel']).default('single'),
    max: z
      .int()
      .min(1)
      .max(1000)
      .optional()
      .meta({ description: 'Runs at once (queued: running and waiting); 10 by default' }),
    key: z
      .string()
      .min(1)
      .optional()
      .meta({ description: 'CEL: runs with different keys do not count for each other' }),
    overflow: z.enum(['drop_newest', 'drop_oldest', 'coalesce']).optional(),
  })
  .meta({ id: 'RunMode' });

/** The rule's own variables. */
export const RuleVariables = z.record(
  z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,79}$/),
  z.strictObject({
    initial: z.json().optional(),
    type: z.enum(['number', 'boolean', 'string', 'json']).optional(),
    persist: z.boolean().optional(),
  }),
);

/** A rule's own limits. */
export const Limits = z
  .strictObject({
    runs: z.int().min(1).max(100_000).optional(),
    per: Duration.optional(),
    steps: z.int().min(1).max(100_000).optional(),
    run_timeout: Duration.optional(),
    on_exceed: z.enum(['throttle', 'suspend']).optional(),
    resume_after: Duration.optional(),
  })
  .meta({ id: 'Limits', description: '30 runs in 60s, 1000 steps, 24h by default' });

/** The schema of a rule, given those of its parts. */
export function ruleSchema(parts: {
  trigger: z.ZodType;
  condition: z.ZodType;
  action: z.ZodType;
  scenario: z.ZodType;
}) {
  return z
    .strictObject({
      schema: z.literal(1).optional(),
      id: RuleId,
      name: z.string().min(1).max(200),
      description: z.string().max(4000).optional(),
      tags: z.array(z.string().max(80)).max(50).optional(),
      priority: z.int().optional(),
      enabled: z.union([z.boolean(), z.literal('shadow')]).optional(),
      mode: RunMode.optional(),
      timezone: z
        .string()
        .refine(isZone, 'no such time zone; write an IANA name such as Europe/Berlin')
        .nullable()
        .optional(),
      variables: RuleVariables.optional(),
      triggers: z.array(parts.trigger).max(100),
      condition: parts.condition.optional(),
      while: parts.condition.optional(),
      actions: z.array(parts.action).max(500),
      finally: z.array(parts.action).max(50).optional(),
      on_update: z.enum(['finish', 'cancel']).optional(),
      on_disable: z.enum(['cancel', 'finish']).optional(),
      on_enable: z.enum(['ignore', 'evaluate']).optional(),
      on_crash: z.enum(['resume', 'abandon', 'restart']).optional(),
      limits: Limits.optional(),
      tests: z.array(parts.scenario).max(100).optional(),
      use: z.string().optional(),
      with: z.record(z.string(), z.json()).optional(),
    })
    .meta({ id: 'Rule', title: 'Rule', description: 'Triggers start it, a condition decides, actions do' });
}
