// A process that starts the adapters of one ioBroker and outlives whoever asked for them by just long enough to end them:
// an adapter without its databases tries for ever, and takes gigabytes. Its only argument is the folder of that ioBroker,
// which it removes then.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { packageFolder, packageJson } from './packages.ts';
import { type KeeperRequest, type KeeperTold, logFile } from './protocol.ts';

const dir = process.argv[2] as string;
const adapters = new Map<number, ChildProcess>();

// Nobody hears it any more once the channel is closed.
const tell = (told: KeeperTold): void => void process.send?.(told, () => {});

function start(name: string): number {
  const { main } = packageJson<{ main: string }>(`iobroker.${name}`, 'package.json');
  const log = openSync(logFile(dir, name), 'a');
  const adapter = spawn(
    process.execPath,
    // One that has lost its databases grows; see above.
    [
      '--max-old-space-size=512',
      join(packageFolder(`iobroker.${name}`), main),
      '--instance',
      '0',
      '--force',
      '--console',
    ],
    {
      cwd: dir,
      env: {
        IOBROKER_DATA_DIR: dir,
        HOME: dir,
        PATH: `${withoutSu()}${delimiter}${process.env.PATH}`,
        TZ: process.env.TZ,
        // They would ask the internet for news: there is none.
        HTTP_PROXY: 'http://127.0.0.1:9',
        HTTPS_PROXY: 'http://127.0.0.1:9',
      },
      stdio: ['ignore', log, log],
    },
  );
  const pid = adapter.pid as number;
  adapters.set(pid, adapter);
  adapter.once('exit', () => {
    adapters.delete(pid);
    tell({ is: 'exited', pid });
  });
  return pid;
}

/** A folder for PATH with a `su` that refuses: admin tries well-known passwords of this machine's users with it. */
function withoutSu(): string {
  const folder = join(dir, 'bin');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'su'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  return folder;
}

process.on('message', ({ name, pid, signal }: KeeperRequest) => {
  if (name !== undefined) tell({ is: 'started', pid: start(name) });
  else adapters.get(pid)?.kill(signal);
});

process.on('disconnect', async () => {
  const gone = [...adapters.values()].map(adapter => once(adapter, 'exit'));
  for (const adapter of adapters.values()) adapter.kill('SIGKILL');
  await Promise.all(gone);
  rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  process.exit(0);
});

// Ctrl-C reaches all processes of a terminal; this one is the last.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
