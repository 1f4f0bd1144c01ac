// Adapter instances and how they do.
import { z } from 'zod';
import { defineOperation } from '../../operation.ts';
import type { IobrokerBackend } from '../index.ts';
import { AnyObject } from './show.ts';

/** All instances. */
export const listInstances = defineOperation({
  name: 'list_iobroker_instances',
  title: 'ioBroker instances',
  description:
    'Adapter instances with their status. `alive`: its process runs. `connected`: it has a connection to the devices or ' +
    'service that it is for (null where it does not tell). `status`: ok · disconnected · down · disabled · scheduled.',
  input: z.strictObject({ adapter: z.string().min(1).optional().describe('Only those of one adapter, such as hue') }),
  output: z.looseObject({ instances: z.array(AnyObject) }),
  effect: 'read',
  scope: 'read',
  path: 'instances',
  async run(backend: IobrokerBackend, { adapter }) {
    const { reachability } = backend.live;
    const instances = [...reachability.instances.values()]
      .filter(({ id }) => adapter === undefined || id.startsWith(`${adapter}.`))
      .sort((a, b) => a.id.localeCompare(b.id));
    return {
      instances: instances.map(({ id, title, version, enabled, mode }) => {
        const alive = reachability.isAlive(id) ?? false;
        const connected = reachability.isConnected(id) ?? null;
        return {
          id,
          title,
          version,
          enabled,
          mode,
          alive,
          connected,
          status: statusOf({ enabled, mode, alive, connected }),
        };
      }),
    };
  },
});

function statusOf(of: { enabled: boolean; mode: string; alive: boolean; connected: boolean | null }): string {
  if (!of.enabled) return 'disabled';
  if (!of.alive) return of.mode === 'daemon' ? 'down' : 'scheduled';
  return of.connected === false ? 'disconnected' : 'ok';
}
