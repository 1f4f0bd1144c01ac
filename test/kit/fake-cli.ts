// The command line without a process: what it printed, and parts that do as a test says.
import { PassThrough } from 'node:stream';
import type { CliIo, CliParts } from '../../src/cli/parts.ts';
import { runCli } from '../../src/cli/run.ts';
import { systemClock } from '../../src/lib/clock.ts';

interface Options {
  readonly parts?: Partial<CliParts>;
  readonly env?: Record<string, string>;
  readonly stdin?: string;
  readonly cwd?: string;
  readonly home?: string;
}

const absent = async (): Promise<never> => {
  throw new Error('not in this test');
};

/** Starts a command line; `done` resolves with its exit code. */
export function startCli(argv: readonly string[], options: Options = {}) {
  const out: string[] = [];
  const err: string[] = [];
  const into = (lines: string[]) => {
    const stream = new PassThrough();
    stream.on('data', chunk => lines.push(String(chunk)));
    return stream;
  };
  const stop = new AbortController();
  const stdin = new PassThrough();
  stdin.end(options.stdin ?? '');
  const io: CliIo = {
    env: options.env ?? {},
    stdin,
    stdout: into(out),
    stderr: into(err),
    cwd: options.cwd ?? '/nowhere',
    home: options.home ?? '/home/me',
    clock: systemClock,
    signal: stop.signal,
  };
  const parts: CliParts = {
    version: '1.2.3',
    bin: '/opt/causeway/bin/causeway.mjs',
    serve: absent,
    check: absent,
    simulate: absent,
    backup: absent,
    restore: absent,
    ...options.parts,
  };
  return {
    done: runCli(argv, parts, io),
    out: () => out.join(''),
    err: () => err.join(''),
    interrupt: () => stop.abort(),
  };
}

/** Runs a command line to its end. */
export async function cli(argv: readonly string[], options: Options = {}) {
  const { done, out, err } = startCli(argv, options);
  const code = await done;
  // The streams hand on in the next turn of the loop.
  await new Promise(resolve => setImmediate(resolve));
  return { code, out: out(), err: err() };
}
