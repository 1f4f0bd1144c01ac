// Operations on scenes: those of house.yaml, and those that rules have captured.
import { z } from 'zod';
import { forgetScene } from '../engine/house-changes.ts';
import { CausewayError } from '../lib/errors.ts';
import { didYouMean } from '../lib/text.ts';
import type { Json } from '../model/value.ts';
import type { Gateway } from './gateway.ts';
import { defineOp } from './op.ts';

const name = z.string().min(1).meta({ description: 'Name of the scene' });
const Scene = z.looseObject({ name: z.string(), from: z.enum(['captured', 'house']) });

type Values = Readonly<Record<string, Readonly<Record<string, Json>>>>;

/** Rules that capture or restore (or, one of house.yaml, apply) it. */
function usersOf({ rulebook }: Gateway, scene: string, from: 'captured' | 'house'): string[] {
  const fields = from === 'house' ? ['apply'] : ['capture', 'restore'];
  const uses = (value: unknown): boolean => {
    if (value === null || typeof value !== 'object') return false;
    const step = value as Record<string, unknown>;
    if (step.type === 'scene' && fields.some(field => step[field] === scene)) return true;
    return Object.values(step).some(uses);
  };
  return rulebook.list().flatMap(entry => (uses(entry.body) ? [entry.id] : []));
}

const shown = (gateway: Gateway, scene: string, from: 'captured' | 'house', values: Values) => ({
  name: scene,
  from,
  devices: Object.keys(values),
  used_by: usersOf(gateway, scene, from),
});

const missing = (scene: string, known: readonly string[]) =>
  new CausewayError('NOT_FOUND', `there is no scene "${scene}"`, { path: 'name', hint: didYouMean(scene, known) });

const listScenes = defineOp({
  name: 'list_scenes',
  title: 'List scenes',
  description:
    'Scenes with the devices in them and the rules that use them: those captured by rules, and those of house.yaml.',
  input: z.strictObject({}),
  output: z.looseObject({ scenes: z.array(Scene) }),
  effect: 'read',
  scope: 'read',
  route: ['GET', '/scenes'],
  listed: false,
  async run(gateway: Gateway) {
    const { scenes, surroundings } = gateway.engine.core;
    return {
      scenes: [
        ...[...scenes].map(([scene, values]) => shown(gateway, scene, 'captured', values)),
        ...Object.entries(surroundings.scenes).map(([scene, values]) =>
          shown(gateway, scene, 'house', values as Values),
        ),
      ],
    };
  },
});

const getScene = defineOp({
  name: 'get_scene',
  title: 'Get a scene',
  description:
    'What a scene holds: attribute by attribute of each device. A captured one goes before one of house.yaml.',
  input: z.strictObject({ name }),
  output: Scene,
  effect: 'read',
  scope: 'read',
  route: ['GET', '/scenes/:name'],
  listed: false,
  async run(gateway: Gateway, input) {
    const { scenes, surroundings } = gateway.engine.core;
    const isOfHouse = !scenes.has(input.name) && Object.hasOwn(surroundings.scenes, input.name);
    const values = isOfHouse ? (surroundings.scenes[input.name] as Values) : scenes.get(input.name);
    if (!values) throw missing(input.name, [...scenes.keys(), ...Object.keys(surroundings.scenes)]);
    return { ...shown(gateway, input.name, isOfHouse ? 'house' : 'captured', values), values };
  },
});

const deleteScene = defineOp({
  name: 'delete_scene',
  title: 'Delete a captured scene',
  description: 'Forgets what was captured under a name; a rule that restores it fails until it is captured again.',
  input: z.strictObject({ name, confirm: z.boolean().optional() }),
  output: z.looseObject({ name: z.string(), deleted: z.boolean() }),
  effect: 'destructive',
  scope: 'house:write',
  route: ['DELETE', '/scenes/:name'],
  listed: false,
  async run(gateway: Gateway, input, { dryRun }) {
    const { engine } = gateway;
    const { scenes, surroundings } = engine.core;
    if (!scenes.has(input.name)) {
      if (!Object.hasOwn(surroundings.scenes, input.name)) throw missing(input.name, [...scenes.keys()]);
      throw new CausewayError('NOT_FOUND', `the scene "${input.name}" was not captured, it is one of house.yaml`, {
        path: 'name',
        hint: 'take it out of scenes: in house.yaml',
      });
    }
    if (!dryRun) await engine.do(() => forgetScene(engine.core, input.name));
    return { name: input.name, deleted: !dryRun, used_by: usersOf(gateway, input.name, 'captured') };
  },
});

/** Operations on scenes. */
export const sceneOps = [listScenes, getScene, deleteScene];
