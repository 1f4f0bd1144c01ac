// What clients can look at while it happens: the flows of a site.
import { CausewayError } from '../../lib/errors.ts';
import { type BackendResource, defineResource } from '../operation.ts';
import type { UnifiBackend } from './index.ts';

const ACTIONS = ['all', 'blocked', 'allowed'];

const flows = defineResource({
  template: 'unififlows://{backend}/{action}',
  name: 'unififlows',
  title: 'Traffic flows as they end',
  description:
    'The newest traffic flows of a UniFi backend, by its id: blocked, allowed or all of them; told anew as further ones end',
  async read(backend: UnifiBackend, { backend: wanted, action = '' }) {
    if (wanted !== backend.id)
      throw new CausewayError('NOT_FOUND', `there is no UniFi backend "${wanted}"`, { hint: 'see list_backends' });
    if (!ACTIONS.includes(action))
      throw new CausewayError('NOT_FOUND', `flows are ${ACTIONS.join(', ')}`, {
        hint: `read unififlows://${wanted}/all`,
      });
    if (backend.flowChoice === 'off') {
      throw new CausewayError('UNSUPPORTED', `${wanted} does not follow the flows of its console`, {
        hint: 'set `flows: blocked`, `risky` or `all` of this backend in config.yaml',
      });
    }
    return { backend: wanted, action, told: backend.flowChoice, flows: backend.recentFlows.newest(action) };
  },
  watch: (backend, { backend: wanted, action = '' }, tell) =>
    wanted === backend.id ? backend.recentFlows.watch(action, tell) : () => {},
});

/** All of them. */
export const unifiResources: readonly BackendResource[] = [flows];
