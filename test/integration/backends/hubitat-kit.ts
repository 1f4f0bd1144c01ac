// What tests of the Hubitat backend share: the backend at a simulated hub.
import { HubitatBackend, HubitatSchema } from '../../../src/backends/hubitat/index.ts';
import { supervise } from '../../../src/backends/supervisor.ts';
import type { Clock } from '../../../src/lib/clock.ts';
import { type Log, silentLog } from '../../../src/lib/log.ts';
import { eventually } from '../../kit/eventually.ts';
import { type HubSimulator, type HubSimulatorOptions, startHubSimulator } from '../../simulators/hubitat/index.ts';
import { recorder } from '../../unit/backends/kit.ts';
import { type JumpingClock, jumpingClock } from './clock.ts';

/** Keys of config.yaml beside url, app and token. */
export type Settings = Partial<
  Record<'events' | 'listen' | 'logs' | 'runmethod' | 'login' | 'poll' | 'temperature_scale' | 'token' | 'url', unknown>
>;

/** The backend at a hub, not started. */
export function backendAt(
  hub: Pick<HubSimulator, 'url' | 'app' | 'token'>,
  settings: Settings,
  parts: { clock: Clock; id?: string; log?: Log; isLoopbackOnly?: boolean },
): HubitatBackend {
  const { id = 'hubitat', log = silentLog, isLoopbackOnly = true, clock } = parts;
  const config = HubitatSchema.parse({
    type: 'hubitat',
    url: hub.url,
    app: hub.app,
    token: hub.token,
    listen: { host: '127.0.0.1', port: 0 },
    ...settings,
  });
  return new HubitatBackend(config, { id, clock, log, isLoopbackOnly });
}

/** Lines of a log. */
export function recordingLog(): Log & { readonly lines: string[] } {
  const lines: string[] = [];
  const write = (level: string) => (details: object, message: string) => {
    lines.push(`${level} ${message} ${JSON.stringify(details)}`);
  };
  const log = {
    lines,
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: () => log,
  };
  return log;
}

/** A hub and a supervised backend that is ready. */
export async function stageHub(
  options: HubSimulatorOptions & {
    settings?: Settings;
    prepare?: (hub: HubSimulator) => void;
    clock?: JumpingClock;
    isLoopbackOnly?: boolean;
  } = {},
) {
  const { settings = {}, prepare, clock = jumpingClock(), isLoopbackOnly = true, ...simulated } = options;
  const hub = await startHubSimulator(simulated);
  prepare?.(hub);
  const log = recordingLog();
  const backend = backendAt(hub, settings, { clock, log, isLoopbackOnly });
  const supervised = supervise(backend, { clock, log, random: () => 0 });
  const sink = recorder();
  await supervised.start(sink);
  await eventually(() => sink.lines.includes('ready'), 'ready');
  const until = (line: string) => eventually(() => sink.lines.includes(line), line);
  return {
    hub,
    backend,
    supervised,
    sink,
    clock,
    log,
    until,
    async end() {
      await supervised.stop();
      await hub.stop();
    },
  };
}
