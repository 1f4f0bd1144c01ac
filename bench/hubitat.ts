// A hub's event over a rule to a command at the hub, through the real program and a simulated hub in a process of its own:
// how long it takes, and what of it the gateway itself takes, beside a hand-written one. And what a large hub costs.
import { closeSync, fdatasyncSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type Benchmark, type Figure, interleaved, median, quantile } from './benchmark.ts';
import { type HubRequest, LAMPS, type Pace } from './hub-request.ts';
import { type Child, startChild, startProgram } from './processes.ts';
import { added, type Pair, ready, startMeasured } from './start.ts';

const RATE = 200;
const PAIRS = 40;

interface Hub extends Child {
  readonly at: { readonly url: string; readonly app: number; readonly token: string };
}

async function startHub(request: HubRequest): Promise<Hub> {
  const child = startChild('./hub.ts');
  return { ...child, at: await child.ask<Hub['at']>(request) };
}

const lampRule = (i: number) => ({
  id: `lamp-${i}`,
  name: `Lamp ${i} follows its sensor`,
  limits: { runs: 100_000, per: '1h' },
  // A sensor may tell anew before its lamp has answered.
  mode: { type: 'queued', max: 100 },
  triggers: [{ type: 'state', device: `hubitat:${i}`, attribute: 'illuminance' }],
  actions: [
    {
      type: 'command',
      device: `hubitat:${LAMPS + i}`,
      command: 'setLevel',
      args: { level: { expr: 'trigger.value' } },
    },
  ],
});

/** Writes a house, over a hub or without one. */
function writeHome(dir: string, hub?: Hub['at'], rules: readonly { readonly id: string }[] = []) {
  const data = join(dir, 'data');
  mkdirSync(join(dir, 'rules'), { recursive: true });
  for (const rule of rules) writeFileSync(join(dir, 'rules', `${rule.id}.yaml`), JSON.stringify(rule));
  const hubitat = hub && {
    ...hub,
    type: 'hubitat',
    events: 'listener',
    listen: { host: '127.0.0.1', port: 0 },
    temperature_scale: 'C',
  };
  const config = {
    // Any free ones; what was free a moment ago may be another's.
    http: { port: 0 },
    mqtt: { port: 0 },
    data: { dir: data },
    rules: { dir: join(dir, 'rules') },
    guard: { device_commands: 10_000 },
    log: { level: 'warn' },
    ...(hubitat && { backends: { hubitat } }),
  };
  const file = join(dir, 'config.yaml');
  writeFileSync(file, JSON.stringify(config));
  return { file, data };
}

/** What a hub of 500 devices with 40 attributes adds to a start. */
async function large(dist: string, dir: string, rounds: number): Promise<Record<'ms' | 'rss' | 'peak', number>> {
  const hub = await startHub({ do: 'large', devices: 500, attributes: 40 });
  const start = async (name: string, at?: Hub['at']) => {
    const { gateway, ...started } = await startMeasured(dist, writeHome(join(dir, name), at), at ? 3 : 2);
    await gateway.stop();
    return started;
  };
  const pairs: Pair[] = [];
  for (let round = 0; round < rounds; round++) {
    const without = await start(`without-${round}`);
    pairs.push({ without, beside: await start(`beside-${round}`, hub.at) });
  }
  await hub.stop();
  return added(pairs);
}

/** Milliseconds that one sync to this disk takes, the slowest of a hundred: a command leaves after at least one. */
function syncMs(dir: string): number {
  const file = openSync(join(dir, 'sync'), 'w');
  const took = Array.from({ length: 300 }, () => {
    writeSync(file, Buffer.alloc(4_096));
    const began = performance.now();
    fdatasyncSync(file);
    return performance.now() - began;
  });
  closeSync(file);
  return quantile(took, 0.99);
}

/** hubitatP50Ms, hubitatP99Ms, hubitatOwnShare, hubitatLost, hubitatStartS, hubitatStartMb. */
export const hubitat: Benchmark = async ({ dist, dir, quick }): Promise<Figure[]> => {
  const pairs = Array.from({ length: PAIRS }, (_, i) => i + 1);
  const [ours, theirs] = (await Promise.all([1, 2].map(() => startHub({ do: 'start', pairs: PAIRS })))) as [Hub, Hub];
  const { file, data } = writeHome(join(dir, 'way'), ours.at, pairs.map(lampRule));
  const gateway = startProgram(join(dist, 'src/main.js'), ['serve', '--config', file], dir);
  const leanest = startChild('./hub-leanest.ts');
  await leanest.ask(theirs.at);
  await ready(data, 3);
  for (const hub of [ours, theirs])
    if (!(await hub.ask({ do: 'first' }))) throw new Error('no event came back as a command');

  const paces: Record<'ours' | 'theirs', Pace[]> = { ours: [], theirs: [] };
  const pace = (name: 'ours' | 'theirs', events: number) => async () => {
    const told = await (name === 'ours' ? ours : theirs).ask<Pace>({ do: 'pace', rate: RATE, events });
    paces[name].push(told);
    return told.p50;
  };
  await pace('ours', 5 * RATE)();
  await pace('theirs', 5 * RATE)();
  paces.ours = [];
  paces.theirs = [];
  const events = RATE * (quick ? 3 : 10);
  const p50 = await interleaved(quick ? 2 : 5, { ours: pace('ours', events), theirs: pace('theirs', events) });
  const sync = syncMs(dir);
  await Promise.all([gateway, leanest, ours, theirs].map(child => child.stop()));
  const big = await large(dist, join(dir, 'large'), quick ? 1 : 3);

  const [own, bare] = [median(p50.ours), median(p50.theirs)];
  const ms = (value: number) => `${value.toFixed(2)} ms`;
  const at = (name: 'ours' | 'theirs') => median(paces[name].map(({ p99 }) => p99));
  return [
    {
      key: 'hubitatP50Ms',
      value: own,
      unit: 'ms',
      what: `hub event → rule → command at the hub, ${RATE} events/s, p50 (hand-written: ${ms(bare)})`,
    },
    {
      key: 'hubitatP99Ms',
      value: at('ours'),
      target: 100,
      unit: 'ms',
      what: `the same, p99 (hand-written: ${ms(at('theirs'))}; one sync of this disk: ${ms(sync)})`,
    },
    {
      key: 'hubitatOwnShare',
      value: Math.max(0, (own - bare) / own),
      what: `of p50 that the gateway itself takes; the rest is the hub's and the wire's`,
    },
    {
      key: 'hubitatLost',
      value: paces.ours.reduce((sum, { lost }) => sum + lost, 0),
      target: 0,
      what: `events of ${paces.ours.length * events} that led to no command`,
    },
    {
      key: 'hubitatStartS',
      value: big.ms / 1_000,
      target: 5,
      unit: 's',
      what: 'that 500 devices × 40 attributes add to a start',
    },
    {
      key: 'hubitatStartMb',
      value: big.rss,
      target: 60,
      unit: 'MB',
      what: `that they add to the memory that the process needs (at most, during the start: ${big.peak.toFixed(0)} MB)`,
    },
  ];
};
