// Steps whose effect leaves the house: notify and http. Never repeated blindly.
import { z } from 'zod';
import { Duration, durationMs } from '../../lib/duration.ts';
import { CausewayError } from '../../lib/errors.ts';
import type { Json } from '../../model/value.ts';
import { DynamicValue, stepFields, Template } from '../fields.ts';
import { defineAction, type Progress } from '../kind.ts';
import { dynamicMs } from './delay.ts';

const ASK_TIMEOUT_MS = 3_600_000;
const HTTP_TIMEOUT_MS = 30_000;

export const notify = defineAction({
  type: 'notify',
  schema: z
    .strictObject({
      type: z.literal('notify'),
      ...stepFields,
      message: Template.meta({ description: 'Text; {{ … }} is computed' }),
      title: Template.optional().meta({ description: 'Text; {{ … }} is computed' }),
      to: z.string().optional().meta({ description: 'A notifier of house.yaml; the default one without it' }),
      priority: z.enum(['normal', 'low', 'high', 'urgent']).optional().meta({ description: 'How loud' }),
      tag: z.string().optional().meta({ description: 'Names the notification, for its answer' }),
      ask: z
        .strictObject({ answers: z.array(z.string()).min(1).max(10), timeout: Duration.optional() })
        .optional()
        .meta({ description: 'Answers to choose from; the wait for one ends after timeout (1h)' }),
    })
    .meta({
      id: 'ActionNotify',
      title: 'Notify',
      description: 'Tells a person. With ask and as, waits for the answer (null after its timeout).',
      examples: [{ type: 'notify', message: 'The attic is at {{ trigger.value }} °C', to: 'phone' }],
    }),
  describe: config => `notify ${config.to ?? 'the house'}: ${config.message}`,
  start(config, context): Progress {
    try {
      const tag = config.tag === undefined ? undefined : context.text(config.tag);
      const { id, outcome } = context.effect({
        type: 'notify',
        message: context.text(config.message),
        ...(config.title !== undefined && { title: context.text(config.title) }),
        ...(config.to !== undefined && { to: config.to }),
        ...(config.priority !== undefined && { priority: config.priority }),
        ...(tag !== undefined && { tag }),
        ...(config.ask && { ask: { answers: config.ask.answers } }),
      });
      if (outcome === 'shadow') return { do: 'done', outcome, bind: { answer: null } };
      const asks = config.ask !== undefined && config.as !== undefined;
      if (!asks) return { do: 'wait', state: { asking: false }, answers: [id] };
      const timeout = config.ask?.timeout === undefined ? ASK_TIMEOUT_MS : durationMs(config.ask.timeout);
      const due = context.view.now() + timeout;
      const state = { asking: true, id, due, ...(tag !== undefined && { tag }) };
      return { do: 'wait', state, due, answers: [id, `${id}:answer`] };
    } catch (error) {
      return { do: 'fail', error };
    }
  },
  resume(_config, state, by): Progress {
    const { asking, id, due } = state as { asking: boolean; id?: string; due?: number };
    if (by.with === 'due' || by.with === 'cancel') return { do: 'done', outcome: 'timed_out', bind: { answer: null } };
    if (by.with !== 'answer') return { do: 'done' };
    if (by.answer.outcome === 'failed' || by.answer.outcome === 'in_doubt') {
      return {
        do: 'fail',
        outcome: by.answer.outcome,
        retryable: false,
        error: new CausewayError('BACKEND_REJECTED', by.answer.error?.message ?? by.answer.outcome),
      };
    }
    // The notifier's "delivered" comes first; a wait for the person goes on.
    if (asking && by.id === id)
      return { do: 'wait', state, answers: [`${id}:answer`], ...(due !== undefined && { due }) };
    return { do: 'done', outcome: 'ok', ...(asking && { bind: { answer: by.answer.bind ?? null } }) };
  },
});

export const http = defineAction({
  type: 'http',
  schema: z
    .strictObject({
      type: z.literal('http'),
      ...stepFields,
      url: Template.meta({ description: 'Address; {{ … }} is computed' }),
      method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD']).optional().meta({ description: 'The method' }),
      headers: z.record(z.string(), Template).optional().meta({ description: 'Headers by name; {{ … }} is computed' }),
      body: DynamicValue.optional().meta({
        description: 'Text as it is, all else as JSON; { expr } and {{ … }} inside are computed',
      }),
    })
    .meta({
      id: 'ActionHttp',
      title: 'HTTP request',
      description:
        'Sends a request to an address that the egress list allows; the answer is bound as { status, headers, body }',
      examples: [{ type: 'http', url: 'https://example.org/hook', method: 'POST', body: { open: true } }],
    }),
  describe: config => `${config.method ?? 'GET'} ${config.url}`,
  start(config, context): Progress {
    try {
      const url = context.text(config.url);
      const headers = Object.fromEntries(
        Object.entries(config.headers ?? {}).map(([name, value]) => [name, context.text(value)]),
      );
      const body = config.body === undefined ? undefined : context.deep(config.body as Json);
      const { id, outcome } = context.effect({
        type: 'http',
        url,
        method: config.method ?? 'GET',
        headers,
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
        timeoutMs: config.timeout === undefined ? HTTP_TIMEOUT_MS : dynamicMs(config.timeout, context),
      });
      if (outcome === 'shadow') return { do: 'done', outcome, bind: { status: null, headers: {}, body: null } };
      return { do: 'wait', state: null, answers: [id] };
    } catch (error) {
      return { do: 'fail', error };
    }
  },
  resume(config, _state, by): Progress {
    if (by.with !== 'answer') return { do: 'done' };
    const { outcome, error, bind } = by.answer;
    if (outcome !== 'ok') {
      return {
        do: 'fail',
        outcome,
        retryable: !['POST', 'PATCH'].includes(config.method ?? 'GET'),
        error: new CausewayError('BACKEND_REJECTED', error?.message ?? outcome),
        ...(bind !== undefined && { bind }),
      };
    }
    return { do: 'done', outcome, ...(bind !== undefined && { bind }) };
  },
});
