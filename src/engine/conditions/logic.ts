// And, or, not over three values: unknown stays unknown unless the others decide.
import { z } from 'zod';
import type { Ternary } from '../../model/run.ts';
import { type ConditionConfig, defineCondition } from '../kind.ts';

const every = (values: readonly Ternary[]): Ternary =>
  values.includes(false) ? false : values.includes(null) ? null : true;
const some = (values: readonly Ternary[]): Ternary =>
  values.includes(true) ? true : values.includes(null) ? null : false;

/** The three kinds, given the schema of all conditions. */
export const logic = (condition: () => z.ZodType, describe: (config: object) => string) => {
  const many = (
    type: 'and' | 'or',
    title: string,
    description: string,
    join: (values: readonly Ternary[]) => Ternary,
  ) =>
    defineCondition({
      type,
      schema: z
        .strictObject({
          type: z.literal(type),
          conditions: z.array(z.lazy(condition)).min(1).meta({ description: 'Conditions of any kind' }),
        })
        .meta({
          id: `Condition${title}`,
          title,
          description,
          examples: [
            {
              type,
              conditions: [
                { type: 'mode', is: 'home' },
                { type: 'sun', is: 'down' },
              ],
            },
          ],
        }),
      describe: config => (config.conditions as object[]).map(c => `(${describe(c)})`).join(` ${type} `),
      evaluate(config, context, path) {
        const conditions = (config.conditions as ConditionConfig[]).map((c, index) =>
          context.evaluate(c, `${path}/conditions/${index}`),
        );
        return { met: join(conditions.map(c => c.met)), conditions };
      },
    });
  return [
    many('and', 'And', 'All of these', every),
    many('or', 'Or', 'At least one of these', some),
    defineCondition({
      type: 'not',
      schema: z
        .strictObject({
          type: z.literal('not'),
          condition: z.lazy(condition).meta({ description: 'A condition of any kind' }),
        })
        .meta({
          id: 'ConditionNot',
          title: 'Not',
          description: 'The opposite; not of unknown is unknown',
          examples: [{ type: 'not', condition: { type: 'mode', is: 'away' } }],
        }),
      describe: config => `not (${describe(config.condition as object)})`,
      evaluate(config, context, path) {
        const inner = context.evaluate(config.condition as ConditionConfig, `${path}/condition`);
        return { met: inner.met === null ? null : !inner.met, conditions: [inner] };
      },
    }),
  ];
};
