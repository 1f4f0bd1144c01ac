// Functional devices: canonical attributes and commands made of ioBroker's states, both ways.
import { describe, expect, test } from 'vitest';
import { valuesEqual } from '../../../../src/model/value.ts';
import { branch, catalogueOf, deviceOf, put, state, valueIn, writesOf } from './kit.ts';

const readOnly = { write: false };

describe('a light', () => {
  test('with a switch is on and off in words', async () => {
    const lamp = await deviceOf({ power: state('boolean', 'switch.light') });
    expect(lamp.device.capabilities).toEqual(['switch']);
    expect(valueIn(lamp, 'switch', { power: true })).toBe('on');
    expect(valueIn(lamp, 'switch', { power: false })).toBe('off');
    expect(writesOf(lamp, 'on')).toEqual({ power: true });
    expect(writesOf(lamp, 'off')).toEqual({ power: false });
    expect(writesOf(lamp, 'toggle', {}, { power: true })).toEqual({ power: false });
  });

  test('of 0–254 is dimmed in percent', async () => {
    const lamp = await deviceOf({
      on: state('boolean', 'switch.light'),
      bri: state('number', 'level.dimmer', { min: 0, max: 254 }),
    });
    expect(lamp.device.capabilities).toEqual(['switch', 'dimmer']);
    for (const [native, ours] of [
      [0, 0],
      [127, 50],
      [254, 100],
    ] as const) {
      expect(valueIn(lamp, 'level', { bri: native })).toBe(ours);
      expect(writesOf(lamp, 'setLevel', { level: ours })).toEqual({ bri: native });
    }
    expect(lamp.device.attributes.bri).toMatchObject({ type: 'number', min: 0, max: 254, role: 'level.dimmer' });
  });

  test('keeps every percent over the way there and back', async () => {
    const lamp = await deviceOf({ bri: state('number', 'level.dimmer', { min: 0, max: 254 }) });
    for (let level = 0; level <= 100; level++) {
      const { bri } = writesOf(lamp, 'setLevel', { level });
      expect(valueIn(lamp, 'level', { bri: bri as number })).toBe(level);
    }
  });

  test('of 0–1 is dimmed in percent, too', async () => {
    const lamp = await deviceOf({ LEVEL: state('number', 'level.dimmer', { min: 0, max: 1 }) });
    expect(valueIn(lamp, 'level', { LEVEL: 0.35 })).toBe(35);
    expect(writesOf(lamp, 'setLevel', { level: 35 })).toEqual({ LEVEL: 0.35 });
  });

  test('without a switch is switched by its brightness', async () => {
    const lamp = await deviceOf({ bri: state('number', 'level.dimmer', { min: 0, max: 254 }) });
    expect(valueIn(lamp, 'switch', { bri: 1 })).toBe('on');
    expect(valueIn(lamp, 'switch', { bri: 0 })).toBe('off');
    expect(writesOf(lamp, 'on')).toEqual({ bri: 254 });
    expect(writesOf(lamp, 'off')).toEqual({ bri: 0 });
  });

  test('has its own attribute and the canonical one beside each other where they share a name', async () => {
    const lamp = await deviceOf({ level: state('number', 'level.dimmer', { min: 0, max: 254 }) });
    expect(lamp.device.attributes.level).toMatchObject({ unit: '%', max: 100 });
    expect(lamp.device.attributes['raw:level']).toMatchObject({ max: 254 });
    expect(writesOf(lamp, 'set:raw:level', { value: 7 })).toEqual({ level: 7 });
  });

  test('has one attribute where name and meaning are the same', async () => {
    const lamp = await deviceOf({ level: state('number', 'level.dimmer', { min: 0, max: 100, unit: '%' }) });
    expect(Object.keys(lamp.device.attributes).sort()).toEqual(['level', 'switch']);
    expect(writesOf(lamp, 'set:level', { value: 7 })).toEqual({ level: 7 });
  });

  test('has white in kelvin, from mired', async () => {
    const lamp = await deviceOf({
      ct: state('number', 'level.color.temperature', { min: 153, max: 500, unit: 'mired' }),
      bri: state('number', 'level.dimmer', { min: 0, max: 254 }),
    });
    expect(valueIn(lamp, 'colorTemperature', { ct: 250 })).toBe(4000);
    expect(writesOf(lamp, 'setColorTemperature', { colorTemperature: 4000, level: 100 })).toEqual({
      ct: 250,
      bri: 254,
    });
  });

  test('has white that is told back rounded, as far as that is the same, and takes only what it can be', async () => {
    const lamp = await deviceOf({
      ct: state('number', 'level.color.temperature', { min: 153, max: 500, unit: 'mired' }),
    });
    const { step = 0 } = lamp.device.attributes.colorTemperature ?? {};
    for (let wanted = 2_000; wanted <= 6_500; wanted += 50) {
      const { ct = null } = writesOf(lamp, 'setColorTemperature', { colorTemperature: wanted });
      const told = valueIn(lamp, 'colorTemperature', { ct });
      expect([wanted, valuesEqual(told ?? null, wanted, step)]).toEqual([wanted, true]);
    }
    const [arg] = lamp.device.commands.setColorTemperature?.args ?? [];
    expect(arg).toMatchObject({ min: 2_000, max: 6_536 });
    const kelvin = await deviceOf({
      ct: state('number', 'level.color.temperature', { min: 2200, max: 6500, unit: 'K' }),
    });
    expect(kelvin.device.commands.setColorTemperature?.args[0]).toMatchObject({ min: 2200, max: 6500 });
  });

  test.each([
    [0, 254, undefined],
    [0, 50, undefined],
    [0, 1, 0.05],
    [10, 30, 1],
  ])('of %d–%d in steps of %s is told back as bright as it was wanted', async (min, max, step) => {
    const lamp = await deviceOf({ bri: state('number', 'level.dimmer', { min, max, ...(step && { step }) }) });
    const declared = lamp.device.attributes.level;
    for (let level = 0; level <= 100; level++) {
      const { bri = null } = writesOf(lamp, 'setLevel', { level });
      const told = valueIn(lamp, 'level', { bri });
      expect([level, told, valuesEqual(told ?? null, level, declared?.step)]).toEqual([level, told, true]);
    }
  });

  test('has hue and saturation of 0–100, from degrees', async () => {
    const lamp = await deviceOf({
      hue: state('number', 'level.color.hue', { min: 0, max: 360 }),
      sat: state('number', 'level.color.saturation', { min: 0, max: 254 }),
    });
    expect(valueIn(lamp, 'hue', { hue: 180 })).toBe(50);
    expect(valueIn(lamp, 'saturation', { sat: 254 })).toBe(100);
    expect(writesOf(lamp, 'setColor', { hue: 50, saturation: 100 })).toEqual({ hue: 180, sat: 254 });
    expect(lamp.device.commands.setColor?.args.map(({ name }) => name)).toEqual(['hue', 'saturation']);
  });

  test.each([
    ['#ff0000', 0, 100],
    ['#00ff00', 33, 100],
    ['#0000ff', 67, 100],
    ['#ffffff', 0, 0],
  ])('of the colour %s has hue %d and saturation %d', async (rgb, hue, saturation) => {
    const lamp = await deviceOf({ rgb: state('string', 'level.color.rgb') });
    expect(valueIn(lamp, 'hue', { rgb })).toBe(hue);
    expect(valueIn(lamp, 'saturation', { rgb })).toBe(saturation);
  });

  test('is painted with one text, or with three numbers', async () => {
    const one = await deviceOf({ rgb: state('string', 'level.color.rgb') });
    expect(writesOf(one, 'setColor', { hue: 0, saturation: 100, level: 100 })).toEqual({ rgb: '#ff0000' });
    const byte = { min: 0, max: 255 };
    const three = await deviceOf({
      r: state('number', 'level.color.red', byte),
      g: state('number', 'level.color.green', byte),
      b: state('number', 'level.color.blue', byte),
    });
    expect(writesOf(three, 'setColor', { hue: 0, saturation: 100, level: 100 })).toEqual({ r: 255, g: 0, b: 0 });
    expect(valueIn(three, 'hue', { r: 0, g: 255, b: 0 })).toBe(33);
    expect(valueIn(three, 'hue', { r: 0, g: 255 })).toBeUndefined();
  });

  test('is as bright as what was measured, and takes no other number for that', async () => {
    const range = { min: 0, max: 254 };
    const bri = state('number', 'level.dimmer', range);
    const measured = await deviceOf({ bri, now: state('number', 'value.dimmer', { ...range, ...readOnly }) });
    expect(valueIn(measured, 'level', { bri: 0, now: 254 })).toBe(100);
    const beside = await deviceOf({ bri, hours: state('number', 'value', readOnly) });
    expect(valueIn(beside, 'level', { bri: 127, hours: 4711 })).toBe(50);
  });

  test('declares no argument that it could only ignore', async () => {
    const lamp = await deviceOf({ bri: state('number', 'level.dimmer', { min: 0, max: 254 }) });
    expect(lamp.device.commands.setLevel?.args.map(({ name }) => name)).toEqual(['level']);
  });
});

