// The databases' process, seen from the tests: requests with an answer each, and changes as they are told.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { childEnvironment } from './packages.ts';
import {
  type DatabaseSettings,
  type IobState,
  PORT_TAKEN,
  type Request,
  type RequestName,
  type Requests,
  type Told,
} from './protocol.ts';

const START_MS = 60_000;
const MODULE = fileURLToPath(new URL('./databases.ts', import.meta.url));

/** The ports of the databases. */
export interface Ports {
  readonly objectsPort: number;
  readonly statesPort: number;
}

/** Databases that run. */
export interface Databases {
  readonly pid: number;
  readonly ports: Ports;
  /** Asked in order, answered in order. @throws what the databases said, or that they are gone */
  ask<N extends RequestName>(name: N, given: Requests[N]['given']): Promise<Requests[N]['answer']>;
  /** Writes all to the disk and ends; `SIGKILL` does not. */
  end(signal?: 'SIGKILL'): Promise<void>;
}

/** How to start them. */
export interface DatabaseOptions {
  readonly dir: string;
  readonly watch: readonly string[];
  readonly onState: (id: string, state: IobState | null) => void;
  /** Those of before; free ones when left out. */
  readonly ports?: Ports;
}

/** Starts the databases over a folder, and writes the iobroker.json that leads adapters to them. */
export async function startDatabases(options: DatabaseOptions): Promise<Databases> {
  for (let attempt = 1; ; attempt++) {
    const ports = options.ports ?? { objectsPort: await freePort(), statesPort: await freePort() };
    const databases = await attemptStart(options, ports);
    if (databases) return databases;
    if (attempt === 5) throw new Error('ioBroker’s databases found no free port in five attempts');
  }
}

async function attemptStart(options: DatabaseOptions, ports: Ports): Promise<Databases | undefined> {
  const { dir, watch, onState } = options;
  writeFileSync(join(dir, 'iobroker.json'), JSON.stringify(configuration(dir, ports)));
  const child = fork(MODULE, [JSON.stringify({ dir, watch } satisfies DatabaseSettings)], {
    execArgv: ['--import', import.meta.resolve('tsx')],
    env: { ...childEnvironment(), IOBROKER_DATA_DIR: dir },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    serialization: 'advanced',
  });
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-20_000);
  });
  const waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  let count = 0;
  const exited = new Promise<number | null>(resolve => {
    child.once('exit', code => {
      for (const { reject } of waiting.values()) reject(new Error(`ioBroker’s databases are gone\n${said}`));
      waiting.clear();
      resolve(code);
    });
  });
  const up = new Promise<'up'>(resolve => {
    child.on('message', (told: Told) => {
      if (told.is === 'up') return resolve('up');
      if (told.is === 'state') return onState(told.id, told.state);
      const asked = waiting.get(told.number);
      waiting.delete(told.number);
      if (told.error === undefined) asked?.resolve(told.value);
      else asked?.reject(new Error(told.error));
    });
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), START_MS);
  const first = await Promise.race([up, exited]);
  clearTimeout(timer);
  if (first === PORT_TAKEN) return undefined;
  if (first !== 'up') throw new Error(`ioBroker’s databases did not start within ${START_MS} ms (${first}):\n${said}`);

  const ask: Databases['ask'] = (name, given) =>
    new Promise((resolve, reject) => {
      if (!child.connected) return reject(new Error('ioBroker’s databases are gone'));
      const number = ++count;
      waiting.set(number, { resolve: resolve as (value: unknown) => void, reject });
      child.send({ number, name, given } as Request);
    });
  return {
    pid: child.pid as number,
    ports,
    ask,
    async end(signal) {
      if (signal) child.kill(signal);
      else ask('stop', undefined).catch(() => {});
      await exited;
    },
  };
}

/** A port that nobody listens on now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

const configuration = (dir: string, { objectsPort, statesPort }: Ports) => {
  const database = (port: number) => ({
    type: 'jsonl',
    host: '127.0.0.1',
    port,
    dataDir: dir,
    // On a busy machine an adapter that waited for 5 s would give up.
    connectTimeout: 60_000,
    options: { auth_pass: '', retry_max_delay: 5_000, retry_max_count: 19, db: 0, family: 0 },
    backup: { disabled: true },
    jsonlOptions: {},
  });
  return {
    system: { hostname: 'test', statisticsInterval: 15_000 },
    objects: database(objectsPort),
    states: database(statesPort),
    log: { level: 'info', noStdout: false, transport: {} },
    plugins: {},
  };
};
