import { describe, expect, test } from 'vitest';
import {
  newWord,
  noAdditions,
  withAdditions,
  withAttribute,
  withWord,
} from '../../../../src/backends/hubitat/additions.ts';
import { CANONICAL, COMMANDS } from '../../../../src/backends/hubitat/capabilities.ts';
import { callOf, pathOf } from '../../../../src/backends/hubitat/commands.ts';
import { newCounters } from '../../../../src/backends/hubitat/counters.ts';
import { mapDevice, newPool } from '../../../../src/backends/hubitat/map.ts';
import type { NativeAttribute, NativeDevice } from '../../../../src/backends/hubitat/wire.ts';
import { CAPABILITY_NAMES, type CommandDecl } from '../../../../src/model/capability.ts';
import type { Json } from '../../../../src/model/value.ts';
import { commandTo } from '../kit.ts';

const attribute = (name: string, more: Partial<NativeAttribute> = {}): NativeAttribute => ({
  name,
  dataType: 'STRING',
  values: [],
  unit: undefined,
  value: null,
  ...more,
});

function mapped(device: Partial<NativeDevice>, scale: 'C' | 'F' = 'C', types: Record<string, string[]> = {}) {
  const native = {
    id: '7',
    name: 'x',
    room: undefined,
    driver: 'd',
    capabilities: [],
    attributes: [],
    commands: [],
    ...device,
  };
  return mapDevice(native, {
    backend: 'hub',
    scale,
    counters: newCounters(),
    pool: newPool(),
    signatures: () => new Map(Object.entries(types)),
  });
}

describe('capabilities', () => {
  test('of the hub become the canonical ones, each once', () => {
    const { device } = mapped({
      capabilities: ['PushableButton', 'HoldableButton', 'Switch', 'Light', 'Sensor', 'Actuator'],
    });
    expect(device.capabilities).toEqual(['button', 'switch']);
    expect(device.id).toBe('hub:7');
  });

  test('are all that a hub can have of ours', () => {
    const ours = new Set(Object.values(CANONICAL));
    // A hub's network is no device of it, and it has no cameras with a recording state.
    expect(CAPABILITY_NAMES.filter(name => !ours.has(name))).toEqual(['camera', 'connectivity', 'location']);
  });
});

describe('attributes', () => {
  test('are only those that the device has', () => {
    const { device } = mapped({
      capabilities: ['WindowShade'],
      attributes: [attribute('windowShade', { dataType: 'ENUM', values: ['open', 'closed', 'unknown'] })],
    });
    expect(Object.keys(device.attributes)).toEqual(['windowShade']);
    expect(device.attributes.windowShade?.values).not.toContain('unknown');
  });

  test('have the canonical words and the driver’s further ones', () => {
    const { device } = mapped({
      capabilities: ['Thermostat'],
      attributes: [attribute('thermostatMode', { dataType: 'ENUM', values: ['heat', 'eco'] })],
    });
    expect(device.attributes.thermostatMode?.values).toEqual(['auto', 'cool', 'heat', 'off', 'emergency heat', 'eco']);
  });

  test('have canonical units, whatever the driver says', () => {
    const { device } = mapped({
      capabilities: ['ColorTemperature', 'TemperatureMeasurement'],
      attributes: [
        attribute('colorTemperature', { dataType: 'NUMBER', unit: '°K' }),
        attribute('temperature', { dataType: 'NUMBER', unit: '°F' }),
        attribute('dewPoint', { dataType: 'NUMBER', unit: '°F' }),
        attribute('speed', { dataType: 'NUMBER', unit: 'km/h' }),
      ],
    });
    expect(device.attributes).toEqual({
      colorTemperature: { type: 'number', unit: 'K' },
      temperature: { type: 'number', unit: '°C' },
      dewPoint: { type: 'number', unit: '°C' },
      speed: { type: 'number', unit: 'km/h' },
    });
  });

  test('of one kind are one object for all devices', () => {
    const pool = newPool();
    const mapping = { backend: 'hub', scale: 'C' as const, counters: newCounters(), pool, signatures: () => undefined };
    const base = { name: 'x', room: undefined, driver: 'd', capabilities: [], commands: [] };
    const [note, mood] = [attribute('note'), attribute('mood')];
    const [a, b, c] = [[note], [note], [note, mood]].map((attributes, i) =>
      mapDevice({ ...base, id: String(i), attributes }, mapping),
    );
    expect(b?.device.attributes).toBe(a?.device.attributes);
    expect(b?.readers).toBe(a?.readers);
    expect(c?.device.attributes).toEqual({ ...a?.device.attributes, mood: { type: 'string' } });
    expect(c?.device.attributes.note).toBe(a?.device.attributes.note);
  });

  test('that chatter are telemetry', () => {
    const { device } = mapped({ attributes: [attribute('rssi', { dataType: 'NUMBER' })] });
    expect(device.attributes.rssi?.telemetry).toBe(true);
  });
});

