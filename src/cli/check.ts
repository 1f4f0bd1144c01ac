// `causeway check`: is the configuration right, are the rules; works without a gateway.
import { problemText } from '../lib/problems.ts';
import { CliExit, EXIT, type Verb } from './parts.ts';

/** Reads everything, runs nothing. */
export const check: Verb = (program, { parts, show }) => {
  program
    .command('check [rules...]')
    .description('check config.yaml, house.yaml and all rules, or only these rule files')
    .option('-c, --config <file>', 'config.yaml to use')
    .action(async (rules: string[], { config }: { config?: string }, command) => {
      const report = await parts.check({ ...(config && { config }), ...(rules.length > 0 && { rules }) });
      const lines = report.problems.map(problem => `${problem.severity}: ${problemText(problem)}`);
      const count = report.files.length === 1 ? '1 file' : `${report.files.length} files`;
      const end =
        report.files.length === 0
          ? 'nothing to check: there is neither a config.yaml nor a rule here; say where it is with --config, or CAUSEWAY_HOME'
          : `${count} checked, ${report.ok ? 'all right' : 'not all right'}`;
      show(command, report, [...lines, end].join('\n'));
      if (!report.ok) throw new CliExit(EXIT.failed);
    });
};
