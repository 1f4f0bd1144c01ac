// The engine is ready, at every start.
import { map } from 'rxjs';
import { z } from 'zod';
import { triggerFields } from '../fields.ts';
import { defineTrigger, type Edge } from '../kind.ts';
import { keys } from '../signals.ts';
import { causeOf } from './level.ts';

const schema = z.strictObject({ type: z.literal('startup'), ...triggerFields }).meta({
  id: 'TriggerStartup',
  title: 'Start-up',
  description: 'The engine is ready: states are restored, the backends have told theirs, overdue timers have fired',
  examples: [{ type: 'startup' }],
});

export const startup = defineTrigger({
  type: 'startup',
  schema,
  describe: () => 'when Causeway has started',
  attach: (_config, context) => ({
    edges$: context
      .signal(keys.startup)
      .pipe(map((signal): Edge => ({ do: 'enter', member: '', data: {}, cause: causeOf(signal) }))),
  }),
});
