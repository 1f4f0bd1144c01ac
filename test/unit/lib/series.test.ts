// The aggregations, against results worked out by hand.
import { describe, expect, test } from 'vitest';
import { type Aggregate, type Aggregation, aggregate, numberOf, type Point } from '../../../src/lib/series.ts';

const minutes = (n: number) => n * 60_000;
const at = (minute: number, value: number | null): Point => ({ ts: minutes(minute), value });

// 2 from 0:00, 4 from 0:02, a gap from 0:04, 6 from 0:06, 3 from 0:12; asked are 0:00–0:20 in intervals of 10 minutes.
const POINTS = [at(0, 2), at(2, 4), at(4, null), at(6, 6), at(12, 3)];

const asked = (what: Aggregate, more: Partial<Aggregation> = {}): Aggregation => ({
  aggregate: what,
  from: 0,
  to: minutes(20),
  intervalMs: minutes(10),
  ...more,
});
const values = (what: Aggregate, more: Partial<Aggregation> = {}) =>
  aggregate(POINTS, asked(what, more)).map(({ value }) => value);

describe('an aggregation', () => {
  test.each([
    // (2 + 4 + 6) / 3, and 3 / 1
    ['avg', [4, 3]],
    ['min', [2, 3]],
    ['max', [6, 3]],
    ['sum', [12, 3]],
    ['count', [3, 1]],
    // Of 2, 4, 6: half is 1.5 values, so the second; of 3: the only one.
    ['quantile', [4, 3]],
    // 2·2 + 4·2 + (2 minutes of nothing) + 6·4 = 36; 6·2 + 3·8 = 36; in value times minutes.
    ['integral', [36, 36]],
  ] as const)('%s gives %j', (what, expected) => {
    expect(values(what)).toEqual(expected);
  });

  test('minmax gives both ends', () => {
    expect(aggregate(POINTS, asked('minmax')).map(({ min, max }) => [min, max])).toEqual([
      [2, 6],
      [3, 3],
    ]);
  });

  test.each([
    [0, 1],
    [0.25, 1.5],
    [0.3, 2],
    [0.5, 2.5],
    [0.75, 3.5],
    [0.9, 4],
    [1, 4],
  ])('the quantile %d of 1, 2, 3, 4 is %d', (quantile, expected) => {
    const points = [at(0, 4), at(1, 1), at(2, 3), at(3, 2)];
    const [interval] = aggregate(points, asked('percentile', { quantile, to: minutes(10) }));
    expect(interval?.value).toBe(expected);
  });

  test('is named by the beginning of its interval, and says how many points it has', () => {
    expect(aggregate(POINTS, asked('avg')).map(({ ts, points }) => [ts, points])).toEqual([
      [0, 4],
      [minutes(10), 1],
    ]);
  });

  test('of an interval without points is null, but a count, which is 0', () => {
    const empty = { from: minutes(100), to: minutes(110) };
    for (const what of ['avg', 'min', 'max', 'sum', 'quantile', 'percentile'] as const) {
      expect(aggregate([], asked(what, empty))).toEqual([{ ts: minutes(100), value: null, points: 0 }]);
    }
    expect(aggregate([], asked('count', empty))[0]?.value).toBe(0);
    expect(aggregate([], asked('minmax', empty))[0]).toMatchObject({ min: null, max: null });
  });

  test('cuts the last interval off where it is asked to end', () => {
    // 6·2 + 3·3 until 0:15.
    expect(values('integral', { to: minutes(15) })).toEqual([36, 21]);
  });

  test('takes a point at the beginning of an interval into it, and one at its end into the next', () => {
    const points = [at(0, 1), at(10, 5)];
    expect(aggregate(points, asked('sum')).map(({ value }) => value)).toEqual([1, 5]);
  });
});

describe('an integral', () => {
  test('goes on with what held before', () => {
    const [interval] = aggregate([at(-30, 5)], asked('integral', { to: minutes(10) }));
    expect(interval?.value).toBe(50);
  });

  test('counts nothing before anything is known, nor over a gap', () => {
    const [interval] = aggregate([at(6, 2), at(8, null)], asked('integral', { to: minutes(10) }));
    expect(interval?.value).toBe(4);
    expect(aggregate([at(-1, null)], asked('integral', { to: minutes(10) }))[0]?.value).toBeNull();
  });

  test('has the unit of time that is asked for', () => {
    // 120 W over half an hour are 60 Wh.
    const of = asked('integral', { to: minutes(30), intervalMs: minutes(30), unitMs: minutes(60) });
    expect(aggregate([at(0, 120)], of)[0]?.value).toBe(60);
  });
});

test.each([
  [true, 1],
  [false, 0],
  ['21.5', 21.5],
  ['', null],
  ['warm', null],
  [null, null],
  [Number.NaN, null],
  [{}, null],
])('%j is the number %j', (value, expected) => {
  expect(numberOf(value)).toBe(expected);
});
