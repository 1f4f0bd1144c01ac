// Virtual devices under the contract of all backends; they know no outage, no credentials and no silence.
import { VirtualBackend } from '../../../src/backends/virtual/index.ts';
import { backendContract } from './contract.ts';

backendContract('virtual', async clock => {
  const backend = new VirtualBackend({ clock });
  const { id } = backend.createDevice({ name: 'lamp', capabilities: ['switch'], values: { switch: 'off' } });
  let commands = 0;
  const execute = backend.execute.bind(backend);
  backend.execute = (command, signal) => execute(command, signal).then(() => void commands++);
  return {
    backend,
    example: { device: id, attribute: 'switch', value: 'off', other: 'on' },
    command: { command: 'on' },
    system: {
      change: value => backend.setValue(id, 'switch', value),
      wasCommanded: () => commands > 0,
    },
    end: async () => {},
  };
});
