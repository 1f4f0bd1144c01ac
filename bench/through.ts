// From an outside topic over a rule to another topic, through the real program: what an event costs, against the leanest
// gateway (an aedes broker and a Map) and against a house with one rule; how late it comes; how soon the first rule fires after a start.
import { join } from 'node:path';
import { type Benchmark, type Figure, interleaved, median, ratio } from './benchmark.ts';
import { cpuOf, quiet } from './cpu.ts';
import { startGateway } from './gateway.ts';
import { startChild } from './processes.ts';

const RULES = 10_000;
const WINDOW = 64;
const RATE = 1_000;

/** toLeanest, rules10000to1, p99ToLeanest, startMs10000. */
export const through: Benchmark = async ({ dist, dir, quick }): Promise<Figure[]> => {
  const driver = startChild('./driver.ts');
  const [leanest, bare] = [startChild('./leanest.ts'), startChild('./leanest.ts')];
  const leanestPort = await leanest.ask<number>({ rules: RULES, over: 'aedes' });
  const barePort = await bare.ask<number>({ rules: RULES, over: 'nothing' });
  const over = (port: number, rules: number) => ({ exchange: 'message', into: port, outOf: port, rules });

  const one = await startGateway(dist, join(dir, 'one'), 1);
  await driver.ask({ do: 'first', ...over(one.mqtt, 1) });
  // The first start takes the files over as revisions; a later one is what happens every day.
  const start = async () => {
    const gateway = await startGateway(dist, join(dir, 'many'), RULES);
    const answeredAt = await driver.ask<number>({ do: 'first', ...over(gateway.mqtt, 1) });
    return { gateway, ms: answeredAt - gateway.startedAt };
  };
  const fresh = await start();
  if (!quick) await fresh.gateway.stop();
  const daily = quick ? fresh : await start();
  const many = daily.gateway;

  const load = (port: number, rules: number, events: number) =>
    driver.ask({ do: 'load', ...over(port, rules), events, window: WINDOW });
  const warmUp = quick ? 10_000 : 30_000;
  for (const port of [leanestPort, barePort]) await load(port, RULES, 2 * warmUp);
  await load(one.mqtt, 1, warmUp);
  await load(many.mqtt, RULES, warmUp);
  await Promise.all([quiet(one.pid), quiet(many.pid)]);

  const events = quick ? 5_000 : 15_000;
  const perEvent = (pid: number, port: number, rules: number, n: number) => async () =>
    (1_000 * (await cpuOf(pid, () => load(port, rules, n)))) / n;
  const cost = await interleaved(quick ? 3 : 5, {
    // It is quick: four times the events, for the 10 ms that the kernel counts in.
    leanest: perEvent(leanest.pid, leanestPort, RULES, 4 * events),
    bare: perEvent(bare.pid, barePort, RULES, 4 * events),
    many: perEvent(many.pid, many.mqtt, RULES, events),
    one: perEvent(one.pid, one.mqtt, 1, events),
  });

  const pace = async (port: number) =>
    (await driver.ask<{ p99: number }>({ do: 'pace', ...over(port, RULES), rate: RATE, ms: quick ? 1_000 : 2_000 }))
      .p99;
  const late = await interleaved(quick ? 3 : 5, {
    leanest: () => pace(leanestPort),
    many: () => pace(many.mqtt),
  });

  await Promise.all([driver, leanest, bare, one, many].map(child => child.stop()));
  const us = (values: readonly number[]) => `${median(values).toFixed(1)} µs`;
  return [
    {
      key: 'toLeanest',
      value: ratio(cost.many, cost.leanest),
      target: 2.5,
      what: `outside topic → rule → publish, 10,000 rules, CPU of all threads to the leanest's (${us(cost.many)} : ${us(cost.leanest)}; without a broker ${us(cost.bare)})`,
    },
    {
      key: 'rules10000to1',
      value: ratio(cost.many, cost.one),
      target: 1.5,
      what: `the same, to a house with one rule (${us(cost.one)})`,
    },
    {
      key: 'p99ToLeanest',
      value: ratio(late.many, late.leanest),
      target: 3,
      what: `at ${RATE} events/s, p99 to the leanest's (${median(late.many).toFixed(2)} ms : ${median(late.leanest).toFixed(2)} ms)`,
    },
    {
      key: 'startMs10000',
      value: daily.ms,
      target: 5_000,
      unit: 'ms',
      what: `process start → first rule fires, 10,000 rules (${fresh.ms} ms with files that were never seen)`,
    },
  ];
};
