// Tells the log, for want of anybody else.
import { z } from 'zod';
import { defineNotifier } from './notifier.ts';

export const log = defineNotifier({
  type: 'log',
  schema: z.strictObject({ type: z.literal('log') }).meta({
    id: 'NotifierLog',
    title: 'Log',
    description: 'Writes to the gateway’s log; used where house.yaml has no notifier',
    examples: [{ type: 'log' }],
  }),
  create: (_config, ports) => ({
    async send({ message, title, priority }) {
      ports.log.info({ title, priority }, `notification: ${message}`);
    },
  }),
});
