// Outside topic → rule → publish: against the leanest gateway, against itself with one rule, at a steady pace, and what of
// it the traces are. Journal and traces are on.
import { join } from 'node:path';
import { type Benchmark, type Figure, interleaved, median, ratio } from './benchmark.ts';
import { cpuOf } from './cpu.ts';
import { startHost } from './gateway.ts';
import { startChild } from './processes.ts';

const RULES = 10_000;

export const bus: Benchmark = async ({ dist, dir, quick }) => {
  const events = quick ? 10_000 : 30_000;
  const rounds = quick ? 3 : 5;
  const driver = startChild('./driver.ts');
  const leanest = startChild('./leanest.ts');
  const many = await startHost(dist, join(dir, 'many'), RULES, 'message');
  const one = await startHost(dist, join(dir, 'one'), 1, 'message');
  try {
    const port = await leanest.ask<number>({ rules: RULES });
    const load = (pid: number, at: number, rules: number) => async () => {
      const drive = { do: 'load', exchange: 'message', into: at, outOf: at, rules, events, window: 1_000 };
      return ((await cpuOf(pid, () => driver.ask(drive))) * 1_000) / events;
    };
    const measures = {
      leanest: load(leanest.pid, port, RULES),
      many: load(many.pid, many.mqtt, RULES),
      one: load(one.pid, one.mqtt, 1),
    };
    // What is compiled and cached at the first events is not what an event costs.
    for (const measure of Object.values(measures)) await measure();
    const cpu = await interleaved(rounds, measures);

    const paced = (at: number, rules: number) => async () => {
      const ms = quick ? 1_500 : 3_000;
      const drive = { do: 'pace', exchange: 'message', into: at, outOf: at, rules, rate: 1_000, ms };
      return (await driver.ask<{ p99: number }>(drive)).p99;
    };
    const p99 = await interleaved(rounds, { leanest: paced(port, RULES), many: paced(many.mqtt, RULES) });

    const traced = (on: boolean) => async () => {
      await many.ask({ do: 'traces', on });
      const cost = await measures.many();
      await many.ask({ do: 'traces', on: true });
      return cost;
    };
    const traces = await interleaved(rounds, { on: traced(true), off: traced(false) });
    const share = median(traces.on.map((on, round) => (on - (traces.off[round] ?? on)) / on));

    const figures: Figure[] = [
      {
        key: 'toLeanest',
        value: ratio(cpu.many, cpu.leanest),
        target: 2.5,
        unit: '×',
        what: 'topic → rule → publish at 10,000 rules, CPU of all threads, to the leanest gateway',
      },
      {
        key: 'rules10000to1',
        value: ratio(cpu.many, cpu.one),
        target: 1.5,
        unit: '×',
        what: 'the same, 10,000 rules to one',
      },
      { key: 'busUs', value: median(cpu.many), unit: 'µs', what: 'the same, CPU per event (of this machine, now)' },
      {
        key: 'p99ToLeanest',
        value: ratio(p99.many, p99.leanest),
        target: 3,
        unit: '×',
        what: 'p99 at 1,000 events/s, to the leanest gateway',
      },
      { key: 'traceShareOfRun', value: Math.max(0, share), target: 0.2, what: 'the part of it that traces are' },
    ];
    return figures;
  } finally {
    for (const child of [driver, leanest, many, one]) await child.stop();
  }
};
