// What clients can read and subscribe to, over the same views as the operations.
import { CausewayError } from '../lib/errors.ts';
import { encodeLevel } from '../lib/topic.ts';
import { backendOf, nativeIdOf } from '../model/device.ts';
import type { Gateway } from './gateway.ts';
import { traceOf } from './history.ts';
import type { ResourceKind } from './op.ts';
import { ruleState, showDevice, showEvent, showRule } from './show.ts';
import { systemResources } from './systems.ts';

/** URIs of resources. */
export const uris = {
  rule: (id: string) => `rule://${encodeLevel(id)}`,
  rules: 'rules://all',
  device: (id: string) => `device://${encodeLevel(backendOf(id))}/${encodeLevel(nativeIdOf(id))}`,
  events: 'events://recent',
  run: (id: string) => `run://${id}`,
} as const;

/** The resources of a gateway. */
export function resourcesOf(gateway: Gateway): ResourceKind[] {
  return [
    {
      template: 'rules://all',
      name: 'rules',
      title: 'All rules',
      description: 'Every rule with status and counts',
      read: async () => ({ rules: gateway.rulebook.list().map(entry => ruleState(gateway, entry)) }),
      list: async () => [{ uri: uris.rules, name: 'All rules' }],
    },
    {
      template: 'rule://{id}',
      name: 'rule',
      title: 'A rule',
      description: 'A rule as written, in words, with status, next occurrences and findings',
      read: async ({ id }) => showRule(gateway, gateway.rulebook.require(id ?? '')),
      list: async () =>
        gateway.rulebook.list().map(entry => ({ uri: uris.rule(entry.id), name: entry.rule?.name ?? entry.id })),
    },
    {
      template: 'device://{backend}/{id}',
      name: 'device',
      title: 'A device',
      description: 'A device with its values, attributes and commands',
      read: async ({ backend, id }) => showDevice(gateway, gateway.engine.core.devices.require(`${backend}:${id}`)),
      list: async () =>
        gateway.engine.core.devices.all().map(device => ({ uri: uris.device(device.id), name: device.name })),
    },
    {
      template: 'events://recent',
      name: 'events',
      title: 'Recent events',
      description: 'The newest events, oldest first',
      read: async () => ({ events: gateway.recent.list().slice(-100).map(showEvent) }),
      list: async () => [{ uri: uris.events, name: 'Recent events' }],
    },
    {
      template: 'run://{id}',
      name: 'run',
      title: 'A run',
      description: 'The trace of a run or refusal',
      async read({ id }) {
        const trace = await traceOf(gateway, id ?? '');
        if (!trace) throw new CausewayError('RUN_NOT_FOUND', `there is no run "${id}"`);
        return trace;
      },
    },
    ...systemResources(gateway),
  ];
}
