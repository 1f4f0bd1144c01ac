// `causeway backup` and `causeway restore`: everything that is the user's, in one folder.
import type { Verb } from './parts.ts';

/** Writes a backup; the gateway may run. */
export const backup: Verb = (program, { parts, show }) => {
  program
    .command('backup [folder]')
    .description('write configuration, rules and data into a new folder in this one (data/backups)')
    .option('-c, --config <file>', 'config.yaml to use')
    .action(async (to: string | undefined, { config }: { config?: string }, command) => {
      const written = await parts.backup({ ...(config && { config }), ...(to && { to }) });
      show(command, written, `${written.file} written, ${(written.bytes / 1e6).toFixed(1)} MB`);
    });
};

/** Restores one; the gateway must not run. */
export const restore: Verb = (program, { parts, show }) => {
  program
    .command('restore <folder>')
    .description('bring back what a backup holds; the gateway must be stopped')
    .option('-c, --config <file>', 'config.yaml to use')
    .option('-y, --yes', 'replace what is there, which is kept beside it')
    .action(async (from: string, { config, yes = false }: { config?: string; yes?: boolean }, command) => {
      const answer = await parts.restore({ ...(config && { config }), from, force: yes });
      show(command, answer, answer.restored.join('\n'));
    });
};
