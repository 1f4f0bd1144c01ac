// If, choose, repeat, parallel, sequence: steps that hold steps.
import { z } from 'zod';
import { CausewayError } from '../../lib/errors.ts';
import type { Json } from '../../model/value.ts';
import { DynamicNumber, DynamicValue, stepFields, VariableName } from '../fields.ts';
import {
  type ActionKind,
  type ConditionConfig,
  type Dynamic,
  defineAction,
  type Progress,
  type StepConfig,
  type StepContext,
} from '../kind.ts';

interface Schemas {
  action: () => z.ZodType;
  condition: () => z.ZodType;
  describe(condition: object): string;
}

/** A repeat of more rounds than a run has steps could never end; the run's own limit stops it sooner. */
const MAX_ITEMS = 10_000;

/** The kinds, given the schemas of what they may hold. */
export const flowControl = ({ action, condition, describe }: Schemas): ActionKind[] => {
  const Steps = z.array(z.lazy(action));
  const SomeSteps = Steps.min(1);
  const Condition = z.lazy(condition);
  const as = (steps: unknown) => steps as StepConfig[];
  const isMet = (config: unknown, context: StepContext, path: string) =>
    context.evaluate(config as ConditionConfig, `${context.path}/${path}`).met;

  const iff = defineAction({
    type: 'if',
    schema: z
      .strictObject({
        type: z.literal('if'),
        ...stepFields,
        condition: Condition.meta({ description: 'Looked at when the step is reached' }),
        then: SomeSteps.meta({ description: 'Steps if it is met' }),
        else: Steps.optional().meta({ description: 'Steps if it is not met, or unknown' }),
      })
      .meta({
        id: 'ActionIf',
        title: 'If',
        description: 'Runs `then` if the condition is met, else `else`; unknown is not met',
        examples: [
          {
            type: 'if',
            condition: { type: 'sun', is: 'down' },
            then: [{ type: 'command', device: 'porch', command: 'on' }],
          },
        ],
      }),
    describe: config => `if ${describe(config.condition as object)}`,
    lists: config => ({ then: as(config.then), ...(config.else && { else: as(config.else) }) }),
    start(config, context): Progress {
      const met = isMet(config.condition, context, 'condition');
      const note = met === true ? 'met' : met === null ? 'unknown' : 'not met';
      if (met === true) return { do: 'enter', list: 'then', state: null, note };
      return config.else?.length ? { do: 'enter', list: 'else', state: null, note } : { do: 'done', note };
    },
    resume: () => ({ do: 'done' }),
  });

  const choose = defineAction({
    type: 'choose',
    schema: z
      .strictObject({
        type: z.literal('choose'),
        ...stepFields,
        choose: z
          .array(z.strictObject({ condition: Condition, then: Steps }))
          .min(1)
          .meta({ description: 'Options in their order; the first whose condition is met' }),
        else: Steps.optional().meta({ description: 'Steps if none is met' }),
      })
      .meta({
        id: 'ActionChoose',
        title: 'Choose',
        description: 'Runs the steps of the first condition that is met, else `else`',
        examples: [
          {
            type: 'choose',
            choose: [{ condition: { type: 'trigger', id: 'open' }, then: [{ type: 'log', message: 'opened' }] }],
            else: [{ type: 'log', message: 'closed' }],
          },
        ],
      }),
    describe: config => `choose among ${config.choose.length}`,
    lists: config => ({
      ...Object.fromEntries(config.choose.map((option, index) => [`choose/${index}/then`, as(option.then)])),
      ...(config.else && { else: as(config.else) }),
    }),
    start(config, context): Progress {
      for (const [index, option] of config.choose.entries()) {
        if (isMet(option.condition, context, `choose/${index}/condition`) === true) {
          return { do: 'enter', list: `choose/${index}/then`, state: null, note: `option ${index}` };
        }
      }
      return config.else?.length
        ? { do: 'enter', list: 'else', state: null, note: 'else' }
        : { do: 'done', note: 'none met' };
    },
    resume: () => ({ do: 'done' }),
  });

  const repeat = defineAction({
    type: 'repeat',
    schema: z
      .strictObject({
        type: z.literal('repeat'),
        ...stepFields,
        count: DynamicNumber.optional().meta({ description: 'So many times' }),
        while: Condition.optional().meta({ description: 'As long as it is met, looked at before each round' }),
        until: Condition.optional().meta({ description: 'Until it is met, looked at after each round' }),
        for_each: DynamicValue.optional().meta({
          description: 'A list, or an expression of one; repeat.item is the item',
        }),
        do: SomeSteps.meta({ description: 'The steps of a round' }),
      })
      .superRefine((config, context) => {
        const given = [config.count, config.while, config.until, config.for_each].filter(field => field !== undefined);
        if (given.length !== 1) {
          context.addIssue({ code: 'custom', path: ['count'], message: 'give one of count, while, until, for_each' });
        }
      })
      .meta({
        id: 'ActionRepeat',
        title: 'Repeat',
        description:
          'Runs steps again: so many times, while or until a condition, or for each item. repeat.index counts from 1.',
        examples: [
          { type: 'repeat', count: 3, do: [{ type: 'command', device: 'bell', command: 'push', args: { button: 1 } }] },
        ],
      }),
    describe: config => (config.count === undefined ? 'repeat' : `repeat ${JSON.stringify(config.count)} times`),
    lists: config => ({ do: as(config.do) }),
    start(config, context): Progress {
      let items: Json = null;
      let count: Json = null;
      if (config.count !== undefined) {
        count = context.value(config.count as Dynamic) ?? null;
        if (typeof count !== 'number' || !Number.isFinite(count)) {
          return {
            do: 'fail',
            error: new CausewayError('VALUE_INVALID', `count is ${JSON.stringify(count)}, no number`),
          };
        }
      }
      if (config.for_each !== undefined) {
        try {
          items = context.deep(config.for_each as Json);
        } catch (error) {
          return { do: 'fail', error };
        }
        if (!Array.isArray(items) || items.length > MAX_ITEMS) {
          return {
            do: 'fail',
            error: new CausewayError('VALUE_INVALID', `for_each wants a list of at most ${MAX_ITEMS} items`),
          };
        }
      }
      return round(config, { index: 0, count, items }, context);
    },
    resume(config, state, by, context): Progress {
      if (by.with !== 'child') return { do: 'done' };
      const rounds = state as Rounds;
      // `until` is looked at after a round, `while` before one.
      if (config.until !== undefined && isMet(config.until, context, 'until') === true) {
        return { do: 'done', note: `${rounds.index} rounds` };
      }
      return round(config, rounds, context);
    },
  });

  interface Rounds extends Record<string, Json> {
    index: number;
    count: Json;
    items: Json;
  }
  function round(config: { while?: unknown }, rounds: Rounds, context: StepContext): Progress {
    const done: Progress = { do: 'done', note: `${rounds.index} rounds` };
    if (typeof rounds.count === 'number' && rounds.index >= rounds.count) return done;
    if (Array.isArray(rounds.items) && rounds.index >= rounds.items.length) return done;
    if (config.while !== undefined && isMet(config.while, context, 'while') !== true) return done;
    const index = rounds.index + 1;
    const item = Array.isArray(rounds.items) ? rounds.items[index - 1] : undefined;
    return {
      do: 'enter',
      list: 'do',
      state: { ...rounds, index },
      repeat: { index, ...(item !== undefined && { item }) },
    };
  }

  const parallel = defineAction({
    type: 'parallel',
    schema: z
      .strictObject({
        type: z.literal('parallel'),
        ...stepFields,
        branches: z.array(SomeSteps).min(1).max(20).meta({ description: 'Lists of steps' }),
        outputs: z.array(VariableName).optional().meta({ description: 'Variables that the branches bring back' }),
      })
      .meta({
        id: 'ActionParallel',
        title: 'Parallel',
        description:
          'Runs branches side by side and goes on when all have ended. Branches get copies of the run’s variables.',
        examples: [
          {
            type: 'parallel',
            branches: [
              [{ type: 'command', device: 'lamp-1', command: 'on' }],
              [
                { type: 'delay', for: '5s' },
                { type: 'command', device: 'lamp-2', command: 'on' },
              ],
            ],
          },
        ],
      }),
    describe: config => `${config.branches.length} things side by side`,
    lists: config => Object.fromEntries(config.branches.map((branch, index) => [`branches/${index}`, as(branch)])),
    start: config => ({
      do: 'fork',
      lists: config.branches.map((_, index) => `branches/${index}`),
      state: null,
      ...(config.outputs && { outputs: config.outputs }),
    }),
    resume: () => ({ do: 'done' }),
  });

  const sequence = defineAction({
    type: 'sequence',
    schema: z
      .strictObject({ type: z.literal('sequence'), ...stepFields, do: SomeSteps.meta({ description: 'The steps' }) })
      .meta({
        id: 'ActionSequence',
        title: 'Sequence',
        description: 'Steps one after another, as one step (in a branch, or under one on_error)',
        examples: [
          {
            type: 'sequence',
            do: [
              { type: 'delay', for: '1s' },
              { type: 'log', message: 'a second later' },
            ],
          },
        ],
      }),
    describe: config => `${(config.do as unknown[]).length} steps in order`,
    lists: config => ({ do: as(config.do) }),
    start: () => ({ do: 'enter', list: 'do', state: null }),
    resume: () => ({ do: 'done' }),
  });

  return [iff, choose, repeat, parallel, sequence];
};
