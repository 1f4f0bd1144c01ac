// Fields that several kinds share, as schemas.
import { z } from 'zod';
import { Duration } from '../lib/duration.ts';
import { filterFault } from '../lib/topic.ts';
import { Match, Target } from '../model/target.ts';

/** Any JSON value that a rule may compare with. */
const Scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);
/** One value, or a list of which any will do. */
export const OneOrMany = z
  .union([Scalar, z.array(Scalar).min(1)])
  .meta({ id: 'OneOrMany', description: 'A value, or a list of which any will do' });

/** A CEL expression in the place of a value. */
export const Expr = z.strictObject({ expr: z.string().min(1).max(4096) }).meta({
  id: 'Expression',
  description: 'A CEL expression; see docs/expressions.md',
  examples: [{ expr: 'vars.count + 1' }],
});

/** A number, or an expression of one. */
export const DynamicNumber = z.union([z.number(), Expr]);
/** A duration, or an expression of one. */
export const DynamicDuration = z.union([Duration, Expr]);
/** Any JSON value; inside it `{ expr }` and texts with `{{ … }}` are computed. */
export const DynamicValue = z.json().meta({ description: 'Any value; { expr } and {{ … }} inside it are computed' });
/** Text, with `{{ … }}` computed. */
export const Template = z.string();

/** A slug: rules, triggers, steps. */
export const Id = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,79}$/, 'an id has a-z, 0-9, - and _, at most 80 characters')
  .meta({ id: 'Id' });
/** A variable's name. */
export const VariableName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]{0,79}$/, 'a variable’s name has letters, digits and _');

/** What all triggers have. */
export const triggerFields = {
  id: Id.optional().meta({ description: 'Names the trigger in conditions and traces; t1, t2 … by default' }),
  enabled: z.boolean().optional().meta({ description: 'false leaves the trigger out' }),
  debounce: Duration.optional().meta({
    description: 'Fires only once it has been quiet for this long; the last one wins',
  }),
  throttle: Duration.optional().meta({ description: 'Fires at most once in this time; the first one wins' }),
};

/** What triggers on a level have besides. */
export const levelFields = {
  on_startup: z.enum(['ignore', 'evaluate', 'compare']).optional().meta({
    description: 'ignore (default); evaluate: as if it had just become so; compare: if it differs from before the stop',
  }),
  unavailable: z.enum(['bridge', 'cancel']).optional().meta({
    description: 'What an unavailable device does to a running hold: bridge (default) leaves it, cancel drops it',
  }),
};

/** Who made the change. */
export const By = z
  .string()
  .regex(
    /^(not:)?(device|user|rule|mqtt|rule:[a-z0-9][a-z0-9_-]*)$/,
    'by is device, user, rule, rule:<id>, mqtt, or not:<one of these>',
  )
  .meta({
    id: 'By',
    description: 'The nearest maker of the change: device, user, rule, rule:<id>, mqtt, or not:<one of these>',
  });
export const byField = { by: By.optional() };

/** A device's attribute, on one or several devices. */
export const attributeFields = {
  device: Target,
  attribute: z.string().min(1).meta({ description: 'Name of the attribute, as get_device lists it' }),
  match: Match.optional(),
};

/** Missed wall-clock occurrences. */
const CatchUp = z
  .union([
    z.enum(['none', 'once', 'latest']),
    z.strictObject({ type: z.enum(['none', 'once', 'latest']), within: Duration.optional() }),
  ])
  .meta({
    id: 'CatchUp',
    description: 'What becomes of occurrences missed while off: none, once (default, within 5m) or latest',
  });
export const catchUpField = { catch_up: CatchUp.optional() };

/** An MQTT topic filter of the outside. */
export const TopicFilter = z.string().superRefine((filter, context) => {
  const fault = filterFault(filter);
  if (fault) context.addIssue({ code: 'custom', message: `"${filter}" is no topic filter: ${fault}` });
});

/** Adds the check that an interval is not empty. */
export function nonEmptyInterval(config: { above?: unknown; below?: unknown }, context: z.RefinementCtx): void {
  const { above, below } = config;
  if (typeof above === 'number' && typeof below === 'number' && above >= below) {
    context.addIssue({
      code: 'custom',
      path: ['above'],
      message: `no number is above ${above} and below ${below}: the interval is empty; above must be less than below`,
    });
  }
}

/** Adds the check that one of the bounds is given. */
export function someBound(config: { above?: unknown; below?: unknown }, context: z.RefinementCtx): void {
  if (config.above === undefined && config.below === undefined) {
    context.addIssue({ code: 'custom', path: ['above'], message: 'give above, below or both' });
  }
}

/** What all steps have. */
export const stepFields = {
  id: Id.optional().meta({ description: 'Names the step for people; traces name it by its path' }),
  enabled: z.boolean().optional().meta({ description: 'false leaves the step out' }),
  retry: z
    .strictObject({
      times: z.int().min(1).max(20),
      backoff: Duration,
      factor: z.number().min(1).max(10).optional(),
    })
    .optional()
    .meta({ description: 'Tries again (idempotent steps only); the first wait is backoff, then doubled' }),
  timeout: DynamicDuration.optional().meta({ description: 'The step fails (BACKEND_TIMEOUT) when it takes longer' }),
  as: VariableName.optional().meta({ description: 'Binds the answer to this name' }),
};
