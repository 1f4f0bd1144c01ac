// Checks a rule against what is known of the house.
import type { Finding } from '../../model/finding.ts';
import type { Devices } from '../../state/devices.ts';
import type { House } from '../../state/house.ts';
import type { Rule } from '../rules/schema.ts';
import { referencesOf } from './references.ts';

/** What a rule is checked against. */
export interface Known {
  readonly devices: Devices;
  readonly house: House;
  readonly rules: readonly Rule[];
  readonly place: { latitude: number; longitude: number } | undefined;
}

/** What there is to say of a rule; findings of severity `error` refuse the save. */
export function checkRule(rule: Rule, known: Known): Finding[] {
  return referencesOf(rule).devices.flatMap(({ path, target }): Finding[] => {
    if (typeof target !== 'string' || known.devices.get(target)) return [];
    return [{ code: 'unknown_device', severity: 'warning', path, message: `there is no device "${target}" yet` }];
  });
}
