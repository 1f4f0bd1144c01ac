// A time of the day, a date and time, or several of them.
import { z } from 'zod';
import { memoByObject } from '../../lib/memo.ts';
import { parseClockTime, parseStamp } from '../../lib/time/clock-time.ts';
import { type Daily, nextDaily, parseDaily } from '../../lib/time/daily.ts';
import { catchUpField, Expr, triggerFields } from '../fields.ts';
import { defineTrigger } from '../kind.ts';
import type { View } from '../reading.ts';
import { DstGap, dateFields, issuesOf } from '../time-fields.ts';
import { listWords, valueWords } from '../words.ts';
import { scheduled } from './schedule.ts';

const At = z.string().superRefine((text, context) => {
  if (parseClockTime(text) === undefined && parseStamp(text) === undefined) {
    context.addIssue({ code: 'custom', message: `"${text}" is neither a time (07:30) nor a stamp (2026-12-24T18:00)` });
  }
});

const schema = z
  .strictObject({
    type: z.literal('time'),
    ...triggerFields,
    ...catchUpField,
    ...dateFields,
    at: z
      .union([At, z.array(At).min(1), Expr])
      .meta({ description: '07:30, 07:30:15, a list of them, { expr }, or a stamp such as 2026-12-24T18:00' }),
    dst_gap: DstGap.optional(),
  })
  .superRefine((config, context) => issuesOf(() => parseDaily({ at: [], zone: 'UTC', ...datesOf(config) }), context))
  .meta({
    id: 'TriggerTime',
    title: 'Time',
    description: 'At a time of the day, on some weekdays or dates, in the rule’s zone; a stamp once',
    examples: [
      { type: 'time', at: '07:00', weekdays: ['mon', 'tue', 'wed', 'thu', 'fri'] },
      { type: 'time', at: ['08:00', '20:00'], catch_up: { type: 'once', within: '1h' } },
    ],
  });

const datesOf = (config: { weekdays?: readonly string[] | undefined; dates?: readonly string[] | undefined }) => ({
  ...(config.weekdays && { weekdays: config.weekdays as never }),
  ...(config.dates && { dates: config.dates }),
});

type Config = z.infer<typeof schema>;
const literal = memoByObject((config: Config) =>
  memoByZone(zone => daily(config, config.at as string | string[], zone)),
);

function daily(config: Config, at: string | readonly string[], zone: string): Daily {
  const texts = typeof at === 'string' ? [at] : at;
  return parseDaily({ at: texts, zone, ...(config.dst_gap && { gap: config.dst_gap }), ...datesOf(config) });
}

/** A schedule by zone: a rule's zone may change while it runs. */
function memoByZone<T>(derive: (zone: string) => T): (zone: string) => T {
  let known: { zone: string; value: T } | undefined;
  return zone => {
    if (known?.zone !== zone) known = { zone, value: derive(zone) };
    return known.value;
  };
}

const isDynamic = (at: Config['at']): at is { expr: string } => typeof at === 'object' && !Array.isArray(at);

export const time = defineTrigger({
  type: 'time',
  schema,
  describe(config) {
    const at = isDynamic(config.at) ? valueWords(config.at) : listWords([config.at].flat(), 'and');
    const days = config.weekdays ? ` on ${listWords(config.weekdays, 'and')}` : '';
    return `at ${at}${days}${config.dates ? ` on ${listWords(config.dates, 'and')}` : ''}`;
  },
  attach(config, context) {
    const { at } = config;
    if (!isDynamic(at)) {
      return scheduled(config, context, after => nextDaily(literal(config)(context.view.zone), after));
    }
    const next = (after: number) => {
      const value = context.value(at);
      const texts = (Array.isArray(value) ? value : [value]).filter(text => typeof text === 'string');
      if (
        texts.length === 0 ||
        texts.some(text => parseClockTime(text) === undefined && parseStamp(text) === undefined)
      )
        return null;
      return nextDaily(daily(config, texts, context.view.zone), after);
    };
    return scheduled(config, context, next, context.changes(at));
  },
  next: (config, view: View, after) => (isDynamic(config.at) ? null : nextDaily(literal(config)(view.zone), after)),
});
