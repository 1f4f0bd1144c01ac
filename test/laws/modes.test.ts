// Law: which runs start, wait, are refused, replaced or dropped, and when each ends, is what a plain table of runs says,
// for every run mode with max, key and overflow, over random triggers and durations, and over kills.
// Long form: LAW_RUNS=20000 npx vitest run test/laws/modes.test.ts
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { World } from '../../src/world/world.ts';
import { LAW_TIMEOUT_MS, live, ms, shown, tried } from './kit.ts';

const KEYS = ['virtual:b1', 'virtual:b2'];
const FORBIDDEN_S = 9;

type Op = { do: 'push'; key: number; s: number } | { do: 'down'; s: number };

interface Train {
  mode: {
    type: 'single' | 'restart' | 'queued' | 'parallel';
    overflow: 'drop_newest' | 'drop_oldest' | 'coalesce' | undefined;
  };
  max: number;
  isKeyed: boolean;
  ops: { gap: number; op: Op }[];
}

/** What becomes of one trigger. */
interface Fate {
  n: number;
  started?: number;
  ended?: number;
  outcome: 'completed' | 'replaced' | 'refused' | 'running' | 'waiting';
  reason?: string;
}

interface Run {
  fate: Fate;
  key: number;
  ms: number;
  due: number | undefined;
}

/** The table. Times are elapsed ms. */
class Table {
  readonly fates: Fate[] = [];
  private readonly train: Train;
  /** Oldest first. */
  private live: Run[] = [];

  constructor(train: Train) {
    this.train = train;
  }

  private begin(run: Run, at: number): void {
    Object.assign(run.fate, { started: at, outcome: 'running' });
    run.due = at + run.ms;
  }

  private end(run: Run, at: number, outcome: 'completed' | 'replaced'): void {
    Object.assign(run.fate, { ended: at, outcome });
    this.live = this.live.filter(one => one !== run);
  }

  private refuse(fate: Fate, reason: string): void {
    Object.assign(fate, { outcome: 'refused', reason });
  }

  /** All that ends by itself up to and with an instant. */
  runTo(time: number, now?: number): void {
    for (;;) {
      const [first] = this.live.filter(run => run.due !== undefined).sort((a, b) => (a.due ?? 0) - (b.due ?? 0));
      if (first?.due === undefined || first.due > time) return;
      const at = now ?? first.due;
      this.end(first, at, 'completed');
      const next = this.live.find(run => run.key === first.key && run.due === undefined);
      if (next) this.begin(next, at);
    }
  }

  push(n: number, at: number, { key, s }: { key: number; s: number }): void {
    const fate: Fate = { n, outcome: 'waiting' };
    this.fates.push(fate);
    const run: Run = { fate, key: this.train.isKeyed ? key : 0, ms: s * 1000, due: undefined };
    const reason = s === FORBIDDEN_S ? 'condition' : this.makeRoom(run.key, at);
    if (reason !== undefined) {
      this.refuse(fate, reason);
      return;
    }
    const waits = this.train.mode.type === 'queued' && this.live.some(one => one.key === run.key);
    this.live.push(run);
    if (!waits) this.begin(run, at);
  }

  /** Makes room for another run of a key, or says why there is none. */
  private makeRoom(key: number, at: number): string | undefined {
    const { max } = this.train;
    const { type, overflow } = this.train.mode;
    const mine = this.live.filter(one => one.key === key);
    if (type === 'single' && mine.length > 0) return 'mode_single';
    if (type === 'restart') for (const one of mine) this.end(one, at, 'replaced');
    if (type === 'single' || type === 'restart' || mine.length < max) return undefined;
    const [oldest] = mine;
    if (type === 'parallel') {
      if (overflow !== 'drop_oldest' || !oldest) return 'overflow';
      this.end(oldest, at, 'replaced');
      return undefined;
    }
    const waiting = mine.filter(one => one.due === undefined);
    const dropped = overflow === 'drop_oldest' ? waiting[0] : overflow === 'coalesce' ? waiting.at(-1) : undefined;
    if (!dropped) return 'overflow';
    this.refuse(dropped.fate, 'overflow');
    this.live = this.live.filter(one => one !== dropped);
    return undefined;
  }
}

