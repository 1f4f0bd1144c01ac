// Carries out effects of rules that are no commands: publishing, notifying, requesting.
import type { Bus } from '../bus/bus.ts';
import type { Topics } from '../bus/topics.ts';
import type { Answer, OutgoingEffect } from '../engine/kind.ts';
import { asCausewayError, CausewayError } from '../lib/errors.ts';
import { parseJson } from '../lib/json.ts';
import type { Log } from '../lib/log.ts';
import type { Cause } from '../model/cause.ts';
import type { Json } from '../model/value.ts';
import type { Egress } from '../policy/egress.ts';

/** What effects are carried out with. */
export interface EffectParts {
  readonly bus: () => Bus;
  readonly topics: Topics;
  readonly log: Log;
  readonly egress: Egress;
  readonly answered: (id: string, answer: Answer) => void;
  /** A message of our own that rules may listen to as well. */
  readonly message: (message: {
    topic: string;
    payload: string;
    retained: boolean;
    client: string;
    cause: Cause;
  }) => void;
  readonly notify: (message: Extract<OutgoingEffect, { type: 'notify' }>, id: string) => Promise<void>;
  /** The gateway stops: what is on its way is not waited for, and ends in doubt at the next start. */
  readonly signal: AbortSignal;
}

const MAX_ANSWER_BYTES = 256 * 1024;

/** The executor. Never throws; each effect but a QoS 0 publish ends with an answer. */
export function effectsOf(parts: EffectParts): (id: string, effect: OutgoingEffect, cause: Cause) => void {
  const run = async (id: string, effect: OutgoingEffect): Promise<Answer> => {
    if (effect.type === 'notify') {
      await parts.notify(effect, id);
      return { outcome: 'ok' };
    }
    return effect.type === 'http' ? request(parts, effect) : { outcome: 'ok' };
  };
  return (id, effect, cause) => {
    if (effect.type === 'publish') {
      const answer = publish(parts, effect, cause);
      if (effect.qos > 0) parts.answered(id, answer);
      return;
    }
    void run(id, effect)
      .catch((thrown): Answer => {
        const { code, message } = asCausewayError(thrown);
        if (!parts.signal.aborted) parts.log.warn({ effect: effect.type, code, message }, 'an effect of a rule failed');
        return { outcome: 'failed', error: { code, message } };
      })
      .then(answer => parts.answered(id, answer));
  };
}

function publish(parts: EffectParts, effect: Extract<OutgoingEffect, { type: 'publish' }>, cause: Cause): Answer {
  const { topic, payload, qos, retain } = effect;
  if (parts.topics.isOurs(topic)) {
    parts.log.warn(
      { topic },
      'a rule may not publish on the gateway’s own topics; use command, set_variable or control_rule',
    );
    return { outcome: 'failed', error: { code: 'FORBIDDEN', message: `${topic} is one of the gateway’s own topics` } };
  }
  parts.bus().publish(topic, payload, { qos, retain });
  parts.message({ topic, payload, retained: false, client: 'causeway', cause });
  return { outcome: 'ok' };
}

async function request(parts: EffectParts, effect: Extract<OutgoingEffect, { type: 'http' }>): Promise<Answer> {
  const { url, method, headers, body, timeoutMs } = effect;
  await parts.egress.check(url);
  let response: Response;
  try {
    response = await fetch(url, {
      method,
      headers,
      redirect: 'manual',
      signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), parts.signal]),
      ...(body !== undefined && { body }),
    });
  } catch (error) {
    const isTimeout = error instanceof Error && error.name === 'TimeoutError';
    throw new CausewayError(
      isTimeout ? 'BACKEND_TIMEOUT' : 'BACKEND_OFFLINE',
      `${method} ${new URL(url).origin} failed: ${String((error as Error).cause ?? (error as Error).message)}`,
    );
  }
  const text = await readBounded(response);
  const parsed = parseJson(text);
  const bind: Json = {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: parsed === undefined ? text : parsed,
  };
  if (response.ok) return { outcome: 'ok', bind };
  return {
    outcome: 'failed',
    bind,
    error: { code: 'BACKEND_REJECTED', message: `${new URL(url).origin} answered ${response.status}` },
  };
}

async function readBounded(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_ANSWER_BYTES) throw new CausewayError('BACKEND_REJECTED', 'the answer is larger than 256 kB');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