describe('commands', () => {
  test('are only those that the device has', () => {
    const { device } = mapped({
      capabilities: ['Alarm'],
      attributes: [attribute('alarm')],
      commands: ['off', 'siren'],
    });
    expect(Object.keys(device.commands)).toEqual(['off', 'siren']);
    expect(device.commands.off).toMatchObject({ always: true, opposes: 'siren' });
  });

  test('lose their effects on attributes that the device lacks, which would be waited for in vain', () => {
    const { device } = mapped({
      capabilities: ['ColorControl'],
      attributes: [attribute('hue'), attribute('saturation')],
      commands: ['setColor'],
    });
    expect(device.commands.setColor?.effects.map(effect => effect.attribute)).toEqual(['hue', 'saturation']);
  });

  test('of a driver alone take what the hub says, and are never repeated', () => {
    const { device } = mapped({ commands: ['tune', 'reset'] }, 'C', { tune: ['NUMBER', 'STRING', 'JSON_OBJECT'] });
    expect(device.commands.tune).toMatchObject({
      idempotent: false,
      args: [{ type: 'number' }, { type: 'string' }, { type: 'json' }],
    });
    expect(device.commands.reset?.args.every(({ type, optional }) => type === 'json' && optional)).toBe(true);
  });

  test('that stand in no canonical table have the effects of their capability', () => {
    for (const [capability, commands] of Object.entries(COMMANDS)) {
      const names = Object.keys(commands);
      const effects = Object.values(commands).flatMap(({ effects }) => effects.map(effect => effect.attribute));
      const { device } = mapped({
        capabilities: [capability],
        attributes: effects.map(name => attribute(name)),
        commands: names,
      });
      for (const name of names) expect(device.commands[name]?.effects).toEqual(commands[name]?.effects);
    }
  });
});

describe('the parts of a thermostat', () => {
  const radiator = (scale: 'C' | 'F') =>
    mapped(
      {
        capabilities: [
          'ThermostatHeatingSetpoint',
          'ThermostatCoolingSetpoint',
          'ThermostatMode',
          'ThermostatFanMode',
          'FanControl',
        ],
        attributes: [
          attribute('heatingSetpoint', { dataType: 'NUMBER' }),
          attribute('coolingSetpoint', { dataType: 'NUMBER' }),
          attribute('thermostatMode', { dataType: 'ENUM', values: ['heat', 'off', 'eco'] }),
          attribute('speed', { dataType: 'ENUM', values: ['low', 'turbo'] }),
        ],
        commands: [
          'setHeatingSetpoint',
          'setCoolingSetpoint',
          'setThermostatMode',
          'setThermostatFanMode',
          'setSpeed',
          'eco',
        ],
      },
      scale,
      { setHeatingSetpoint: ['NUMBER'], setCoolingSetpoint: ['NUMBER'], setThermostatMode: ['ENUM'] },
    );
  const callTo = (scale: 'C' | 'F', command: string, args: Record<string, Json>) => {
    const device = radiator(scale);
    return callOf(device, commandTo('hub:7', command, args), device.device.commands[command] as CommandDecl, scale);
  };

  test.each(['setHeatingSetpoint', 'setCoolingSetpoint'])('take %s in °C, which goes out in the hub’s scale', name => {
    expect(callTo('F', name, { temperature: 21 }).args).toEqual([{ type: 'NUMBER', value: 69.8 }]);
    expect(callTo('C', name, { temperature: 21 }).args).toEqual([{ type: 'NUMBER', value: 21 }]);
    expect(radiator('F').device.commands[name]).toMatchObject({
      idempotent: true,
      effects: [{ fromArg: 'temperature' }],
    });
  });

  test('take the words of their attributes, the driver’s own among them', () => {
    const { commands } = radiator('C').device;
    expect(commands.setThermostatMode?.args[0]?.values).toEqual(expect.arrayContaining(['heat', 'eco']));
    expect(commands.setThermostatFanMode).toMatchObject({ idempotent: true, args: [{ name: 'mode' }] });
    expect(commands.setSpeed?.args[0]?.values).toEqual(expect.arrayContaining(['high', 'turbo']));
  });
});

