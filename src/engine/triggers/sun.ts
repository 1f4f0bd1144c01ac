// The sun: an event of the day with an offset, an elevation or an azimuth that it crosses.
import { z } from 'zod';
import { durationMs, SignedDuration } from '../../lib/duration.ts';
import { parseClockTime } from '../../lib/time/clock-time.ts';
import type { Occurrence } from '../../lib/time/occurrence.ts';
import { isSunEvent, SUN_EVENTS } from '../../lib/time/sun-events.ts';
import { nextAzimuth, nextElevation, nextSunEvent } from '../../lib/time/sun-schedule.ts';
import { catchUpField, triggerFields } from '../fields.ts';
import { defineTrigger } from '../kind.ts';
import type { View } from '../reading.ts';
import { scheduled } from './schedule.ts';

const Fallback = z.string().superRefine((text, context) => {
  if (!isSunEvent(text) && parseClockTime(text) === undefined) {
    context.addIssue({ code: 'custom', message: `"${text}" is neither a sun event nor a time` });
  }
});

const schema = z
  .strictObject({
    type: z.literal('sun'),
    ...triggerFields,
    ...catchUpField,
    event: z.enum(SUN_EVENTS).optional().meta({ description: 'An event of the day; one of event, elevation, azimuth' }),
    offset: SignedDuration.optional().meta({ description: 'Before (-30m) or after (30m) the event' }),
    fallback: z
      .array(Fallback)
      .min(1)
      .optional()
      .meta({ description: 'For days without the event: other events or times, the first that there is' }),
    elevation: z
      .number()
      .min(-90)
      .max(90)
      .optional()
      .meta({ description: 'Degrees of the sun’s centre above the horizon, without refraction' }),
    direction: z.enum(['rising', 'setting']).optional().meta({ description: 'Which way it passes the elevation' }),
    azimuth: z.number().min(0).lt(360).optional().meta({ description: 'Degrees from north, clockwise' }),
  })
  .superRefine((config, context) => {
    const given = [config.event, config.elevation, config.azimuth].filter(field => field !== undefined).length;
    if (given !== 1)
      context.addIssue({ code: 'custom', path: ['event'], message: 'give one of event, elevation, azimuth' });
    for (const field of ['offset', 'fallback'] as const) {
      if (config[field] !== undefined && config.event === undefined) {
        context.addIssue({ code: 'custom', path: [field], message: `${field} goes with event` });
      }
    }
    if (config.direction !== undefined && config.elevation === undefined) {
      context.addIssue({ code: 'custom', path: ['direction'], message: 'direction goes with elevation' });
    }
  })
  .meta({
    id: 'TriggerSun',
    title: 'Sun',
    description:
      'A sun event with offset; a day without it is passed over, or takes the fallback. Or an elevation (geometric, of the centre, degrees) with direction, or an azimuth (degrees from north).',
    examples: [
      { type: 'sun', event: 'sunset', offset: '-15m' },
      { type: 'sun', elevation: 6, direction: 'setting' },
    ],
  });

type Config = z.infer<typeof schema>;

function next(config: Config, view: View, after: number): Occurrence | null {
  if (!view.place) return null;
  const place = { ...view.place, zone: view.zone };
  if (config.elevation !== undefined)
    return nextElevation(config.elevation, config.direction ?? 'rising', place, after);
  if (config.azimuth !== undefined) return nextAzimuth(config.azimuth, place, after);
  const spec = {
    event: config.event ?? 'sunset',
    ...(config.offset !== undefined && { offsetMs: durationMs(config.offset) }),
    ...(config.fallback !== undefined && { fallback: config.fallback }),
  };
  return nextSunEvent(spec, place, after);
}

export const sun = defineTrigger({
  type: 'sun',
  schema,
  describe(config) {
    if (config.elevation !== undefined)
      return `when the sun passes ${config.elevation}°, ${config.direction ?? 'rising'}`;
    if (config.azimuth !== undefined) return `when the sun stands at ${config.azimuth}° from north`;
    return `at ${config.event}${config.offset === undefined ? '' : ` ${config.offset}`}`;
  },
  attach: (config, context) => scheduled(config, context, after => next(config, context.view, after)),
  next,
});
