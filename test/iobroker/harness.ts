// A real ioBroker for the tests, on free ports of 127.0.0.1 and in a folder of its own: the databases of js-controller in
// one process, each adapter in another. The test plays the devices. What js-controller itself does beside (starting
// adapters, telling which are alive) is done here.

import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { eventually } from '../kit/eventually.ts';
import { type Adapter, keepAdapters } from './adapters.ts';
import { type Databases, freePort, startDatabases } from './controller.ts';
import type { IobLog, IobObject, IobState, IobValue, IobWrite } from './protocol.ts';
import {
  adapterObjects,
  HOST,
  type InitialState,
  type IobUser,
  isCommand,
  ownerOf,
  stateObject,
  systemObjects,
  userObjects,
  writeDatabaseFiles,
} from './seed.ts';
import { layWire, type Wire } from './wire.ts';

export type { IobObject, IobState, IobUser, IobValue, IobWrite, Wire };

const READY_MS = 90_000;

/** Adapters that can be started. */
export type AdapterName = 'ws' | 'admin' | 'history';

/** What kind of ioBroker. */
export interface IoBrokerOptions {
  /** `ws` alone when left out. */
  readonly adapters?: readonly AdapterName[];
  /** The ws and admin adapters ask for a password, and this user exists. No password is needed when left out. */
  readonly auth?: IobUser;
  /** How long a token is good for, seconds; an hour when left out. */
  readonly tokenSeconds?: number;
  /** `en` when left out. */
  readonly language?: string;
  /** States that are there from the start; the quick way to thousands of them. */
  readonly states?: Iterable<InitialState>;
  /** Patterns of states whose changes are kept in `seen`; all but `system.*` when left out. Few for loads. */
  readonly watch?: readonly string[];
}

/** A change of a watched state; null when it was deleted or has expired. */
export interface Seen {
  readonly id: string;
  readonly state: IobState | null;
}

/** What an adapter makes of a command; nothing when it does not react. */
export type Answer = (id: string, state: IobState) => IobWrite | undefined;

/** A running ioBroker. */
export interface IoBroker {
  /** The ws adapter: `ws://127.0.0.1:…` */
  readonly url: string;
  /** The admin adapter, where it was asked for. */
  readonly adminUrl: string;
  /** A wire to the ws adapter, to count and cut connections: use `wireUrl` for `url`. */
  readonly wire: Wire;
  readonly wireUrl: string;
  /** Changes of watched states, oldest first. */
  readonly seen: Seen[];
  /** Commands among them: states that are not confirmed. */
  commands(id?: string): IobState[];
  /** What the devices do with commands; confirming them as they are, at first. */
  onCommand: Answer;
  /** Called as soon as a change of a watched state is known; nothing at first. */
  onSeen: (change: Seen) => void;

  setObject(id: string, object: IobObject): Promise<void>;
  setObjects(objects: Readonly<Record<string, IobObject>>): Promise<void>;
  getObject(id: string): Promise<IobObject | null>;
  deleteObject(id: string): Promise<void>;
  /** Makes a state's object, and gives it a value where one is told. `common` as in ioBroker. */
  addState(id: string, common: Readonly<Record<string, unknown>>, value?: IobValue): Promise<void>;
  /** Makes an instance of an adapter that only the test plays, with its `alive` and its `info.connection`. */
  addInstance(name: string, status?: { alive?: boolean; connection?: boolean }): Promise<void>;
  /** Adds or changes a user. */
  setUser(user: IobUser): Promise<void>;
  /** As the adapter that owns the state, confirmed, unless told otherwise. */
  setState(id: string, state: IobWrite | IobValue): Promise<void>;
  /** Many; those of one id keep their order. */
  setStates(states: readonly (readonly [id: string, state: IobWrite | IobValue])[]): Promise<void>;
  getState(id: string): Promise<IobState | null>;
  deleteState(id: string): Promise<void>;
  /** A line in the log of all adapters that read logs. */
  log(line: Omit<IobLog, 'ts'>): Promise<void>;

