// What operations of backends get beside their input, where no gateway is around them: a journal of given entries, and
// commands that go straight to the backend.
import type { OperationContext } from '../../../src/backends/operation.ts';
import type { Backend } from '../../../src/model/command.ts';
import type { JournalEntry } from '../../../src/store/journal-port.ts';
import { commandTo, patience } from '../../unit/backends/kit.ts';

export function operationContext({
  backend,
  entries = [],
  ...more
}: Partial<OperationContext> & {
  backend?: Pick<Backend, 'execute'>;
  entries?: readonly JournalEntry[];
} = {}): OperationContext {
  return {
    dryRun: false,
    signal: patience(),
    now: Date.now(),
    journal: {
      async query({ from = 0, to = Number.POSITIVE_INFINITY, newestFirst = false, limit }) {
        const found = entries.filter(({ ts }) => ts >= from && ts < to);
        return (newestFirst ? found.reverse() : found).slice(0, limit);
      },
      async *read(from, to, { kinds } = {}) {
        yield entries.filter(({ ts, kind }) => ts >= from && ts < to && (!kinds || kinds.includes(kind)));
      },
    },
    async send({ device, command, args }) {
      await backend?.execute(commandTo(device, command, args), patience());
      return { outcome: 'ok', args };
    },
    ...more,
  };
}
