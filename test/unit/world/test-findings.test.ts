import { describe, expect, it } from 'vitest';
import { requireRule } from '../../../src/engine/rules/schema.ts';
import { testFindings } from '../../../src/world/test-findings.ts';

const ruleWith = (...tests: object[]) =>
  requireRule({
    id: 'lamp',
    name: 'Lamp',
    triggers: [{ type: 'state', device: 'virtual:door', attribute: 'contact', to: 'open' }],
    actions: [{ type: 'command', device: 'virtual:lamp', command: 'on' }],
    tests,
  });
const set = { at: '1m', set: { 'virtual:door': { contact: 'open' } } };

describe('the tests that a rule brings', () => {
  it('are nothing to speak of where they can be run', () => {
    expect(testFindings(ruleWith())).toEqual([]);
    expect(testFindings(ruleWith({ name: 'opens', timeline: [set], expect: [{ rule: 'lamp', runs: 1 }] }))).toEqual([]);
  });

  it('are warned of, each at its place, where they cannot', () => {
    const fine = { name: 'opens', timeline: [set], expect: [{ rule: 'lamp', runs: 1 }] };
    const findings = testFindings(ruleWith(fine, { ...fine, timeline: [{ at: '0s', sett: {} }] }));
    expect(findings).toEqual([
      expect.objectContaining({ path: 'tests/1', severity: 'warning', message: expect.stringContaining('sett') }),
    ]);
  });
});
