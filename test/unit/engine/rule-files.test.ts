// Texts of rule files, and bodies that are known of them.
import { describe, expect, it } from 'vitest';
import { type KnownBodies, readRuleText, sourceOf } from '../../../src/engine/rules/files.ts';
import type { Json } from '../../../src/model/value.ts';

const TEXT = `
id: fan
name: Fan   # in the attic
triggers: [ { type: startup } ]
actions: [ { type: log, message: "hot" } ]
`;

const knownOf = (text: string): KnownBodies => {
  const { source, body } = readRuleText('fan.yaml', text);
  if (source === undefined || body === undefined) throw new Error('no body of it can be known');
  return new Map([[source, body]]);
};

describe('a text that was read before', () => {
  it('gives the same rule', () => {
    const known = knownOf(TEXT);
    const fresh = readRuleText('fan.yaml', TEXT);
    const again = readRuleText('fan.yaml', TEXT, known);
    expect(again).toEqual(fresh);
    expect(again.rule?.id).toBe('fan');
  });

  it('is not parsed again: what is known of it is taken', () => {
    const known = new Map(
      [...knownOf(TEXT)].map(([key, body]) => [key, { ...(body as object), name: 'Known' } as Json]),
    );
    expect(readRuleText('fan.yaml', TEXT, known).rule?.name).toBe('Known');
  });

  it('is another one as soon as a single character differs', () => {
    const known = knownOf(TEXT);
    expect(readRuleText('fan.yaml', TEXT.replace('hot', 'cold'), known).body).toMatchObject({
      actions: [{ message: 'cold' }],
    });
    const broken = readRuleText('fan.yaml', `${TEXT}nonsense: 1\n`, known);
    expect(broken.rule).toBeUndefined();
    expect(broken.faults).toEqual([expect.objectContaining({ path: 'nonsense', line: 6 })]);
  });

  it('is parsed for the line of its fault where a later schema refuses its body', () => {
    const text = TEXT.replace('startup', 'nonsense');
    const { source } = readRuleText('fan.yaml', TEXT);
    expect(source).toBeDefined();
    const body = { id: 'fan', triggers: [{ type: 'nonsense' }] } as unknown as Json;
    const digests = new Map([...knownOf(TEXT).keys()].map(key => [key, body]));
    expect(readRuleText('fan.yaml', TEXT, digests).rule?.id).toBe('fan');
    expect(readRuleText('fan.yaml', text, digests).faults[0]).toMatchObject({ line: 4 });
  });
});

describe('a text that was written for a body', () => {
  const body = readRuleText('fan.yaml', TEXT).body as Json;

  it('is known to say it', () => {
    expect(sourceOf('fan.yaml', TEXT, body)).toBe(readRuleText('fan.yaml', TEXT).source);
  });

  it('is not, where it says something else, or nothing', () => {
    expect(sourceOf('fan.yaml', TEXT.replace('hot', 'cold'), body)).toBeUndefined();
    expect(sourceOf('fan.yaml', 'a: [', body)).toBeUndefined();
  });
});
