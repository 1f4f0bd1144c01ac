// What is wrong with the tests that a rule brings: they are scenarios, and are read as such before anybody runs them.
import type { Rule } from '../engine/rules/schema.ts';
import { asCausewayError } from '../lib/errors.ts';
import type { Finding } from '../model/finding.ts';
import { testOf } from './run.ts';

/** A warning for each test that could not be run. The rule itself may run: its tests do nothing in the house. */
export function testFindings({ tests = [], ...rule }: Rule): Finding[] {
  return tests.flatMap((test, index): Finding[] => {
    try {
      testOf(rule, test);
      return [];
    } catch (error) {
      const { message, hint } = asCausewayError(error);
      const path = `tests/${index}`;
      return [{ code: 'type_mismatch', severity: 'warning', path, message, ...(hint !== undefined && { hint }) }];
    }
  });
}
