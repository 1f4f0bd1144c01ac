// The operations and resources that only one type of system has, as the backends' own tables list them.
import { z } from 'zod';
import { backendKinds } from '../backends/index.ts';
import type { Supervised } from '../backends/supervisor.ts';
import { CausewayError, hasCode } from '../lib/errors.ts';
import { didYouMean } from '../lib/text.ts';
import { requireBackup } from './backups.ts';
import { sendThroughGate } from './devices.ts';
import type { Gateway } from './gateway.ts';
import { defineOp, type ResourceKind } from './op.ts';

/** The system that a call means: the one named, or the only one of its type. @throws NOT_FOUND, INPUT_INVALID */
function systemOf({ systems }: Pick<Gateway, 'systems'>, type: string, named: string | undefined): Supervised {
  const candidates = [...systems.values()].filter(system => system.kind === type);
  const ids = candidates.map(({ id }) => id);
  if (named !== undefined) {
    const found = candidates.find(({ id }) => id === named);
    if (found) return found;
    throw new CausewayError('NOT_FOUND', `there is no ${type} backend "${named}"`, {
      path: 'backend',
      hint: didYouMean(named, ids),
    });
  }
  const [only, another] = candidates;
  if (!only) {
    throw new CausewayError('NOT_FOUND', `there is no ${type} backend`, {
      hint: `add one of type ${type} to \`backends\` in config.yaml`,
    });
  }
  if (another) {
    throw new CausewayError('INPUT_INVALID', `there are several ${type} backends: ${ids.join(', ')}`, {
      path: 'backend',
      hint: 'say which one is meant',
    });
  }
  return only;
}

/** Arguments that name a device. */
const DEVICES = ['device', 'client'];

/** All of them; each takes `backend` beside its own input. */
export const systemOps = backendKinds.kinds.flatMap(({ type, operations }) =>
  operations.map(({ path, run, wantsBackup = false, ...operation }) =>
    defineOp({
      ...operation,
      ...(wantsBackup && { description: `${operation.description} Wants a backup that is younger than a day.` }),
      backend: type,
      input: operation.input.extend({
        backend: z.string().min(1).optional().describe(`Which ${type} backend; may be left out where there is one.`),
        ...(operation.effect === 'destructive' && { confirm: z.boolean().optional() }),
      }),
      route: [operation.effect === 'read' ? 'GET' : 'POST', `/${type}/${path}`],
      listed: false,
      async run(gateway: Gateway, { backend, confirm: _confirm, ...input }, context) {
        const system = systemOf(gateway, type, backend as string | undefined);
        if (wantsBackup) await requireBackup(gateway, system.id, context.signal);
        const named = DEVICES.filter(name => typeof input[name] === 'string');
        const meant = named.map(name => [name, gateway.engine.core.devices.resolve(input[name] as string)]);
        return run(
          system,
          { ...input, ...Object.fromEntries(meant) },
          {
            ...context,
            journal: gateway.journal,
            now: gateway.clock.now(),
            send: wanted => sendThroughGate(gateway, wanted, context),
          },
        );
      },
    }),
  ),
);

/** All of them; a URI names no system, so each of the type is asked in turn. */
export const systemResources = (gateway: Pick<Gateway, 'systems'>): ResourceKind[] =>
  backendKinds.kinds.flatMap(({ type, resources = [] }) =>
    resources.map(({ read, watch, ...resource }): ResourceKind => {
      const systems = () => [...gateway.systems.values()].filter(system => system.kind === type);
      return {
        ...resource,
        backend: type,
        read: parts => firstThatHas(systems(), system => read(system, parts)),
        watch(parts, tell) {
          const ends = systems().map(system => watch(system, parts, tell));
          return () => {
            for (const end of ends) end();
          };
        },
      };
    }),
  );

async function firstThatHas(systems: readonly Supervised[], read: (system: Supervised) => Promise<unknown>) {
  let missing: unknown = new CausewayError('NOT_FOUND', 'no backend of this type is configured');
  for (const system of systems) {
    try {
      return await read(system);
    } catch (error) {
      if (!hasCode(error, 'NOT_FOUND')) throw error;
      missing = error;
    }
  }
  throw missing;
}