describe('heating', () => {
  test('has its setpoint and temperature in °C, from °F', async () => {
    const heating = await deviceOf({
      set: state('number', 'level.temperature', { unit: '°F', min: 40, max: 90, step: 1 }),
      now: state('number', 'value.temperature', { unit: '°F', ...readOnly }),
    });
    expect(heating.device.capabilities).toEqual(['thermostat', 'temperature']);
    expect(valueIn(heating, 'temperature', { now: 68 })).toBe(20);
    expect(valueIn(heating, 'heatingSetpoint', { set: 70 })).toBe(21.11);
    expect(writesOf(heating, 'setHeatingSetpoint', { temperature: 21.11 })).toEqual({ set: 70 });
    expect(heating.device.commands.setHeatingSetpoint?.args[0]).toMatchObject({ min: 4.44, max: 32.22 });
    for (let wanted = 5; wanted <= 32; wanted += 0.1) {
      const { set = null } = writesOf(heating, 'setHeatingSetpoint', { temperature: wanted });
      const told = valueIn(heating, 'heatingSetpoint', { set }) ?? null;
      const { step } = heating.device.attributes.heatingSetpoint ?? {};
      expect([wanted, told, valuesEqual(told, wanted, step)]).toEqual([wanted, told, true]);
    }
  });

  test('has modes by their labels', async () => {
    const states = { 0: 'AUTO', 1: 'MANU', 2: 'Off' };
    const heating = await deviceOf({
      set: state('number', 'level.temperature', { unit: '°C' }),
      mode: state('number', 'level.mode.thermostat', { states }),
    });
    expect(heating.device.attributes.thermostatMode?.values).toEqual(['auto', 'manu', 'off']);
    expect(valueIn(heating, 'thermostatMode', { mode: 1 })).toBe('manu');
    expect(writesOf(heating, 'setThermostatMode', { mode: 'off' })).toEqual({ mode: 2 });
  });

  test('is none where a sensor happens to be writable', async () => {
    const sensor = await deviceOf({ t: state('number', 'value.temperature', { unit: '°C' }) });
    expect(sensor.device.capabilities).toEqual(['temperature']);
    expect(sensor.device.commands.setHeatingSetpoint).toBeUndefined();
  });
});

