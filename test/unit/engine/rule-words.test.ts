// What a rule that is none is told: plain words, the place, and what to write instead.
import { describe, expect, it } from 'vitest';
import { parseRule } from '../../../src/engine/rules/schema.ts';

const RULE = {
  id: 'a',
  name: 'A',
  triggers: [{ type: 'state', device: 'virtual:a', attribute: 'switch', to: 'on' }],
  actions: [{ type: 'log', message: 'x' }],
};
const said = (change: object) => {
  const parsed = parseRule({ ...RULE, ...change });
  return 'issues' in parsed ? parsed.issues.map(({ path, message, hint }) => [path, message, hint]) : [];
};

describe('a rule that is none', () => {
  it('with a bare number for a duration is told to give it a unit', () => {
    const [trigger] = RULE.triggers;
    expect(said({ triggers: [{ ...trigger, for: 5 }] })).toEqual([
      ['triggers/0/for', 'expected text, or a map of keys and values, got 5', 'a duration has a unit: 5s, 5m'],
    ]);
  });

  it.each([
    [{ name: '' }, ['name', 'may not be empty']],
    [{ enabled: 'yes' }, ['enabled', 'expected true or false, or shadow, got "yes"']],
    [{ mode: 'restart' }, ['mode', 'expected a map of keys and values, got "restart"']],
    [{ actions: 'x' }, ['actions', 'expected a list, got "x"']],
    [
      { triggers: [{ type: 'numeric', device: 'virtual:a', attribute: 't', above: '25' }] },
      ['triggers/0/above', 'expected a number, or a map of keys and values, got "25"'],
    ],
  ])('%j says what was expected and what it got', (change, [path, message]) => {
    expect(said(change)).toEqual([[path, message, undefined]]);
  });

  it('of a selector with a wrong field names no fields of something else', () => {
    const [first] = said({ triggers: [{ type: 'state', device: { rom: 'x' }, attribute: 'switch' }] });
    expect(first).toEqual(['triggers/0/device/rom', 'there is no field "rom" here', undefined]);
  });
});
