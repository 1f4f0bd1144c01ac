// Captures, restores and applies scenes: sets of target values, brought about by commands.
import { z } from 'zod';
import { CausewayError } from '../../lib/errors.ts';
import { commandFor } from '../../model/command-for.ts';
import { Target } from '../../model/target.ts';
import type { Json } from '../../model/value.ts';
import { Id, stepFields } from '../fields.ts';
import { defineAction, type Progress, type StepContext } from '../kind.ts';

const schema = z
  .strictObject({
    type: z.literal('scene'),
    ...stepFields,
    capture: Id.optional().meta({
      description: 'Stores what the devices are set to under this name, for the whole house',
    }),
    restore: Id.optional().meta({ description: 'Brings back what was captured under this name' }),
    apply: z.string().optional().meta({ description: 'Applies a scene of house.yaml' }),
    devices: Target.optional().meta({ description: 'What is captured' }),
  })
  .superRefine((config, context) => {
    const given = [config.capture, config.restore, config.apply].filter(name => name !== undefined).length;
    if (given !== 1)
      context.addIssue({ code: 'custom', path: ['capture'], message: 'give one of capture, restore, apply' });
    if ((config.capture === undefined) !== (config.devices === undefined)) {
      context.addIssue({ code: 'custom', path: ['devices'], message: 'capture, and only capture, wants devices' });
    }
  })
  .meta({
    id: 'ActionScene',
    title: 'Scene',
    description:
      'capture stores what devices are set to under a name, restore brings it back, apply a scene of house.yaml',
    examples: [
      { type: 'scene', capture: 'before-alarm', devices: ['lamp-1', 'lamp-2'] },
      { type: 'scene', apply: 'evening' },
    ],
  });

interface Pending extends Record<string, Json> {
  ids: string[];
  failed: Json;
}

export const scene = defineAction({
  type: 'scene',
  schema,
  describe(config) {
    if (config.capture !== undefined) return `capture the scene ${config.capture}`;
    return config.restore !== undefined ? `restore the scene ${config.restore}` : `apply the scene ${config.apply}`;
  },
  start(config, context): Progress {
    if (config.capture !== undefined) {
      context.captureScene(config.capture, context.view.members(config.devices as Target));
      return { do: 'done', ...(context.shadow && { outcome: 'shadow' }) };
    }
    const name = (config.restore ?? config.apply) as string;
    const values = context.scene(name, config.restore === undefined ? 'house' : 'capture');
    if (!values) {
      const hint = config.restore === undefined ? 'declare it in house.yaml' : 'capture it first';
      return { do: 'fail', error: new CausewayError('NOT_FOUND', `there is no scene "${name}"`, { hint }) };
    }
    return bring(values, context);
  },
  resume(_config, raw, by): Progress {
    const state = raw as Pending;
    if (by.with !== 'answer') return { do: 'done' };
    const bad = ['ok', 'unchanged'].includes(by.answer.outcome)
      ? state.failed
      : (by.answer.error?.message ?? by.answer.outcome);
    return settle({ ids: state.ids.filter(id => id !== by.id), failed: bad });
  },
});

function bring(values: Readonly<Record<string, Readonly<Record<string, Json>>>>, context: StepContext): Progress {
  const ids: string[] = [];
  let failed: Json = null;
  for (const [ref, attributes] of Object.entries(values)) {
    const id = context.view.resolve(ref);
    const device = context.view.device(id);
    if (!device) {
      failed = `there is no device ${ref}`;
      continue;
    }
    for (const [attribute, value] of Object.entries(attributes)) {
      const found = commandFor(device, attribute, value);
      if (!found) continue;
      const sent = context.command({ device: id, command: found.command, args: found.args, force: false });
      if (sent.outcome === 'sent') ids.push(sent.id);
      if (sent.outcome === 'refused') failed = String((sent.error as Error | undefined)?.message ?? 'refused');
    }
  }
  return settle({ ids, failed }, context.shadow);
}

function settle(state: Pending, shadow = false): Progress {
  if (state.ids.length > 0) return { do: 'wait', state, answers: state.ids };
  if (state.failed !== null) return { do: 'fail', error: new CausewayError('BACKEND_REJECTED', String(state.failed)) };
  return { do: 'done', outcome: shadow ? 'shadow' : 'ok' };
}
