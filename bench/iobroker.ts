// Through a real ioBroker: a state changes there, a rule fires here, the command arrives there and is confirmed; against
// the leanest client that could do the same. And what twenty thousand states cost at connect. `npm run bench:iobroker`.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import mqtt from 'mqtt';
import { type IoBroker, startIoBroker } from '../test/iobroker/harness.ts';
import { isInstalled } from '../test/iobroker/packages.ts';
import { type Benchmark, type Figure, interleaved, median, quantile, ratio } from './benchmark.ts';
import { freePort, startChild, startProgram } from './processes.ts';

const PAIRS = 20;
const STATES = 20_000;
const READY_MS = 120_000;
const ANSWER_MS = 20_000;

/** wayP50Ms, wayP99Ms, knownP50Ms, knownP99Ms, wayToLeanest, connectS20000, connectRssMb20000, connectHeapMb20000. */
export const iobroker: Benchmark = async setting => {
  if (!isInstalled()) {
    console.error('iobroker is left out: it is not installed here (npm run test:iobroker:install)');
    return [];
  }
  return [...(await theWay(setting)), ...(await theConnect(setting))];
};

// --- the way there and back --------------------------------------------------------------------------------------------

const sensor = (who: string, n: number) => `zigbee.0.${who}${n}.value`;
const lamp = (who: string, n: number) => `hue.0.${who}${n}.value`;

const theWay: Benchmark = async ({ dist, dir, quick }): Promise<Figure[]> => {
  const io = await startIoBroker({ watch: ['hue.0.*'] });
  for (const who of ['gateway', 'leanest']) {
    for (let n = 0; n < PAIRS; n++) {
      for (const id of [sensor(who, n), lamp(who, n)]) await io.addState(id, { type: 'number', role: 'level' }, 0);
    }
  }
  const rules = Array.from({ length: PAIRS }, (_, n) => ({
    id: `lamp-${n}`,
    name: `Lamp ${n} on its sensor`,
    limits: { runs: 100_000, per: '2s' },
    triggers: [{ type: 'state', device: `iobroker:zigbee.0.gateway${n}`, attribute: 'value' }],
    actions: [
      {
        type: 'command',
        device: `iobroker:hue.0.gateway${n}`,
        command: 'set:value',
        args: { value: { expr: 'trigger.value' } },
      },
    ],
  }));
  const house = await writeHouse(dir, 'way', io.url, ['zigbee.0.gateway*', 'hue.0.gateway*'], rules);
  const gateway = startProgram(join(dist, 'src/main.js'), ['serve', '--config', house.config], house.dir);
  await ready(house.http);
  const results = await connectResults(house.mqtt);
  const leanest = startChild('./iobroker-leanest.ts', [io.url]);
  await leanest.ask({ from: 'zigbee.0.leanest', to: 'hue.0.leanest' });

  const rounds = quick ? 100 : 300;
  const round = async (who: 'gateway' | 'leanest', times: Times, count: number) => {
    for (let n = 0; n < count; n++) {
      const { there, known } = await thereAndBack(io, who, n % PAIRS, who === 'gateway' ? results : undefined);
      times.there.push(there);
      times.known.push(known);
    }
  };
  const times = { gateway: noTimes(), leanest: noTimes() };
  await round('gateway', noTimes(), rounds);
  await round('leanest', noTimes(), rounds);
  const typical = await interleaved(quick ? 3 : 5, {
    gateway: async () => {
      const own = noTimes();
      await round('gateway', own, rounds);
      append(times.gateway, own);
      return median(own.there);
    },
    leanest: async () => {
      const own = noTimes();
      await round('leanest', own, rounds);
      append(times.leanest, own);
      return median(own.there);
    },
  });

  await results.end();
  await Promise.all([gateway.stop(), leanest.stop()]);
  await io.end();
  const ms = (key: string, value: number, what: string): Figure => ({ key, value, unit: 'ms', what });
  const { there, known } = times.gateway;
  const count = `${there.length} one after another`;
  return [
    ms('wayP50Ms', quantile(there, 0.5), `change in ioBroker → rule → command confirmed in ioBroker, p50 of ${count}`),
    ms(
      'wayP99Ms',
      quantile(there, 0.99),
      `the same, p99 (of the leanest client ${quantile(times.leanest.there, 0.99).toFixed(1)} ms)`,
    ),
    ms('knownP50Ms', quantile(known, 0.5), '… → its result on MQTT, p50'),
    ms('knownP99Ms', quantile(known, 0.99), 'the same, p99'),
    {
      key: 'wayToLeanest',
      value: ratio(typical.gateway, typical.leanest),
      what: `the way's p50 to that of a client that only writes back (${median(typical.leanest).toFixed(2)} ms)`,
    },
  ];
};

interface Times {
  readonly there: number[];
  readonly known: number[];
}

const noTimes = (): Times => ({ there: [], known: [] });

function append(all: Times, more: Times): void {
  all.there.push(...more.there);
  all.known.push(...more.known);
}

let lastValue = 0;

/** One change; answers the milliseconds until it is confirmed in ioBroker, and until the gateway has told its result. */
async function thereAndBack(io: IoBroker, who: string, n: number, results?: Results) {
  const value = ++lastValue;
  const start = performance.now();
  const told = results?.next();
  const confirmed = new Promise<number>(resolve => {
    io.onSeen = ({ id, state }) => {
      if (id === lamp(who, n) && state?.ack === true && state.val === value) resolve(performance.now() - start);
    };
  });
  await io.setState(sensor(who, n), value);
  const late = new AbortController();
  const failure = pause(ANSWER_MS, undefined, { signal: late.signal }).then(() => {
    throw new Error(`no answer of ${who} within ${ANSWER_MS} ms`);
  });
  failure.catch(() => {});
  const there = await Promise.race([confirmed, failure]);
  const at = told && (await Promise.race([told, failure]));
  late.abort();
  io.seen.length = 0;
  return { there, known: (at ?? Number.NaN) - start };
}

