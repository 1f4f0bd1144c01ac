// Commands to clients.
import { sleep } from '../../../lib/clock.ts';
import { CausewayError } from '../../../lib/errors.ts';
import { readClients } from '../console/wire.ts';
import { guardClient } from './guards.ts';
import { type Commands, numberOf, type Task, tell } from './task.ts';

/** Consoles take a moment to write it down. */
const VERIFY_MS = [0, 1_000, 3_000];

/** Blocks or unblocks, and looks whether it was done: an accepted command is not always one that was carried out. */
async function setBlocked(task: Task, blocked: boolean): Promise<void> {
  const { way, native, asking } = task;
  await tell(task, 'stamgr', { cmd: blocked ? 'block-sta' : 'unblock-sta', mac: native });
  for (const ms of VERIFY_MS) {
    if (ms > 0) await sleep(way.clock, ms, asking.signal);
    const users = readClients(await way.client.look('legacy', 'rest/user', asking.signal), way.counters);
    const user = users.find(({ mac }) => mac === native);
    if ((user?.blocked ?? false) !== blocked) continue;
    way.network.clients.access(native, blocked ? 'blocked' : 'allowed');
    return;
  }
  throw new CausewayError(
    'BACKEND_UNCONFIRMED',
    `the console took the command and ${native} is still ${blocked ? 'not blocked' : 'blocked'}`,
    {
      hint: 'look at the client in the console’s own pages; a client unknown to it cannot be blocked',
    },
  );
}

const guarded = (task: Task): void => {
  const { way, native, args } = task;
  if (args.force !== true) guardClient(way.network.clients.row(native) ?? { mac: native, ip: undefined }, way.own);
};

/** By name. */
export const clientCommands: Commands = {
  block(task) {
    guarded(task);
    return setBlocked(task, true);
  },
  unblock: task => setBlocked(task, false),
  async reconnect(task) {
    guarded(task);
    if (task.way.network.clients.row(task.native)?.is_wired) {
      throw new CausewayError('UNSUPPORTED', `${task.native} is wired: consoles can only reconnect wireless clients`, {
        hint: 'cycle the PoE of its port, if that powers it',
      });
    }
    await tell(task, 'stamgr', { cmd: 'kick-sta', mac: task.native });
  },
  async authorizeGuest(task) {
    const [minutes, up, down, bytes] = ['minutes', 'upload', 'download', 'megabytes'].map(name => numberOf(task, name));
    const limits = {
      ...(up !== undefined && { up }),
      ...(down !== undefined && { down }),
      // The console counts megabytes, whatever it calls them.
      ...(bytes !== undefined && { bytes }),
    };
    await tell(task, 'stamgr', { cmd: 'authorize-guest', mac: task.native, minutes, ...limits });
  },
  async unauthorizeGuest(task) {
    await tell(task, 'stamgr', { cmd: 'unauthorize-guest', mac: task.native });
  },
};
