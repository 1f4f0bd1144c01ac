// `causeway rule …`: rules of the running gateway.
import { pairs, readObject, whole } from './input.ts';
import { table, yaml } from './output.ts';
import { CliExit, EXIT, type Verb } from './parts.ts';

const COLUMNS = ['id', 'enabled', 'status', 'last_run', 'name'];
const FILE = 'a file of YAML or JSON, or - for standard input';

/** One subcommand an operation. */
export const rule: Verb = (program, { io, gateway, show }) => {
  const group = program.command('rule').description('list, read, write and run rules');

  group
    .command('list')
    .description('all rules with their status')
    .action(async (_options, command) => {
      const answer = await gateway(command).call('list_rules');
      show(
        command,
        answer,
        table(answer.rules as Record<string, unknown>[], COLUMNS, 'no rules yet: causeway rule create FILE'),
      );
    });

  group
    .command('get <id>')
    .description('a rule as YAML')
    .action(async (id: string, _options, command) => {
      const answer = await gateway(command).call('get_rule', { id });
      show(command, answer, yaml(answer.rule ?? answer));
    });

  group
    .command('create <file>')
    .description(`make a rule from ${FILE}`)
    .option('--dry-run', 'check everything, change nothing')
    .action(async (file: string, { dryRun }: { dryRun?: boolean }, command) => {
      const input = { rule: await readObject(file, io), ...(dryRun && { dry_run: true }) };
      show(
        command,
        ...saved(await gateway(command).call('create_rule', input), dryRun ? 'would be created' : 'created'),
      );
    });

  group
    .command('update <id> <file>')
    .description(`replace a rule by ${FILE}`)
    .option('--revision <n>', 'only if the rule still has this revision', whole)
    .option('--dry-run', 'check everything, change nothing')
    .action(async (id: string, file: string, options: { revision?: number; dryRun?: boolean }, command) => {
      const { revision, dryRun } = options;
      const input = {
        id,
        rule: await readObject(file, io),
        ...(revision !== undefined && { revision }),
        ...(dryRun && { dry_run: true }),
      };
      show(
        command,
        ...saved(await gateway(command).call('update_rule', input), dryRun ? 'would be updated' : 'updated'),
      );
    });

  group
    .command('delete <id>')
    .description('delete a rule; its revisions are kept')
    .option('-y, --yes', 'confirm it')
    .action(async (id: string, { yes }: { yes?: boolean }, command) => {
      show(
        command,
        await gateway(command).call('delete_rule', { id, ...(yes && { confirm: true }) }),
        `${id}: deleted`,
      );
    });

  for (const [verb, done] of [
    ['enable', 'enabled'],
    ['disable', 'disabled'],
    ['resume', 'resumed'],
  ] as const) {
    group
      .command(`${verb} <id>`)
      .description(verb === 'resume' ? 'let a suspended rule run again' : `${verb} a rule`)
      .action(async (id: string, _options, command) => {
        show(command, await gateway(command).call(`${verb}_rule`, { id }), `${id}: ${done}`);
      });
  }

  group
    .command('run <id> [args...]')
    .description('run a rule now; ARGS are NAME=VALUE')
    .action(async (id: string, args: string[], _options, command) => {
      const answer = await gateway(command).call('run_rule', { id, ...(args.length > 0 && { args: pairs(args) }) });
      show(command, answer, yaml(answer));
    });

  group
    .command('check <file>')
    .description(`what the gateway has against a rule, from ${FILE}`)
    .action(async (file: string, _options, command) => {
      const answer = await gateway(command).call('check_rule', { rule: await readObject(file, io) });
      const findings = (answer.findings ?? []) as (Said & { severity: string })[];
      const { error } = answer as { error?: { message: string; details?: { issues?: Said[] } } };
      const issues = error && (error.details?.issues ?? [{ path: 'rule', message: error.message }]);
      const lines = [...(issues ?? []).map(issue => ({ severity: 'error', ...issue })), ...findings].map(
        ({ severity, path, message, hint }) => `${severity}: ${path}: ${message}${hint ? `; ${hint}` : ''}`,
      );
      show(command, answer, lines.length > 0 ? lines.join('\n') : 'nothing to say against it');
      if (answer.valid === false || findings.some(finding => finding.severity === 'error'))
        throw new CliExit(EXIT.failed);
    });
};

/** What is said of a place in a rule. */
interface Said {
  path: string;
  message: string;
  hint?: string;
}

function saved(answer: Record<string, unknown>, done: string): [Record<string, unknown>, string] {
  const { id, rule, findings } = answer as {
    id?: string;
    rule?: { id?: string };
    findings?: { severity: string; message: string }[];
  };
  const lines = (findings ?? []).map(finding => `${finding.severity}: ${finding.message}`);
  return [answer, [`${id ?? rule?.id ?? 'the rule'}: ${done}`, ...lines].join('\n')];
}
