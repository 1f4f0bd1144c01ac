// Webhooks of rules: a request to /hooks/<id> becomes an input of the engine.
import type { Context } from 'hono';
import { CausewayError } from '../lib/errors.ts';
import { isForm, readForm } from '../lib/form.ts';
import { type Json, parseJson } from '../lib/json.ts';
import type { Caller } from '../ops/op.ts';
import { type HttpApp, type HttpEnv, readBytes, wantScope } from './app.ts';

/** A call, as rules see it. */
export interface WebhookCall {
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly query: Record<string, string>;
  /** JSON as it is, a form as an object, other text as text; null without a body. */
  readonly body: Json;
  readonly caller: Caller;
}

/** Takes a call into the engine; answers how many rules listen to it. */
export type WebhookInput = (call: WebhookCall) => Promise<number>;

/** Adds the routes. They want the scope of a caller who may move devices, since that is what rules do upon them. */
export function mountWebhooks(app: HttpApp, input: WebhookInput): void {
  app.use('/hooks/*', wantScope('devices:control'));
  app.on(['GET', 'POST', 'PUT'], '/hooks/:id', async c => {
    // The door lets a link of another site open a page; here it would move something.
    if (c.req.header('sec-fetch-site') === 'cross-site')
      throw new CausewayError('FORBIDDEN', 'a page of another site may not call a webhook');
    const id = c.req.param('id');
    const method = c.req.method as WebhookCall['method'];
    const heard = await input({ id, method, query: c.req.query(), body: await bodyOf(c), caller: c.get('caller') });
    if (heard > 0) return c.json({ accepted: true, rules: heard }, 202);
    throw new CausewayError('NOT_FOUND', `no rule listens to the webhook "${id}" with ${method}`, {
      hint: `a rule does with the trigger { type: webhook, id: ${id} }`,
    });
  });
}

async function bodyOf(c: Context<HttpEnv>): Promise<Json> {
  const bytes = await readBytes(c.req.raw);
  if (c.req.method === 'GET' || bytes.length === 0) return null;
  const header = c.req.header('content-type') ?? '';
  if (isForm(header)) return readForm(bytes, header);
  const type = header.split(';')[0]?.trim().toLowerCase() ?? '';
  const text = bytes.toString('utf8');
  if (type !== 'application/json' && !type.endsWith('+json')) return text;
  const body = parseJson(text);
  if (body === undefined) throw new CausewayError('INPUT_INVALID', 'the body says it is JSON, but does not parse');
  return body;
}