  /** Its objects are written where they are missing; resolves when it answers. */
  startAdapter(name: AdapterName): Promise<void>;
  /** `crash`: without a farewell. */
  stopAdapter(name: AdapterName, how?: 'crash'): Promise<void>;
  /** Its process stands still, with all connections open, until it goes on. */
  holdAdapter(name: AdapterName): void;
  releaseAdapter(name: AdapterName): void;
  /** What the adapter wrote to its log. */
  adapterLog(name: AdapterName): string;
  /** js-controller is stopped: adapters, then databases. */
  stopController(): Promise<void>;
  /** The databases are gone, and the adapters left alone with open connections to their clients. */
  loseDatabases(): Promise<void>;
  /** The databases come back with what they had, at the same ports, and the adapters that ran. */
  startController(): Promise<void>;
  /** Its folder, and its processes. */
  readonly dir: string;
  pids(): number[];
  /** Ends all processes and removes the folder. */
  end(): Promise<void>;
}

/** Starts one; `end` belongs into `afterEach` or `afterAll`. */
export async function startIoBroker(options: IoBrokerOptions = {}): Promise<IoBroker> {
  const dir = mkdtempSync(join(tmpdir(), 'causeway-iobroker-'));
  try {
    return await started(options, dir);
  } catch (error) {
    rmSync(dir, { recursive: true, force: true });
    throw error;
  }
}

