import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  countRun,
  GUARD_DEFAULTS,
  type GuardWindow,
  guardWindow,
  hintsFor,
  isThrottled,
  netTest,
  pathTest,
  Roots,
  slowed,
} from '../../../src/engine/guard.ts';
import { requireRule } from '../../../src/engine/rules/schema.ts';
import { type Cause, causedByRule, rootCause } from '../../../src/model/cause.ts';

const HOUSE = GUARD_DEFAULTS;
const rule = (limits?: object) =>
  requireRule({
    id: 'r',
    name: 'R',
    triggers: [{ type: 'startup' }],
    actions: [{ type: 'log', message: 'x' }],
    ...(limits && { limits }),
  });

const root: Cause = rootCause('e0', { kind: 'device', ref: 'virtual:a' }, 'device');
const via = (...steps: [rule: string, on: string][]): Cause =>
  steps.reduce((cause, [by, on], n) => causedByRule(cause, `e${n + 1}`, by, on), root);

/** Starts at `times`; when they were admitted and when not. */
function starts(times: readonly number[], limits?: object, cause = root, window: GuardWindow = guardWindow()) {
  const r = rule(limits);
  return times.map(at => {
    const verdict = netTest(window, r, cause, at, HOUSE);
    if (verdict.ok) countRun(window, cause, at);
    return { at, verdict };
  });
}

const every = (ms: number, times: number, from = 0) => Array.from({ length: times }, (_, n) => from + n * ms);

describe('the path of causes', () => {
  const refused = (id: string, on: string, cause: Cause, descendants = 1) => {
    const verdict = pathTest(id, on, cause, descendants, HOUSE);
    return !verdict.ok && 'cycle' in verdict ? verdict : undefined;
  };

  test('a rule that comes back on the value that it ran upon is stopped, with the way round', () => {
    const cause = via(['a', 'lamp=on'], ['b', 'plug=on']);
    expect(refused('a', 'lamp=on', cause)?.cycle.map(step => step.rule)).toEqual(['a', 'b', 'a']);
    expect(refused('a', 'lamp=on', cause)?.message).toContain('a → b → a');
  });

  test('another value is let pass once: a rule may answer its own doing', () => {
    expect(refused('a', 'lamp=off', via(['a', 'lamp=on']))).toBeUndefined();
    expect(refused('a', 'lamp=dim', via(['a', 'lamp=on'], ['a', 'lamp=off']))).toBeDefined();
  });

  test('what came after a wait of ten seconds is no direct consequence', () => {
    expect(refused('a', 'lamp=on', slowed(via(['a', 'lamp=on'])))).toBeUndefined();
    expect(refused('b', 'plug=on', causedByRule(slowed(via(['a', 'lamp=on'])), 'e9', 'b', 'plug=on'))).toBeDefined();
    expect(slowed(root)).toBe(root);
  });

  test('chains end by their length, and a flood by what came of one cause', () => {
    const long = via(...Array.from({ length: 16 }, (_, n): [string, string] => [`r${n}`, `x=${n}`]));
    expect(refused('new', 'x=1', long)?.message).toContain('16');
    expect(refused('new', 'x=1', root, 200)).toBeUndefined();
    expect(refused('new', 'x=1', root, 201)?.message).toContain('e0');
    expect(pathTest('new', 'x=1', via(['a', 'x=0']), 1, { ...HOUSE, depth: 1 }).ok).toBe(false);
  });

  test('what came of one cause is counted anew after a pause, so that a slow cycle may go on for days', () => {
    const roots = new Roots();
    for (let n = 1; n <= 300; n++) expect(roots.add('slow', n * 60_000)).toBe(1);
    expect([1, 2, 3].map(n => roots.add('quick', n))).toEqual([1, 2, 3]);
  });

  test('says what would mend a loop', () => {
    const hints = hintsFor([
      { rule: 'a', on: 'virtual:t/level=5' },
      { rule: 'b', on: 'virtual:t/level=6' },
    ]).join('\n');
    expect(hints).toContain('hysteresis');
    expect(hints).toContain('a and b');
    expect(hintsFor([{ rule: 'a', on: 'lamp=on' }]).join('\n')).not.toContain('hysteresis');
  });
});

