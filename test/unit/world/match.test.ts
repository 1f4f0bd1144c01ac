import { describe, expect, test } from 'vitest';
import { matches, matchesContent, show } from '../../../src/world/match.ts';

describe('a matcher', () => {
  test('is met by what has all that it names, at any depth', () => {
    expect(matches({}, { a: 1 })).toBe(true);
    expect(matches({ a: { b: 1 } }, { a: { b: 1, c: 2 }, d: 3 })).toBe(true);
    expect(matches({ a: { b: 2 } }, { a: { b: 1 } })).toBe(false);
    expect(matches({ a: 1 }, null)).toBe(false);
    expect(matches({ a: 1 }, [1])).toBe(false);
  });

  test('compares lists whole', () => {
    expect(matches([1, { a: 1 }], [1, { a: 1, b: 2 }])).toBe(true);
    expect(matches([1], [1, 2])).toBe(false);
    expect(matches([], 'x')).toBe(false);
  });

  test('takes null for what is absent', () => {
    expect(matches({ error: null }, { outcome: 'done' })).toBe(true);
    expect(matches({ error: null }, { error: 'X' })).toBe(false);
  });

  test('takes numbers for near ones and for their text, and text for nothing else', () => {
    expect(matches(0.3, 0.1 + 0.2)).toBe(true);
    expect(matches(21, '21')).toBe(true);
    expect(matches('21', 21)).toBe(false);
    expect(matches(true, 'true')).toBe(true);
    expect(matches('on', 'off')).toBe(false);
  });
});

test('what goes over a wire as text is met as text or as the JSON that it holds', () => {
  expect(matchesContent({ a: 1 }, '{"a":1,"b":2}')).toBe(true);
  expect(matchesContent('{"a":1}', '{"a":1}')).toBe(true);
  expect(matchesContent(5, '5')).toBe(true);
  expect(matchesContent({ a: 1 }, 'a')).toBe(false);
  expect(matchesContent(null, undefined)).toBe(true);
});

test('values are shown in one line, and no longer than a line', () => {
  expect(show({ device: 'virtual:a', args: { level: 5 } })).toBe('{device: "virtual:a", args: {level: 5}}');
  expect(show(undefined)).toBe('nothing');
  expect(show('x'.repeat(1_000)).length).toBeLessThanOrEqual(300);
});
