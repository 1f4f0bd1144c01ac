// Commands to all that a console has: one table each for clients, devices, WLANs and the site.
import { CausewayError, hasCode } from '../../../lib/errors.ts';
import { didYouMean } from '../../../lib/text.ts';
import type { Command } from '../../../model/command.ts';
import type { Device } from '../../../model/device.ts';
import { inDoubt } from '../console/client.ts';
import { clientCommands } from './client.ts';
import { deviceCommands } from './device.ts';
import { siteCommands, wlanCommands } from './site.ts';
import type { Commands, Way } from './task.ts';

export { ownAddresses } from './guards.ts';
export type { Way } from './task.ts';

const TABLES: Readonly<Record<string, Commands>> = {
  client: clientCommands,
  device: deviceCommands,
  wlan: wlanCommands,
  site: siteCommands,
};

/** Commands to one thing follow each other: what the site does to a client is one to the client. */
const laneOf = (device: string, kind: string, { args: { mac } }: Command): string =>
  kind === 'site' && typeof mac === 'string' ? device.replace(/:site:.*/, `:client:${mac.toLowerCase()}`) : device;

/**
 * Carries a command out; those to one device follow each other.
 * @param device as it was declared; undefined: there is none
 * @throws DEVICE_NOT_FOUND, COMMAND_UNKNOWN, ARGUMENT_INVALID, NOT_FOUND, FORBIDDEN (a guard), UNSUPPORTED, and as
 *   `ConsoleClient.ask`
 */
export async function carryOut(
  way: Way,
  device: Device | undefined,
  command: Command,
  signal: AbortSignal,
): Promise<void> {
  if (!device) {
    throw new CausewayError('DEVICE_NOT_FOUND', `the console has no ${command.device}`, {
      hint: 'it was removed, or was not seen for long and has no name',
    });
  }
  const declared = device.commands[command.command];
  const [, kind = '', native = ''] = /^[^:]+:([^:]+):(.+)$/.exec(device.id) ?? [];
  const [name = '', index] = command.command.split(':');
  const carry = TABLES[kind]?.[name];
  if (!declared || !carry) {
    throw new CausewayError('COMMAND_UNKNOWN', `${device.id} has no command "${command.command}"`, {
      hint: didYouMean(command.command, Object.keys(device.commands)),
    });
  }
  const asking = { again: declared.idempotent, signal };
  let isTaken = false;
  const ask: Way['client']['ask'] = async (...asked) => {
    const answer = await way.client.ask(...asked);
    isTaken = true;
    return answer;
  };
  const mine = { ...way, client: { ...way.client, ask } };
  try {
    await way.client.lanes.run(laneOf(device.id, kind, command), signal, () =>
      carry({ way: mine, native, declared, args: command.args, index: Number(index ?? 0), asking }),
    );
  } catch (error) {
    // It was taken, and what came of it could not be seen.
    if (isTaken && hasCode(error, 'BACKEND_OFFLINE', 'BACKEND_AUTH')) throw inDoubt(error, command.command);
    throw error;
  }
}
