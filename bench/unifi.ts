// A large site of a UniFi console, simulated in a process of its own: what it adds to a start, what it costs while it goes on,
// and whether each of its flows comes. `npm run bench:unifi`.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import mqtt from 'mqtt';
import type { Benchmark, Figure } from './benchmark.ts';
import { cpuMs } from './cpu.ts';
import { freePort, startChild } from './processes.ts';
import type { SiteAt, SiteCounts, SiteRequest } from './site-request.ts';
import { added, neededMb, type Pair, startMeasured } from './start.ts';

const DEVICES = 60;
const CLIENTS = 400;
const RATE = 50;
/** Flows are asked for every 15 s, and those that were written late within a minute; what has not come then is lost. */
const LOST_AFTER_MS = 80_000;

/** Writes a house, over a console or without one. */
async function writeHome(dir: string, site?: SiteAt) {
  const data = join(dir, 'data');
  mkdirSync(join(dir, 'rules'), { recursive: true });
  const port = await freePort();
  const config = {
    http: { port: 0 },
    mqtt: { port },
    data: { dir: data },
    rules: { dir: join(dir, 'rules') },
    log: { level: 'warn' },
    ...(site && { backends: { unifi: { ...site, type: 'unifi', flows: 'all' } } }),
  };
  const file = join(dir, 'config.yaml');
  writeFileSync(file, JSON.stringify(config));
  return { file, data, port };
}

/** Counts the flows that come on MQTT, by id, and those that the gateway tells as lost. */
async function countFlows(port: number) {
  const came = new Map<string, number>();
  let overruns = 0;
  const client = await mqtt.connectAsync(`mqtt://127.0.0.1:${port}`);
  client.on('message', (topic, payload) => {
    if (topic.endsWith('/flowsLost')) {
      overruns++;
      return;
    }
    const { id } = (JSON.parse(payload.toString()) as { value: { id: string } }).value;
    came.set(id, (came.get(id) ?? 0) + 1);
  });
  await client.subscribeAsync(['causeway/flow/unifi/default', 'causeway/event/unifi/+/flowsLost']);
  return { came, overruns: () => overruns, end: () => client.endAsync() };
}

/** unifiStartS, unifiStartMb, unifiCpuShare, unifiFlowsLost. */
export const unifi: Benchmark = async ({ dist, dir, quick }): Promise<Figure[]> => {
  const console = startChild('./site.ts');
  const ask = <T>(request: SiteRequest) => console.ask<T>(request);
  const site = await ask<SiteAt>({ do: 'start', devices: DEVICES, clients: CLIENTS });
  await ask({ do: 'live', rate: RATE, latestMs: quick ? 1_000 : 60_000 });

  const start = async (name: string, at?: SiteAt) => {
    const home = await writeHome(join(dir, name), at);
    return { ...(await startMeasured(dist, home, at ? 3 : 2)), port: home.port };
  };
  const pairs: Pair[] = [];
  const round = async (n: number) => {
    const without = await start(`without-${n}`);
    await without.gateway.stop();
    const beside = await start(`beside-${n}`, site);
    if (beside.devices - without.devices < DEVICES + CLIENTS) throw new Error(`only ${beside.devices} devices came`);
    pairs.push({ without, beside });
    return beside;
  };
  for (let n = 1; n < (quick ? 1 : 2); n++) await (await round(n)).gateway.stop();
  const { gateway, port } = await round(0);

  const flows = await countFlows(port);
  await pause(quick ? 0 : 10_000);
  await ask({ do: 'mark' });
  const [began, before] = [performance.now(), cpuMs(gateway.pid)];
  await pause(quick ? 10_000 : 60_000);
  const [seconds, used] = [(performance.now() - began) / 1_000, cpuMs(gateway.pid) - before];
  const { ended, perMinute, pages } = await ask<SiteCounts>({ do: 'end' });
  const missing = () => ended.filter(id => !flows.came.has(id)).length;
  for (const end = performance.now() + LOST_AFTER_MS; missing() > 0 && performance.now() < end; ) await pause(100);
  const twice = [...flows.came.values()].filter(times => times > 1).length;
  const inTheEnd = (await neededMb(gateway.pid)) - (pairs.at(-1) as Pair).without.rss;
  await flows.end();
  await Promise.all([gateway.stop(), console.stop()]);

  const { ms, rss, peak } = added(pairs);
  const mb = (value: number) => `${value.toFixed(0)} MB`;
  const n = (value: number) => value.toFixed(0);
  return [
    {
      key: 'unifiStartS',
      value: ms / 1_000,
      target: 5,
      unit: 's',
      what: `that ${DEVICES} devices and ${CLIENTS} clients add to a start`,
    },
    {
      key: 'unifiStartMb',
      value: rss,
      target: 120,
      unit: 'MB',
      what: `that they add to the memory that the process needs (at most, during the start: ${mb(peak)}; after the flows: ${mb(inTheEnd)})`,
    },
    {
      key: 'unifiCpuShare',
      value: used / seconds / 10,
      unit: '%',
      what: `of a core, all threads, over ${n(seconds)} s with ${RATE} flows/s and ${n(perMinute.messages / 60)} messages/s (${n(perMinute.requests)} requests a minute, ${n(perMinute.ofFlows)} of them for flows; 100 are allowed)`,
    },
    {
      key: 'unifiFlowsLost',
      value: missing() + twice,
      target: 0,
      what: `flows of ${ended.length} that did not come on MQTT, or twice (${twice}); ${pages} pages at most of 10 a look, ${flows.overruns()} overruns`,
    },
  ];
};
