// Tells an address of one's own.
import { z } from 'zod';
import { defineNotifier, post, Url } from './notifier.ts';

export const webhook = defineNotifier({
  type: 'webhook',
  schema: z
    .strictObject({
      type: z.literal('webhook'),
      url: Url,
      method: z.enum(['POST', 'PUT']).default('POST'),
      headers: z.record(z.string(), z.string()).default({}),
    })
    .meta({
      id: 'NotifierWebhook',
      title: 'Webhook',
      description: 'Sends { message, title, priority, tag, answers } as JSON to an address',
      examples: [{ type: 'webhook', url: 'https://example.org/notify', headers: { authorization: '!secret hook' } }],
    }),
  create: ({ url, method, headers }, ports) => ({
    send: message =>
      post(ports, url, {
        method,
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(message),
      }),
  }),
});
