// Real adapters in processes of their own, as js-controller would start them; a keeper holds them, see keeper.ts.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { childEnvironment } from './packages.ts';
import { type KeeperRequest, type KeeperTold, logFile } from './protocol.ts';

const STOP_MS = 15_000;
const MODULE = fileURLToPath(new URL('./keeper.ts', import.meta.url));

/** A running adapter. */
export interface Adapter {
  readonly pid: number;
  readonly isRunning: boolean;
  /** What it wrote to its log, and those before it. */
  log(): string;
  /** SIGSTOP holds it with all its connections, SIGCONT lets it go on. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void;
  /** SIGTERM lets it say farewell, SIGKILL is a crash. Resolves when it is gone. */
  end(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>;
}

/** What starts adapters. */
export interface Adapters {
  /** Starts instance 0. Being ready is for others to find out. */
  start(name: string): Promise<Adapter>;
  /** Ends all, and removes the folder. */
  end(): Promise<void>;
}

/** Adapters over the databases of a folder. */
export function keepAdapters(dir: string): Adapters {
  const keeper = fork(MODULE, [dir], {
    execArgv: ['--import', import.meta.resolve('tsx')],
    env: childEnvironment(),
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const exits = new Map<number, () => void>();
  const starts: ((pid: number) => void)[] = [];
  keeper.on('message', (told: KeeperTold) => {
    if (told.is === 'started') starts.shift()?.(told.pid);
    else exits.get(told.pid)?.();
  });
  const ask = (request: KeeperRequest): void => {
    if (!keeper.connected) throw new Error('the keeper of ioBroker’s adapters is gone');
    keeper.send(request);
  };
  const keeperGone = once(keeper, 'exit');

  return {
    async start(name) {
      const started = new Promise<number>(resolve => starts.push(resolve));
      ask({ name });
      const pid = await started;
      let isRunning = true;
      const exited = new Promise<void>(resolve => exits.set(pid, resolve)).then(() => {
        isRunning = false;
      });
      return {
        pid,
        get isRunning() {
          return isRunning;
        },
        log: () => readFileSync(logFile(dir, name), 'utf8'),
        signal: signal => ask({ pid, signal }),
        async end(signal = 'SIGTERM') {
          if (!isRunning) return;
          ask({ pid, signal: 'SIGCONT' });
          ask({ pid, signal });
          const inTime = new AbortController();
          const late = pause(STOP_MS, true, { signal: inTime.signal }).catch(() => false);
          if (await Promise.race([exited.then(() => false), late])) ask({ pid, signal: 'SIGKILL' });
          await exited;
          inTime.abort();
        },
      };
    },
    async end() {
      if (keeper.connected) keeper.disconnect();
      await keeperGone;
    },
  };
}
