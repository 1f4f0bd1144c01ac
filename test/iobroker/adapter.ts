// One real adapter in a process of its own, as js-controller would start it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { packageFolder, packageJson } from './packages.ts';

const STOP_MS = 15_000;

/** A running adapter. */
export interface Adapter {
  readonly pid: number;
  readonly isRunning: boolean;
  /** What it wrote to its log. */
  log(): string;
  /** SIGTERM lets it say farewell, SIGKILL is a crash, SIGSTOP and SIGCONT hold it and let it go on. */
  end(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  hold(): void;
  goOn(): void;
}

/** Starts instance 0. Being ready is for others to find out. */
export function startAdapter(name: string, dir: string): Adapter {
  const folder = packageFolder(`iobroker.${name}`);
  const { main } = packageJson<{ main: string }>(`iobroker.${name}`, 'package.json');
  const child = spawn(process.execPath, [join(folder, main), '--instance', '0', '--force', '--console'], {
    cwd: dir,
    // They would ask the internet for news: there is none.
    env: {
      IOBROKER_DATA_DIR: dir,
      HOME: dir,
      PATH: `${withoutSu(dir)}${delimiter}${process.env.PATH}`,
      TZ: process.env.TZ,
      HTTP_PROXY: 'http://127.0.0.1:9',
      HTTPS_PROXY: 'http://127.0.0.1:9',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-200_000);
    });
  }
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  return {
    pid: child.pid as number,
    get isRunning() {
      return isRunning();
    },
    log: () => said,
    async end(signal = 'SIGTERM') {
      if (!isRunning()) return;
      const gone = once(child, 'exit');
      child.kill('SIGCONT');
      child.kill(signal);
      const timer = new AbortController();
      const late = pause(STOP_MS, 'late', { signal: timer.signal }).catch(() => 'gone');
      if ((await Promise.race([gone, late])) === 'late') child.kill('SIGKILL');
      await gone;
      timer.abort();
    },
    hold: () => void child.kill('SIGSTOP'),
    goOn: () => void child.kill('SIGCONT'),
  };
}

/** A folder for PATH with a `su` that refuses: admin tries well-known passwords of this machine's users with it. */
function withoutSu(dir: string): string {
  const folder = join(dir, 'bin');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'su'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  return folder;
}
