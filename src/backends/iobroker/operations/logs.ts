// ioBroker's log.
import { z } from 'zod';
import { iso } from '../../../lib/clock.ts';
import { hasCode } from '../../../lib/errors.ts';
import { instant } from '../../../lib/instant.ts';
import { defineOperation } from '../../operation.ts';
import type { IobrokerBackend } from '../index.ts';
import { LEVELS, type LogLine } from '../logs.ts';
import { AnyObject, limited, objectsOf } from './show.ts';

/** Lines that are read of a file for those that pass. */
const READ = 5_000;

/** Lines with filters. */
export const getLogs = defineOperation({
  name: 'get_iobroker_logs',
  title: 'ioBroker log',
  description:
    'Lines of ioBroker’s log, newest last: from a level on, of an adapter (hue) or instance (hue.0), since an instant, with ' +
    'a text. Wants `admin` in the configuration. `complete: false`: the host’s log file did not answer, and only lines since ' +
    'the gateway listens are there.',
  input: z.strictObject({
    level: z.enum(['debug', 'info', 'warn', 'error']).optional().describe('From this level on'),
    source: z.string().min(1).optional().describe('An adapter, instance or host'),
    since: z.string().optional().describe('Instant, or a duration ago (2h)'),
    search: z.string().min(1).optional(),
    host: z.string().min(1).optional().describe('Whose log file, where there are several hosts'),
    limit: limited(1_000).describe('100 unless told'),
  }),
  output: z.looseObject({ lines: z.array(AnyObject), complete: z.boolean() }),
  effect: 'read',
  scope: 'read',
  path: 'logs',
  async run(backend: IobrokerBackend, input) {
    const connection = backend.live;
    const { level, source, search, limit = 100 } = input;
    const since = instant(input.since, backend.now(), 'since') ?? Number.NEGATIVE_INFINITY;
    const live = await backend.logs.recent();
    const host = input.host ?? (await objectsOf(connection, ['host'], 'system.host.'))[0]?.id;
    const file =
      host === undefined
        ? undefined
        : await backend.logs.ofFile(host.replace(/^(system\.host\.)?/, 'system.host.'), READ).catch(error => {
            if (hasCode(error, 'BACKEND_TIMEOUT', 'BACKEND_REJECTED')) return undefined;
            throw error;
          });
    const least = LEVELS.indexOf(level ?? 'silly');
    const word = search?.toLowerCase();
    const passes = (line: LogLine) =>
      line.ts >= since &&
      LEVELS.indexOf(line.level) >= least &&
      (source === undefined || line.source === source || line.source.startsWith(`${source}.`)) &&
      (word === undefined || line.message.toLowerCase().includes(word));
    const found = merged(file ?? [], live).filter(passes);
    return {
      lines: found.slice(-limit).map(({ ts, ...line }) => ({ ts: iso(ts), ...line })),
      total: found.length,
      complete: file !== undefined && file.length > 0,
    };
  },
});

/** Lines of the file, and those that came since. */
function merged(file: readonly LogLine[], live: readonly LogLine[]): LogLine[] {
  const key = ({ ts, source, message }: LogLine) => `${ts} ${source} ${message}`;
  const known = new Set(file.map(key));
  return [...file, ...live.filter(line => !known.has(key(line)))].sort((a, b) => a.ts - b.ts);
}
