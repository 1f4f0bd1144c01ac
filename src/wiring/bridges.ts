// The systems that config.yaml names.
import { type BackendParts, backendKinds } from '../backends/index.ts';
import type { Supervised } from '../backends/supervisor.ts';
import type { Config } from '../config/schema.ts';
import type { SystemHook } from '../http/system-hooks.ts';
import type { Log } from '../lib/log.ts';

/** All of them by id. */
export function bridgesOf(
  backends: Config['backends'],
  { area, ...parts }: Omit<BackendParts, 'id' | 'log'> & { area: (name: string) => Log },
): ReadonlyMap<string, Supervised> {
  return new Map(
    Object.entries(backends).map(([id, one]) => [
      id,
      backendKinds.get(one.type).create(one, { ...parts, id, log: area(id) }),
    ]),
  );
}

/** Their webhooks. */
export const hookOf =
  (systems: ReadonlyMap<string, Supervised>): SystemHook =>
  async (backend, call) =>
    systems.get(backend)?.hook?.(call);
