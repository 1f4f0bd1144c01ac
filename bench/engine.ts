// The engine alone: from dispatch to admission, with holds armed, and what pending timers weigh and take to come back.
import { join } from 'node:path';
import { type Benchmark, interleaved, median, ratio } from './benchmark.ts';
import { startChild } from './processes.ts';

const TIMERS = 100_000;

export const engine: Benchmark = async ({ dist, dir, quick }) => {
  const inside = startChild('./inside.ts', [dist], ['--expose-gc']);
  try {
    const sizes = { one: 1, many: 10_000 };
    for (const [name, rules] of Object.entries(sizes)) {
      await inside.ask({ do: 'build', name: `button-${name}`, kind: 'button', rules });
      await inside.ask({ do: 'build', name: `hold-${name}`, kind: 'hold', rules });
    }
    const events = quick ? 12_800 : 64_000;
    const cost = (what: 'dispatch' | 'held', name: 'one' | 'many') => () =>
      inside.ask<number>({
        do: what,
        name: `${what === 'held' ? 'hold' : 'button'}-${name}`,
        rules: sizes[name],
        events,
      });
    const measures = {
      dispatch: cost('dispatch', 'many'),
      heldOne: cost('held', 'one'),
      heldMany: cost('held', 'many'),
    };
    for (const measure of Object.values(measures)) await measure();
    const us = await interleaved(quick ? 3 : 7, measures);

    const bytes = await inside.ask<number>({ do: 'weigh', timers: TIMERS });
    const path = join(dir, 'timers.db');
    const armed = await inside.ask<number>({ do: 'arm', timers: TIMERS, path });
    const restored = await inside.ask<{ ms: number; pending: number }>({ do: 'restore', timers: TIMERS, path });
    if (armed !== TIMERS || restored.pending < TIMERS) {
      throw new Error(`${armed} timers were armed and ${restored.pending} restored, not ${TIMERS}`);
    }
    return [
      {
        key: 'dispatchUs',
        value: median(us.dispatch),
        target: 8,
        unit: 'µs',
        what: 'an event from dispatch to admission, 10,000 rules, in process',
      },
      {
        key: 'holds10000to1',
        value: ratio(us.heldMany, us.heldOne),
        target: 1.5,
        unit: '×',
        what: 'an event of a device with an armed hold, 10,000 rules and holds to one',
      },
      { key: 'timers100000Mb', value: bytes / 2 ** 20, target: 20, unit: 'MB', what: '100,000 pending timers' },
      {
        key: 'timers100000RestoreMs',
        value: restored.ms,
        target: 2_000,
        unit: 'ms',
        what: '100,000 holds restored from the store',
      },
    ];
  } finally {
    await inside.stop();
  }
};
