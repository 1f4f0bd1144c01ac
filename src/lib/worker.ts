// Worker threads: starting one from a module of ours, and asking it things over its port.
import { parentPort, receiveMessageOnPort, Worker, type WorkerOptions as WorkerSettings } from 'node:worker_threads';
import { asCausewayError, CausewayError, type ErrorJson } from './errors.ts';

/** What a worker can be asked: name → function. Arguments and answers must bear structured cloning. */
export type Answers<A> = { [K in keyof A]: (...args: never[]) => unknown };

/** The main thread's end. */
export interface WorkerLink<A extends Answers<A>> {
  /** Asks and waits for the answer. Rejects with the worker's own CausewayError, or INTERNAL once the worker is dead. */
  ask<K extends keyof A & string>(name: K, ...args: Parameters<A[K]>): Promise<Awaited<ReturnType<A[K]>>>;
  /** Ends the thread at once; what is still unanswered is rejected. */
  stop(): Promise<void>;
}

/** A question as it lies in the worker's port. */
export interface Request {
  readonly id: number;
  readonly name: string;
  readonly args: readonly never[];
}

type Question = [id: number, name: string, args: readonly unknown[]];
// A bare id says "done, nothing to tell": the answer to nearly every commit.
type Reply = number | [id: number, value: unknown] | [id: number, value: undefined, error: ErrorJson];
const NOTE_ID = 0;

/** How a worker is started. */
export interface WorkerOptions {
  /** For messages: "the store's worker". */
  readonly name: string;
  /** Room for objects that are gone at once, which is most of what some workers make; V8 takes up to 48 unless told. */
  readonly youngMegabytes?: number;
  /** Called once when the thread ended without being asked to. */
  readonly onExit?: (error: CausewayError) => void;
  /** Takes what the worker says unasked (`sendNote`). */
  readonly onNote?: (note: unknown) => void;
}

/**
 * Starts a worker from `new URL('./x-worker.ts', import.meta.url)`. Compiled, the module ends in `.js`; from sources it
 * is loaded through tsx, which does not hook itself into the workers of Node 20 (privatenumber/tsx#354).
 */
export function startWorker<A extends Answers<A>>(module: URL, options: WorkerOptions): WorkerLink<A> {
  const { youngMegabytes } = options;
  const limits: WorkerSettings = youngMegabytes ? { resourceLimits: { maxYoungGenerationSizeMb: youngMegabytes } } : {};
  const isCompiled = !import.meta.url.endsWith('.ts');
  const worker = isCompiled ? new Worker(compiledUrl(module), limits) : startFromSource(module, limits);
  const waiting = new Map<number, { resolve: (value: never) => void; reject: (error: CausewayError) => void }>();
  let lastId = NOTE_ID;
  let stopping = false;
  let dead: CausewayError | undefined;
  let failure: unknown;

  worker.on('message', (reply: Reply) => {
    const [id, value, error] = typeof reply === 'number' ? [reply] : reply;
    if (id === NOTE_ID) return options.onNote?.(value);
    const asker = waiting.get(id);
    waiting.delete(id);
    if (error) asker?.reject(new CausewayError(error.code, error.message, error));
    else asker?.resolve(value as never);
  });
  worker.on('error', error => {
    failure = error;
  });
  worker.on('exit', () => {
    const reason = failure instanceof Error ? failure.message : 'it ended';
    dead = new CausewayError('INTERNAL', `${options.name} is gone: ${stopping ? 'it was stopped' : reason}`, {
      hint: 'Restart the gateway; what was committed before is kept.',
      cause: failure,
    });
    for (const asker of waiting.values()) asker.reject(dead);
    waiting.clear();
    if (!stopping) options.onExit?.(dead);
  });

  return {
    ask(name, ...args) {
      if (dead) return Promise.reject(dead);
      const id = ++lastId;
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        try {
          worker.postMessage([id, name, args] satisfies Question);
        } catch (error) {
          waiting.delete(id);
          reject(asCausewayError(error));
        }
      });
    },
    async stop() {
      stopping = true;
      await worker.terminate();
    },
  };
}

const compiledUrl = (module: URL): URL => new URL(module.href.replace(/\.ts$/, '.js'));

function startFromSource(module: URL, limits: WorkerSettings): Worker {
  const tsx = JSON.stringify(import.meta.resolve('tsx/esm/api'));
  const boot = `import(${tsx}).then(tsx => { tsx.register(); return import(${JSON.stringify(module.href)}); });`;
  return new Worker(boot, { ...limits, eval: true, execArgv: [] });
}

const port = () => {
  if (!parentPort) throw new CausewayError('INTERNAL', 'this module runs in a worker thread only');
  return parentPort;
};

/** In the worker: hands over all requests that have arrived, so that they can share work (one transaction, one fsync). */
export function takeRequests(take: (requests: Request[]) => void): void {
  const from = port();
  const open = ([id, name, args]: Question): Request => ({ id, name, args: args as never[] });
  from.on('message', (first: Question) => {
    const requests = [open(first)];
    for (let next = receiveMessageOnPort(from); next; next = receiveMessageOnPort(from)) {
      requests.push(open(next.message as Question));
    }
    take(requests);
  });
}

/** In the worker: answers one request. */
export function sendAnswer(id: number, value?: unknown): void {
  port().postMessage(value === undefined ? id : [id, value]);
}

/** In the worker: answers one request with an error. */
export function sendError(id: number, thrown: unknown): void {
  port().postMessage([id, undefined, asCausewayError(thrown).toJSON()]);
}

/** In the worker: tells the main thread something unasked. */
export function sendNote(note: unknown): void {
  port().postMessage([NOTE_ID, note]);
}

/** In the worker: answers a request from the table. */
export async function answer<A extends Answers<A>>(answers: A, request: Request): Promise<void> {
  try {
    const found = answers[request.name as keyof A];
    if (!found) throw new CausewayError('INTERNAL', `the worker does not know "${request.name}"`);
    const value = found(...request.args);
    sendAnswer(request.id, value instanceof Promise ? await value : value);
  } catch (error) {
    sendError(request.id, error);
  }
}

/** In the worker: answers every request from the table, in the order of arrival (asynchronous answers as they come). */
export function answerRequests<A extends Answers<A>>(answers: A): void {
  takeRequests(requests => {
    for (const request of requests) void answer(answers, request);
  });
}