describe('the net', () => {
  test('lets the house’s number of runs pass, and a rule’s own', () => {
    expect(starts(every(100, 31)).map(({ verdict }) => verdict.ok)).toEqual([...Array(30).fill(true), false]);
    expect(starts(every(100, 4), { runs: 2, per: '1m' }).map(({ verdict }) => verdict.ok)).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  test('tells a stretch of refusals once', () => {
    const told = starts(every(1_000, 200), { runs: 1, per: '1m' }).filter(
      ({ verdict }) => !verdict.ok && 'notice' in verdict && verdict.notice,
    );
    expect(told.map(({ at }) => at)).toEqual([1_000]);
  });

  test('suspends a rule after five windows of refusals in a row, or at once where it says so', () => {
    const suspends = (all: ReturnType<typeof starts>) =>
      all.find(({ verdict }) => !verdict.ok && 'suspend' in verdict && verdict.suspend)?.at;
    expect(suspends(starts(every(1_000, 600), { runs: 1, per: '1m' }))).toBe(241_000);
    expect(suspends(starts(every(1_000, 5), { runs: 1, per: '1m', on_exceed: 'suspend' }))).toBe(1_000);
    const withPauses = every(600_000, 20).flatMap(from => every(1_000, 60, from));
    expect(suspends(starts(withPauses, { runs: 1, per: '1m' }))).toBeUndefined();
  });

  test('takes a flood that rules caused for a loop', () => {
    const cause = via(['other', 'x=1']);
    const last = starts(every(10, 31), undefined, cause).at(-1)?.verdict;
    expect(last).toMatchObject({ ok: false, reason: 'guard', net: true });
  });

  test('a rule is throttled while more would be refused, and no longer', () => {
    const window = guardWindow();
    const r = rule({ runs: 2, per: '1m' });
    starts([0, 1_000, 2_000], { runs: 2, per: '1m' }, root, window);
    expect(isThrottled(window, r, 30_000, HOUSE)).toBe(true);
    expect(isThrottled(window, r, 60_000, HOUSE)).toBe(false);
  });
});

// --- laws ----------------------------------------------------------------------------------------------------------------

const anyStarts = fc.array(fc.integer({ min: 0, max: 30_000 }), { maxLength: 300 }).map(gaps => {
  let at = 0;
  return gaps.map(gap => {
    at += gap;
    return at;
  });
});
const anyLimits = fc.record({ runs: fc.integer({ min: 1, max: 100 }), perS: fc.integer({ min: 1, max: 600 }) });

describe('whenever a rule would start', () => {
  test('a run is refused exactly when the window before it is full of runs that were admitted', () => {
    fc.assert(
      fc.property(anyStarts, anyLimits, (times, { runs, perS }) => {
        const admitted: number[] = [];
        for (const { at, verdict } of starts(times, { runs, per: `${perS}s` })) {
          const inWindow = admitted.filter(start => start > at - perS * 1_000).length;
          expect(verdict.ok).toBe(inWindow < runs);
          if (verdict.ok) admitted.push(at);
        }
      }),
    );
  });

  test('no chain of direct consequences lets one rule run more than twice', () => {
    const chain = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('on', 'off', 'dim')), {
      maxLength: 30,
    });
    fc.assert(
      fc.property(chain, steps => {
        let cause = root;
        const ran: string[] = [];
        for (const [id, on] of steps) {
          if (!pathTest(id, on, cause, 1, HOUSE).ok) continue;
          cause = causedByRule(cause, 'e', id, on);
          ran.push(id);
        }
        for (const id of ['a', 'b', 'c']) expect(ran.filter(one => one === id).length).toBeLessThanOrEqual(2);
      }),
    );
  });
});
