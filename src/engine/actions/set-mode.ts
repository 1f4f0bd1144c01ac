// Sets the mode of the house; where a backend owns it, tells that backend.
import { z } from 'zod';
import { CausewayError } from '../../lib/errors.ts';
import { Expr, stepFields, Template } from '../fields.ts';
import { defineAction } from '../kind.ts';
import { valueWords } from '../words.ts';

const schema = z
  .strictObject({
    type: z.literal('set_mode'),
    ...stepFields,
    mode: z.union([Template, Expr]).meta({ description: 'A mode of the house' }),
  })
  .meta({
    id: 'ActionSetMode',
    title: 'Set the mode',
    description: 'Sets the mode of the house',
    examples: [{ type: 'set_mode', mode: 'night' }],
  });

export const setMode = defineAction({
  type: 'set_mode',
  schema,
  describe: config => `set the mode to ${valueWords(config.mode)}`,
  start(config, context) {
    try {
      const mode = context.value(config.mode);
      if (typeof mode !== 'string') throw new CausewayError('VALUE_INVALID', `${JSON.stringify(mode)} is no mode`);
      const { id, outcome } = context.setMode(mode);
      if (outcome === 'sent') return { do: 'wait', state: null, answers: [id] };
      return { do: 'done', outcome: outcome === 'done' ? 'ok' : outcome };
    } catch (error) {
      return { do: 'fail', error };
    }
  },
  resume(_config, _state, by) {
    if (by.with !== 'answer') return { do: 'done' };
    const { outcome, error } = by.answer;
    if (outcome === 'ok') return { do: 'done', outcome };
    return { do: 'fail', outcome, error: new CausewayError('BACKEND_REJECTED', error?.message ?? outcome) };
  },
});
