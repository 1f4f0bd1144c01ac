// The start of the real program over 10,000 rule files, and what a rule weighs.
import { join } from 'node:path';
import type { Benchmark } from './benchmark.ts';
import { startGateway, startHost } from './gateway.ts';
import { startChild } from './processes.ts';

const RULES = 10_000;

export const start: Benchmark = async ({ dist, dir }) => {
  const driver = startChild('./driver.ts');
  const folder = join(dir, 'start');
  const drive = (mqtt: number) => ({ do: 'first', exchange: 'message', into: mqtt, outOf: mqtt, rules: 1 });
  try {
    // The first start takes the files over as revisions; the one that counts is every later one.
    const once = await startGateway(dist, folder, RULES);
    await driver.ask(drive(once.mqtt));
    await once.stop();
    const again = await startGateway(dist, folder, RULES);
    const firedAt = await driver.ask<number>(drive(again.mqtt));
    await again.stop();

    const few = await startHost(dist, join(dir, 'weigh-1'), 1, 'message');
    const light = await few.ask<number>({ do: 'heap' });
    await few.stop();
    const many = await startHost(dist, join(dir, 'weigh-10000'), RULES, 'message');
    const heavy = await many.ask<number>({ do: 'heap' });
    await many.stop();
    return [
      {
        key: 'startMs10000',
        value: firedAt - again.startedAt,
        target: 5_000,
        unit: 'ms',
        what: 'from the start of the process to the first fired rule, 10,000 rules',
      },
      { key: 'bytesPerRule', value: (heavy - light) / RULES, target: 12_288, unit: 'B', what: 'heap of a rule' },
    ];
  } finally {
    await driver.stop();
  }
};
