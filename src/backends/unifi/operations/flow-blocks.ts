// A flow that somebody does not want to see again.
import { z } from 'zod';
import { CausewayError } from '../../../lib/errors.ts';
import type { Json } from '../../../model/value.ts';
import { defineOperation } from '../../operation.ts';
import type { Flow } from '../flows/flow.ts';
import type { UnifiBackend } from '../index.ts';
import { flowById, hoursBack } from './flows.ts';

interface Doing {
  readonly command: string;
  readonly args: Record<string, Json>;
}

const nameless = (flow: Flow, what: string, hint: string) =>
  new CausewayError('UNSUPPORTED', `the flow ${flow.id} does not tell its ${what}`, { path: 'what', hint });

/** What the site is told. @throws UNSUPPORTED */
const COMMANDS: Readonly<Record<'source' | 'destination' | 'application', (flow: Flow) => Doing>> = {
  source(flow): Doing {
    const { mac, ip } = flow.source;
    if (mac !== undefined) return { command: 'blockClient', args: { mac } };
    if (ip !== undefined) return { command: 'blockSource', args: { address: ip } };
    throw nameless(flow, 'source', 'block its destination');
  },
  destination(flow): Doing {
    const destination = flow.destination.domain ?? flow.destination.ip;
    if (destination !== undefined) return { command: 'blockDestination', args: { destination } };
    throw nameless(flow, 'destination', 'block its source');
  },
  application(flow): Doing {
    if (flow.service !== undefined) return { command: 'blockApplication', args: { application: flow.service } };
    throw nameless(flow, 'application', 'block its destination');
  },
};

const blockFlow = defineOperation({
  name: 'block_unifi_flow',
  title: 'Block what a traffic flow is from or to',
  description:
    'Blocks the source of a flow (the client, or an address of the internet), its destination or its application: for the client of the flow or for everybody, for good or for some minutes, after which it ends by itself, also over a restart. Undone by the unblock commands of the site.',
  input: z.strictObject({
    id: z.string().min(1).describe('Id of the flow, as list_unifi_flows tells it'),
    what: z.enum(['source', 'destination', 'application']),
    for: z
      .enum(['everybody', 'client'])
      .default('everybody')
      .describe('Who is not to reach a destination or application: everybody, or the client of the flow alone'),
    minutes: z.int().min(1).max(525_600).optional().describe('How long; without it, for good'),
    force: z.boolean().optional().describe('Even a protected client, or this machine'),
    hours: hoursBack.default(24),
  }),
  output: z.object({
    flow: z.string(),
    device: z.string(),
    command: z.string(),
    args: z.record(z.string(), z.json()),
    outcome: z.string(),
    ends_at: z.string().optional(),
  }),
  effect: 'destructive',
  scope: 'devices:control',
  idempotent: true,
  path: 'flows/block',
  async run(backend: UnifiBackend, { id, what, for: whom, minutes, force, hours }, { send, signal }) {
    const flow = await flowById(backend, id, hours, signal);
    const { command, args } = COMMANDS[what](flow);
    const client = whom === 'client' && what !== 'source' ? flow.source.mac : undefined;
    if (whom === 'client' && what !== 'source' && client === undefined)
      throw nameless(flow, 'client', 'block it for everybody');
    const device = backend.ready().network.site.id;
    const said = await send({
      device,
      command,
      args: {
        ...args,
        ...(client !== undefined && { client }),
        ...(minutes !== undefined && { minutes }),
        ...(force !== undefined && command === 'blockClient' && { force }),
      },
    });
    const ends = typeof said.ends_at === 'string' && { ends_at: said.ends_at };
    return { flow: id, device, command, args: said.args, outcome: said.outcome, ...ends };
  },
});

/** What is done about flows. */
export const flowBlockRows = [blockFlow];
