// What a bridged system adds to a start of the real program: the time until all is ready, the memory that is needed from then
// on, and what is held at most on the way.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { median } from './benchmark.ts';
import { quiet } from './cpu.ts';
import { type Child, startProgram } from './processes.ts';

const READY_MS = 60_000;
const WRITING_MS = 3_000;
const TIDY = fileURLToPath(new URL('./tidy.mjs', import.meta.url));

/** A house on disk. */
export interface Home {
  /** Its config.yaml. */
  readonly file: string;
  /** Its folder of data. */
  readonly data: string;
}

/** A start: milliseconds until it was ready, and megabytes. */
export type Started = Readonly<Record<'ms' | 'rss' | 'peak', number>>;

/** A start without the system, and one beside it. */
export type Pair = Readonly<Record<'without' | 'beside', Started>>;

/** Resolves once all its backends are ready, with the number of its devices. */
export async function ready(data: string, backends: number): Promise<number> {
  const look = async () => {
    const { addresses } = JSON.parse(readFileSync(join(data, 'gateway.json'), 'utf8')) as { addresses: string[] };
    const answer = await fetch(`${addresses[0]}/api/system`);
    return (await answer.json()) as { devices: number; backends: { ready: boolean }[] };
  };
  for (const end = Date.now() + READY_MS; Date.now() < end; ) {
    const system = await look().catch(() => undefined);
    if (system && system.backends.length === backends && system.backends.every(({ ready }) => ready))
      return system.devices;
    await pause(20);
  }
  throw new Error('the gateway was not ready in time');
}

/** Megabytes that a process holds (VmRSS), or held at most (VmHWM). */
const memoryMb = (pid: number, what: 'VmRSS' | 'VmHWM'): number =>
  Number(new RegExp(`${what}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;

/** Megabytes that a process of `startMeasured` needs: what V8 can give back is given back. */
export async function neededMb(pid: number): Promise<number> {
  for (let n = 0; n < 2; n++) {
    process.kill(pid, 'SIGUSR2');
    await pause(1_500);
  }
  return memoryMb(pid, 'VmRSS');
}

/** Starts the real program, which goes on. @param backends that must be ready */
export async function startMeasured(
  dist: string,
  { file, data }: Home,
  backends: number,
): Promise<Started & { readonly gateway: Child; readonly devices: number }> {
  const began = performance.now();
  const flags = ['--expose-gc', '--import', TIDY];
  const gateway = startProgram(join(dist, 'src/main.js'), ['serve', '--config', file], dirname(file), flags);
  const devices = await ready(data, backends);
  const ms = performance.now() - began;
  // What it writes behind belongs to the start.
  await pause(WRITING_MS);
  await quiet(gateway.pid);
  const rss = await neededMb(gateway.pid);
  return { gateway, devices, ms, rss, peak: memoryMb(gateway.pid, 'VmHWM') };
}

/** What was added, the medians of all pairs. */
export function added(pairs: readonly Pair[]): Started {
  const of = (what: keyof Started) => median(pairs.map(({ without, beside }) => beside[what] - without[what]));
  return { ms: of('ms'), rss: of('rss'), peak: of('peak') };
}
