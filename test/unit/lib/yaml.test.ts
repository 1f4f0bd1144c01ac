import { describe, expect, test } from 'vitest';
import { CausewayError } from '../../../src/lib/errors.ts';
import { parseYaml } from '../../../src/lib/yaml.ts';

const read = (text: string): unknown => parseYaml(text, { file: 'a.yaml' }).value;

function refusal(text: string): CausewayError {
  try {
    read(text);
  } catch (error) {
    if (error instanceof CausewayError) return error;
    throw error;
  }
  throw new Error('it was read');
}

describe('YAML 1.2, core schema', () => {
  test('on, off, yes, times and stamps are text', () => {
    expect(read('a: on\nb: off\nc: yes\nd: 08:00\ne: 2026-12-24\nf: 22:00:00')).toEqual({
      a: 'on',
      b: 'off',
      c: 'yes',
      d: '08:00',
      e: '2026-12-24',
      f: '22:00:00',
    });
  });

  test('true, numbers and null are what they look like', () => {
    expect(read('a: true\nb: 22.5\nc: -3\nd: null\ne:')).toEqual({ a: true, b: 22.5, c: -3, d: null, e: null });
  });

  test('keys are text, also on, 12 and true', () => {
    expect(read('on: 1\n12: 2\ntrue: 3')).toEqual({ on: 1, 12: 2, true: 3 });
  });

  test('an empty text is null', () => {
    expect(read('# nothing yet\n')).toBeNull();
  });

  test('__proto__ is an ordinary key', () => {
    const value = read('__proto__: { admin: true }') as object;
    expect(Object.hasOwn(value, '__proto__')).toBe(true);
    expect((value as { admin?: boolean }).admin).toBeUndefined();
  });

  test('an anchor may be used again', () => {
    expect(read('a: &night { after: "22:00" }\nb: *night')).toEqual({ a: { after: '22:00' }, b: { after: '22:00' } });
  });
});

describe('what is refused, at line and column', () => {
  test('a key that stands there twice', () => {
    expect(refusal('a: 1\nb: 2\na: 3').message).toBe('a.yaml:3:1 this key stands here twice');
  });

  test('several faults are told at once, and in details', () => {
    const error = refusal('a: !foo x\nb: !bar y');
    expect(error.message).toBe('2 problems:\n  a.yaml:1:4 unknown tag !foo\n  a.yaml:2:4 unknown tag !bar');
    expect(error.details).toMatchObject({
      problems: [
        { source: 'a.yaml', line: 1, column: 4 },
        { source: 'a.yaml', line: 2, column: 4 },
      ],
    });
  });

  test('a second document', () => {
    expect(refusal('a: 1\n---\nb: 2').message).toBe('a.yaml:2:1 a second document starts here; only one is read');
  });

  test('a key that is a list', () => {
    expect(refusal('? [a, b]\n: 1').message).toBe('a.yaml:1:3 a key must be text');
  });

  test('an alias without an anchor', () => {
    expect(refusal('a: 1\nb: [*x]').message).toBe('a.yaml:2:5 there is no anchor &x before this');
  });

  test('aliases of aliases of aliases', () => {
    const levels = Array.from({ length: 9 }, (_, i) => `a${i + 1}: &a${i + 1} [${Array(9).fill(`*a${i}`).join(', ')}]`);
    expect(refusal(`a0: &a0 [lol]\n${levels.join('\n')}`).message).toContain('aliases are resolved at most 500 times');
  });

  test('a syntax error, with the code that the caller gives', () => {
    expect(() => parseYaml('a: [1, 2', { file: 'r.yaml', code: 'RULE_INVALID' })).toThrow(
      expect.objectContaining({ code: 'RULE_INVALID', message: expect.stringMatching(/^r\.yaml:1:\d+ /) }),
    );
  });
});

describe('where a path stands', () => {
  const { lineOf } = parseYaml(
    'name: x\ntriggers:\n  - { id: hot, above: 25 }\n  - id: two\n    for:\nbase: &b { k: 1 }\nuse: *b\n',
    {
      file: 'a.yaml',
    },
  );

  test('a value', () => {
    expect(lineOf(['triggers', 0, 'above'])).toEqual({ line: 3, column: 23 });
    expect(lineOf(['triggers', 1, 'id'])).toEqual({ line: 4, column: 9 });
  });

  test('a key', () => {
    expect(lineOf(['triggers', 0, 'above'], 'key')).toEqual({ line: 3, column: 16 });
    expect(lineOf(['triggers'], 'key')).toEqual({ line: 2, column: 1 });
  });

  test('a key without a value stands for it', () => {
    expect(lineOf(['triggers', 1, 'for'])).toEqual({ line: 5, column: 5 });
  });

  test('what does not exist stands at the nearest place above', () => {
    expect(lineOf(['triggers', 1, 'above'])).toEqual({ line: 4, column: 5 });
    expect(lineOf(['nothing', 3])).toEqual({ line: 1, column: 1 });
  });

  test('a path through an alias stands at the anchor', () => {
    expect(lineOf(['use', 'k'])).toEqual({ line: 6, column: 15 });
  });
});