const op: fc.Arbitrary<Op> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('push' as const),
      key: fc.integer({ min: 0, max: 1 }),
      s: fc.constantFrom(0, 1, 2, 3, 5, 8, FORBIDDEN_S),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('down' as const), s: fc.integer({ min: 0, max: 6 }) }) },
);
const drops = [undefined, 'drop_newest' as const, 'drop_oldest' as const];
const mode = fc.oneof(
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constantFrom('single' as const, 'restart' as const),
      overflow: fc.constant(undefined),
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('parallel' as const), overflow: fc.constantFrom(...drops) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('queued' as const),
      overflow: fc.constantFrom(...drops, 'coalesce' as const),
    }),
  },
);
const train: fc.Arbitrary<Train> = fc.record({
  mode,
  max: fc.integer({ min: 1, max: 4 }),
  isKeyed: fc.boolean(),
  ops: fc.array(fc.record({ gap: fc.constantFrom(0, 0, 1, 1, 2, 4), op }), { maxLength: 30 }),
});

function both(train: Train): { scenario: object; fates: Fate[] } {
  const table = new Table(train);
  const timeline: object[] = [];
  let at = 0;
  for (const [n, { gap, op }] of train.ops.entries()) {
    at += gap * 1000;
    table.runTo(at);
    if (op.do === 'push') {
      table.push(n, at, op);
      const value = n * 100 + op.s;
      timeline.push({ at: ms(at), event: { device: KEYS[op.key], name: 'pushed', value } });
      continue;
    }
    timeline.push({ at: ms(at), stop: true });
    at += op.s * 1000;
    timeline.push({ at: ms(at), start: true });
    table.runTo(at, at);
  }
  at += 4_000;
  table.runTo(at);
  const { max, isKeyed } = train;
  const { type, overflow } = train.mode;
  const scenario = {
    devices: Object.fromEntries(KEYS.map(id => [id, { capabilities: ['button'] }])),
    rules: [
      {
        id: 'busy',
        name: 'Busy',
        mode: { type, max, ...(overflow && { overflow }), ...(isKeyed && { key: 'trigger.device' }) },
        limits: { runs: 100_000, per: '1h' },
        triggers: [{ type: 'event', device: KEYS, name: 'pushed' }],
        condition: { type: 'expression', expr: `int(trigger.value) % 100 != ${FORBIDDEN_S}` },
        actions: [{ type: 'delay', for: { expr: 'int(trigger.value) % 100 * 1000' } }],
      },
    ],
    timeline,
    until: ms(at),
  };
  return { scenario, fates: table.fates };
}

/** What became of each trigger in the world. */
function fatesIn(world: World): Fate[] {
  const fates = [...world.seen.traces.values()].map(({ trace, started, ended }): Fate => {
    const fate: Fate = {
      n: Math.floor(Number(trace.triggerInfo?.value) / 100),
      outcome: trace.outcome as Fate['outcome'],
    };
    if (trace.outcome === 'refused') fate.reason = String(trace.reason);
    else if (trace.outcome !== 'waiting') fate.started = started;
    if (ended !== undefined) fate.ended = ended;
    return fate;
  });
  return fates.sort((a, b) => a.n - b.n);
}

describe('a run mode', () => {
  it(
    'starts, queues, replaces and refuses as the table says',
    async () => {
      await fc.assert(
        fc.asyncProperty(train, async train => {
          const { scenario, fates } = both(train);
          expect(fatesIn(await live(scenario)), shown(scenario)).toEqual(fates);
        }),
        tried(400),
      );
    },
    LAW_TIMEOUT_MS,
  );
});
