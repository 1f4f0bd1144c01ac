// A small house for the checks of rules.
import { deviceFrom, VirtualSpec } from '../../../../src/backends/virtual/spec.ts';
import { checkRule, type Known } from '../../../../src/engine/analysis/check.ts';
import { type Rule, requireRule } from '../../../../src/engine/rules/schema.ts';
import { Devices } from '../../../../src/state/devices.ts';
import { House } from '../../../../src/state/house.ts';

const SPECS: Record<string, object> = {
  'virtual:lamp': { name: 'Lamp', capabilities: ['switch', 'dimmer'] },
  'virtual:plug': { name: 'Plug', capabilities: ['switch'] },
  'virtual:heat': { name: 'Heat', capabilities: ['thermostat'] },
  'virtual:motion': { name: 'Motion', capabilities: ['motion'] },
  'virtual:remote': { name: 'Remote', capabilities: ['button'] },
};

/** The house: `desk` is an alias of the lamp, the modes are home and away, one variable is a number. */
export function house(rules: readonly Rule[] = [], more: Partial<Known> = {}): Known {
  const devices = new Devices();
  for (const [id, spec] of Object.entries(SPECS)) devices.put(deviceFrom(id, VirtualSpec.parse(spec)));
  devices.setNames({ aliases: { desk: 'virtual:lamp' }, rooms: {} });
  const known = new House();
  known.declare(['home', 'away'], { limit: { type: 'number', initial: 20 } }, 0);
  return { devices, house: known, rules, place: { latitude: 52.52, longitude: 13.4 }, periods: ['holidays'], ...more };
}

const MOTION = { type: 'state', device: 'virtual:motion', attribute: 'motion', to: 'active' };
const LOG = { type: 'log', message: 'x' };

/** A rule of what matters to a test. */
export const ruleOf = (parts: object): Rule =>
  requireRule({ id: 'r', name: 'R', triggers: [MOTION], actions: [LOG], ...parts });

/** What the check says, as `severity code path`. */
export const said = (parts: object, known: Known = house()): string[] =>
  checkRule(ruleOf(parts), known).map(({ severity, code, path }) => `${severity} ${code} ${path}`);
