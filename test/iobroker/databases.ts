// A process of its own with ioBroker's real databases, the ones that js-controller would run. Started by harness.ts with
// DatabaseSettings as its only argument; ends with the process that started it.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { packageFolder } from './packages.ts';
import type { Request, RequestName, Requests, Told } from './protocol.ts';
import {
  type DatabaseSettings,
  type IobLog,
  type IobObject,
  type IobState,
  type IobWrite,
  PORT_TAKEN,
} from './protocol.ts';

interface Ends {
  destroy(): Promise<void>;
}

interface ObjectsClient extends Ends {
  setObjectAsync(id: string, object: IobObject): Promise<unknown>;
  getObjectAsync(id: string): Promise<IobObject | null | undefined>;
  delObjectAsync(id: string): Promise<void>;
}

interface StatesClient extends Ends {
  setState(id: string, state: IobWrite): Promise<unknown>;
  getState(id: string): Promise<IobState | null | undefined>;
  delState(id: string): Promise<unknown>;
  subscribe(pattern: string): Promise<void>;
  pushLog(id: string, log: IobLog): Promise<unknown>;
}

type Change = (id: string, state: IobState | null) => void;
type Kind = 'objects' | 'states';
type Maker<T> = new (settings: object) => T;

const settings = JSON.parse(process.argv[2] as string) as DatabaseSettings;
const require = createRequire(join(packageFolder('iobroker.js-controller'), 'package.json'));
const made = <T>(name: string, kind: 'Server' | 'Client'): Maker<T> => require(`@iobroker/${name}`)[kind] as Maker<T>;

// Nobody hears it any more once the channel is closed.
const tell = (told: Told): void => void process.send?.(told, () => {});

// The servers say it as information only, and would wait for ever.
const watchPort = (line: string): void => {
  if (/Error inMem-\w+ listening/.test(line)) process.exit(PORT_TAKEN);
};
const say = (line: string): void => console.error(line);
const logger = { silly() {}, debug() {}, info: watchPort, warn: say, error: say };

/** A server or a client, once it is connected. */
const connected = <T>(Made: Maker<T>, connection: object, change: Change = () => {}): Promise<T> =>
  new Promise(resolve => {
    const one: T = new Made({
      namespace: 'harness',
      hostname: 'test',
      logger,
      connection,
      connected: () => setImmediate(() => resolve(one)),
      change,
    });
  });

// What adapters read too.
const configuration = JSON.parse(readFileSync(join(settings.dir, 'iobroker.json'), 'utf8')) as Record<Kind, object>;
const ends: Ends[] = [
  await connected<Ends>(made('db-objects-jsonl', 'Server'), configuration.objects),
  await connected<Ends>(made('db-states-jsonl', 'Server'), configuration.states),
];
const objects = await connected<ObjectsClient>(made('db-objects-redis', 'Client'), configuration.objects);
const states = await connected<StatesClient>(made('db-states-redis', 'Client'), configuration.states, (id, state) =>
  tell({ is: 'state', id, state }),
);
ends.unshift(objects, states);
for (const pattern of settings.watch) await states.subscribe(pattern);

const SIDE_BY_SIDE = 200;
const LOG_READER = 'system.adapter.admin.0';

/** Runs the steps some at a time; a step for an id that is on its way waits for it. */
async function inOrder<T>(
  entries: readonly (readonly [string, T])[],
  step: (id: string, item: T) => Promise<unknown>,
): Promise<undefined> {
  let running = new Map<string, Promise<unknown>>();
  for (const [id, item] of entries) {
    if (running.has(id) || running.size >= SIDE_BY_SIDE) {
      await Promise.all(running.values());
      running = new Map();
    }
    running.set(id, step(id, item));
  }
  await Promise.all(running.values());
}

const answers: { [N in RequestName]: (given: Requests[N]['given']) => Promise<Requests[N]['answer']> } = {
  setObjects: entries =>
    inOrder(entries, (id, object) => objects.setObjectAsync(id, { native: {}, ...object, _id: id })),
  getObject: async id => (await objects.getObjectAsync(id)) ?? null,
  deleteObject: async id => void (await objects.delObjectAsync(id)),
  setStates: entries => inOrder(entries, (id, state) => states.setState(id, state)),
  getState: async id => (await states.getState(id)) ?? null,
  deleteState: async id => void (await states.delState(id)),
  // As adapters do: only to one that asked for it.
  log: async line => {
    if ((await states.getState(`${LOG_READER}.logging`))?.val === true) await states.pushLog(LOG_READER, line);
  },
  stop: async () => {
    for (const end of ends) await end.destroy();
    setImmediate(() => process.exit(0));
  },
};

async function answered<N extends RequestName>({ number, name, given }: Request<N>): Promise<void> {
  try {
    tell({ is: 'answer', number, value: await answers[name](given) });
  } catch (error) {
    tell({ is: 'answer', number, error: error instanceof Error ? error.message : String(error) });
  }
}

// One after another: what a test writes without waiting lands in the order in which it wrote it.
let last: Promise<void> = Promise.resolve();
process.on('message', (request: Request) => {
  last = last.then(() => answered(request));
});
process.on('disconnect', () => process.exit(0));
tell({ is: 'up' });
