// `causeway device …`: devices of the running gateway.
import { pairs, readObject } from './input.ts';
import { nothing, table, yaml } from './output.ts';
import type { Verb } from './parts.ts';

const COLUMNS = ['id', 'alias', 'room', 'availability', 'name'];

/** One subcommand an operation. */
export const device: Verb = (program, { io, gateway, show }) => {
  const group = program.command('device').description('list, read and command devices; make virtual ones');

  group
    .command('list')
    .description('all devices')
    .option('--room <room>', 'only of this room')
    .option('--backend <id>', 'only of this backend')
    .option('--capability <name>', 'only with this capability')
    .action(async (options: Record<string, string>, command) => {
      const answer = await gateway(command).call('list_devices', options);
      show(command, answer, table(answer.devices as Record<string, unknown>[], COLUMNS, nothing('no devices', answer)));
    });

  group
    .command('get <device>')
    .description('a device with its values and commands')
    .action(async (id: string, _options, command) => {
      const answer = await gateway(command).call('get_device', { device: id });
      show(command, answer, yaml(answer));
    });

  group
    .command('command <device> <command> [args...]')
    .description('send a command; ARGS are NAME=VALUE')
    .option('--dry-run', 'check everything, send nothing')
    .action(async (id: string, name: string, args: string[], { dryRun }: { dryRun?: boolean }, command) => {
      const input = {
        device: id,
        command: name,
        ...(args.length > 0 && { args: pairs(args) }),
        ...(dryRun && { dry_run: true }),
      };
      const answer = await gateway(command).call('send_command', input);
      show(command, answer, yaml(answer));
    });

  group
    .command('create <file>')
    .description('make a virtual device from a file of YAML or JSON')
    .action(async (file: string, _options, command) => {
      const answer = await gateway(command).call('create_device', await readObject(file, io));
      show(command, answer, yaml(answer));
    });

  group
    .command('rename <device> <name>')
    .description('give a virtual device another name')
    .action(async (id: string, name: string, _options, command) => {
      show(command, await gateway(command).call('rename_device', { device: id, name }), `${id}: is now called ${name}`);
    });

  group
    .command('delete <device>')
    .description('delete a virtual device')
    .option('-y, --yes', 'confirm it')
    .action(async (id: string, { yes }: { yes?: boolean }, command) => {
      show(
        command,
        await gateway(command).call('delete_device', { device: id, ...(yes && { confirm: true }) }),
        `${id}: deleted`,
      );
    });
};
