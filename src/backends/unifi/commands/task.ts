// One command on its way, and what carrying it out needs.
import type { Clock } from '../../../lib/clock.ts';
import type { CommandDecl } from '../../../model/capability.ts';
import type { Json } from '../../../model/value.ts';
import type { Asking, ConsoleClient } from '../console/client.ts';
import type { Counters } from '../counters.ts';
import type { Network } from '../network/network.ts';
import type { Own } from './guards.ts';

/** What carrying out needs. */
export interface Way {
  readonly client: ConsoleClient;
  readonly network: Network;
  readonly counters: Counters;
  readonly clock: Clock;
  readonly own: Own;
}

/** A command to something of the console. */
export interface Task {
  readonly way: Way;
  /** As the console knows it: a MAC, or an id. */
  readonly native: string;
  readonly declared: CommandDecl;
  readonly args: Readonly<Record<string, Json>>;
  /** Of `setPoe:4`. */
  readonly index: number;
  readonly asking: Asking;
}

/** Commands by their names, without the number of a port or outlet. */
export type Commands = Readonly<Record<string, (task: Task) => Promise<void>>>;

/** A text among the arguments. */
export const textOf = ({ args }: Task, name: string): string => String(args[name] ?? '');

/** A number among the arguments, if it is given. */
export const numberOf = ({ args }: Task, name: string): number | undefined =>
  typeof args[name] === 'number' ? args[name] : undefined;

/** The console's own commands: `stamgr` for clients, `devmgr` for devices, `hotspot`, `backup`. */
export const tell = ({ way, asking }: Pick<Task, 'way' | 'asking'>, whom: string, body: object): Promise<Json> =>
  way.client.ask('POST', 'legacy', `cmd/${whom}`, body, asking);
