import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { check, pathText, problemsError } from '../../../src/lib/problems.ts';

/** The complaints of a schema, as `path: message; hint`. */
function complaints(schema: z.ZodType, input: unknown): string[] {
  const checked = check(schema, input);
  return checked.ok
    ? []
    : checked.issues.map(({ path, message, hint }) => `${pathText(path)}: ${message}${hint ? `; ${hint}` : ''}`);
}

const Step = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('delay'), for: z.string() }),
  z.strictObject({ type: z.literal('log'), message: z.string(), level: z.enum(['info', 'warn']).default('info') }),
]);
const Target = z.union([z.string().min(1), z.array(z.string()).min(1), z.strictObject({ room: z.string() })]);
const Steps: z.ZodType = z.lazy(() =>
  z.array(z.union([Step, z.strictObject({ type: z.literal('repeat'), do: Steps })])),
);
const Rule = z.strictObject({
  target: Target.optional(),
  steps: Steps.optional(),
  count: z.int().gt(0).lt(10).optional(),
  secret: z.string().min(5).meta({ kind: 'secret' }).optional(),
  list: z.array(z.string()).max(2).optional(),
});

describe('check', () => {
  test('gives the value when it fits', () => {
    expect(check(Rule, { count: 3 })).toEqual({ ok: true, value: { count: 3 } });
  });

  test('names the type of a step that there is not', () => {
    expect(complaints(Step, { type: 'dela' })).toEqual(['type: unknown type "dela"; did you mean "delay"?']);
    expect(complaints(Step, {})).toEqual(['type: unknown type nothing; known are delay, log']);
  });

  test('names the keys of the kind that was chosen', () => {
    expect(complaints(Step, { type: 'log', message: 'x', leve: 'info' })).toEqual([
      'leve: unknown key "leve"; did you mean "level"?',
    ]);
    expect(complaints(Step, { type: 'delay', foo: 1, for: '5m' })).toEqual([
      'foo: unknown key "foo"; did you mean "for"?',
    ]);
  });

  test('says what is missing', () => {
    expect(complaints(Step, { type: 'delay' })).toEqual(['for: expected text, got nothing']);
  });

  test('speaks of the form of a union that was meant', () => {
    expect(complaints(Rule, { target: { romm: 'x', room: 'y' } })).toEqual([
      'target/romm: unknown key "romm"; did you mean "room"?',
    ]);
    expect(complaints(Rule, { target: [] })).toEqual(['target: expected at least 1 entries, got a list']);
    expect(complaints(Rule, { target: '' })).toEqual(['target: may not be empty']);
    expect(complaints(Rule, { target: 5 })).toEqual([
      'target: expected text, or a list, or a map of keys and values, got 5',
    ]);
  });

  test('finds the place in nested unions', () => {
    const steps = [{ type: 'repeat', do: [{ type: 'log', message: 5 }] }];
    expect(complaints(Rule, { steps })).toEqual(['steps/0/do/0/message: expected text, got 5']);
  });

  test('says which bound is passed', () => {
    expect(complaints(Rule, { count: 0 })).toEqual(['count: expected more than 0, got 0']);
    expect(complaints(Rule, { count: 10 })).toEqual(['count: expected less than 10, got 10']);
    expect(complaints(Rule, { list: ['a', 'b', 'c'] })).toEqual(['list: expected at most 2 entries, got a list']);
  });

  test('does not show a secret', () => {
    expect(complaints(Rule, { secret: 'hush' })).toEqual(['secret: expected at least 5 characters']);
    expect(complaints(Rule, { secret: 12345 })).toEqual(['secret: expected text']);
  });
});

describe('problemsError', () => {
  const problem = { source: 'a.yaml', line: 1, column: 2, path: 'x/0', message: 'no', hint: 'yes' };

  test('of one problem is one line, with its path and hint', () => {
    const error = problemsError('RULE_INVALID', [problem]);
    expect(error).toMatchObject({ code: 'RULE_INVALID', message: 'a.yaml:1:2 x/0: no; yes', path: 'x/0', hint: 'yes' });
  });

  test('of several lists them', () => {
    const error = problemsError('CONFIG_INVALID', [problem, { source: 'CAUSEWAY_A__B', path: '', message: 'no' }]);
    expect(error.message).toBe('2 problems:\n  a.yaml:1:2 x/0: no; yes\n  CAUSEWAY_A__B no');
    expect(error.details).toMatchObject({ problems: [problem, { source: 'CAUSEWAY_A__B' }] });
  });
});
