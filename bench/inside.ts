// The compiled engine alone in a process, without a bus: what it costs from an event's dispatch to the admission of a run,
// with holds armed, and what pending timers weigh.

import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { GUARD_DEFAULTS } from '../src/engine/guard.ts';
import { serveRequests } from './processes.ts';

const [dist = ''] = process.argv.slice(2);
const load = <T>(module: string): Promise<T> => import(pathToFileURL(join(dist, module)).href) as Promise<T>;
const { Engine } = await load<typeof import('../src/engine/engine.ts')>('src/engine/engine.js');
const { requireRule } = await load<typeof import('../src/engine/rules/schema.ts')>('src/engine/rules/schema.js');
const { systemClock } = await load<typeof import('../src/lib/clock.ts')>('src/lib/clock.js');
const { silentLog } = await load<typeof import('../src/lib/log.ts')>('src/lib/log.js');
const { deviceOf } = await load<typeof import('../src/model/device.ts')>('src/model/device.js');
const { Devices } = await load<typeof import('../src/state/devices.ts')>('src/state/devices.js');
const { House } = await load<typeof import('../src/state/house.ts')>('src/state/house.js');
const { Values } = await load<typeof import('../src/state/values.ts')>('src/state/values.js');
const { memoryStore } = await load<typeof import('../src/store/memory.ts')>('src/store/memory.js');
const { sqliteStore } = await load<typeof import('../src/store/sqlite.ts')>('src/store/sqlite.js');
const { openJournal } = await load<typeof import('../src/store/journal.ts')>('src/store/journal.js');
const { Timeline } = await load<typeof import('../src/engine/timeline.ts')>('src/engine/timeline.js');

type Store = ReturnType<typeof memoryStore>;
type Sink = ReturnType<InstanceType<typeof Engine>['sink']>;

interface Life {
  readonly engine: InstanceType<typeof Engine>;
  readonly sink: Sink;
  readonly store: Pick<Store, 'close'>;
}

const AUTHORITY = { name: 'bench', devices: true, house: true, rules: true };
const BATCH = 64;

const button = (i: number) => ({
  id: `rule-${i}`,
  name: `Rule ${i}`,
  limits: { runs: 100_000, per: '250ms' },
  triggers: [{ type: 'event', device: `bench:${i}`, name: 'pushed', value: 1 }],
  condition: { type: 'mode', is: 'home' },
  actions: [{ type: 'log', message: 'pushed' }],
});

const hold = (i: number) => ({
  id: `rule-${i}`,
  name: `Rule ${i}`,
  triggers: [{ type: 'numeric', device: `bench:${i}`, attribute: 'temperature', above: 20, for: '1h' }],
  actions: [{ type: 'log', message: 'it has been warm for an hour' }],
});

/** Rules that hold over all topics that begin so: as many timers as topics for each, and little else to restore. */
const watchers = Array.from({ length: 5 }, (_, i) => ({
  id: `rule-${i}`,
  name: `Rule ${i}`,
  triggers: [{ type: 'mqtt', topic: 'sensor/+', path: 'temperature', above: 20 + i, for: '1h' }],
  actions: [{ type: 'log', message: 'it has been warm for an hour' }],
}));

async function live(rules: readonly object[], devices: number, path?: string): Promise<Life> {
  // Without a file the engine is measured alone: what a store costs belongs to the store.
  const store = path === undefined ? { ...memoryStore(), commit: async () => {} } : await sqliteStore({ path });
  const house = new House();
  house.declare(['home'], {}, 0);
  const nothing = () => {};
  const engine = new Engine(
    {
      clock: systemClock,
      log: silentLog,
      store,
      devices: new Devices(),
      values: new Values(),
      house,
      backends: new Map([
        [
          'bench',
          { id: 'bench', kind: 'bench', start: async () => {}, stop: async () => {}, execute: async () => {} } as never,
        ],
      ]),
      surroundings: { zone: 'UTC', place: undefined, periods: {}, scenes: {}, isWorkday: () => null },
      settings: { guard: GUARD_DEFAULTS, readyTimeoutMs: 0, clockCheckMs: 0, fileAuthority: AUTHORITY },
      sinks: {
        onEvent: nothing,
        onTrace: nothing,
        onGuard: nothing,
        onRule: nothing,
        onEffect: nothing,
        onResult: nothing,
        onLog: nothing,
      },
      deviceBudget: 60,
    },
    { skew: 0 },
  );
  const stored = rules.map(rule => ({ rule: requireRule(rule), revision: 1, authority: AUTHORITY }));
  await engine.start(stored, (await store.load()).tables);
  const sink = engine.sink('bench');
  sink.devices(
    Array.from({ length: devices }, (_, i) =>
      deviceOf({ id: `bench:${i}`, name: `Sensor ${i}`, capabilities: ['button', 'temperature'] }),
    ),
  );
  sink.ready();
  await engine.idle();
  return { engine, sink, store };
}

const lives = new Map<string, Life>();

