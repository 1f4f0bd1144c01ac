// A command passed the gate on its way to a device.
import { filter, map } from 'rxjs';
import { z } from 'zod';
import { Target } from '../../model/target.ts';
import type { Json } from '../../model/value.ts';
import { byField, triggerFields } from '../fields.ts';
import { defineTrigger, type Edge } from '../kind.ts';
import { keys } from '../signals.ts';
import { targetWords } from '../words.ts';
import { causeOf } from './level.ts';

const schema = z
  .strictObject({
    type: z.literal('command'),
    ...triggerFields,
    ...byField,
    device: Target,
    command: z.string().min(1).optional().meta({ description: 'Only this command; any without it' }),
  })
  .meta({
    id: 'TriggerCommand',
    title: 'Command',
    description: 'A command passed the gate: somebody told the device to do something, whatever it then does',
    examples: [{ type: 'command', device: 'hubitat:22', command: 'unlock', by: 'user' }],
  });

export const command = defineTrigger({
  type: 'command',
  schema,
  describe: config => `when ${targetWords(config.device)} is told ${config.command ?? 'anything'}`,
  attach: (config, context) => ({
    edges$: context.each(config.device, device =>
      context.signal(keys.command(device)).pipe(
        filter(signal => config.command === undefined || signal.attribute === config.command),
        map(
          (signal): Edge => ({
            do: 'enter',
            member: device,
            data: { device, command: signal.attribute, args: signal.value as Json },
            cause: causeOf(signal),
          }),
        ),
      ),
    ),
  }),
});
