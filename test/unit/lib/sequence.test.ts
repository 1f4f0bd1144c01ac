import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '../../../src/lib/json.ts';
import { align } from '../../../src/lib/sequence.ts';

describe('align', () => {
  test('pairs what is equal, and what stands between it', () => {
    expect(align(['a', 'b', 'c'], ['a', 'x', 'c', 'd'])).toEqual([
      { from: 0, to: 0 },
      { from: 1, to: 1 },
      { from: 2, to: 2 },
      { to: 3 },
    ]);
  });

  test('knows entries by their id, however much else changes', () => {
    const old: Json[] = [{ id: 'a', n: 1 }, { id: 'b' }];
    expect(align(old, [{ id: 'b', n: 5 }])).toEqual([{ from: 0 }, { from: 1, to: 0 }]);
  });

  test('does not take one id for another', () => {
    expect(align([{ id: 'a' }], [{ id: 'b' }])).toEqual([{ from: 0 }, { to: 0 }]);
  });

  test('has every entry of both lists once and in order, also of long ones', () => {
    const item = fc.constantFrom<Json>('a', 'b', 'c', 1, { id: 'x' }, { id: 'y', n: 1 });
    const lists = fc.oneof(
      fc.tuple(fc.array(item), fc.array(item)),
      fc.tuple(fc.array(item, { minLength: 510, maxLength: 520 }), fc.array(item, { minLength: 510, maxLength: 520 })),
    );
    fc.assert(
      fc.property(lists, ([old, wanted]) => {
        const plan = align(old, wanted);
        expect(plan.flatMap(step => step.from ?? [])).toEqual(old.map((_, index) => index));
        expect(plan.flatMap(step => step.to ?? [])).toEqual(wanted.map((_, index) => index));
      }),
      { numRuns: 60 },
    );
  });
});
