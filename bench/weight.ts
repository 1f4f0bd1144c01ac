// What a rule weighs on the heap of the whole gateway.
import { join } from 'node:path';
import type { Benchmark } from './benchmark.ts';
import { startHost } from './gateway.ts';

// The first hundred bring code along that all share.
const FEW = 100;

/** bytesPerRule. */
export const weight: Benchmark = async ({ dist, dir, quick }) => {
  const many = FEW + (quick ? 600 : 3_000);
  const heapOf = async (rules: number) => {
    const host = await startHost(dist, join(dir, String(rules)), rules, 'message');
    const bytes = await host.ask<number>({ do: 'heap' });
    await host.stop();
    return bytes;
  };
  const few = await heapOf(FEW);
  return [
    {
      key: 'bytesPerRule',
      value: ((await heapOf(many)) - few) / (many - FEW),
      target: 12 * 1_024,
      unit: 'B',
      what: 'live heap of the whole gateway for each rule',
    },
  ];
};
