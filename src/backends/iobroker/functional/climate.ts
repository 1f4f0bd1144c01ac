// Heating, cooling and fans.
import type { CommandDecl } from '../../../model/capability.ts';
import type { StateObject } from '../wire.ts';
import type { Draft, Plan } from './draft.ts';
import { switchBy } from './lights.ts';
import { celsius, vocabulary } from './scales.ts';

type Has = (name: string) => StateObject | undefined;

const MODES = [
  [/^(auto|automat)/i, 'auto'],
  [/^(heat|heiz|emergency$)/i, 'heat'],
  [/^(cool|kühl)/i, 'cool'],
  [/^(off|aus)$/i, 'off'],
] as const;

const SPEEDS = [
  [/^(off|aus|0)$/i, 'off'],
  [/^auto/i, 'auto'],
  [/^(low|min|quiet|silent|1$)/i, 'low'],
  [/^(medium|middle|mid|2$)/i, 'medium'],
  [/^(high|max|turbo|3$)/i, 'high'],
  [/^on$/i, 'on'],
] as const;

function setpoint(draft: Draft, attribute: string, command: string, state: StateObject | undefined): void {
  if (!state) return;
  const scale = celsius(state);
  const { step = state.step } = scale;
  draft.attribute('thermostat', attribute, state, step === undefined ? scale : { ...scale, step });
  const plan: Plan = ({ temperature = null }) => [{ state, value: scale.write(temperature) }];
  draft.command('thermostat', command, plan, [], { temperature: scale });
}

/** A mode by its labels; without labels nobody knows what its numbers mean. */
function byLabels(
  draft: Draft,
  state: StateObject | undefined,
  of: { capability: 'thermostat' | 'fan'; attribute: string; command: string; arg: string },
  known: readonly (readonly [RegExp, string])[],
): void {
  const found = state && vocabulary(state, known);
  if (!state || !found) return;
  const { scale, values } = found;
  draft.attribute(of.capability, of.attribute, state, scale, { type: 'enum', values });
  const declared: CommandDecl = {
    args: [{ name: of.arg, type: 'enum', values }],
    effects: [{ attribute: of.attribute, fromArg: of.arg }],
    idempotent: true,
  };
  const plan = (args: Readonly<Record<string, unknown>>) => [{ state, value: scale.write(String(args[of.arg])) }];
  draft.declare(of.capability, of.command, plan, declared);
}

/** What is measured beside. */
export function measured(draft: Draft, temperature: StateObject | undefined, humidity: StateObject | undefined): void {
  if (temperature) draft.attribute('temperature', 'temperature', temperature, celsius(temperature));
  draft.attribute('humidity', 'humidity', humidity);
}

/** Heating, or an air conditioner, whose one setpoint is for cooling. */
export function thermostat(draft: Draft, has: Has, type: string): void {
  const set = has('SET');
  // A sensor that happens to be writable is found as a thermostat, too.
  if (set && /^value\./.test(set.role)) {
    measured(draft, has('ACTUAL') ?? set, has('HUMIDITY'));
    return;
  }
  const cools = type === 'airCondition';
  setpoint(draft, 'heatingSetpoint', 'setHeatingSetpoint', has('SET_HEATING') ?? (cools ? undefined : set));
  setpoint(draft, 'coolingSetpoint', 'setCoolingSetpoint', has('SET_COOLING') ?? (cools ? set : undefined));
  const mode = { attribute: 'thermostatMode', command: 'setThermostatMode', arg: 'mode' };
  byLabels(draft, has('MODE'), { capability: 'thermostat', ...mode }, MODES);
  measured(draft, has('ACTUAL'), has('HUMIDITY'));
  switchBy(draft, has('POWER'), undefined);
}

/** A fan, or what has one. */
export function fan(draft: Draft, has: Has): void {
  byLabels(draft, has('SPEED'), { capability: 'fan', attribute: 'speed', command: 'setSpeed', arg: 'speed' }, SPEEDS);
  switchBy(draft, has('POWER'), undefined);
}
