// `causeway serve` and `causeway demo`: the gateway itself.
import { SIMULATED, type Simulated } from '../wiring/simulators.ts';
import type { Verb } from './parts.ts';

/** Runs the gateway until it is stopped. */
export const serve: Verb = (program, { parts, io }) => {
  program
    .command('serve')
    .description('run the gateway; without a config.yaml it runs the demo house')
    .option('-c, --config <file>', 'config.yaml to use')
    .action(({ config }: { config?: string }) =>
      parts.serve({ ...(config && { config }), log: 'stdout', signal: io.signal }),
    );
};

/** Runs the demo house, whatever configuration there is. */
export const demo: Verb = (program, { parts, io }) => {
  const command = program
    .command('demo')
    .description('run the demo house: virtual devices, example rules, a recorded week');
  for (const type of SIMULATED) command.option(`--${type}`, `bridge a simulated ${type} as well (from a checkout)`);
  command.action((asked: Partial<Record<Simulated, boolean>>) => {
    const simulated = SIMULATED.filter(type => asked[type]);
    return parts.serve({ demo: true, ...(simulated.length > 0 && { simulated }), log: 'stdout', signal: io.signal });
  });
};
