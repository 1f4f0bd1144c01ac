// THE table of actions. A kind is one file (or a place in a family's file) and one line here.
import { z } from 'zod';
import { defineTable, unionOf } from '../../lib/registry.ts';
import { Condition, conditions, isCondition } from '../conditions/index.ts';
import type { ActionKind } from '../kind.ts';
import { Trigger, triggers } from '../triggers/index.ts';
import { command } from './command.ts';
import { delay } from './delay.ts';
import { flowControl } from './flow-control.ts';
import { http, notify } from './outgoing.ts';
import { publish } from './publish.ts';
import { callRule, cancel, controlRule, log, stop } from './rules.ts';
import { scene } from './scene.ts';
import { setMode } from './set-mode.ts';
import { setVariable } from './set-variable.ts';
import { waitFor } from './wait-for.ts';

const typeOf = (config: object) => (config as { type: string }).type;
const describeCondition = (config: object) => conditions.get(typeOf(config)).describe(config);
const schemas = { action: () => Action, condition: () => Condition, trigger: () => Trigger, isCondition };

/** The field that holds steps in every kind: it needs the schema of all kinds, and so is added here. */
const OnError = z.union([z.enum(['fail', 'continue']), z.array(z.lazy(() => Action)).min(1)]).meta({
  description: 'fail (default) ends the run, continue goes on, steps are run and then it goes on',
});

function withOnError(kind: ActionKind): ActionKind {
  const meta = kind.schema.meta();
  z.globalRegistry.remove(kind.schema);
  const schema = kind.schema.safeExtend({ on_error: OnError.optional() });
  return { ...kind, schema: meta ? schema.meta(meta) : schema };
}

/** All kinds of actions. */
export const actions = defineTable<ActionKind>(
  'action',
  [
    command,
    setVariable,
    setMode,
    scene,
    notify,
    publish,
    http,
    delay,
    waitFor({
      ...schemas,
      describe: config =>
        isCondition(config) ? describeCondition(config) : triggers.get(typeOf(config)).describe(config),
    }),
    ...flowControl({ ...schemas, describe: describeCondition }),
    callRule,
    controlRule,
    cancel,
    stop,
    log,
  ].map(withOnError),
);

/** The schema of a step, of any kind. */
export const Action: z.ZodType = unionOf(actions, 'Action');
