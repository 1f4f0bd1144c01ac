import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { traceIndex } from '../../../src/store/trace-index.ts';

describe('the index of traces', () => {
  test('never holds more than it may, always drops the oldest, and finds exactly the others', () => {
    const rules = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 120 });
    const limits = fc.record({ perRule: fc.integer({ min: 1, max: 6 }), total: fc.integer({ min: 1, max: 12 }) });
    fc.assert(
      fc.property(rules, limits, (sequence, { perRule, total }) => {
        const index = traceIndex({ perRule, total });
        let model: { run: string; rule: string }[] = [];
        for (const [i, rule] of sequence.entries()) {
          const run = String(i).padStart(4, '0');
          const { gone } = index.add(run, rule, 'completed');
          model.push({ run, rule });
          const ofRule = model.filter(entry => entry.rule === rule);
          const expected = ofRule.length > perRule ? ofRule.slice(0, 1) : model.length > total ? model.slice(0, 1) : [];
          model = model.filter(entry => !expected.includes(entry));
          expect(gone.map(entry => entry.run)).toEqual(expected.map(entry => entry.run));
          expect(index.find({ limit: 999 }).map(entry => entry.run)).toEqual(model.map(entry => entry.run).reverse());
        }
      }),
      { numRuns: 100 },
    );
  });

  test('stays fast and small when one rule fills its share for ever', () => {
    const index = traceIndex({ perRule: 2, total: 10 });
    for (let i = 0; i < 10_000; i++) index.add(String(i).padStart(6, '0'), 'busy', 'completed');
    index.add('quiet-1', 'quiet', 'completed');
    expect(index.find({ limit: 9 }).map(({ run }) => run)).toEqual(['quiet-1', '009999', '009998']);
  });

  test('gives a run that went on its old place and its new outcome', () => {
    const index = traceIndex({ perRule: 2, total: 10 });
    const { entry } = index.add('01', 'fan', 'waiting');
    index.add('02', 'fan', 'completed');
    expect(index.add('01', 'fan', 'completed')).toEqual({ entry: { ...entry, outcome: 'completed' }, gone: [] });
    expect(index.find({ outcome: 'waiting', limit: 9 })).toEqual([]);
  });
});
