// THE table of functional devices: a type of ioBroker's type detector, and what it is here. A type that is not listed
// stays with its native attributes.
import type { StateObject } from '../wire.ts';
import { blind, gate, lock, opening, tiltable } from './barriers.ts';
import { fan, measured, thermostat } from './climate.ts';
import type { Control } from './detect.ts';
import { Draft } from './draft.ts';
import { light, switchBy } from './lights.ts';
import { times, words } from './scales.ts';

export type { Derived, Plan, Reachability, ValueOf, Write } from './draft.ts';

/** The state that the detector found for a part of a type. */
type Has = (name: string) => StateObject | undefined;

const TYPES: Readonly<Record<string, (draft: Draft, has: Has, type: string) => void>> = {
  rgb: light,
  rgbSingle: light,
  rgbwSingle: light,
  cie: light,
  hue: light,
  ct: light,
  dimmer: light,
  light,
  socket: (draft, has) => switchBy(draft, has('SET'), has('ACTUAL')),
  pump: (draft, has) => switchBy(draft, has('POWER'), undefined),
  vacuumCleaner: (draft, has) => switchBy(draft, has('POWER'), undefined),
  airPurifier: fan,
  fan,
  airCondition: thermostat,
  thermostat,
  blind,
  blindButtons: blind,
  gate,
  lock,
  door: opening,
  window: opening,
  windowTilt: tiltable,
  motion(draft, has) {
    const actual = has('ACTUAL');
    if (actual) draft.attribute('motion', 'motion', actual, words(actual, 'active', 'inactive'));
    draft.attribute('illuminance', 'illuminance', has('SECOND'));
  },
  fireAlarm(draft, has) {
    const actual = has('ACTUAL');
    if (actual) draft.attribute('smoke', 'smoke', actual, words(actual, 'detected', 'clear'));
  },
  floodAlarm(draft, has) {
    const actual = has('ACTUAL');
    if (actual) draft.attribute('leak', 'water', actual, words(actual, 'wet', 'dry'));
  },
  temperature: (draft, has) => measured(draft, has('ACTUAL'), has('SECOND')),
  humidity: (draft, has) => measured(draft, undefined, has('ACTUAL')),
  illuminance: (draft, has) => draft.attribute('illuminance', 'illuminance', has('ACTUAL')),
  weatherCurrent: (draft, has) => measured(draft, has('ACTUAL'), has('HUMIDITY')),
  airQuality: (draft, has) => measured(draft, has('ACTUAL'), has('HUMIDITY')),
  buttonSensor(draft, has) {
    const press = { read: (now: unknown) => (now === true ? 1 : undefined), write: () => true };
    draft.attribute('button', 'pushed', has('PRESS'), press);
    draft.attribute('button', 'held', has('PRESS_LONG'), press);
  },
};

const isKilo = (state: StateObject) => /^k/i.test(state.unit ?? '');

/** What any type may have beside. */
function extras(draft: Draft, has: Has): void {
  const power = has('ELECTRIC_POWER');
  if (power) draft.attribute('power', 'power', power, times(isKilo(power) ? 1_000 : 1));
  const energy = has('CONSUMPTION');
  if (energy) draft.attribute('energy', 'energy', energy, times(/^wh$/i.test(energy.unit ?? '') ? 0.001 : 1));
  draft.attribute('battery', 'battery', has('BATTERY'));
  const unreach = has('UNREACH');
  if (unreach) draft.reachability.push({ id: unreach.id, unreachable: true });
  const connected = has('CONNECTED');
  if (connected) draft.reachability.push({ id: connected.id, unreachable: false });
}

/** What controls make of a device together. */
export function functionalOf(controls: readonly Control[]): Draft {
  const draft = new Draft();
  for (const { type, states } of controls) {
    const has: Has = name => states.get(name);
    TYPES[type]?.(draft, has, type);
    extras(draft, has);
  }
  return draft;
}
