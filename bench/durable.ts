// Device → rule → command through the durable outbox, 64 in flight: against the leanest gateway, which keeps nothing.
import { join } from 'node:path';
import { type Benchmark, interleaved, ratio } from './benchmark.ts';
import { cpuOf } from './cpu.ts';
import { startHost } from './gateway.ts';
import { startChild } from './processes.ts';

const RULES = 1_000;

export const durable: Benchmark = async ({ dist, dir, quick }) => {
  const events = quick ? 4_000 : 12_000;
  const driver = startChild('./driver.ts');
  const leanest = startChild('./leanest.ts');
  const host = await startHost(dist, join(dir, 'durable'), RULES, 'device');
  try {
    const port = await leanest.ask<number>({ rules: RULES });
    const load = (pid: number, into: number, outOf: number) => async () => {
      const drive = { do: 'load', exchange: 'device', into, outOf, rules: RULES, events, window: 64 };
      return ((await cpuOf(pid, () => driver.ask(drive))) * 1_000) / events;
    };
    const measures = { leanest: load(leanest.pid, port, port), durable: load(host.pid, host.door, host.mqtt) };
    for (const measure of Object.values(measures)) await measure();
    const cpu = await interleaved(quick ? 3 : 5, measures);
    return [
      {
        key: 'durableToLeanest',
        value: ratio(cpu.durable, cpu.leanest),
        target: 5,
        unit: '×',
        what: 'device → rule → command, durable outbox, 64 in flight, CPU of all threads, to the leanest gateway',
      },
    ];
  } finally {
    for (const child of [driver, leanest, host]) await child.stop();
  }
};
