// `causeway run …`: what rules did, and why they did not.
import { whole } from './input.ts';
import { table, yaml } from './output.ts';
import type { Verb } from './parts.ts';

const COLUMNS = ['run', 'rule', 'trigger', 'outcome', 'reason', 'at'];

/** Runs and refusals, and the trace of one. */
export const run: Verb = (program, { gateway, show }) => {
  const group = program.command('run').description('what rules did, and why they did not');

  group
    .command('list [rule]')
    .description('runs and refusals, newest first')
    .option('--outcome <outcome>', 'only these: refused, completed, failed, cancelled …')
    .option('--limit <n>', 'how many', whole)
    .action(async (rule: string | undefined, options: Record<string, unknown>, command) => {
      const answer = await gateway(command).call('list_runs', { ...(rule !== undefined && { rule }), ...options });
      show(command, answer, table(answer.runs as Record<string, unknown>[], COLUMNS, 'no runs yet'));
    });

  group
    .command('show <run>')
    .description('the trace of a run or refusal: what it saw, each condition, each step')
    .action(async (id: string, _options, command) => {
      const answer = await gateway(command).call('get_run', { run: id });
      show(command, answer, yaml(answer));
    });
};
