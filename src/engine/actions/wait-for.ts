// Waits until a condition holds (looked at first) or a trigger fires, for a time at most.
import { map, type Observable } from 'rxjs';
import { z } from 'zod';
import { CausewayError } from '../../lib/errors.ts';
import type { Json } from '../../model/value.ts';
import { stepFields } from '../fields.ts';
import {
  type ConditionConfig,
  defineAction,
  type Progress,
  type Resumption,
  type StepConfig,
  type TriggerConfig,
} from '../kind.ts';
import { dynamicMs } from './delay.ts';

/** A wait without a timeout ends after this; the check of the rule says so. */
const DEFAULT_TIMEOUT_MS = 3_600_000;

interface Schemas {
  action: () => z.ZodType;
  condition: () => z.ZodType;
  trigger: () => z.ZodType;
  /** True when the type is that of a condition (several types name both: a wait is on the level). */
  isCondition(config: object): boolean;
  describe(config: object): string;
}

interface State extends Record<string, Json> {
  /** Engine time. */
  due: number;
  phase: 'do' | 'wait' | 'on_timeout';
  /** It fired, or held, while `do` ran. */
  met: Json;
}

/** The kind, given the schemas of what it may hold. */
export const waitFor = ({ action, condition, trigger, isCondition, describe }: Schemas) => {
  const schema = z
    .strictObject({
      type: z.literal('wait_for'),
      ...stepFields,
      until: z.union([z.lazy(condition), z.lazy(trigger)]).meta({
        description: 'A condition (looked at first, and enough), or a trigger (only what happens from now on)',
      }),
      on_timeout: z
        .union([z.enum(['continue', 'fail']), z.array(z.lazy(action)).min(1)])
        .optional()
        .meta({ description: 'continue (default), fail, or steps to run before it goes on' }),
      do: z.array(z.lazy(action)).min(1).optional().meta({ description: 'Steps that run once the wait listens' }),
    })
    .meta({
      id: 'ActionWaitFor',
      title: 'Wait for',
      description:
        'Waits until a condition holds, which is looked at first, or until a trigger fires. timeout: 1h by default, 0s looks once. on_timeout: continue (default), fail, or steps.',
      examples: [
        {
          type: 'wait_for',
          until: { type: 'state', device: 'virtual:door', attribute: 'contact', is: 'closed' },
          timeout: '10m',
        },
      ],
    });

  const onTimeout = (config: { on_timeout?: unknown }, state: State): Progress => {
    if (Array.isArray(config.on_timeout))
      return { do: 'enter', list: 'on_timeout', state: { ...state, phase: 'on_timeout' }, bind: bound(null) };
    if (config.on_timeout === 'fail') {
      return {
        do: 'fail',
        outcome: 'timed_out',
        error: new CausewayError('BACKEND_TIMEOUT', 'what was waited for did not come in time'),
        bind: bound(null),
      };
    }
    return { do: 'done', outcome: 'timed_out', bind: bound(null) };
  };
  const bound = (met: Json) => ({
    met: met !== null,
    timed_out: met === null,
    trigger: met !== null && typeof met === 'object' ? met : null,
  });
  const met = (by: Json, note?: string): Progress => ({
    do: 'done',
    outcome: 'met',
    bind: bound(by),
    ...(note && { note }),
  });

  return defineAction({
    type: 'wait_for',
    schema,
    describe: config => `wait until ${describe(config.until as object)}`,
    lists: config => ({
      ...(config.do && { do: config.do as StepConfig[] }),
      ...(Array.isArray(config.on_timeout) && { on_timeout: config.on_timeout as StepConfig[] }),
    }),
    start(config, context): Progress {
      const now = context.view.now();
      let timeoutMs = DEFAULT_TIMEOUT_MS;
      try {
        if (config.timeout !== undefined) timeoutMs = dynamicMs(config.timeout, context);
      } catch (error) {
        return { do: 'fail', error };
      }
      const state: State = { due: now + timeoutMs, phase: config.do ? 'do' : 'wait', met: null };
      const level = isCondition(config.until as object);
      if (!config.do && level) {
        if (context.evaluate(config.until as ConditionConfig, `${context.path}/until`).met === true) return met(true);
      }
      if (config.do) return { do: 'enter', list: 'do', state, listens: true };
      if (timeoutMs === 0) return onTimeout(config, state);
      return { do: 'wait', state, due: state.due };
    },
    resume(config, raw, by, context): Progress {
      const state = raw as State;
      if (by.with === 'trigger') return met(by.data as unknown as Json);
      if (by.with === 'level')
        return by.met === true && state.phase === 'wait' ? met(true) : { do: 'wait', state, due: state.due };
      if (by.with === 'cancel') return { do: 'done', outcome: 'cancelled', bind: bound(null) };
      if (by.with === 'child') {
        if (state.phase === 'on_timeout') return { do: 'done', outcome: 'timed_out', bind: bound(null) };
        if (state.met !== null) return met(state.met);
        const waiting: State = { ...state, phase: 'wait' };
        if (isCondition(config.until as object)) {
          if (context.evaluate(config.until as ConditionConfig, `${context.path}/until`).met === true) return met(true);
        }
        return context.view.now() >= state.due
          ? onTimeout(config, waiting)
          : { do: 'wait', state: waiting, due: state.due };
      }
      // A level that became true meanwhile beats a timeout that passed.
      if (
        isCondition(config.until as object) &&
        context.evaluate(config.until as ConditionConfig, `${context.path}/until`).met === true
      ) {
        return met(true);
      }
      return onTimeout(config, state);
    },
    // A trigger that fires while `do` runs is what is waited for; a level is looked at when it has run.
    hear: (state, by) => (by.with === 'trigger' ? { ...(state as State), met: by.data as unknown as Json } : state),
    watch(config, _state, context): Observable<Extract<Resumption, { with: 'level' | 'trigger' }>> {
      if (isCondition(config.until as object)) {
        return context
          .level(config.until as ConditionConfig, `${context.path}/until`)
          .pipe(map(trace => ({ with: 'level', met: trace.met })));
      }
      return context
        .trigger(config.until as TriggerConfig, 'until')
        .pipe(map(({ data }) => ({ with: 'trigger', data })));
    },
  });
};