describe('what opens and closes', () => {
  test('a blind is open at 100', async () => {
    const blind = await deviceOf({
      pos: state('number', 'level.blind', { min: 0, max: 100 }),
      stop: state('boolean', 'button.stop.blind', { read: false }),
    });
    expect(blind.device.capabilities).toEqual(['cover']);
    expect([0, 40, 100].map(pos => valueIn(blind, 'windowShade', { pos }))).toEqual([
      'closed',
      'partially open',
      'open',
    ]);
    expect(writesOf(blind, 'open')).toEqual({ pos: 100 });
    expect(writesOf(blind, 'setPosition', { position: 40 })).toEqual({ pos: 40 });
    expect(writesOf(blind, 'stop')).toEqual({ stop: true });
  });

  test('a lock is open where its switch is true, as ioBroker’s roles say', async () => {
    const lock = await deviceOf({ open: state('boolean', 'switch.lock') });
    expect(valueIn(lock, 'lock', { open: true })).toBe('unlocked');
    expect(writesOf(lock, 'lock')).toEqual({ open: false });
    expect(writesOf(lock, 'unlock')).toEqual({ open: true });
    expect(lock.device.commands.lock?.always).toBe(true);
  });

  test('a lock whose labels say otherwise is believed', async () => {
    const lock = await deviceOf({
      set: state('boolean', 'switch.lock', { states: { false: 'unlocked', true: 'locked' } }),
    });
    expect(valueIn(lock, 'lock', { set: true })).toBe('locked');
    expect(writesOf(lock, 'lock')).toEqual({ set: true });
  });

  test('a lock does not take a flag of anything for its state', async () => {
    const lock = await deviceOf({ set: state('boolean', 'switch.lock'), online: state('boolean', 'state', readOnly) });
    expect(valueIn(lock, 'lock', { set: false, online: true })).toBe('locked');
  });

  test.each([
    ['sensor.window', 'contact'],
    ['sensor.door', 'contact'],
  ])('a sensor of the role %s is open where it is true', async role => {
    const sensor = await deviceOf({
      state: state('boolean', role, readOnly),
      bat: state('number', 'value.battery', readOnly),
    });
    expect(sensor.device.capabilities).toEqual(['contact', 'battery']);
    expect(valueIn(sensor, 'contact', { state: true })).toBe('open');
    expect(valueIn(sensor, 'contact', { state: false })).toBe('closed');
    expect(valueIn(sensor, 'battery', { bat: 80 })).toBe(80);
  });

  test('a tilted window is open', async () => {
    const states = { 0: 'CLOSED', 1: 'TILTED', 2: 'OPEN' };
    const sensor = await deviceOf({ STATE: state('number', 'value.window', { states, ...readOnly }) });
    expect([0, 1, 2].map(STATE => valueIn(sensor, 'contact', { STATE }))).toEqual(['closed', 'open', 'open']);
  });
});

