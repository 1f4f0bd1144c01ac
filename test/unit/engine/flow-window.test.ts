// Windows over what comes, against all of it kept.
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { HouseBackend } from '../../../src/backends/house/index.ts';
import {
  type Asked,
  type Entry,
  isOver,
  isReached,
  measureOf,
  SUM_STEPS,
  withAdded,
} from '../../../src/engine/triggers/flow-window.ts';
import { live, ms } from '../../laws/kit.ts';

const WITHIN = 1_000;

/** What comes, oldest first, with steps of no time or of at least and at most so much between. */
const train = (what: fc.Arbitrary<Entry[1]>, most: number, least = 1): fc.Arbitrary<Entry[]> =>
  fc.array(fc.tuple(fc.nat(most), what), { maxLength: 60 }).map(steps => {
    let at = 0;
    return steps.map(([step, value]): Entry => [(at += step < least ? 0 : step), value]);
  });

/** At which of them it fires, where a window is emptied when it does: by the window, and by all that came since. */
function firings(entries: readonly Entry[], asked: Asked, measure: (all: readonly Entry[]) => number) {
  let window: Entry[] = [];
  let all: Entry[] = [];
  return entries.map(entry => {
    window = withAdded(window, entry, WITHIN, asked);
    all = [...all, entry].filter(([at]) => entry[0] - at < WITHIN);
    const fired = [measureOf(window, asked), measure(all)].map(value => isReached(value, asked));
    if (fired[1]) all = [];
    if (fired[0]) window = [];
    return { fired, size: window.length };
  });
}

const number = fc.integer({ min: 1, max: 6 });

describe('what comes late', () => {
  const count: Asked = { of: 'count', count: 9 };

  it('stands in its place among the others, or counts no more', () => {
    const window = withAdded(withAdded([], [1_000, null], WITHIN, count), [200, null], WITHIN, count);
    expect(window.map(([at]) => at)).toEqual([200, 1_000]);
    expect(withAdded(window, [0, null], WITHIN, count)).toEqual(window);
    expect(withAdded(window, [1_900, null], WITHIN, count).map(([at]) => at)).toEqual([1_000, 1_900]);
  });

  it('makes nothing that came again later any older', () => {
    const distinct: Asked = { of: 'distinct', count: 9 };
    expect(withAdded([[1_000, 'a']], [500, 'a'], WITHIN, distinct)).toEqual([[1_000, 'a']]);
    expect(withAdded([[1_000, 'a']], [500, 'b'], WITHIN, distinct)).toEqual([
      [500, 'b'],
      [1_000, 'a'],
    ]);
  });

  it('leaves a sum when its own time is over', () => {
    const sum: Asked = { of: 'sum', above: 100 };
    const window = withAdded([[1_000, 7]], [400, 5], WITHIN, sum);
    expect(measureOf(window, sum)).toBe(12);
    expect(measureOf(withAdded(window, [1_400, 1], WITHIN, sum), sum)).toBe(8);
  });
});

describe('a window', () => {
  it('of a count fires with what a count over all fires with, and keeps no more than the count', () => {
    fc.assert(
      fc.property(train(fc.constant(null), 700), number, (entries, count) => {
        for (const { fired, size } of firings(entries, { of: 'count', count }, all => all.length)) {
          expect(fired[0]).toBe(fired[1]);
          expect(size).toBeLessThan(count);
        }
      }),
    );
  });

  it('of different values fires with what a count of them over all fires with, and keeps no more than the count', () => {
    const value = fc.constantFrom<Entry[1]>('a', 'b', 1, '1', null, { x: 1 });
    const different = (all: readonly Entry[]) => new Set(all.map(([, what]) => JSON.stringify(what))).size;
    fc.assert(
      fc.property(train(value, 400), number, (entries, count) => {
        for (const { fired, size } of firings(entries, { of: 'distinct', count }, different)) {
          expect(fired[0]).toBe(fired[1]);
          expect(size).toBeLessThan(count);
        }
      }),
    );
  });

  it('of a sum fires with what a sum over all fires with, where nothing comes closer than a step', () => {
    const amount = fc.oneof(fc.nat(50), fc.constantFrom<Entry[1]>('text', null));
    const sum = (all: readonly Entry[]) => measureOf(all, { of: 'sum', above: 0 });
    fc.assert(
      fc.property(train(amount, 700, WITHIN / SUM_STEPS), fc.nat(120), (entries, above) => {
        for (const { fired } of firings(entries, { of: 'sum', above }, sum)) expect(fired[0]).toBe(fired[1]);
      }),
    );
  });

  it('of a sum stays small in a flood, and the sum is right to what came within a step of its edge', () => {
    const asked: Asked = { of: 'sum', above: 1e12 };
    let entries: Entry[] = [];
    for (let n = 0; n < 50_000; n++) entries = withAdded(entries, [n * 0.1, 1], WITHIN, asked);
    expect(entries.length).toBeLessThanOrEqual(SUM_STEPS + 1);
    expect(Math.abs(measureOf(entries, asked) - 10_000)).toBeLessThanOrEqual(10_000 / SUM_STEPS);
  });

  it('is over when its last one has left it', () => {
    const entries: Entry[] = [
      [0, null],
      [400, null],
    ];
    expect([isOver(entries, 1_399, WITHIN), isOver(entries, 1_400, WITHIN), isOver([], 0, WITHIN)]).toEqual([
      false,
      true,
      true,
    ]);
  });
});

describe('windows of many sources', () => {
  const blocked = (at: number, mac: string) => ({
    at: ms(at),
    flow: { site: 's', action: 'blocked', source: { mac } },
  });
  const houseOf = (timeline: object[], until = '1m') => ({
    rules: [
      {
        id: 'busy',
        name: 'Two blocked flows of one source',
        triggers: [{ type: 'flow', where: { action: 'blocked' }, within: '10m', count: 2, per: 'source.mac' }],
        mode: { type: 'parallel' },
        actions: [{ type: 'log', message: '{{ trigger.key }}' }],
      },
    ],
    timeline,
    until,
  });
  const crowd = (from: number) => Array.from({ length: 999 }, (_, n) => blocked(from + n, `mac${n}`));
  /** Who fired, in their order. */
  const outcome = async (scenario: object) => {
    const { seen } = await live(scenario);
    return seen.logs.map(line => line.fields.message);
  };

  it('are a thousand at most: the one that would be over first is given up', async () => {
    const timeline = [blocked(1_000, 'first'), ...crowd(2_000), blocked(4_000, 'another'), blocked(5_000, 'first')];
    const more = [blocked(6_000, 'another'), blocked(7_000, 'mac5')];
    const events = vi.spyOn(HouseBackend.prototype, 'onEvent');
    expect(await outcome(houseOf([...timeline, ...more]))).toEqual(['another', 'mac5']);
    const told = events.mock.calls.map(([event]) => event).filter(event => event.device === 'rule:busy');
    expect(told.map(({ attribute, value }) => [attribute, value])).toEqual([
      ['$log', { level: 'warn', message: 't1: more than 1000 windows at a time; that of first is given up' }],
    ]);
  });

  it('that are over make room', async () => {
    const timeline = [...crowd(0), blocked(599_000, 'late'), blocked(601_500, 'another'), blocked(602_000, 'late')];
    expect(await outcome(houseOf(timeline, '11m'))).toEqual(['late']);
  });
});
