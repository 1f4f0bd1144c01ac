// A device is reachable, or not.
import { z } from 'zod';
import { Match, Target } from '../../model/target.ts';
import type { Json } from '../../model/value.ts';
import { defineCondition } from '../kind.ts';
import { matchWords, targetWords } from '../words.ts';
import { countMembers } from './state.ts';

const schema = z
  .strictObject({
    type: z.literal('availability'),
    device: Target,
    match: Match.optional(),
    is: z.enum(['online', 'offline', 'unknown']).meta({ description: 'How it can be reached now' }),
  })
  .meta({
    id: 'ConditionAvailability',
    title: 'Availability',
    description: 'A device is online, offline or unknown',
    examples: [{ type: 'availability', device: 'hubitat:17', is: 'online' }],
  });

export const availability = defineCondition({
  type: 'availability',
  schema,
  describe: config => `${matchWords(config.match)}${targetWords(config.device)} is ${config.is}`,
  evaluate(config, context) {
    const seen: Record<string, Json> = {};
    const levels = context.view.members(config.device).map(device => {
      const state = context.view.availability(device);
      seen[device] = state;
      return state === config.is;
    });
    return { met: countMembers(config.match, levels), seen };
  },
});