async function started(options: IoBrokerOptions, dir: string): Promise<IoBroker> {
  const { adapters: wanted = ['ws'], auth, tokenSeconds = 3_600, language = 'en', watch = ['*'] } = options;
  const seen: Seen[] = [];
  const resumed: AdapterName[] = [];
  const adapters = new Map<AdapterName, Adapter>();
  const ports: Readonly<Record<AdapterName, number>> = { ws: await freePort(), admin: await freePort(), history: 0 };
  const web = { bind: '127.0.0.1', auth: auth !== undefined, ttl: tokenSeconds };
  const natives: Readonly<Record<AdapterName, Readonly<Record<string, unknown>>>> = {
    ws: { ...web, port: ports.ws },
    admin: { ...web, port: ports.admin, autoUpdate: 0 },
    history: { storeDir: join(dir, 'history'), enableLogging: false },
  };

  const onState = (id: string, state: IobState | null): void => {
    if (id.startsWith('system.')) return;
    seen.push({ id, state });
    io.onSeen({ id, state });
    const answer = isCommand(state) ? io.onCommand(id, state) : undefined;
    // The databases may have been stopped meanwhile.
    if (answer) io.setState(id, answer).catch(() => {});
  };
  if (options.states) writeDatabaseFiles(dir, options.states);
  let databases: Databases = await startDatabases({ dir, watch, onState });
  const wire = await layWire(ports.ws);
  const kept = keepAdapters(dir);

  const owned = (id: string, state: IobWrite | IobValue): IobWrite => ({
    ack: true,
    from: ownerOf(id),
    ...(typeof state === 'object' && state !== null ? state : { val: state }),
  });
  const hostState = (id: string, val: IobValue) => io.setState(id, { val, from: HOST });

  const answers = async (name: AdapterName): Promise<boolean> =>
    name === 'history' ? (await io.getState('system.adapter.history.0.alive'))?.val === true : speaks(ports[name]);

  const io: IoBroker = {
    dir,
    url: `ws://127.0.0.1:${ports.ws}`,
    adminUrl: `ws://127.0.0.1:${ports.admin}`,
    wire,
    wireUrl: `ws://127.0.0.1:${wire.port}`,
    seen,
    commands: id => seen.flatMap(one => ((id ?? one.id) === one.id && isCommand(one.state) ? [one.state] : [])),
    onCommand: (_id, state) => ({ val: state.val }),
    onSeen: () => {},

    setObject: (id, object) => databases.ask('setObjects', [[id, object]]),
    setObjects: objects => databases.ask('setObjects', Object.entries(objects)),
    getObject: id => databases.ask('getObject', id),
    deleteObject: id => databases.ask('deleteObject', id),
    async addState(id, common, value) {
      await io.setObject(id, stateObject({ name: id.split('.').at(-1), ...common }));
      if (value !== undefined) await io.setState(id, value);
    },
    async addInstance(name, { alive = true, connection } = {}) {
      const [adapter] = name.split('.');
      const common = { name: adapter, title: adapter, version: '1.0.0', host: 'test', enabled: true, mode: 'daemon' };
      await io.setObject(`system.adapter.${name}`, { type: 'instance', common, native: {} });
      await io.addState(`system.adapter.${name}.alive`, { type: 'boolean', role: 'indicator.state', write: false });
      await hostState(`system.adapter.${name}.alive`, alive);
      if (connection === undefined) return;
      const common2 = { type: 'boolean', role: 'indicator.connected', write: false };
      await io.addState(`${name}.info.connection`, common2, connection);
    },
    setUser: user => databases.ask('setObjects', userObjects(user)),
    setState: (id, state) => databases.ask('setStates', [[id, owned(id, state)]]),
    setStates: states =>
      databases.ask(
        'setStates',
        states.map(([id, state]) => [id, owned(id, state)]),
      ),
    getState: id => databases.ask('getState', id),
    deleteState: id => databases.ask('deleteState', id),
    log: line => databases.ask('log', { ...line, ts: Date.now() }),

    async startAdapter(name) {
      const [own] = adapterObjects(name, natives[name]).slice(1);
      if (own && (await io.getObject(own[0])) === null) {
        await databases.ask('setObjects', adapterObjects(name, natives[name]));
      }
      for (let attempt = 1; ; attempt++) {
        const adapter = await kept.start(name);
        adapters.set(name, adapter);
        const isUp = await eventually(
          async () => (adapter.isRunning ? (await answers(name)) && 'up' : 'ended'),
          `the start of the adapter ${name}`,
          READY_MS,
        );
        if (isUp === 'up') return;
        // On a busy machine it may give up; js-controller would start it again as well.
        if (attempt === 3) throw new Error(`the adapter ${name} ended as it started:\n${adapter.log()}`);
      }
    },
    async stopAdapter(name, how) {
      await adapters.get(name)?.end(how && 'SIGKILL');
      adapters.delete(name);
      await hostState(`system.adapter.${name}.0.alive`, false);
      await hostState(`system.adapter.${name}.0.connected`, false);
    },
    holdAdapter: name => adapters.get(name)?.signal('SIGSTOP'),
    releaseAdapter: name => adapters.get(name)?.signal('SIGCONT'),
    adapterLog: name => adapters.get(name)?.log() ?? '',
    async stopController() {
      const running = [...adapters.keys()];
      await Promise.all(running.map(name => io.stopAdapter(name)));
      await hostState(`${HOST}.alive`, false);
      await databases.end();
      resumed.splice(0, Infinity, ...running);
    },
    async loseDatabases() {
      resumed.splice(0, Infinity, ...adapters.keys());
      await databases.end();
    },
    async startController() {
      databases = await startDatabases({ dir, watch, onState, ports: databases.ports });
      await hostState(`${HOST}.alive`, true);
      for (const name of resumed.splice(0)) {
        // One that outlived the databases does not come back by itself: a new js-controller ends it.
        await adapters.get(name)?.end('SIGKILL');
        await io.startAdapter(name);
      }
    },
    pids: () => [databases.pid, ...[...adapters.values()].map(({ pid }) => pid)],
    async end() {
      await wire.end();
      await databases.end('SIGKILL');
      await kept.end();
    },
  };

  try {
    await databases.ask('setObjects', [...systemObjects(language), ...(auth ? userObjects(auth) : [])]);
    await hostState(`${HOST}.alive`, true);
    await Promise.all(wanted.map(name => io.startAdapter(name)));
  } catch (error) {
    await io.end();
    throw error;
  }
  return io;
}

/** Whether an adapter says a word over its socket; with `auth` it says that it wants a password. */
async function speaks(port: number): Promise<boolean> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/?sid=1&name=harness`);
  try {
    const word = once(socket, 'message').then(() => true);
    const silence = once(socket, 'close').then(() => false);
    return await Promise.race([word, silence, pause(5_000, false, { ref: false })]);
  } catch {
    return false;
  } finally {
    socket.on('error', () => {});
    socket.terminate();
  }
}
