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
    type: z.enum(['single', 'restart', 'queued', 'parallel']).default('single').meta({
      description: 'What a firing does while a run is under way: nothing, takes its place, waits, runs beside it',
    }),
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
    overflow: z
      .enum(['drop_newest', 'drop_oldest', 'coalesce'])
      .optional()
      .meta({ description: 'What goes beyond max: the new one, the oldest one, or (queued) the last waiting one' }),
  })
  .meta({ id: 'RunMode' });

/** The rule's own variables. */
const RuleVariables = z.record(
  z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,79}$/),
  z.strictObject({
    initial: z.json().optional().meta({ description: 'What it begins with; null without it' }),
    type: z.enum(['number', 'boolean', 'string', 'json']).optional().meta({ description: 'What it may hold' }),
    persist: z
      .boolean()
      .optional()
      .meta({ description: 'true: one for all runs of the rule, kept over restarts; false: each run has its own' }),
  }),
);

/** A rule's own limits. */
export const Limits = z
  .strictObject({
    runs: z.int().min(1).max(100_000).optional().meta({ description: 'Runs within `per`; 30 by default' }),
    per: Duration.optional().meta({ description: 'The sliding window of `runs`; 60s by default' }),
    steps: z.int().min(1).max(100_000).optional().meta({ description: 'Steps of one run; 1000 by default' }),
    run_timeout: Duration.optional().meta({ description: 'A run that takes longer ends timed_out; 24h by default' }),
    on_exceed: z
      .enum(['throttle', 'suspend'])
      .optional()
      .meta({ description: 'Beyond `runs`: refuse the excess, or suspend the rule' }),
    resume_after: Duration.optional().meta({
      description: 'A suspended rule runs again after this; without it somebody must resume it',
    }),
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
      schema: z.literal(1).optional().meta({ description: 'Version of this format' }),
      id: RuleId.meta({ description: 'A slug that never changes: a-z, 0-9, - and _' }),
      name: z.string().min(1).max(200).meta({ description: 'What people call it' }),
      description: z.string().max(4000).optional().meta({ description: 'What it is for' }),
      tags: z.array(z.string().max(80)).max(50).optional().meta({ description: 'Words to find it by' }),
      priority: z
        .int()
        .optional()
        .meta({ description: 'Of rules that one event starts, the higher goes first; 0 by default, then by id' }),
      enabled: z
        .union([z.boolean(), z.literal('shadow')])
        .optional()
        .meta({
          description:
            'true (default), false, or shadow: it runs wholly, and what would leave the rule is only recorded',
        }),
      mode: RunMode.optional(),
      timezone: z
        .string()
        .refine(isZone, 'no such time zone; write an IANA name such as Europe/Berlin')
        .nullable()
        .optional()
        .meta({ description: 'Zone of its times; the house’s by default' }),
      variables: RuleVariables.optional().meta({ description: 'Variables of the rule’s own, by name' }),
      triggers: z.array(parts.trigger).max(100).meta({ description: 'What starts it: any one of them' }),
      condition: parts.condition
        .optional()
        .meta({ description: 'Looked at when a trigger fires; not met or unknown: no run' }),
      while: parts.condition
        .optional()
        .meta({ description: 'Must stay true during the run; when it turns false the run is cancelled' }),
      actions: z.array(parts.action).max(500).meta({ description: 'Steps, one after another' }),
      finally: z.array(parts.action).max(50).optional().meta({
        description: 'Steps (command, set_variable, notify, log) for every ending of a started run but a completed one',
      }),
      on_update: z
        .enum(['finish', 'cancel'])
        .optional()
        .meta({ description: 'Runs under way when the rule is changed' }),
      on_disable: z
        .enum(['cancel', 'finish'])
        .optional()
        .meta({ description: 'Runs under way when the rule is disabled' }),
      on_enable: z
        .enum(['ignore', 'evaluate'])
        .optional()
        .meta({ description: 'evaluate: what is true at that moment counts as just become so' }),
      on_crash: z
        .enum(['resume', 'abandon', 'restart'])
        .optional()
        .meta({ description: 'Runs under way when the gateway ended' }),
      limits: Limits.optional(),
      tests: z
        .array(parts.scenario)
        .max(100)
        .optional()
        .meta({ description: 'Scenarios without rules of their own; causeway simulate runs them' }),
      use: z.string().optional().meta({ description: 'Reserved' }),
      with: z.record(z.string(), z.json()).optional().meta({ description: 'Reserved' }),
    })
    .meta({ id: 'Rule', title: 'Rule', description: 'Triggers start it, a condition decides, actions do' });
}
