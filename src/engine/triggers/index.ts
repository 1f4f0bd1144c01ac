// THE table of triggers. A kind is one file and one line here.
import { defineTable, unionOf } from '../../lib/registry.ts';
import type { TriggerKind } from '../kind.ts';
import { availability } from './availability.ts';
import { command } from './command.ts';
import { count } from './count.ts';
import { cron } from './cron.ts';
import { event } from './event.ts';
import { expression } from './expression.ts';
import { flow } from './flow.ts';
import { interval } from './interval.ts';
import { missing } from './missing.ts';
import { mode } from './mode.ts';
import { mqtt } from './mqtt.ts';
import { numeric } from './numeric.ts';
import { reported } from './reported.ts';
import { rule } from './rule.ts';
import { sequence } from './sequence.ts';
import { startup } from './startup.ts';
import { state } from './state.ts';
import { sun } from './sun.ts';
import { time } from './time.ts';
import { variable } from './variable.ts';
import { webhook } from './webhook.ts';

/** All kinds of triggers. */
export const triggers = defineTable<TriggerKind>('trigger', [
  state,
  reported,
  numeric,
  event,
  command,
  expression,
  time,
  cron,
  interval,
  sun,
  missing,
  sequence(() => Trigger),
  count(() => Trigger),
  mode,
  variable,
  availability,
  flow,
  mqtt,
  webhook,
  startup,
  rule,
]);

/** The schema of a trigger, of any kind. */
export const Trigger = unionOf(triggers, 'Trigger');