describe('sensors', () => {
  test.each([
    ['sensor.motion', 'boolean', 'motion', true, 'active'],
    ['sensor.alarm.flood', 'boolean', 'water', true, 'wet'],
    ['sensor.alarm.fire', 'boolean', 'smoke', true, 'detected'],
    ['value.humidity', 'number', 'humidity', 55, 55],
    ['value.brightness', 'number', 'illuminance', 300, 300],
  ] as const)('of the role %s', async (role, type, attribute, native, ours) => {
    const sensor = await deviceOf({ v: state(type, role, readOnly) });
    expect(valueIn(sensor, attribute, { v: native })).toBe(ours);
  });

  test('a socket tells its power in W, and energy in kWh', async () => {
    const socket = await deviceOf({
      on: state('boolean', 'switch'),
      p: state('number', 'value.power', { unit: 'kW', ...readOnly }),
      e: state('number', 'value.power.consumption', { unit: 'Wh', ...readOnly }),
    });
    expect(socket.device.capabilities).toEqual(['switch', 'power', 'energy']);
    expect(valueIn(socket, 'power', { p: 1.5 })).toBe(1500);
    expect(valueIn(socket, 'energy', { e: 2500 })).toBe(2.5);
  });

  test('a button is an event, not a state', async () => {
    const remote = await deviceOf({
      short: state('boolean', 'button.press', readOnly),
      long: state('boolean', 'button.long', readOnly),
    });
    expect(valueIn(remote, 'pushed', { short: true })).toBe(1);
    expect(valueIn(remote, 'pushed', { short: false })).toBeUndefined();
    expect(remote.device.attributes.pushed?.momentary).toBe(true);
    expect(remote.device.attributes.short?.momentary).toBe(true);
  });
});

describe('which states make a device', () => {
  test('a channel of a device finds its indicators in the other channels', async () => {
    const catalogue = await catalogueOf({
      'hm.0.ABC': branch('device', 'Actor'),
      'hm.0.ABC.0': branch('channel', 'Maintenance'),
      'hm.0.ABC.0.UNREACH': state('boolean', 'indicator.maintenance.unreach', readOnly),
      'hm.0.ABC.1': branch('channel', 'Switch'),
      'hm.0.ABC.1.STATE': state('boolean', 'switch.light'),
    });
    expect(catalogue.devices.get('hm.0.ABC.1')?.blueprint.reachability).toEqual([
      { id: '-0.UNREACH', unreachable: true },
    ]);
    expect(catalogue.devices.get('hm.0.ABC.1')?.device.capabilities).toEqual(['switch']);
    expect(catalogue.devices.get('hm.0.ABC.0')?.device.attributes.UNREACH).toBeDefined();
  });

  test('a bag of states is no device of any kind, and neither is a folder', async () => {
    const catalogue = await catalogueOf({
      '0_userdata.0.light': state('boolean', 'switch.light'),
      '0_userdata.0.things': branch('folder', 'Things'),
      '0_userdata.0.things.lamp': state('boolean', 'switch.light'),
    });
    for (const id of ['0_userdata.0', '0_userdata.0.things']) {
      expect(catalogue.devices.get(id)?.device.capabilities).toEqual([]);
    }
    expect(catalogue.devices.get('0_userdata.0')?.device.commands['set:light']).toBeDefined();
  });

  test('devices that are alike are told apart by the functions that they belong to', async () => {
    const catalogue = await catalogueOf({
      'enum.functions.window': { type: 'enum', common: { name: 'Window', members: ['x.0.a'] } },
      'x.0.a': branch('channel', 'A'),
      'x.0.a.s': state('boolean', 'state', readOnly),
      'x.0.b': branch('channel', 'B'),
      'x.0.b.s': state('boolean', 'state', readOnly),
    });
    expect(catalogue.devices.get('x.0.a')?.device.capabilities).toEqual(['contact']);
    expect(catalogue.devices.get('x.0.b')?.device.capabilities).toEqual([]);
  });

  test('`functional: false` leaves the states as they are', async () => {
    const catalogue = await catalogueOf({ 'x.0.d.on': state('boolean', 'switch.light') }, { functional: false });
    expect(Object.keys(catalogue.devices.get('x.0.d')?.device.attributes ?? {})).toEqual(['on']);
  });

  test('a state that comes later makes another device of it', async () => {
    const catalogue = await catalogueOf({ 'x.0.d.on': state('boolean', 'switch.light') });
    expect(put(catalogue, 'x.0.d.bri', state('number', 'level.dimmer', { min: 0, max: 254 }))).toBe(true);
    const { changed } = await catalogue.remake();
    expect(changed.map(({ device }) => [device.id, device.capabilities])).toEqual([
      ['iobroker:x.0.d', ['switch', 'dimmer']],
    ]);
  });
});
