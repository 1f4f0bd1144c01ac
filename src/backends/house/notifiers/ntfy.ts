// Tells a phone through an ntfy server (docs.ntfy.sh/publish, "Publish as JSON").
import { z } from 'zod';
import { defineNotifier, post, Url } from './notifier.ts';

const PRIORITIES = { low: 2, normal: 3, high: 4, urgent: 5 } as const;

export const ntfy = defineNotifier({
  type: 'ntfy',
  schema: z
    .strictObject({
      type: z.literal('ntfy'),
      url: Url.default('https://ntfy.sh'),
      topic: z.string().regex(/^[-_A-Za-z0-9]{1,64}$/, 'a topic has letters, digits, _ and -, at most 64'),
      token: z.string().min(1).optional(),
    })
    .meta({
      id: 'NotifierNtfy',
      title: 'ntfy',
      description: 'A push to the phones that subscribe to a topic of an ntfy server; who knows the topic can read it',
      examples: [{ type: 'ntfy', topic: '!secret ntfy_topic' }],
    }),
  create: ({ url, topic, token }, ports) => ({
    send: ({ message, title, priority = 'normal' }) =>
      post(ports, url, {
        headers: {
          'content-type': 'application/json',
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
        },
        body: JSON.stringify({ topic, message, title, priority: PRIORITIES[priority] }),
      }),
  }),
});
