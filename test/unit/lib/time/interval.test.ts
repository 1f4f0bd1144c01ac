import { expect, it } from 'vitest';
import { nextInterval } from '../../../../src/lib/time/interval.ts';

it('beats first one period after it was armed', () => {
  expect(nextInterval(1_000, 300, 1_000)).toBe(1_300);
  expect(nextInterval(1_000, 300, 0)).toBe(1_300);
});

it('keeps its phase, however late it is asked', () => {
  expect(nextInterval(1_000, 300, 1_299)).toBe(1_300);
  expect(nextInterval(1_000, 300, 1_300)).toBe(1_600);
  expect(nextInterval(1_000, 300, 100_000)).toBe(100_300);
});

it('refuses a period that does not pass', () => {
  expect(() => nextInterval(0, 0, 0)).toThrow('not a period');
  expect(() => nextInterval(0, Number.NaN, 0)).toThrow('not a period');
});
