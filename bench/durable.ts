// From a device over a rule to a command in the durable outbox and on the bus, 64 on their way at a time; and what part of
// such a run its trace is.
import { join } from 'node:path';
import { type Benchmark, interleaved, median, ratio } from './benchmark.ts';
import { cpuOf, quiet } from './cpu.ts';
import { startHost } from './gateway.ts';
import { startChild } from './processes.ts';

const RULES = 1_000;
const WINDOW = 64;

/** durableToLeanest, traceShareOfRun. */
export const durable: Benchmark = async ({ dist, dir, quick }) => {
  const driver = startChild('./driver.ts');
  const leanest = startChild('./leanest.ts');
  const leanestPort = await leanest.ask<number>({ rules: RULES, over: 'aedes' });
  const host = await startHost(dist, join(dir, 'durable'), RULES, 'device');
  const load = (into: number, outOf: number, events: number) =>
    driver.ask({ do: 'load', exchange: 'device', into, outOf, rules: RULES, events, window: WINDOW });
  await driver.ask({ do: 'first', exchange: 'device', into: host.door, outOf: host.mqtt, rules: 1 });
  await load(leanestPort, leanestPort, quick ? 10_000 : 30_000);
  await load(host.door, host.mqtt, quick ? 5_000 : 15_000);
  await quiet(host.pid);

  const events = quick ? 5_000 : 10_000;
  const product = (isTraced: boolean) => async () => {
    await host.ask({ do: 'traces', on: isTraced });
    return (1_000 * (await cpuOf(host.pid, () => load(host.door, host.mqtt, events)))) / events;
  };
  const cost = await interleaved(quick ? 3 : 5, {
    leanest: async () =>
      (1_000 * (await cpuOf(leanest.pid, () => load(leanestPort, leanestPort, 4 * events)))) / (4 * events),
    traced: product(true),
    untraced: product(false),
  });
  await Promise.all([driver, leanest, host].map(child => child.stop()));
  const us = (values: readonly number[]) => `${median(values).toFixed(1)} µs`;
  return [
    {
      key: 'durableToLeanest',
      value: ratio(cost.traced, cost.leanest),
      target: 5,
      what: `device → rule → command over the durable outbox, 64 on their way, to the leanest's (${us(cost.traced)} : ${us(cost.leanest)})`,
    },
    {
      key: 'traceShareOfRun',
      value: 1 - ratio(cost.untraced, cost.traced),
      target: 0.2,
      what: `the part of such a run that goes into keeping its trace (${us(cost.untraced)} without)`,
    },
  ];
};
