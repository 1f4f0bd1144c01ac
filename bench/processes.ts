// Child processes of the benchmarks: what is measured never shares a process with what measures.
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';

/** A child that answers one request at a time, in order. */
export interface Child {
  readonly pid: number;
  /** @throws what the child threw, or that it died */
  ask<T = unknown>(request: object): Promise<T>;
  stop(): Promise<void>;
}

type Reply = { readonly value?: unknown; readonly error?: string };

/** Starts a module of this folder (`driver.ts`) as a process that `serveRequests` in it makes answer. */
export function startChild(module: string, args: readonly string[] = [], flags: readonly string[] = []): Child {
  const path = fileURLToPath(new URL(module, import.meta.url));
  const child = fork(path, [...args], {
    execArgv: ['--import', import.meta.resolve('tsx'), ...flags],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    serialization: 'advanced',
  });
  return {
    pid: child.pid as number,
    ask<T>(request: object) {
      return new Promise<T>((resolve, reject) => {
        const onReply = ({ value, error }: Reply) => {
          child.off('exit', onExit);
          if (error === undefined) resolve(value as T);
          else reject(new Error(`${module}: ${error}`));
        };
        const onExit = () => reject(new Error(`${module} ended before it answered`));
        child.once('message', onReply).once('exit', onExit);
        child.send(request);
      });
    },
    stop: () => stopped(child),
  };
}

/** Starts a compiled program; its output is kept and told when it dies by itself. */
export function startProgram(file: string, args: readonly string[], cwd: string, flags: readonly string[] = []): Child {
  const child = spawn(process.execPath, [...flags, file, ...args], { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  const keep = (text: Buffer) => {
    output = (output + text.toString()).slice(-4_000);
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  child.on('exit', code => {
    if (code !== 0 && code !== null) console.error(`${file} ended with ${code}:\n${output}`);
  });
  return {
    pid: child.pid as number,
    ask: () => Promise.reject(new Error('a program of others answers nothing')),
    stop: () => stopped(child),
  };
}

async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  const hard = setTimeout(() => child.kill('SIGKILL'), 15_000);
  await exit;
  clearTimeout(hard);
}

/** In the child: answers each request with what `answer` returns. */
export function serveRequests(answer: (request: never) => unknown): void {
  process.on('message', async request => {
    try {
      process.send?.({ value: await answer(request as never) } satisfies Reply);
    } catch (error) {
      process.send?.({
        error: error instanceof Error ? (error.stack ?? error.message) : String(error),
      } satisfies Reply);
    }
  });
  process.on('disconnect', () => process.exit());
  process.on('SIGTERM', () => process.exit());
}

/** A port that nobody listens on now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address ? address.port : 0;
}