type Results = Awaited<ReturnType<typeof connectResults>>;

/** The results of commands, as they come on MQTT. */
async function connectResults(port: number) {
  const client = await mqtt.connectAsync(`mqtt://127.0.0.1:${port}`);
  let hear: (at: number) => void = () => {};
  client.on('message', (topic, payload) => {
    const { outcome } = JSON.parse(payload.toString()) as { outcome: string };
    if (outcome !== 'ok') throw new Error(`${topic}: ${payload}`);
    hear(performance.now());
  });
  await client.subscribeAsync('causeway/result/#');
  return {
    next: () =>
      new Promise<number>(resolve => {
        hear = resolve;
      }),
    end: () => client.endAsync(),
  };
}

// --- twenty thousand states at connect ---------------------------------------------------------------------------------

const theConnect: Benchmark = async ({ dist, dir, quick }): Promise<Figure[]> => {
  const states = Array.from({ length: STATES }, (_, n) => ({
    id: `hue.0.device${n >> 2}.state${n & 3}`,
    common: { type: 'number', role: 'value', unit: '%', min: 0, max: 100_000 },
    value: n,
  }));
  const io = await startIoBroker({ states, watch: [] });
  const measure = async (name: string, pattern: string, count: number) => {
    const house = await writeHouse(dir, name, io.url, [pattern], []);
    const host = startChild('./host.ts', [dist, house.config], ['--expose-gc']);
    const start = performance.now();
    await host.ask({ do: 'start', devices: 0 });
    const found = await ready(house.http);
    const seconds = (performance.now() - start) / 1_000;
    if (found < count) throw new Error(`${found} of ${count} devices came`);
    const heap = await host.ask<number>({ do: 'heap' });
    const rss = statusKb(host.pid, 'VmRSS') * 1_024;
    const peak = statusKb(host.pid, 'VmHWM') * 1_024;
    await host.stop();
    return { seconds, heap, rss, peak };
  };
  const all: Record<'few' | 'many', Awaited<ReturnType<typeof measure>>[]> = { few: [], many: [] };
  for (let n = 0; n < (quick ? 1 : 3); n++) {
    all.few.push(await measure(`few${n}`, 'nothing.0.*', 0));
    all.many.push(await measure(`many${n}`, 'hue.0.*', STATES / 4));
  }
  await io.end();
  const more = (of: 'seconds' | 'heap' | 'rss' | 'peak') =>
    median(all.many.map(one => one[of])) - median(all.few.map(one => one[of]));
  const mb = (bytes: number) => bytes / 1_048_576;
  return [
    {
      key: 'connectS20000',
      value: more('seconds'),
      target: 5,
      unit: 's',
      what: `start → ready with 20,000 states, more than with none (${median(all.few.map(({ seconds }) => seconds)).toFixed(2)} s)`,
    },
    {
      key: 'connectRssMb20000',
      value: mb(more('rss')),
      target: 100,
      unit: 'MB',
      what: `memory of the process then, more than with none (at its height ${mb(more('peak')).toFixed(0)} MB more)`,
    },
    {
      key: 'connectHeapMb20000',
      value: mb(more('heap')),
      unit: 'MB',
      what: 'live heap of it',
    },
  ];
};

/** A line of /proc/<pid>/status, kB. */
function statusKb(pid: number, key: string): number {
  const line = readFileSync(`/proc/${pid}/status`, 'utf8')
    .split('\n')
    .find(one => one.startsWith(`${key}:`));
  return Number(line?.match(/\d+/)?.[0]);
}

// --- both --------------------------------------------------------------------------------------------------------------

/** A folder with a configuration and rules. JSON is YAML. */
async function writeHouse(
  dir: string,
  name: string,
  url: string,
  states: readonly string[],
  rules: readonly { id: string }[],
) {
  const own = join(dir, name);
  mkdirSync(join(own, 'rules'), { recursive: true });
  for (const rule of rules)
    writeFileSync(join(own, 'rules', `${rule.id}.yaml`), JSON.stringify({ schema: 1, ...rule }));
  const ports = { http: await freePort(), mqtt: await freePort() };
  const config = join(own, 'config.yaml');
  writeFileSync(
    config,
    JSON.stringify({
      http: { port: ports.http },
      mqtt: { port: ports.mqtt },
      data: { dir: 'data' },
      rules: { dir: 'rules' },
      guard: { device_commands: 10_000 },
      log: { level: 'warn' },
      backends: { iobroker: { type: 'iobroker', url, states, functional: false } },
    }),
  );
  return { dir: own, config, ...ports };
}

/** Resolves once the gateway's ioBroker is ready, with the number of its devices. */
async function ready(port: number): Promise<number> {
  const deadline = performance.now() + READY_MS;
  while (performance.now() < deadline) {
    const answer = await fetch(`http://127.0.0.1:${port}/api/call/get_system`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{}',
    }).catch(() => undefined);
    const system = answer?.ok ? ((await answer.json()) as System) : undefined;
    if (system?.ready && system.backends.some(({ id, ready }) => id === 'iobroker' && ready)) return system.devices;
    await pause(10);
  }
  throw new Error(`the gateway was not ready within ${READY_MS} ms`);
}

interface System {
  readonly ready: boolean;
  readonly devices: number;
  readonly backends: readonly { readonly id: string; readonly ready: boolean }[];
}
