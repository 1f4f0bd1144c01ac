// What the registry of devices says to names that are nobody's.
import { describe, expect, test } from 'vitest';
import { deviceOf } from '../../../src/model/device.ts';
import { Devices } from '../../../src/state/devices.ts';

const devices = new Devices();
for (const [id, name] of [
  ['unifi:client:00:00:5e:00:53:05', 'TV in the corner'],
  ['hubitat:1', 'Loft Fan'],
  ['hubitat:2', 'Hall Lamp'],
] as const)
  devices.put(deviceOf({ id, name, capabilities: [] }, { attributes: {} }));
devices.setNames({ aliases: { 'living-tv': 'unifi:client:00:00:5e:00:53:05' }, rooms: {} });

const hint = (ref: string) => {
  try {
    devices.require(ref);
  } catch (error) {
    return (error as { hint: string }).hint;
  }
  return 'found';
};

describe('a device that there is not', () => {
  test.each([
    ['hubitat:11', 'did you mean "hubitat:1"?'],
    ['living-tvv', 'did you mean "living-tv"?'],
    ['Loft Fann', 'did you mean "hubitat:1" (Loft Fan)?'],
    ['loft fan', 'a device of this name has the id hubitat:1; use the id or an alias'],
    ['the heater in the cellar', 'known are unifi:client:00:00:5e:00:53:05, hubitat:1, hubitat:2'],
    ['living-tv', 'found'],
  ])('%s', (ref, said) => expect(hint(ref)).toBe(said));
});
