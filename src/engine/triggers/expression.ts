// An expression becomes true.
import { map, merge } from 'rxjs';
import { z } from 'zod';
import { DynamicDuration, levelFields, triggerFields } from '../fields.ts';
import { defineTrigger, type Edge } from '../kind.ts';
import { forWords } from '../words.ts';
import { causeOf } from './level.ts';

const schema = z
  .strictObject({
    type: z.literal('expression'),
    ...triggerFields,
    on_startup: levelFields.on_startup,
    expr: z.string().min(1).max(4096).meta({ description: 'CEL, true or false; devices by ids in quotes' }),
    for: DynamicDuration.optional().meta({ description: 'Fires once it has stayed true for this long' }),
  })
  .meta({
    id: 'TriggerExpression',
    title: 'Expression',
    description:
      'A CEL expression goes from false to true; from unknown to true is none. It is looked at when anything changes that it names by a literal, and with now or sun also at each full minute.',
    examples: [{ type: 'expression', expr: 'state("hubitat:17", "temperature") > vars.setpoint + 2', for: '10m' }],
  });

export const expression = defineTrigger({
  type: 'expression',
  schema,
  describe: config => `when ${config.expr} becomes true${forWords(config.for)}`,
  attach(config, context) {
    const { truth, changes$ } = context.expression(config.expr);
    // Durable, so that what became true while the gateway was off is an edge or none by what was known before.
    const remembered = () => context.memory.get<boolean | string>('was');
    if (remembered() === undefined) context.memory.set('was', truth() ?? 'unknown');
    return {
      edges$: merge(
        // What a name stands for may have changed: false now is false, true is no edge.
        context.reschedule$.pipe(
          map((): Edge => {
            if (truth() !== false) return { do: 'look', member: '' };
            context.memory.set('was', false);
            return { do: 'leave', member: '' };
          }),
        ),
        changes$.pipe(
          map((signal): Edge => {
            const was = remembered();
            const is = truth();
            if (is !== was) context.memory.set('was', is ?? 'unknown');
            if (is === false) return { do: 'leave', member: '' };
            if (is !== true || was !== false || signal?.change === 'resync') return { do: 'look', member: '' };
            return { do: 'enter', member: '', data: { value: true }, ...(signal && { cause: causeOf(signal) }) };
          }),
        ),
      ),
      level: () => truth(),
      members: () => (truth() === true ? [{ member: '', data: { value: true } }] : []),
    };
  },
});
