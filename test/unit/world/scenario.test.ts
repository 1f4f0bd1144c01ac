import { describe, expect, test } from 'vitest';
import { asCausewayError } from '../../../src/lib/errors.ts';
import { parseYaml } from '../../../src/lib/yaml.ts';
import { readScenario } from '../../../src/world/run.ts';
import { ENTRY_KINDS } from '../../../src/world/scenario.ts';

const YAML = `
start: 2026-01-05T00:00:00
timeline:
  - { at: 1m, set: { "virtual:a": { switch: "on" } } }
  - { at: soon, mode: home }
expect:
  - { at: 1m, run: r }
`;

interface Said {
  path: string;
  message: string;
  hint?: string;
}

/** What is wrong with a scenario. */
function problems(scenario: object): Said[] {
  try {
    readScenario({ expect: [], ...scenario });
    return [];
  } catch (error) {
    return (asCausewayError(error).details as { problems: Said[] }).problems;
  }
}

const wrongWith = (entry: object): string[] => problems({ timeline: [entry] }).map(({ path }) => path);

describe('a scenario', () => {
  test('needs nothing but what it expects', () => {
    expect(readScenario({ expect: [] })).toMatchObject({ rules: [], timeline: [], expect: [] });
    expect(() => readScenario({})).toThrow(/expect/);
    expect(() => readScenario('text')).toThrow();
    expect(() => readScenario(null)).toThrow();
  });

  test('says where something is wrong, and what was probably meant', () => {
    const [problem] = problems({ timelines: [] });
    expect(problem?.path).toBe('timelines');
    expect(problem?.hint).toContain('timeline');
    expect(problems({ location: { latitude: 100 } }).map(({ path }) => path)).toEqual(['location/latitude']);
  });

  test('says the line of the file', () => {
    const yaml = parseYaml(YAML, { file: 'a.yaml' });
    try {
      readScenario(yaml.value, 'a.yaml', yaml);
      expect.unreachable();
    } catch (error) {
      const { message, details } = asCausewayError(error);
      expect(message).toContain('a.yaml:5');
      expect(details).toMatchObject({ problems: [{ path: 'timeline/1/at', line: 5 }] });
    }
  });
});

describe('an entry of the timeline', () => {
  test('is one thing at a time', () => {
    expect(wrongWith({ at: '1m' })).toEqual(['timeline/0']);
    expect(wrongWith({ at: '1m', mode: 'home', stop: true })).toEqual(['timeline/0']);
    expect(wrongWith({ at: '1m', mode: 'home' })).toEqual([]);
    expect(wrongWith({ mode: 'home' })).toEqual(['timeline/0/at']);
  });

  test('is repeated only with both, how often and how many', () => {
    expect(wrongWith({ at: '1m', every: '1s', times: 3, mode: 'home' })).toEqual([]);
    expect(wrongWith({ at: '1m', every: '1s', mode: 'home' })).not.toEqual([]);
    expect(wrongWith({ at: '1m', times: 3, mode: 'home' })).not.toEqual([]);
  });

  test('of an unknown kind is refused with the nearest one', () => {
    const [problem] = problems({ timeline: [{ at: '1m', unavailabel: ['virtual:a'] }] });
    expect(problem?.hint ?? problem?.message).toContain('unavailable');
    expect(ENTRY_KINDS).toContain('unavailable');
  });
});

describe('an expectation', () => {
  const wrong = (expectation: object) => problems({ expect: [expectation] }).map(({ path }) => path);

  test('is one thing, at a moment or within a time, or none of it', () => {
    expect(wrong({ run: 'r' })).toEqual([]);
    expect(wrong({ at: '1m', command: { device: 'virtual:a' } })).toEqual([]);
    expect(wrong({ within: ['0s', '1m'], no: { run: 'r' } })).toEqual([]);
    expect(wrong({ at: '1m' })).toEqual(['expect/0']);
    expect(wrong({ run: 'r', log: {} })).toEqual(['expect/0']);
    expect(wrong({ no: { run: 'r', log: {} } })).not.toEqual([]);
    expect(wrong({ within: ['0s'], run: 'r' })).not.toEqual([]);
  });

  test('has no field that is never looked at', () => {
    expect(wrong({ at: '1m', trace: { rule: 'r', lateNs: 5 } })).toEqual(['expect/0/trace/lateNs']);
    expect(wrong({ rule: 'r', run: 'r' })).not.toEqual([]);
    expect(wrong({ rule: 'r', state: { 'virtual:a': { switch: 'on' } } })).not.toEqual([]);
  });
});
