// The real gateway in a process of its own, from a temporary CAUSEWAY_HOME, on free ports. Whatever was started is ended
// by `end`, which belongs into `afterEach`.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const TSX = import.meta.resolve('tsx');
const READY_MS = 45_000;
const STOP_MS = 15_000;
// Without it a gateway would wait for the port of the last one.
const FREE_PORTS = { http: { port: 0 }, mqtt: { port: 0 } };

/** What lies in a CAUSEWAY_HOME: text is written as it is, anything else as YAML. */
export interface HomeFiles {
  /** Merged over free ports. */
  readonly config?: { readonly data?: { readonly dir: string } } & Readonly<Record<string, object>>;
  readonly house?: object | string;
  /** File below `rules/` → rule. */
  readonly rules?: Readonly<Record<string, object | string>>;
}

/** A temporary CAUSEWAY_HOME. */
export interface Home {
  readonly dir: string;
  readonly data: string;
  /** @param file below the folder, or absolute */
  write(file: string, content: object | string): void;
  read(file: string): string;
}

/** How to start one. */
export interface StartOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** How a process ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** An operation was refused; `error` is the JSON that REST gave. */
export class CallError extends Error {
  readonly status: number;
  readonly error: { code: string; message: string; path?: string; hint?: string; details?: unknown };

  constructor(status: number, error: CallError['error']) {
    super(`${status} ${error.code}: ${error.message}`);
    this.status = status;
    this.error = error;
  }
}

// biome-ignore lint/suspicious/noExplicitAny: what operations answer is for the tests to look into
export type Answer = any;

/** A gateway that is ready. */
export interface GatewayProcess {
  readonly pid: number;
  readonly home: Home;
  /** `http://127.0.0.1:…` */
  readonly url: string;
  /** `mqtt://127.0.0.1:…` */
  readonly mqttUrl: string;
  readonly exited: Promise<Exit>;
  stdout(): string;
  stderr(): string;
  /** The log's lines, parsed. */
  log(): Record<string, unknown>[];
  /** Calls an operation over REST. @throws CallError */
  call(op: string, input?: object, token?: string): Promise<Answer>;
  /** Ends it without a word, and waits until it is gone. */
  kill(): Promise<void>;
  /** Ends it as a supervisor does (SIGTERM). */
  stop(): Promise<Exit>;
}

/** Homes and processes of one test. */
export interface GatewayKit {
  home(files?: HomeFiles): Home;
  /** Starts a gateway and waits until it is ready. Rejects with what it said when it ends before. */
  start(home: Home, options?: StartOptions): Promise<GatewayProcess>;
  /** Starts one and does not wait for it; gives what ends it without a word. */
  launch(home: Home): { kill(): Promise<void> };
  /** Runs a command line to its end. */
  run(home: Home, args: readonly string[], env?: StartOptions['env']): Promise<Exit>;
  end(): Promise<void>;
}

