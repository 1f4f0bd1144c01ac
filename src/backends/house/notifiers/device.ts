// Tells through a device that notifies or speaks.
import { z } from 'zod';
import { CausewayError } from '../../../lib/errors.ts';
import { DeviceRef } from '../../../model/device.ts';
import { defineNotifier } from './notifier.ts';

export const device = defineNotifier({
  type: 'device',
  schema: z
    .strictObject({
      type: z.literal('device'),
      device: DeviceRef,
      volume: z.number().min(0).max(100).optional().meta({ description: 'Of a device that speaks, in percent' }),
    })
    .meta({
      id: 'NotifierDevice',
      title: 'Device',
      description: 'A device with the capability notification or speech',
      examples: [{ type: 'device', device: 'kitchen-speaker', volume: 40 }],
    }),
  create: ({ device: ref, volume }, ports) => ({
    async send({ message, title }) {
      const target = ports.device(ref);
      if (!target) {
        throw new CausewayError('DEVICE_NOT_FOUND', `the notifier’s device "${ref}" is not known`, {
          hint: 'check the notifier in house.yaml',
        });
      }
      const text = title === undefined ? message : `${title}: ${message}`;
      if (target.commands.deviceNotification) return ports.command(target.id, 'deviceNotification', { text });
      if (target.commands.speak) {
        return ports.command(target.id, 'speak', { text, ...(volume !== undefined && { volume }) });
      }
      throw new CausewayError('COMMAND_UNKNOWN', `${target.id} can neither notify nor speak`, {
        hint: 'name a device with the capability notification or speech',
      });
    },
  }),
});
