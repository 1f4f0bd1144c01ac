// Steps about rules and runs: call_rule, control_rule, cancel, stop, log.
import { z } from 'zod';
import { CausewayError } from '../../lib/errors.ts';
import type { Json } from '../../model/value.ts';
import { DynamicValue, Id, stepFields, Template } from '../fields.ts';
import { defineAction } from '../kind.ts';

export const callRule = defineAction({
  type: 'call_rule',
  schema: z
    .strictObject({
      type: z.literal('call_rule'),
      ...stepFields,
      rule: Id.meta({ description: 'Id of the other rule' }),
      args: z
        .record(z.string(), DynamicValue)
        .optional()
        .meta({ description: 'What it finds as args.x; { expr } and {{ … }} inside are computed' }),
      wait: z.boolean().optional().meta({ description: 'true: goes on when the other run has ended' }),
    })
    .meta({
      id: 'ActionCallRule',
      title: 'Call a rule',
      description: 'Starts another rule’s run, its condition included; with wait, goes on when that has ended',
      examples: [{ type: 'call_rule', rule: 'goodnight', args: { room: 'kitchen' }, wait: true }],
    }),
  describe: config => `run the rule ${config.rule}`,
  start(config, context) {
    try {
      const args = config.args === undefined ? {} : (context.deep(config.args as Json) as Record<string, Json>);
      const { id, refused } = context.startRule(config.rule, args, config.wait ?? false);
      if (refused !== undefined) {
        const bind = { outcome: 'refused', result: null };
        if (config.wait !== true) return { do: 'done', outcome: 'refused', note: refused, bind };
        return {
          do: 'fail',
          outcome: 'refused',
          error: new CausewayError('SWITCHED_OFF', `${config.rule} did not run: ${refused}`),
          bind,
        };
      }
      if (id !== undefined && config.wait === true) return { do: 'wait', state: null, answers: [id] };
      if (id !== undefined) return { do: 'done' };
      return { do: 'done', outcome: 'shadow', bind: { outcome: 'shadow', result: null } };
    } catch (error) {
      return { do: 'fail', error };
    }
  },
  resume(_config, _state, by) {
    if (by.with !== 'answer') return { do: 'done' };
    return {
      do: 'done',
      outcome: by.answer.outcome,
      bind: { outcome: by.answer.outcome, result: by.answer.bind ?? null },
    };
  },
});

export const controlRule = defineAction({
  type: 'control_rule',
  schema: z
    .strictObject({
      type: z.literal('control_rule'),
      ...stepFields,
      rule: Id.meta({ description: 'Id of the other rule' }),
      do: z.enum(['enable', 'disable', 'resume', 'cancel_runs']).meta({ description: 'What becomes of it' }),
    })
    .meta({
      id: 'ActionControlRule',
      title: 'Control a rule',
      description:
        'Enables or disables another rule for the time being (its file stays), resumes it, or cancels its runs',
      examples: [{ type: 'control_rule', rule: 'attic-fan', do: 'disable' }],
    }),
  describe: config => `${config.do.replace('_', ' ')} of the rule ${config.rule}`,
  start(config, context) {
    try {
      context.controlRule(config.rule, config.do);
      return { do: 'done', ...(context.shadow && { outcome: 'shadow' }) };
    } catch (error) {
      return { do: 'fail', error };
    }
  },
});

export const cancel = defineAction({
  type: 'cancel',
  schema: z
    .strictObject({
      type: z.literal('cancel'),
      ...stepFields,
      name: Id.optional().meta({ description: 'The name of a delay' }),
      all: z.literal(true).optional().meta({ description: 'All other runs of this rule' }),
    })
    .superRefine((config, context) => {
      if ((config.name === undefined) === (config.all === undefined)) {
        context.addIssue({ code: 'custom', path: ['name'], message: 'give name, or all: true' });
      }
    })
    .meta({
      id: 'ActionCancel',
      title: 'Cancel',
      description: 'Ends the runs of this rule that wait in a delay of this name, or all its other runs',
      examples: [{ type: 'cancel', name: 'off-later' }],
    }),
  describe: config => (config.all ? 'cancel all other runs of this rule' : `cancel ${config.name}`),
  start: (config, context) => ({ do: 'done', note: `${context.cancel(config.name)} cancelled` }),
});

export const stop = defineAction({
  type: 'stop',
  schema: z
    .strictObject({
      type: z.literal('stop'),
      ...stepFields,
      reason: Template.optional().meta({ description: 'For the trace; {{ … }} is computed' }),
      error: z.boolean().optional().meta({ description: 'The run has failed' }),
      result: DynamicValue.optional().meta({ description: 'What a call_rule with wait gets' }),
    })
    .meta({
      id: 'ActionStop',
      title: 'Stop',
      description: 'Ends the run, with a result for who called it, or as failed',
      examples: [{ type: 'stop', reason: 'nobody home' }],
    }),
  describe: config => (config.error ? 'stop, as failed' : 'stop'),
  start(config, context) {
    try {
      const reason = config.reason === undefined ? undefined : context.text(config.reason);
      const result = config.result === undefined ? undefined : context.deep(config.result as Json);
      return {
        do: 'end',
        outcome: config.error ? 'failed' : 'completed',
        ...(reason !== undefined && { reason }),
        ...(result !== undefined && { result }),
      };
    } catch (error) {
      return { do: 'fail', error };
    }
  },
});

export const log = defineAction({
  type: 'log',
  schema: z
    .strictObject({
      type: z.literal('log'),
      ...stepFields,
      message: Template.meta({ description: 'Text; {{ … }} is computed' }),
      level: z.enum(['info', 'debug', 'warn', 'error']).optional().meta({ description: 'Of the log' }),
    })
    .meta({
      id: 'ActionLog',
      title: 'Log',
      description: 'Writes a line into the gateway’s log and the trace',
      examples: [{ type: 'log', message: 'Attic at {{ trigger.value }} °C' }],
    }),
  describe: config => `log “${config.message}”`,
  start(config, context) {
    try {
      const message = context.text(config.message);
      context.log(config.level ?? 'info', message);
      return { do: 'done', note: message };
    } catch (error) {
      return { do: 'fail', error };
    }
  },
});
