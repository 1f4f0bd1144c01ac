// `causeway user …`: who may use the gateway.
import { readText } from './input.ts';
import { table } from './output.ts';
import type { Verb } from './parts.ts';

const COLUMNS = ['name', 'role', 'password', 'tokens'];

/** A user as a row: whether there is a password, how many tokens. */
const rowOf = ({ name, role, hasPassword, tokens }: Record<string, unknown>) => ({
  name,
  role,
  password: hasPassword === true ? 'yes' : 'no',
  tokens: Array.isArray(tokens) ? tokens.length : 0,
});

/** One subcommand an operation; tokens are shown once, when they are made. */
export const user: Verb = (program, { io, gateway, show }) => {
  const group = program.command('user').description('add and remove users, and make tokens for them');
  const tokenText = (answer: Record<string, unknown>) => `token (shown only now):\n${answer.token}`;

  group
    .command('add <name>')
    .description('add a user; the first one closes the gateway to all without a credential')
    .requiredOption('-r, --role <role>', 'viewer, operator or admin')
    .option('--password-stdin', 'read a password from standard input, for MQTT and browsers')
    .action(async (name: string, options: { role: string; passwordStdin?: boolean }, command) => {
      const password = options.passwordStdin ? (await readText('-', io)).replace(/\r?\n$/, '') : undefined;
      const answer = await gateway(command).call('add_user', {
        name,
        role: options.role,
        ...(password && { password }),
      });
      show(command, answer, [`${name}: added`, ...(answer.token ? [tokenText(answer)] : [])].join('\n'));
    });

  group
    .command('list')
    .description('all users')
    .action(async (_options, command) => {
      const answer = await gateway(command).call('list_users');
      const rows = (answer.users as Record<string, unknown>[]).map(rowOf);
      show(command, answer, table(rows, COLUMNS, 'no users: this machine is let in without a credential'));
    });

  group
    .command('remove <name>')
    .description('remove a user with all tokens')
    .option('-y, --yes', 'confirm it')
    .action(async (name: string, { yes }: { yes?: boolean }, command) => {
      show(
        command,
        await gateway(command).call('remove_user', { name, ...(yes && { confirm: true }) }),
        `${name}: removed`,
      );
    });

  group
    .command('token <name>')
    .description('make a token for a user')
    .action(async (name: string, _options, command) => {
      const answer = await gateway(command).call('create_token', { name });
      show(command, answer, tokenText(answer));
    });
};
