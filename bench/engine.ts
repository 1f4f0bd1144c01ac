// The engine alone (inside.ts): dispatch and admission, armed holds, pending timers; and the loop while the journal works.
import { join } from 'node:path';
import { type Benchmark, type Figure, interleaved, median, quantile, ratio } from './benchmark.ts';
import { startChild } from './processes.ts';

const RULES = 10_000;
const TIMERS = 100_000;

/** dispatchUs, holds10000to1. */
export const dispatch: Benchmark = async ({ dist, quick }): Promise<Figure[]> => {
  const engine = startChild('./inside.ts', [dist]);
  for (const kind of ['button', 'hold'] as const) {
    await engine.ask({ do: 'build', name: `${kind} many`, kind, rules: RULES });
    await engine.ask({ do: 'build', name: `${kind} one`, kind, rules: 1 });
  }
  const events = quick ? 19_200 : 38_400;
  const cost = (what: 'dispatch' | 'held', kind: string, rules: number) => () =>
    engine.ask<number>({ do: what, name: `${kind} ${rules === 1 ? 'one' : 'many'}`, rules, events });
  const measures = {
    dispatch: cost('dispatch', 'button', 1),
    dispatchMany: cost('dispatch', 'button', RULES),
    held: cost('held', 'hold', 1),
    heldMany: cost('held', 'hold', RULES),
  };
  // Once for the compiler.
  await interleaved(2, measures);
  const us = await interleaved(quick ? 5 : 9, measures);
  await engine.stop();
  return [
    {
      key: 'dispatchUs',
      value: median(us.dispatch),
      target: 8,
      unit: 'µs',
      what: `an event's dispatch to the admission of a run, in process (${median(us.dispatchMany).toFixed(1)} µs with 10,000 rules)`,
    },
    {
      key: 'holds10000to1',
      value: ratio(us.heldMany, us.held),
      target: 1.5,
      what: `an event with 10,000 armed holds to one with 1 (${median(us.heldMany).toFixed(1)} µs : ${median(us.held).toFixed(1)} µs)`,
    },
  ];
};

/** timers100000Mb, timers100000RestoreMs. */
export const timers: Benchmark = async ({ dist, dir }) => {
  const weighing = startChild('./inside.ts', [dist], ['--expose-gc']);
  const bytes = await weighing.ask<number>({ do: 'weigh', timers: TIMERS });
  await weighing.stop();
  const path = join(dir, 'timers.db');
  const arming = startChild('./inside.ts', [dist]);
  await arming.ask({ do: 'arm', timers: TIMERS, path });
  await arming.stop();
  const restoring = startChild('./inside.ts', [dist]);
  const { ms, pending } = await restoring.ask<{ ms: number; pending: number }>({ do: 'restore', timers: TIMERS, path });
  await restoring.stop();
  if (pending !== TIMERS) throw new Error(`${pending} of ${TIMERS} timers were restored`);
  return [
    { key: 'timers100000Mb', value: bytes / 1e6, target: 20, unit: 'MB', what: '100,000 pending timers' },
    {
      key: 'timers100000RestoreMs',
      value: ms,
      target: 2_000,
      unit: 'ms',
      what: '100,000 holds read from the store and armed again',
    },
  ];
};

/** loopLagP99Ms. */
export const lag: Benchmark = async ({ dist, dir, quick }) => {
  const engine = startChild('./inside.ts', [dist]);
  const late = await engine.ask<number[]>({
    do: 'lag',
    dir: join(dir, 'journal'),
    days: quick ? 10 : 30,
    perDay: 2_000,
    batches: quick ? 100 : 300,
  });
  await engine.stop();
  return [
    {
      key: 'loopLagP99Ms',
      value: quantile(late, 0.99),
      target: 50,
      unit: 'ms',
      what: 'how late the main loop is, p99, while the journal takes batches and retires old days',
    },
  ];
};
