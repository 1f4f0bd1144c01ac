// A simulated hub in a process of its own, which measures how long its events take to come back as commands: from the
// moment in which a device changes to that in which the command arrives, both by the hub's own clock.
import { setTimeout as pause } from 'node:timers/promises';
import type { SimDevice } from '../test/simulators/hubitat/devices.ts';
import { type HubSimulator, simMany, startHubSimulator } from '../test/simulators/hubitat/index.ts';
import { quantile } from './benchmark.ts';
import { type HubRequest, LAMPS, type Pace } from './hub-request.ts';
import { serveRequests } from './processes.ts';

const STALL_MS = 5_000;
const FIRST_MS = 60_000;
/** Levels that a lamp may be told; one comes again only after so many events of its sensor. */
const LEVELS = 99;

const sensor = (id: number): SimDevice => ({
  id,
  label: `Sensor ${id}`,
  driver: 'Sensor',
  capabilities: ['IlluminanceMeasurement'],
  attributes: [{ name: 'illuminance', dataType: 'NUMBER', unit: 'lx', value: 0 }],
  commands: [],
});
const lamp = (id: number): SimDevice => ({
  id,
  label: `Lamp ${id}`,
  driver: 'Lamp',
  capabilities: ['Switch', 'SwitchLevel'],
  attributes: [
    { name: 'switch', dataType: 'ENUM', values: ['on', 'off'], value: 'on' },
    { name: 'level', dataType: 'NUMBER', unit: '%', value: 0 },
  ],
  commands: [{ name: 'on' }, { name: 'off' }, { name: 'setLevel', types: ['NUMBER', 'NUMBER'] }],
});

let hub: HubSimulator;
let pairs = 0;
const sent: number[] = [];
const pending = new Map<string, number>();
let ways: number[] = [];

const change = (k: number): void => {
  const id = 1 + (k % pairs);
  const level = 1 + ((sent[id] ?? 0) % LEVELS);
  sent[id] = (sent[id] ?? 0) + 1;
  pending.set(`${LAMPS + id} ${level}`, performance.now());
  hub.state.set(id, 'illuminance', level);
};

const until = async (isSo: () => boolean, ms: number): Promise<boolean> => {
  const end = performance.now() + ms;
  while (!isSo()) {
    if (performance.now() > end) return false;
    await pause(5);
  }
  return true;
};

serveRequests(async (request: HubRequest): Promise<unknown> => {
  if (request.do === 'start' || request.do === 'large') {
    if (request.do === 'start') pairs = request.pairs;
    const ids = Array.from({ length: pairs }, (_, i) => i + 1);
    hub = await startHubSimulator({
      devices:
        request.do === 'start'
          ? [...ids.map(sensor), ...ids.map(id => lamp(LAMPS + id))]
          : simMany(request.devices, request.attributes),
      onReceived({ device, args }) {
        const key = `${device} ${Number(args[0])}`;
        const since = pending.get(key);
        if (since === undefined) return;
        pending.delete(key);
        ways.push(performance.now() - since);
      },
    });
    return { url: hub.url, app: hub.app, token: hub.token };
  }
  if (request.do === 'first') {
    // Until the gateway listens, events go nowhere.
    for (const end = performance.now() + FIRST_MS; performance.now() < end; ) {
      change(0);
      if (await until(() => ways.length > 0, 200)) break;
    }
    pending.clear();
    return ways.length > 0;
  }
  ways = [];
  pending.clear();
  hub.state.received.length = 0;
  const start = performance.now();
  for (let k = 0; k < request.events; k++) {
    const due = start + (k * 1_000) / request.rate;
    const left = due - performance.now();
    if (left > 1) await pause(left);
    change(k);
  }
  await until(() => pending.size === 0, STALL_MS);
  return { p50: quantile(ways, 0.5), p99: quantile(ways, 0.99), lost: request.events - ways.length } satisfies Pace;
});