/** A kit; one for each test file. */
export function gatewayKit(): GatewayKit {
  const children = new Set<ChildProcess>();
  const folders: string[] = [];

  const launch = (home: Home, args: readonly string[], env: StartOptions['env'] = {}) => {
    const inherited = Object.entries(process.env).filter(([name]) => !/^(CAUSEWAY_|VITEST|NODE_OPTIONS)/.test(name));
    const child = spawn(process.execPath, ['--import', TSX, MAIN, ...args], {
      cwd: home.dir,
      env: { ...Object.fromEntries(inherited), CAUSEWAY_HOME: home.dir, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const said = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => {
        said[name] += text;
      });
    }
    children.add(child);
    const exited = new Promise<Exit>(resolve =>
      child.once('close', (code, signal) => {
        children.delete(child);
        resolve({ code, signal, ...said });
      }),
    );
    return { child, said, exited };
  };

  return {
    home(files = {}) {
      const dir = mkdtempSync(join(tmpdir(), 'causeway-e2e-'));
      folders.push(dir);
      const home = homeAt(dir, resolve(dir, files.config?.data?.dir ?? 'data'));
      home.write('config.yaml', { ...FREE_PORTS, ...files.config });
      if (files.house !== undefined) home.write('house.yaml', files.house);
      mkdirSync(join(dir, 'rules'), { recursive: true });
      for (const [file, rule] of Object.entries(files.rules ?? {})) home.write(join('rules', file), rule);
      return home;
    },

    async start(home, { args = ['serve'], env } = {}) {
      const { child, said, exited } = launch(home, args, env);
      const early = exited.then(exit => {
        throw new Error(`the gateway ended before it was ready (${exit.code ?? exit.signal}):\n${exit.stderr}`);
      });
      early.catch(() => {});
      const { http, mqtt } = await Promise.race([ready(home, child), early]);
      const ended = async (signal: NodeJS.Signals) => {
        child.kill(signal);
        return Promise.race([
          exited,
          pause(STOP_MS, undefined, { ref: false }).then(() => {
            throw new Error(`the gateway did not end within ${STOP_MS} ms of ${signal}\n${said.stdout}${said.stderr}`);
          }),
        ]);
      };
      return {
        pid: child.pid as number,
        home,
        url: http,
        mqttUrl: mqtt,
        exited,
        stdout: () => said.stdout,
        stderr: () => said.stderr,
        log: () => said.stdout.split('\n').flatMap(line => (line.startsWith('{') ? [JSON.parse(line)] : [])),
        call: (op, input, token) => call(http, op, input, token),
        kill: async () => void (await ended('SIGKILL')),
        stop: () => ended('SIGTERM'),
      };
    },

    launch(home) {
      const { child, exited } = launch(home, ['serve']);
      return {
        async kill() {
          child.kill('SIGKILL');
          await exited;
        },
      };
    },

    run: (home, args, env) => launch(home, args, env).exited,

    async end() {
      const gone = [...children].map(child => new Promise(resolve => child.once('close', resolve)));
      for (const child of children) child.kill('SIGKILL');
      await Promise.all(gone);
      for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
    },
  };
}

function homeAt(dir: string, data: string): Home {
  return {
    dir,
    data,
    write(file, content) {
      const path = resolve(dir, file);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, typeof content === 'string' ? content : stringify(content));
    },
    read: file => readFileSync(join(dir, file), 'utf8'),
  };
}

/** Waits until the process has said where it listens, and is ready there. */
async function ready(home: Home, child: ChildProcess): Promise<{ http: string; mqtt: string }> {
  const deadline = performance.now() + READY_MS;
  while (performance.now() < deadline) {
    const told = addresses(home, child.pid);
    if (
      told &&
      (await fetch(`${told.http}/readyz`)
        .then(answer => answer.ok)
        .catch(() => false))
    )
      return told;
    await pause(20);
  }
  throw new Error(`the gateway was not ready within ${READY_MS} ms`);
}

function addresses(home: Home, pid: number | undefined): { http: string; mqtt: string } | undefined {
  for (const folder of ['.', 'demo', 'demo-hubitat', 'demo-unifi'].map(name => join(home.data, name))) {
    try {
      const told = JSON.parse(readFileSync(join(folder, 'gateway.json'), 'utf8')) as {
        pid: number;
        addresses: string[];
      };
      const [http, mqtt = ''] = told.addresses;
      // A process that was killed has left its file behind.
      if (told.pid === pid && http !== undefined) return { http, mqtt };
    } catch {
      // Not there yet, or half written.
    }
  }
  return undefined;
}

async function call(url: string, op: string, input: object = {}, token?: string): Promise<Answer> {
  const response = await fetch(`${url}/api/call/${op}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...(token !== undefined && { Authorization: `Bearer ${token}` }) },
    body: JSON.stringify(input),
  });
  const body = (await response.json()) as { error?: CallError['error'] };
  if (response.ok) return body;
  throw new CallError(response.status, body.error ?? { code: 'NONE', message: JSON.stringify(body) });
}
