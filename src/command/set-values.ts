// What an outsider publishes on `…/set`: values by attribute, or bare, in the spellings of several systems.
import { CausewayError } from '../lib/errors.ts';
import { commandFor } from '../model/command-for.ts';
import type { Device } from '../model/device.ts';
import type { Json } from '../model/value.ts';

/** Spellings of "on" and "off" that other systems send: Home Assistant, zigbee2mqtt, Tasmota. */
export function readSwitch(payload: Json): boolean | undefined {
  // A rule is switched by { enabled } as well.
  const said =
    payload !== null && typeof payload === 'object' && !Array.isArray(payload) ? (payload.enabled ?? null) : payload;
  if (typeof said === 'boolean') return said;
  const word = String(said).toUpperCase();
  if (word === 'ON' || word === 'TRUE' || word === '1') return true;
  return word === 'OFF' || word === 'FALSE' || word === '0' ? false : undefined;
}

/** Values by attribute. @throws INPUT_INVALID */
export function valuesOf(attribute: string | undefined, payload: Json): Record<string, Json> {
  if (attribute !== undefined) return { [attribute]: payload };
  if (payload !== null && typeof payload === 'object' && !Array.isArray(payload)) {
    const { _: _meta, _cause, ...values } = payload;
    return values;
  }
  const on = readSwitch(payload);
  if (on !== undefined) return { switch: on ? 'on' : 'off' };
  throw new CausewayError('INPUT_INVALID', `${JSON.stringify(payload)} is no JSON object of values`, {
    hint: 'write {"switch":"on"}, or publish to …/set/<attribute>',
  });
}

/** The command that brings a value about. @throws COMMAND_UNKNOWN */
export function commandOf(
  device: Device,
  attribute: string,
  value: Json,
): { command: string; args: Record<string, Json> } {
  const word = typeof value === 'string' ? value.toLowerCase() : value;
  const found = commandFor(device, attribute, value) ?? commandFor(device, attribute, word);
  if (found) return found;
  const on = device.attributes[attribute]?.values?.includes('on') ? readSwitch(value) : undefined;
  const switched = on === undefined ? undefined : commandFor(device, attribute, on ? 'on' : 'off');
  if (switched) return switched;
  throw new CausewayError(
    'COMMAND_UNKNOWN',
    `no command of ${device.id} sets ${attribute} to ${JSON.stringify(value)}`,
    {
      hint: `its commands are ${Object.keys(device.commands).join(', ') || 'none'}`,
    },
  );
}
