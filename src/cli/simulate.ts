// `causeway simulate FILE…`: runs scenarios on the engine itself, in virtual time; nothing real is touched.
import { CliExit, EXIT, type Verb } from './parts.ts';

/** Exits with 1 when a scenario does not end as it expects. */
export const simulate: Verb = (program, { parts, show }) => {
  program
    .command('simulate <files...>')
    .description('run scenario files, or the tests of rule files')
    .option('-c, --config <file>', 'config.yaml to use')
    .action(async (files: string[], options: { config?: string }, command) => {
      const report = await parts.simulate(files, options);
      const lines = report.scenarios.flatMap(({ file, name, ok, failures }) => [
        `${ok ? 'ok  ' : 'FAIL'}  ${file}: ${name}`,
        ...failures.map(failure => `        ${failure}`),
      ]);
      const failed = report.scenarios.filter(scenario => !scenario.ok).length;
      show(command, report, [...lines, `${report.scenarios.length} scenarios, ${failed} failed`].join('\n'));
      if (!report.ok) throw new CliExit(EXIT.failed);
    });
};
