// THE table of conditions. A kind is one file and one line here.
import type { z } from 'zod';
import { memoByObject } from '../../lib/memo.ts';
import { defineTable, type Table, unionOf } from '../../lib/registry.ts';
import type { ConditionKind } from '../kind.ts';
import { availability } from './availability.ts';
import { expression } from './expression.ts';
import { logic } from './logic.ts';
import { mode } from './mode.ts';
import { mqtt } from './mqtt.ts';
import { numeric } from './numeric.ts';
import { state } from './state.ts';
import { sun } from './sun.ts';
import { time } from './time.ts';
import { trigger } from './trigger.ts';
import { variable } from './variable.ts';

/** All kinds of conditions. */
export const conditions: Table<ConditionKind> = defineTable<ConditionKind>('condition', [
  state,
  numeric,
  time,
  sun,
  expression,
  mode,
  variable,
  trigger,
  availability,
  mqtt,
  ...logic(
    () => Condition,
    config => conditions.get((config as { type: string }).type).describe(config),
  ),
]);

/** The schema of a condition, of any kind. */
export const Condition: z.ZodType = unionOf(conditions, 'Condition');

/**
 * True for what a `wait_for` takes as a level. Several types name a condition and a trigger; one that has the fields of
 * a condition is one (a level is looked at first, and misses nothing). A bare topic is waited for: that some message was
 * there once is no answer to a request.
 */
export const isCondition: (config: object) => boolean = memoByObject(
  config => Condition.safeParse(config).success && !isBareTopic(config),
);

const isBareTopic = (config: { type?: unknown; is?: unknown; above?: unknown; below?: unknown }): boolean =>
  config.type === 'mqtt' && config.is === undefined && config.above === undefined && config.below === undefined;
