// No report for a time: a silent sensor.
import { filter, map, merge, of, switchMap } from 'rxjs';
import { z } from 'zod';
import { Duration, durationMs } from '../../lib/duration.ts';
import { attributeFields, triggerFields } from '../fields.ts';
import { defineTrigger, type Edge } from '../kind.ts';
import { keys } from '../signals.ts';
import { targetWords } from '../words.ts';

const { match: _match, ...attribute } = attributeFields;
const schema = z
  .strictObject({
    type: z.literal('missing'),
    ...triggerFields,
    ...attribute,
    for: Duration.meta({ description: 'How long no report came' }),
  })
  .meta({
    id: 'TriggerMissing',
    title: 'Missing',
    description: 'No report of an attribute for this long; fires once until the next report',
    examples: [{ type: 'missing', device: 'hubitat:17', attribute: 'temperature', for: '2h' }],
  });

export const missing = defineTrigger({
  type: 'missing',
  schema,
  describe: config => `when ${targetWords(config.device)} has not reported ${config.attribute} for ${config.for}`,
  attach: (config, context) => ({
    edges$: context.each(config.device, device => {
      // Silence counts from the last report; of a device that never spoke, from when we began to listen.
      const since = () => {
        const reported = context.view.reading(device, config.attribute)?.lastReported;
        if (reported !== undefined) return reported;
        const began = context.memory.get<number>(`since:${device}`) ?? context.view.now();
        context.memory.set(`since:${device}`, began);
        return began;
      };
      return merge(of(null), context.signal(keys.attribute(device, config.attribute))).pipe(
        map(since),
        filter(from => context.memory.get<number>(`fired:${device}`) !== from),
        switchMap(from => context.timer(from + durationMs(config.for)).pipe(map(() => from))),
        map((from): Edge => {
          context.memory.set(`fired:${device}`, from);
          const value = context.view.reading(device, config.attribute)?.value;
          return {
            do: 'enter',
            member: device,
            data: { device, attribute: config.attribute, ...(value !== undefined && { value }) },
            lateMs: Math.max(0, context.view.now() - from - durationMs(config.for)),
          };
        }),
      );
    }),
  }),
});