/** Microseconds of CPU that each event costs this process, told to the engine in batches. */
async function perEvent({ engine, sink }: Life, events: number, report: (n: number) => Parameters<Sink['report']>[0]) {
  const before = process.cpuUsage();
  for (let n = 0; n < events; n += BATCH) {
    for (let i = n; i < n + BATCH; i++) sink.report(report(i));
    await engine.idle();
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / events;
}

const cleanHeap = async () => {
  for (let n = 0; n < 3; n++) {
    await new Promise(resolve => setTimeout(resolve, 20));
    globalThis.gc?.();
  }
  return process.memoryUsage().heapUsed;
};

const DAY_MS = 86_400_000;
const TICK_MS = 5;

/** How late the loop is, ms, while a journal takes batches of entries and retires old days. Every tick one sample. */
async function lag({ dir, days, perDay, batches }: Extract<Request, { do: 'lag' }>): Promise<number[]> {
  const today = Date.now();
  const entry = (ts: number, seq: number) => ({
    ts,
    seq,
    kind: 'event' as const,
    subject: `bench:${seq % 100}`,
    attribute: 'temperature',
    body: JSON.stringify({ v: 1, id: String(seq), value: seq / 10, text: 'x'.repeat(400) }),
  });
  const past = await openJournal({ dir, clock: systemClock, log: silentLog, keepDays: 10_000 });
  for (let day = days; day > 0; day--) {
    for (let n = 0; n < perDay; n++) past.append(entry(today - day * DAY_MS + n, n));
    await past.flush();
  }
  await past.close();

  const late: number[] = [];
  let expected = performance.now() + TICK_MS;
  const ticks = setInterval(() => {
    const now = performance.now();
    late.push(Math.max(0, now - expected));
    expected = now + TICK_MS;
  }, TICK_MS);
  const journal = await openJournal({ dir, clock: systemClock, log: silentLog, keepDays: 2 });
  for (let batch = 0; batch < batches; batch++) {
    for (let n = 0; n < 1_000; n++) journal.append(entry(today, batch * 1_000 + n));
    await new Promise(resolve => setTimeout(resolve, TICK_MS));
  }
  await journal.flush();
  // Retention runs behind; the question waits for it.
  const left = (await journal.days()).length;
  clearInterval(ticks);
  await journal.close();
  if (left > 3) throw new Error(`${left} days are left`);
  return late;
}

let turn = 0;

type Request =
  | { do: 'build'; name: string; kind: 'button' | 'hold'; rules: number }
  | { do: 'dispatch' | 'held'; name: string; rules: number; events: number; spread?: number }
  | { do: 'weigh'; timers: number }
  | { do: 'lag'; dir: string; days: number; perDay: number; batches: number }
  | { do: 'arm' | 'restore'; timers: number; path: string };

serveRequests(async (request: Request) => {
  switch (request.do) {
    case 'build': {
      const rule = request.kind === 'button' ? button : hold;
      const life = await live(
        Array.from({ length: request.rules }, (_, i) => rule(i)),
        request.rules,
      );
      lives.set(request.name, life);
      if (request.kind === 'button') {
        // The admission is where it ends: what a run costs is measured with all that belongs to it, elsewhere.
        (life.engine.runs as { start: unknown }).start = () => ({ id: '' });
      } else {
        for (let i = 0; i < request.rules; i++) {
          life.sink.report({ type: 'value', device: `bench:${i}`, attribute: 'temperature', value: 10 });
          life.sink.report({ type: 'value', device: `bench:${i}`, attribute: 'temperature', value: 30 });
          if (i % BATCH === 0) await life.engine.idle();
        }
        await life.engine.idle();
        if (life.engine.core.timeline.pending !== request.rules) {
          throw new Error(`${life.engine.core.timeline.pending} holds are armed, not ${request.rules}`);
        }
      }
      return;
    }
    case 'dispatch':
      return perEvent(lives.get(request.name) as Life, request.events, n => ({
        type: 'event',
        device: `bench:${(n * 7_919) % request.rules}`,
        name: 'pushed',
        value: 1,
      }));
    case 'held':
      // It stays above: each event is looked at by the rule whose hold is armed, and changes nothing.
      turn++;
      return perEvent(lives.get(request.name) as Life, request.events, n => ({
        type: 'value',
        device: `bench:${(n * 7_919) % (request.spread ?? request.rules)}`,
        attribute: 'temperature',
        value: 25 + ((n + turn) % 1_000) / 200,
      }));
    case 'weigh': {
      const timeline = new Timeline(systemClock, 0, () => {});
      const now = timeline.now();
      const before = await cleanHeap();
      // Who arms one keeps its handle.
      const call = () => {};
      const armed = Array.from({ length: request.timers }, (_, i) =>
        timeline.at(now + 3_600_000 + ((i * 7_919) % 100_000), call),
      );
      const bytes = (await cleanHeap()) - before;
      if (timeline.pending !== request.timers) throw new Error('timers are gone');
      for (const timer of armed) timer.cancel();
      return bytes;
    }
    case 'lag':
      return lag(request);
    case 'arm': {
      const { engine, store } = await live(watchers, 0, request.path);
      for (let i = 0; i < request.timers / watchers.length; i++) {
        for (const temperature of [10, 30]) {
          const payload = JSON.stringify({ temperature, battery: 97 });
          engine.message({ topic: `sensor/${i}`, payload, retained: false, client: 'bench' });
        }
        if (i % BATCH === 0) await engine.idle();
      }
      await engine.idle();
      const { pending } = engine.core.timeline;
      await engine.stop();
      await store.close();
      return pending;
    }
    case 'restore': {
      const began = performance.now();
      const { engine } = await live(watchers, 0, request.path);
      const ms = performance.now() - began;
      return { ms, pending: engine.core.timeline.pending };
    }
  }
});
