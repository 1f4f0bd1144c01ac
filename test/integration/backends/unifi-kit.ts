// What tests of the UniFi backend share: the backend at a simulated console.
import { X509Certificate } from 'node:crypto';
import { supervise } from '../../../src/backends/supervisor.ts';
import { UnifiBackend, UnifiSchema } from '../../../src/backends/unifi/index.ts';
import type { Clock } from '../../../src/lib/clock.ts';
import { type Log, silentLog } from '../../../src/lib/log.ts';
import { eventually } from '../../kit/eventually.ts';
import { type ConsoleOptions, type ConsoleSimulator, certificate, startConsole } from '../../simulators/unifi/index.ts';
import { type Recorder, recorder } from '../../unit/backends/kit.ts';
import { type JumpingClock, jumpingClock } from './clock.ts';
import { recordingLog } from './hubitat-kit.ts';

const { fingerprint256 } = new X509Certificate(certificate.cert);

/** Keys of config.yaml beside url and tls. `who`: by which of key and login; a login alone where nothing is said. */
export interface Settings {
  readonly who?: 'login' | 'key' | 'both';
  readonly poll?: string;
  readonly away_after?: string;
  readonly known_for?: string;
  readonly flows?: 'off' | 'blocked' | 'risky' | 'all';
  readonly protected?: readonly string[];
  readonly site?: string;
  readonly webhook?: { readonly secret?: string; readonly path?: string };
}

/** The backend at a console, not started. */
export function backendAt(
  console: Pick<ConsoleSimulator, 'url' | 'apiKey' | 'password'>,
  { who = 'login', ...settings }: Settings,
  { clock, log = silentLog, id = 'unifi' }: { clock: Clock; log?: Log; id?: string },
): UnifiBackend {
  const config = UnifiSchema.parse({
    type: 'unifi',
    url: console.url,
    tls: { fingerprint: fingerprint256 },
    ...(who !== 'login' && { api_key: console.apiKey }),
    ...(who !== 'key' && { login: { username: 'causeway', password: console.password } }),
    ...settings,
  });
  return new UnifiBackend(config, { id, clock, log });
}

/** A console and a supervised backend that is ready, and whose socket is open where it can be. */
export async function stageConsole(
  options: ConsoleOptions & {
    settings?: Settings;
    prepare?: (console: ConsoleSimulator) => void;
    clock?: JumpingClock;
    onReport?: Parameters<typeof recorder>[0];
    /** Of the waits before the next attempt after an outage; 0: none. */
    random?: number;
  } = {},
) {
  const { settings = {}, prepare, clock = jumpingClock(), onReport, random = 0, ...simulated } = options;
  const console = await startConsole({ now: () => clock.now(), ...simulated });
  prepare?.(console);
  const log = recordingLog();
  const backend = backendAt(console, settings, { clock, log });
  const supervised = supervise(backend, { clock, log, random: () => random });
  const sink = recorder(onReport);
  await supervised.start(sink);
  await eventually(() => sink.lines.includes('ready'), 'ready');
  if (settings.who !== 'key') await eventually(() => console.sockets === 1, 'the socket');
  await quiet(console);
  const until = (line: string | RegExp) =>
    eventually(() => sink.lines.some(one => (typeof line === 'string' ? one === line : line.test(one))), String(line));
  return {
    console,
    backend,
    supervised,
    sink,
    clock,
    log,
    until,
    /** Time passes, with all that is asked meanwhile answered. */
    pass: (ms: number) => passTime(clock, console, ms),
    async end() {
      await supervised.stop();
      await console.stop();
    },
  };
}

/** Resolves once nothing is asked that is not answered, for a few turns of the loop. */
export async function quiet(console: Pick<ConsoleSimulator, 'inFlight' | 'requests'>): Promise<void> {
  let calm = 0;
  let asked = -1;
  await eventually(() => {
    calm = console.inFlight === 0 && console.requests.length === asked ? calm + 1 : 0;
    asked = console.requests.length;
    return calm >= 3;
  }, 'quiet');
}

const STEP_MS = 5_000;

export async function passTime(clock: JumpingClock, console: ConsoleSimulator, ms: number): Promise<void> {
  const end = clock.elapsed() + ms;
  while (clock.elapsed() < end) {
    await clock.jump(Math.min(STEP_MS, Math.max(0, end - clock.elapsed())));
    await quiet(console);
  }
}

/** What a device's attributes are now, by what was told. */
export function valuesOf({ reports }: Recorder, device: string): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const report of reports)
    if (report.type === 'value' && report.device === device) values[report.attribute] = report.value;
  return values;
}
