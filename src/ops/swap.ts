// Another device in the place of one: in all rules that name it by its id.
import { z } from 'zod';
import { swapDevice } from '../engine/analysis/swap.ts';
import type { Entry } from '../engine/rules/rulebook.ts';
import { asCausewayError, CausewayError } from '../lib/errors.ts';
import { didYouMean } from '../lib/text.ts';
import type { Device } from '../model/device.ts';
import { DeviceRef } from '../model/device.ts';
import type { Finding } from '../model/finding.ts';
import type { Json } from '../model/value.ts';
import { authorOf, type Gateway } from './gateway.ts';
import { defineOp } from './op.ts';

/** A rule that would change. */
interface Change {
  readonly entry: Entry;
  readonly body: Json;
  readonly places: readonly string[];
}

interface Misfit {
  readonly rule: string;
  readonly path: string;
  readonly message: string;
}

/** What keeps the new device out of a rule: what was wrong before is not held against it. */
function misfitsOf({ rulebook }: Gateway, { entry, body }: Change, to: Device): Misfit[] {
  const known = new Set((entry.rule ? rulebook.findingsOf(entry.rule) : []).map(({ path, message }) => path + message));
  const isMisfit = ({ path, message, severity, code }: Finding) =>
    !known.has(path + message) && (severity === 'error' || (code === 'never_fires' && message.startsWith(`${to.id} `)));
  try {
    const { findings } = rulebook.check(body);
    return findings.filter(isMisfit).map(({ path, message }) => ({ rule: entry.id, path, message }));
  } catch (error) {
    const { details, message, path = '' } = asCausewayError(error);
    const { issues = [{ path, message }] } = (details ?? {}) as { issues?: { path: string; message: string }[] };
    return issues.map(issue => ({ rule: entry.id, path: issue.path, message: issue.message }));
  }
}

/** Where else the old device is named, which stays as it is. */
function elsewhere({ engine }: Gateway, from: string): string[] {
  const { devices, surroundings, scenes } = engine.core;
  const isNamed = (scene: object) => Object.keys(scene).some(ref => devices.resolve(ref) === from);
  return [
    ...Object.entries(devices.aliases()).flatMap(([alias, id]) =>
      id === from
        ? [`house.yaml: the alias ${alias}; set it to the new device, and all that name ${alias} follow`]
        : [],
    ),
    ...Object.entries(surroundings.named ?? {}).flatMap(([place, refs]) =>
      refs.includes(from) ? [`house.yaml: ${place}`] : [],
    ),
    ...Object.entries(surroundings.scenes).flatMap(([name, scene]) =>
      isNamed(scene) ? [`house.yaml: the scene ${name}`] : [],
    ),
    ...[...scenes].flatMap(([name, scene]) => (isNamed(scene) ? [`the captured scene ${name}; capture it again`] : [])),
  ];
}

const Place = z.looseObject({ rule: z.string(), places: z.array(z.string()) });

const swap = defineOp({
  name: 'swap_device',
  title: 'Swap a device in all rules',
  description:
    'Puts another device in the place of one in every rule that names it by its id (triggers, conditions, actions, expressions, tests), one revision a rule. Refused as a whole where the new one lacks an attribute or a command that a rule wants. dry_run shows every place. Where the old one has an alias in house.yaml, set the alias instead: rules that name the alias need no swap.',
  input: z.strictObject({
    from: z.string().min(1).meta({ description: 'Id of the old device, which may be gone already; or its alias' }),
    to: DeviceRef.meta({
      description: 'Id of the new device, or better an alias of it: it is what the rules then name',
    }),
  }),
  output: z.looseObject({ from: z.string(), to: z.string(), rules: z.array(Place) }),
  effect: 'write',
  scope: 'rules:write',
  idempotent: true,
  route: ['POST', '/devices/swap'],
  listed: false,
  async run(gateway: Gateway, input, { caller, dryRun }) {
    const { devices } = gateway.engine.core;
    const from = devices.resolve(input.from);
    const device = devices.require(input.to);
    if (device.id === from) {
      throw new CausewayError('INPUT_INVALID', `${input.from} and ${input.to} are the same device`, { path: 'to' });
    }
    const changes: Change[] = [];
    const left: z.infer<typeof Place>[] = [];
    for (const entry of gateway.rulebook.list()) {
      const { body, places, left: texts } = swapDevice(entry.body, from, input.to);
      if (places.length > 0) changes.push({ entry, body, places });
      if (texts.length > 0) left.push({ rule: entry.id, places: [...texts] });
    }
    const known = [...devices.all().map(({ id }) => id), ...Object.keys(devices.aliases())];
    const misfits = changes.flatMap(change => misfitsOf(gateway, change, device));
    const answer = {
      from,
      to: input.to,
      rules: changes.map(({ entry, places }) => ({ rule: entry.id, places: [...places] })),
      ...(left.length > 0 && { left, left_note: 'these texts have the id within other words: look at them yourself' }),
      elsewhere: elsewhere(gateway, from),
      ...(changes.length === 0 && {
        hint: devices.get(from)
          ? `no rule names ${from} by its id, so there is nothing to change in rules`
          : `no rule names ${from}, and there is no such device; ${didYouMean(input.from, known)}`,
      }),
      ...(changes.length > 0 &&
        device.id === input.to && {
          advice: `give it an alias in house.yaml (aliases: { my-name: "${device.id}" }) and name that in rules: the next swap is one line there`,
        }),
    };
    if (dryRun) return { ...answer, fits: misfits.length === 0, misfits, dry_run: true };
    const [first] = misfits;
    if (first) {
      throw new CausewayError(
        'RULE_INVALID',
        `${input.to} does not fit in the place of ${from}: ${first.rule}, ${first.path}: ${first.message}`,
        {
          path: 'to',
          hint: 'nothing was changed; dry_run lists all that does not fit',
          details: { misfits },
        },
      );
    }
    const failed: { rule: string; error: Json }[] = [];
    const saved: { rule: string; places: string[]; revision: number }[] = [];
    for (const { entry, body, places } of changes) {
      try {
        const { revision } = await gateway.rulebook.update(entry.id, { body }, entry.revision, authorOf(caller));
        saved.push({ rule: entry.id, places: [...places], revision });
      } catch (error) {
        // Somebody else's change, or a full disk: the others are swapped all the same, and a second call does the rest.
        failed.push({ rule: entry.id, error: asCausewayError(error).toJSON() as unknown as Json });
      }
    }
    return { ...answer, rules: saved, ...(failed.length > 0 && { failed }) };
  },
});

/** The swap of devices. */
export const swapOps = [swap];