describe('calls', () => {
  const lamp = () =>
    mapped({
      capabilities: ['Switch', 'SwitchLevel', 'ColorControl', 'SpeechSynthesis'],
      attributes: [attribute('switch'), attribute('level')],
      commands: ['on', 'off', 'setLevel', 'setColor', 'speak', 'tune'],
    });
  const path = (command: string, args = {}) => {
    const device = lamp();
    const declared = device.device.commands[command];
    if (!declared) throw new Error(`no ${command}`);
    return pathOf('7', callOf(device, commandTo('hub:7', command, args), declared, 'C'));
  };

  test.each([
    ['on', {}, '/devices/7/on'],
    ['setLevel', { level: 30 }, '/devices/7/setLevel/30'],
    ['setLevel', { level: 30, duration: 2.5 }, '/devices/7/setLevel/30,2.5'],
    ['speak', { text: 'Tür auf / zu?', volume: 40 }, '/devices/7/speak/T%C3%BCr%20auf%20%2F%20zu%3F,40'],
    ['setColor', { hue: 1, saturation: 2 }, '/devices/7/setColor/%7B%22hue%22%3A1%2C%22saturation%22%3A2%7D'],
    ['tune', { arg1: true, arg2: [1] }, '/devices/7/tune/true,%5B1%5D'],
  ])('%s %o is %s', (command, args, expected) => {
    expect(path(command, args)).toBe(expected);
  });
});

describe('additions', () => {
  test('stay when the device is declared anew', () => {
    const additions = noAdditions();
    const thermostat = () =>
      mapped({ attributes: [attribute('state', { dataType: 'ENUM', values: ['a', 'b'] })], driver: 'd' });
    withAttribute(thermostat(), additions, 'mood');
    withWord(thermostat(), additions, 'state', 'c');
    const { device } = withAdditions(thermostat(), additions);
    expect(device.attributes).toEqual({ state: { type: 'enum', values: ['a', 'b', 'c'] }, mood: { type: 'string' } });
  });

  test('leave what others have in hand as it is', () => {
    const before = mapped({ attributes: [] });
    const after = withAttribute(before, noAdditions(), 'mood');
    expect(before.device.attributes).toEqual({});
    expect(after.device.attributes).toEqual({ mood: { type: 'string' } });
  });

  test('end somewhere', () => {
    const additions = noAdditions();
    let device = mapped({ attributes: [] });
    for (let i = 0; i < 300; i++) device = withAttribute(device, additions, `made-up-${i}`);
    expect(device.readers.size).toBe(100);
  });

  test('are words in other letters as little as the hub’s word for nothing', () => {
    const reader = { form: 'plain', declared: { type: 'enum', values: ['on', 'off'] } } as const;
    expect(['On', 'null', 'unknown', null, 'off'].map(value => newWord(reader, value))).toEqual(
      Array(5).fill(undefined),
    );
    expect(newWord(reader, 'blinking')).toBe('blinking');
  });
});
