// What tests of the ioBroker backend share: the backend at a real ioBroker.
import { IobrokerBackend, IobrokerSchema } from '../../../src/backends/iobroker/index.ts';
import { supervise } from '../../../src/backends/supervisor.ts';
import type { Clock } from '../../../src/lib/clock.ts';
import { type Log, silentLog } from '../../../src/lib/log.ts';
import type { Report } from '../../../src/model/event.ts';
import type { IoBroker } from '../../iobroker/harness.ts';
import { eventually } from '../../kit/eventually.ts';
import { recorder } from '../../unit/backends/kit.ts';
import { type JumpingClock, jumpingClock } from './clock.ts';

/** For tests and hooks that start processes, on a machine that has other things to do. */
export const SLOW_MS = 180_000;
/** For what takes milliseconds on a machine that has nothing else to do. */
export const PATIENCE_MS = 60_000;

/** The backend at an ioBroker, not started. `settings` are keys of config.yaml. */
export function iobrokerAt(
  url: string,
  settings: Readonly<Record<string, unknown>>,
  { clock, log = silentLog }: { clock: Clock; log?: Log },
): IobrokerBackend {
  const config = IobrokerSchema.parse({ type: 'iobroker', url, states: ['hue.0.*'], ...settings });
  return new IobrokerBackend(config, { id: 'iobroker', clock, log });
}

/** A supervised backend that is ready. */
export async function stageBackend(
  io: IoBroker,
  options: {
    settings?: Readonly<Record<string, unknown>>;
    url?: string;
    clock?: JumpingClock;
    onReport?: (report: Report) => void;
  } = {},
) {
  const { settings = {}, url = io.url, clock = jumpingClock(), onReport } = options;
  const backend = iobrokerAt(url, settings, { clock });
  const supervised = supervise(backend, { clock, log: silentLog, random: () => 0 });
  const sink = recorder(onReport);
  await supervised.start(sink);
  const until = (line: string, count = 1) =>
    eventually(() => sink.lines.filter(one => one === line).length >= count, `${count} × ${line}`, PATIENCE_MS);
  await until('ready');
  return { backend, supervised, sink, clock, until };
}
