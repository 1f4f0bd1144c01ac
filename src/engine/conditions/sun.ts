// The sun is up or down, or its elevation lies between bounds. From the elevation itself, so polar days are no exception.
import { z } from 'zod';
import { HORIZON, sunPosition } from '../../lib/time/sun-position.ts';
import { nextElevationChange } from '../../lib/time/sun-schedule.ts';
import { nonEmptyInterval } from '../fields.ts';
import { defineCondition } from '../kind.ts';
import { boundWords } from '../words.ts';

const schema = z
  .strictObject({
    type: z.literal('sun'),
    is: z.enum(['up', 'down']).optional().meta({ description: 'up while any of it can be seen' }),
    above: z.number().optional().meta({ description: 'Elevation of its centre above this many degrees' }),
    below: z.number().optional().meta({ description: 'Elevation of its centre below this many degrees' }),
  })
  .superRefine((config, context) => {
    const bounded = config.above !== undefined || config.below !== undefined;
    if ((config.is !== undefined) === bounded) {
      context.addIssue({ code: 'custom', path: ['is'], message: 'give is, or above and below' });
    }
    nonEmptyInterval(config, context);
  })
  .meta({
    id: 'ConditionSun',
    title: 'Sun',
    description:
      'The sun is up (its centre above −0.833°) or down; or its elevation in degrees is above and below bounds',
    examples: [
      { type: 'sun', is: 'down' },
      { type: 'sun', above: -6, below: 4 },
    ],
  });

export const sun = defineCondition({
  type: 'sun',
  schema,
  describe: config =>
    config.is === undefined ? `the sun’s elevation is ${boundWords(config)}` : `the sun is ${config.is}`,
  evaluate(config, context) {
    if (!context.view.place) return { met: null, note: 'the location of the house is not known' };
    const place = { ...context.view.place, zone: context.view.zone };
    const wall = context.view.wall();
    const { elevation } = sunPosition(wall, place);
    const bounds = config.is === undefined ? [config.above, config.below].filter(b => b !== undefined) : [HORIZON];
    const recheck = nextElevationChange(bounds, place, wall);
    if (recheck !== null) context.recheckAtWall(recheck);
    const seen = { elevation: Math.round(elevation * 100) / 100 };
    if (config.is !== undefined) return { met: elevation > HORIZON === (config.is === 'up'), seen };
    const met =
      (config.above === undefined || elevation > config.above) &&
      (config.below === undefined || elevation < config.below);
    return { met, seen };
  },
});
