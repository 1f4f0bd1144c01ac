// Lines of a system's own log: how many are taken, and what is told of the others.
import { describe, expect, it } from 'vitest';
import { logBound } from '../../../src/engine/system-logs.ts';

describe('the log of a system', () => {
  it('is bounded in each second; what was left out is counted, and told with the next line', () => {
    let now = 0;
    let leftOut = 0;
    const bounded = logBound(
      () => now,
      () => void leftOut++,
    );
    const flood = (lines: number) =>
      Array.from({ length: lines }, (_, i) => bounded({ type: 'log', level: 'debug', message: `line ${i}` })).flat();
    expect(flood(500).map(({ message }) => message)).toEqual(Array.from({ length: 50 }, (_, i) => `line ${i}`));
    expect(leftOut).toBe(450);
    now = 999;
    expect(flood(1)).toEqual([]);
    now = 1_000;
    expect(flood(1).map(({ message }) => message)).toEqual(['451 lines of the log were left out', 'line 0']);
    now = 2_000;
    expect(flood(50)).toHaveLength(50);
  });
});
