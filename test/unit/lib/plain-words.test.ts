// What a schema has against a value, in words for people.
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { joined, plainWords } from '../../../src/lib/problems.ts';

const said = (schema: z.ZodType, input: unknown) =>
  schema.safeParse(input, { reportInput: true, error: plainWords }).error?.issues.map(({ message }) => message);

describe('plain words', () => {
  it.each([
    [z.string(), 5, 'expected text, got 5'],
    [z.number(), 'x', 'expected a number, got "x"'],
    [z.boolean(), undefined, 'expected true or false, got nothing'],
    [z.array(z.string()), {}, 'expected a list, got a map'],
    [z.string().min(1), '', 'may not be empty'],
    [z.enum(['a', 'b']), 'c', 'expected one of a, b, got "c"'],
    [z.number().max(3), 4, 'expected at most 3, got 4'],
  ])('of %# say what was expected and what it got', (schema, input, words) => {
    expect(said(schema, input)).toEqual([words]);
  });

  it('of several forms are one sentence, where all say what they expected', () => {
    expect(joined(['expected text, got 5', 'expected a list, got 5'])).toBe('expected text, or a list, got 5');
    expect(joined(['expected text, got 5', 'may not be empty'])).toBeUndefined();
    expect(joined([])).toBeUndefined();
  });
});
