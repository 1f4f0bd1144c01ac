// A window of the day, weekdays, dates, a period of the house, a workday.
import { z } from 'zod';
import { memoByObject } from '../../lib/memo.ts';
import { inWindow, nextWindowEdge, parseWindow, type Window, type WindowSpec } from '../../lib/time/window.ts';
import type { Ternary } from '../../model/run.ts';
import { type ConditionContext, defineCondition } from '../kind.ts';
import type { PeriodSpec } from '../reading.ts';
import { dateFields, issuesOf } from '../time-fields.ts';
import { listWords } from '../words.ts';

const schema = z
  .strictObject({
    type: z.literal('time'),
    after: z.string().optional().meta({ description: 'HH:MM, HH:MM:SS, or a sun event with offset: sunset-30m' }),
    before: z.string().optional().meta({ description: 'The same; this instant is not part of the window' }),
    ...dateFields,
    weekday_of: z
      .enum(['window_start', 'now'])
      .optional()
      .meta({ description: 'Whose weekday and date count in a window over midnight' }),
    period: z.string().optional().meta({ description: 'A period of house.yaml' }),
    workday: z
      .boolean()
      .optional()
      .meta({ description: 'true: only on workdays of house.yaml; false: only on other days' }),
  })
  .superRefine((config, context) => {
    const fields = [config.after, config.before, config.weekdays, config.dates, config.period, config.workday];
    if (fields.every(field => field === undefined)) {
      context.addIssue({
        code: 'custom',
        path: ['after'],
        message: 'give after, before, weekdays, dates, period or workday',
      });
    }
    issuesOf(() => parseWindow(windowSpec(config)), context);
  })
  .meta({
    id: 'ConditionTime',
    title: 'Time',
    description:
      'From after until before (not including it), over midnight where before is the earlier; bounds are times or sun events with offset. Weekdays and dates are those on which the window began, unless weekday_of: now.',
    examples: [
      { type: 'time', after: '22:00', before: '06:00', weekdays: ['fri', 'sat'] },
      { type: 'time', after: 'sunset-30m', before: '23:00' },
    ],
  });

const windowSpec = (config: PeriodSpec): WindowSpec => ({
  ...(config.after !== undefined && { after: config.after }),
  ...(config.before !== undefined && { before: config.before }),
  ...(config.weekday_of !== undefined && { weekdayOf: config.weekday_of }),
  ...(config.weekdays !== undefined && { weekdays: config.weekdays as never }),
  ...(config.dates !== undefined && { dates: config.dates }),
});
const windowOf = memoByObject((config: PeriodSpec): Window => parseWindow(windowSpec(config)));

/** Weekdays and dates beside a period are those of the day on which the period began. */
const datedPeriod = memoByObject((config: PeriodSpec) =>
  memoByObject((period: PeriodSpec): PeriodSpec => {
    const { weekdays, dates, weekday_of } = config;
    return {
      ...period,
      ...(weekdays !== undefined && { weekdays }),
      ...(dates !== undefined && { dates }),
      ...(weekday_of !== undefined && { weekday_of }),
    };
  }),
);

const undated = memoByObject(({ after, before, workday }: PeriodSpec): PeriodSpec => ({ after, before, workday }));

// Bounds by the clock need no place; the equator stands in where none is known, and sun bounds are refused at save.
const NOWHERE = { latitude: 0, longitude: 0 };

function within(config: PeriodSpec, context: ConditionContext): Ternary {
  const wall = context.view.wall();
  const place = { ...(context.view.place ?? NOWHERE), zone: context.view.zone };
  const window = windowOf(config);
  context.recheckAtWall(nextWindowEdge(window, place, wall));
  const inside = inWindow(window, place, wall);
  if (config.workday === undefined || inside === false) return inside;
  const workday = context.view.isWorkday(wall);
  if (workday === null) return null;
  return workday === config.workday ? inside : false;
}

export const time = defineCondition({
  type: 'time',
  schema,
  describe(config) {
    const parts: string[] = [];
    if (config.after !== undefined) parts.push(`after ${config.after}`);
    if (config.before !== undefined) parts.push(`before ${config.before}`);
    if (config.weekdays) parts.push(`on ${listWords(config.weekdays, 'or')}`);
    if (config.dates) parts.push(`on ${listWords(config.dates, 'or')}`);
    if (config.period !== undefined) parts.push(`in the period ${config.period}`);
    if (config.workday !== undefined) parts.push(config.workday ? 'on a workday' : 'on a day off');
    return `it is ${parts.join(' ')}`;
  },
  evaluate(config, context) {
    if (config.period === undefined) return { met: within(config, context) };
    const period = context.view.period(config.period);
    if (!period) return { met: null, note: `house.yaml has no period "${config.period}"` };
    const bounds = within(undated(config), context);
    const inPeriod = within(datedPeriod(config)(period), context);
    return { met: bounds === false || inPeriod === false ? false : bounds === null || inPeriod === null ? null : true };
  },
});
