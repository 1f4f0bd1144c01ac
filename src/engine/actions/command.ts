// Tells a device, or several, to do something. One step with an outcome each; ends with the backend's answer.
import { z } from 'zod';
import { asCausewayError, CausewayError } from '../../lib/errors.ts';
import { Target } from '../../model/target.ts';
import type { Json } from '../../model/value.ts';
import { DynamicValue, stepFields } from '../fields.ts';
import { type Answer, defineAction, type Progress } from '../kind.ts';
import { fieldWords, listWords, targetWords } from '../words.ts';
import { dynamicMs } from './delay.ts';

const schema = z
  .strictObject({
    type: z.literal('command'),
    ...stepFields,
    device: Target,
    command: z.string().min(1).meta({ description: 'Name of the command, as get_device lists it' }),
    args: z
      .union([z.record(z.string(), DynamicValue), z.array(DynamicValue)])
      .optional()
      .meta({ description: 'Arguments by name, or a list in their order; { expr } and {{ … }} inside are computed' }),
    force: z.boolean().optional().meta({ description: 'Sent even if it would change nothing' }),
  })
  .meta({
    id: 'ActionCommand',
    title: 'Command',
    description: 'Sends a command; ends with the backend’s answer, not with the echo',
    examples: [
      { type: 'command', device: 'attic-fan', command: 'on' },
      { type: 'command', device: { room: 'kitchen', capability: 'dimmer' }, command: 'setLevel', args: { level: 30 } },
    ],
  });

interface Sent extends Record<string, Json> {
  device: string;
  id: string | null;
  outcome: string;
  error: Json;
  ms: number | null;
  retryable: boolean;
}

export const command = defineAction({
  type: 'command',
  schema,
  describe: ({ device, command, args = {} }) => {
    const given = Array.isArray(args) ? listWords(args, 'and') : fieldWords(args);
    return `tell ${targetWords(device)} to ${command}${given ? ` (${given})` : ''}`;
  },
  start(config, context): Progress {
    const all = context.view.members(config.device);
    // Of a selector those that know the command are meant; where none does, the gate says so.
    const knowing = all.filter(id => Object.hasOwn(context.view.device(id)?.commands ?? {}, config.command));
    const isSelector = typeof config.device === 'object' && !Array.isArray(config.device);
    const devices = isSelector && knowing.length > 0 ? knowing : all;
    let args: Json | undefined;
    let timeoutMs: number | undefined;
    try {
      args = config.args === undefined ? undefined : context.deep(config.args as Json);
      timeoutMs = config.timeout === undefined ? undefined : dynamicMs(config.timeout, context);
    } catch (error) {
      return { do: 'fail', error, command: config.command };
    }
    const sent = devices.map((device): Sent => {
      const { id, outcome, error, retryable } = context.command({
        device,
        command: config.command,
        args,
        force: config.force ?? false,
        ...(timeoutMs !== undefined && { timeoutMs }),
      });
      const waits = outcome === 'sent';
      return {
        device,
        id: waits ? id : null,
        outcome,
        error: error === undefined ? null : (asCausewayError(error).toJSON() as unknown as Json),
        ms: null,
        retryable: retryable !== false,
      };
    });
    const progress = settle(sent, config.command);
    return args !== undefined && isShown(args) ? ({ ...progress, args } as Progress) : progress;
  },
  resume(config, state, by) {
    const sent = state as Sent[];
    if (by.with !== 'answer') return settle(sent, config.command);
    return settle(
      sent.map(one => (one.id === by.id ? { ...one, id: null, ...told(by.answer) } : one)),
      config.command,
    );
  },
});

/** A trace holds what a person reads: no megabytes. */
const SHOWN_CHARS = 500;
const isShown = (args: Json): boolean => JSON.stringify(args).length <= SHOWN_CHARS;

const told = (answer: Answer) => ({
  outcome: answer.outcome,
  error: (answer.error as Json | undefined) ?? null,
  ms: answer.ms ?? null,
});

// `in_doubt` fails like any other error; a run that it ends has the outcome `in_doubt`.
function settle(sent: Sent[], command: string): Progress {
  const device = sent.length === 1 ? (sent[0] as Sent).device : undefined;
  const shown = { ...(device !== undefined && { device }), command };
  const waiting = sent.filter(one => one.id !== null).map(one => one.id as string);
  if (waiting.length > 0) return { do: 'wait', state: sent, answers: waiting, ...shown };
  const first = sent[0];
  if (!first) return { do: 'done', outcome: 'unchanged', note: 'no device is meant by the target', ...shown };
  const bad =
    sent.find(one => one.outcome === 'in_doubt') ?? sent.find(one => ['failed', 'refused'].includes(one.outcome));
  const worst = bad?.outcome ?? (sent.every(one => one.outcome === first.outcome) ? first.outcome : 'ok');
  const bind = { outcome: worst, error: bad?.error ?? null, ms: Math.max(...sent.map(one => one.ms ?? 0)) };
  const details =
    sent.length > 1 ? sent.map(({ device: d, outcome, error, ms }) => ({ device: d, outcome, error, ms })) : undefined;
  const more = { bind, ...(details && { details }), ...shown };
  if (!bad) return { do: 'done', outcome: worst, ...more };
  const error = bad.error as { code?: string; message?: string } | null;
  return {
    do: 'fail',
    outcome: bad.outcome,
    // A retry sends to all of them again, so all must bear it.
    retryable: sent.every(one => one.retryable),
    error: new CausewayError(
      (error?.code ?? 'BACKEND_REJECTED') as 'BACKEND_REJECTED',
      error?.message ?? `${bad.device} ${bad.outcome}`,
    ),
    ...more,
  };
}
