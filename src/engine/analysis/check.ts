// Checks a rule against what is known of the house, at a save and at a load. Findings of severity `error` refuse a save;
// a file loads with them (FORMATS §2.5, §2.16).
import type { Finding } from '../../model/finding.ts';
import type { Devices } from '../../state/devices.ts';
import type { House } from '../../state/house.ts';
import type { Rule } from '../rules/schema.ts';
import { checkExpressions } from './check-expressions.ts';
import { checkNames } from './check-names.ts';
import { checkOthers } from './check-others.ts';
import { lint } from './lint.ts';
import { referencesOf } from './references.ts';

/** What a rule is checked against. */
export interface Known {
  readonly devices: Devices;
  readonly house: House;
  /** All rules, the one that is checked among them or not. */
  readonly rules: readonly Rule[];
  readonly place: { latitude: number; longitude: number } | undefined;
  /** Names of the periods of house.yaml. */
  readonly periods?: readonly string[];
}

/** What there is to say of a rule, the gravest first. Never throws. */
export function checkRule(rule: Rule, known: Known): Finding[] {
  const references = referencesOf(rule);
  const findings = [
    ...checkExpressions(rule, references),
    ...checkNames(rule, references, known),
    ...lint(rule),
    ...checkOthers(rule, known),
  ];
  return findings.sort((a, b) => RANK[a.severity] - RANK[b.severity]);
}

const RANK = { error: 0, warning: 1, info: 2 } as const;
