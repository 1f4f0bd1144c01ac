// Tells whoever subscribes to a topic.
import { z } from 'zod';
import { defineNotifier } from './notifier.ts';

export const mqtt = defineNotifier({
  type: 'mqtt',
  schema: z
    .strictObject({
      type: z.literal('mqtt'),
      topic: z.string().min(1),
      qos: z.union([z.literal(0), z.literal(1), z.literal(2)]).default(1),
      retain: z.boolean().default(false),
    })
    .meta({
      id: 'NotifierMqtt',
      title: 'MQTT',
      description: 'Publishes { message, title, priority, tag, answers } as JSON',
      examples: [{ type: 'mqtt', topic: 'home/notifications' }],
    }),
  create: ({ topic, qos, retain }, ports) => ({
    send: message => ports.publish(topic, JSON.stringify(message), { qos, retain }),
  }),
});
