// What a rule weighs on the heap of the whole gateway, and what part of a run its trace is.
import { join } from 'node:path';
import { type Benchmark, interleaved, median } from './benchmark.ts';
import { cpuOf, quiet } from './cpu.ts';
import { startHost } from './gateway.ts';
import { startChild } from './processes.ts';

// The first hundred bring code along that all share.
const FEW = 100;

/** bytesPerRule, traceShareOfRun. */
export const weight: Benchmark = async ({ dist, dir, quick }) => {
  const many = FEW + (quick ? 1_000 : 3_000);
  const light = await startHost(dist, join(dir, 'light'), FEW, 'message');
  const before = await light.ask<number>({ do: 'heap' });
  const heavy = await startHost(dist, join(dir, 'heavy'), many, 'message');
  const bytes = ((await heavy.ask<number>({ do: 'heap' })) - before) / (many - FEW);
  await heavy.stop();

  const driver = startChild('./driver.ts');
  const events = quick ? 6_000 : 12_000;
  const load = (n: number) =>
    driver.ask({
      do: 'load',
      exchange: 'message',
      into: light.mqtt,
      outOf: light.mqtt,
      rules: FEW,
      events: n,
      window: 64,
    });
  await load(quick ? 8_000 : 20_000);
  await quiet(light.pid);
  const perEvent = (on: boolean) => async () => {
    await light.ask({ do: 'traces', on });
    return (1_000 * (await cpuOf(light.pid, () => load(events)))) / events;
  };
  const cost = await interleaved(quick ? 3 : 5, { traced: perEvent(true), untraced: perEvent(false) });
  await Promise.all([driver, light].map(child => child.stop()));
  const share = median(cost.traced.map((us, round) => 1 - (cost.untraced[round] as number) / us));
  return [
    {
      key: 'bytesPerRule',
      value: bytes,
      target: 12 * 1_024,
      unit: 'B',
      what: 'live heap of the whole gateway for each rule',
    },
    {
      key: 'traceShareOfRun',
      value: share,
      target: 0.2,
      what: `the part of a run that goes into keeping its trace (${median(cost.traced).toFixed(1)} µs with, ${median(cost.untraced).toFixed(1)} µs without)`,
    },
  ];
};
