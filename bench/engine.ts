// The engine alone (inside.ts): dispatch and admission, armed holds, pending timers; and the loop while the journal works.
import { join } from 'node:path';
import { type Benchmark, type Figure, interleaved, median, quantile, ratio } from './benchmark.ts';
import { startChild } from './processes.ts';

const RULES = 10_000;
const TIMERS = 100_000;

/** dispatchUs, holds10000to1, holdsSpread10000to1. */
export const dispatch: Benchmark = async ({ dist, quick }): Promise<Figure[]> => {
  const engine = startChild('./inside.ts', [dist]);
  for (const kind of ['button', 'hold'] as const) {
    await engine.ask({ do: 'build', name: `${kind} many`, kind, rules: RULES });
    await engine.ask({ do: 'build', name: `${kind} one`, kind, rules: 1 });
  }
  const events = quick ? 9_600 : 38_400;
  const cost = (what: 'dispatch' | 'held', kind: string, rules: number, spread = rules) => {
    const name = `${kind} ${rules === 1 ? 'one' : 'many'}`;
    return () => engine.ask<number>({ do: what, name, rules, events, spread });
  };
  const measures = {
    dispatch: cost('dispatch', 'button', 1),
    dispatchMany: cost('dispatch', 'button', RULES),
    held: cost('held', 'hold', 1),
    heldMany: cost('held', 'hold', RULES, 1),
    heldAll: cost('held', 'hold', RULES),
  };
  // Once for the compiler.
  await interleaved(quick ? 1 : 2, measures);
  const us = await interleaved(quick ? 3 : 9, measures);
  await engine.stop();
  const told = (values: readonly number[]) => `${median(values).toFixed(1)} µs`;
  return [
    {
      key: 'dispatchUs',
      value: median(us.dispatch),
      target: 8,
      unit: 'µs',
      what: `an event's dispatch to the admission of a run, in process (${told(us.dispatchMany)} all over 10,000 rules, which no cache holds)`,
    },
    {
      key: 'holds10000to1',
      value: ratio(us.heldMany, us.held),
      target: 1.5,
      what: `an event of one sensor while 10,000 holds are armed, to while 1 is (${told(us.heldMany)} : ${told(us.held)})`,
    },
    {
      key: 'holdsSpread10000to1',
      value: ratio(us.heldAll, us.held),
      what: `the same with events of all 10,000 sensors in turn, which no cache holds (${told(us.heldAll)})`,
    },
  ];
};

/** timers100000Mb, timers100000RestoreMs. */
export const timers: Benchmark = async ({ dist, dir, quick }) => {
  const weighing = startChild('./inside.ts', [dist], ['--expose-gc']);
  const bytes = await weighing.ask<number>({ do: 'weigh', timers: TIMERS });
  await weighing.stop();
  const weight = { key: 'timers100000Mb', value: bytes / 1e6, target: 20, unit: 'MB', what: '100,000 pending timers' };
  // To arm them takes longer than all else.
  if (quick) return [weight];
  const path = join(dir, 'timers.db');
  const arming = startChild('./inside.ts', [dist]);
  await arming.ask({ do: 'arm', timers: TIMERS, path });
  await arming.stop();
  const restoring = startChild('./inside.ts', [dist]);
  const { ms, pending } = await restoring.ask<{ ms: number; pending: number }>({ do: 'restore', timers: TIMERS, path });
  await restoring.stop();
  if (pending !== TIMERS) throw new Error(`${pending} of ${TIMERS} timers were restored`);
  return [
    weight,
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
    days: quick ? 5 : 30,
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
