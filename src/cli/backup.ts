// `causeway backup` and `causeway restore`: everything that is the user's, in one file.
import type { Verb } from './parts.ts';

/** Writes a backup; the gateway may run. */
export const backup: Verb = (program, { parts, show }) => {
  program
    .command('backup [file]')
    .description('write configuration, rules and data into one file')
    .option('-c, --config <file>', 'config.yaml to use')
    .action(async (to: string | undefined, { config }: { config?: string }, command) => {
      const written = await parts.backup({ ...(config && { config }), ...(to && { to }) });
      show(command, written, `${written.file} written, ${(written.bytes / 1e6).toFixed(1)} MB`);
    });
};

/** Restores one; the gateway must not run. */
export const restore: Verb = (program, { parts, show }) => {
  program
    .command('restore <file>')
    .description('bring back what a backup holds; the gateway must be stopped')
    .option('-c, --config <file>', 'config.yaml to use')
    .option('--force', 'replace what is there')
    .action(async (from: string, options: { config?: string; force?: boolean }, command) => {
      const { config, force = false } = options;
      const answer = await parts.restore({ ...(config && { config }), from, force });
      show(command, answer, answer.restored.join('\n'));
    });
};
