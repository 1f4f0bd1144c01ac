// Run modes on a table of runs that lives by what `admit` says, as the engine's does.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { admit, type LiveRun, type Mode } from '../../../src/engine/run/admit.ts';

const running = (id: string, key = ''): LiveRun => ({ id, key, status: 'running' });
const queued = (id: string, key = ''): LiveRun => ({ id, key, status: 'queued' });
const mode = (type: Mode['type'], max = 10, overflow: Mode['overflow'] = 'drop_newest'): Mode => ({
  type,
  max,
  overflow,
});

describe('a run while another one lives', () => {
  test('is refused by single, and replaces it by restart', () => {
    expect(admit([running('a')], '', mode('single'))).toEqual({ do: 'refuse', reason: 'mode_single' });
    expect(admit([running('a')], '', mode('restart'))).toEqual({ do: 'replace', runs: ['a'] });
  });

  test('waits by queued, runs beside it by parallel', () => {
    expect(admit([running('a')], '', mode('queued'))).toEqual({ do: 'queue' });
    expect(admit([running('a')], '', mode('parallel'))).toEqual({ do: 'start' });
  });

  test('is no business of runs with another key', () => {
    for (const type of ['single', 'restart', 'queued', 'parallel'] as const)
      expect(admit([running('a', 'kitchen')], 'hall', mode(type, 1))).toEqual({ do: 'start' });
  });
});

describe('over the maximum', () => {
  const full = [running('a'), queued('b'), queued('c')];

  test('the newest is refused, unless the rule says otherwise', () => {
    expect(admit(full, '', mode('queued', 3))).toEqual({ do: 'refuse', reason: 'overflow' });
    expect(admit([running('a')], '', mode('parallel', 1))).toEqual({ do: 'refuse', reason: 'overflow' });
  });

  test('drop_oldest makes room by what waits longest, in parallel by what runs longest', () => {
    expect(admit(full, '', mode('queued', 3, 'drop_oldest'))).toEqual({ do: 'queue', drop: 'b' });
    expect(admit([running('a'), running('b')], '', mode('parallel', 2, 'drop_oldest'))).toEqual({
      do: 'replace',
      runs: ['a'],
    });
  });

  test('coalesce keeps the newest of those that wait', () => {
    expect(admit(full, '', mode('queued', 3, 'coalesce'))).toEqual({ do: 'queue', drop: 'c' });
  });

  test('what runs is never dropped to let another one wait', () => {
    for (const overflow of ['drop_oldest', 'coalesce'] as const)
      expect(admit([running('a')], '', mode('queued', 1, overflow))).toEqual({ do: 'refuse', reason: 'overflow' });
  });
});

// --- laws ----------------------------------------------------------------------------------------------------------------

type Op = { do: 'start'; key: string } | { do: 'end'; pick: number };

const anyMode: fc.Arbitrary<Mode> = fc.record({
  type: fc.constantFrom('single', 'restart', 'queued', 'parallel'),
  max: fc.integer({ min: 1, max: 4 }),
  overflow: fc.constantFrom('drop_newest', 'drop_oldest', 'coalesce'),
});
const anyOps: fc.Arbitrary<Op[]> = fc.array(
  fc.oneof(
    fc.record({ do: fc.constant('start' as const), key: fc.constantFrom('a', 'b') }),
    fc.record({ do: fc.constant('end' as const), pick: fc.nat(9) }),
  ),
  { maxLength: 60 },
);

/** Lives through starts and ends; `look` sees the table after each. */
function live(mode: Mode, ops: readonly Op[], look: (runs: readonly LiveRun[]) => void) {
  let runs: LiveRun[] = [];
  const began: string[] = [];
  const fate = { started: 0, ended: 0, refused: 0, replaced: 0, dropped: 0 };
  const begin = (run: LiveRun) => began.push(run.id);
  const next = (key: string) => {
    if (runs.some(run => run.key === key && run.status === 'running')) return;
    const waiting = runs.find(run => run.key === key);
    if (!waiting) return;
    runs = runs.map(run => (run === waiting ? running(run.id, key) : run));
    begin(waiting);
  };
  for (const [n, op] of ops.entries()) {
    if (op.do === 'end') {
      const candidates = runs.filter(run => run.status === 'running');
      const over = candidates[op.pick % Math.max(1, candidates.length)];
      if (!over) continue;
      runs = runs.filter(run => run !== over);
      fate.ended++;
      next(over.key);
    } else {
      const id = String(n).padStart(3, '0');
      fate.started++;
      const said = admit(runs, op.key, mode);
      if (said.do === 'refuse') fate.refused++;
      else if (said.do === 'queue') {
        if (said.drop !== undefined) fate.dropped++;
        runs = [...runs.filter(run => run.id !== said.drop), queued(id, op.key)];
      } else {
        const gone = said.do === 'replace' ? said.runs : [];
        fate.replaced += gone.length;
        runs = [...runs.filter(run => !gone.includes(run.id)), running(id, op.key)];
        begin(running(id, op.key));
      }
    }
    look(runs);
  }
  return { runs, began, fate };
}

const ofKey = (runs: readonly LiveRun[]) => ['a', 'b'].map(key => runs.filter(run => run.key === key));

describe('whatever starts and ends', () => {
  test('no more live than the maximum, and one alone in single and restart', () => {
    fc.assert(
      fc.property(anyMode, anyOps, (mode, ops) => {
        const most = mode.type === 'single' || mode.type === 'restart' ? 1 : mode.max;
        live(mode, ops, runs => {
          for (const mine of ofKey(runs)) expect(mine.length).toBeLessThanOrEqual(most);
        });
      }),
    );
  });

  test('never two of one key run when they queue, and none waits while none runs', () => {
    fc.assert(
      fc.property(anyMode, anyOps, (mode, ops) => {
        live({ ...mode, type: 'queued' }, ops, runs => {
          for (const mine of ofKey(runs))
            expect(mine.filter(run => run.status === 'running').length).toBe(Math.min(1, mine.length));
        });
      }),
    );
  });

  test('those of one key that queue run in the order in which they came', () => {
    fc.assert(
      fc.property(anyMode, anyOps, (mode, ops) => {
        const onlyA = ops.filter(op => op.do === 'end' || op.key === 'a');
        const { began } = live({ ...mode, type: 'queued' }, onlyA, () => {});
        expect(began).toEqual([...began].sort());
      }),
    );
  });

  test('each start has one fate', () => {
    fc.assert(
      fc.property(anyMode, anyOps, (mode, ops) => {
        const { runs, fate } = live(mode, ops, () => {});
        expect(fate.ended + fate.refused + fate.replaced + fate.dropped + runs.length).toBe(fate.started);
      }),
    );
  });

  test('one key lives as if the other were not', () => {
    fc.assert(
      fc.property(anyMode, fc.array(fc.constantFrom('a', 'b'), { maxLength: 30 }), (mode, keys) => {
        const starts = keys.map((key): Op => ({ do: 'start', key }));
        const alone = live(
          mode,
          starts.filter(op => op.do === 'start' && op.key === 'a'),
          () => {},
        );
        const both = live(mode, starts, () => {});
        expect(both.runs.filter(run => run.key === 'a').map(run => run.status)).toEqual(
          alone.runs.map(run => run.status),
        );
      }),
    );
  });
});
