import { describe, expect, test } from 'vitest';
import { newCounters } from '../../../../src/backends/hubitat/counters.ts';
import {
  readDevices,
  readEvent,
  readHsm,
  readModes,
  readSignatures,
  readVariables,
  unitInHistory,
} from '../../../../src/backends/hubitat/wire.ts';

const counters = newCounters;

describe('a list of devices', () => {
  test('in the detail form: doubles count once, capabilities are the names among the objects', () => {
    const [device] = readDevices(
      [
        {
          id: '7',
          name: 'Driver',
          label: 'Fan',
          type: 'Driver',
          room: 'Loft',
          attributes: [
            { name: 'switch', currentValue: 'on', dataType: 'ENUM', values: ['on', 'off'] },
            { name: 'switch', currentValue: 'on', dataType: 'ENUM', values: ['on', 'off'] },
            { name: 'power', currentValue: 4, dataType: 'NUMBER', unit: 'W' },
          ],
          capabilities: ['Switch', { attributes: [{ name: 'switch', dataType: null }] }, 'PowerMeter', 'Switch'],
          commands: ['on', 'off', 'on'],
        },
      ],
      counters(),
    );
    expect(device).toEqual({
      id: '7',
      name: 'Fan',
      room: 'Loft',
      driver: 'Driver',
      capabilities: ['Switch', 'PowerMeter'],
      attributes: [
        { name: 'switch', dataType: 'ENUM', values: ['on', 'off'], unit: undefined, value: 'on' },
        { name: 'power', dataType: 'NUMBER', values: [], unit: 'W', value: 4 },
      ],
      commands: ['on', 'off'],
    });
  });

  test('in the short form: texts, and two keys that are no attributes', () => {
    const [device] = readDevices(
      [
        {
          id: '7',
          name: 'Fan',
          label: null,
          room: null,
          attributes: { dataType: 'STRING', values: null, switch: 'off', held: null },
          commands: [{ command: 'on' }, { command: 'off' }, {}, null],
        },
      ],
      counters(),
    );
    expect(device).toMatchObject({
      name: 'Fan',
      room: undefined,
      attributes: [
        { name: 'switch', value: 'off', dataType: undefined },
        { name: 'held', value: null },
      ],
      commands: ['on', 'off'],
    });
  });

  test('that is none is empty, and counted', () => {
    const count = counters();
    expect(readDevices({ error: true }, count)).toEqual([]);
    expect(count.unreadable).toBe(1);
  });

  test('keeps the first of two devices with one id, and takes numeric ids', () => {
    const list = readDevices(
      [
        { id: 7, name: 'a' },
        { id: '7', name: 'b' },
      ],
      counters(),
    );
    expect(list.map(({ id, name }) => [id, name])).toEqual([['7', 'a']]);
  });
});

describe('an event', () => {
  test('of a device, posted with and without content', () => {
    const fields = { name: 'level', value: '30', deviceId: '7', unit: '%', type: null };
    const expected = { of: 'device', device: '7', name: 'level', value: '30', unit: '%' };
    expect(readEvent({ content: fields }, counters())).toEqual(expected);
    expect(readEvent(fields, counters())).toEqual(expected);
  });

  test('of a device, as a frame with numbers and the word null', () => {
    const frame = {
      source: 'DEVICE',
      name: 'switch',
      value: 'on',
      type: 'digital',
      unit: 'null',
      deviceId: 7,
      hubId: 0,
    };
    expect(readEvent(frame, counters())).toMatchObject({ of: 'device', device: '7', unit: undefined });
    expect(readEvent({ ...frame, value: 'null' }, counters())?.value).toBeNull();
  });

  test.each([
    [{ name: 'mode', value: 'Day', deviceId: null }, 'location'],
    [{ name: 'mode', value: 'Day', deviceId: 0, source: 'LOCATION' }, 'location'],
    [{ name: 'mode', value: 'Day', deviceId: '0', source: 'null' }, 'location'],
    [{ name: 'state', value: 'x', deviceId: 0, source: 'APP' }, 'other'],
    [{ name: 'state', value: 'x', deviceId: 0, source: 'HUB' }, 'other'],
  ])('%o is of the %s', (body, of) => {
    expect(readEvent(body, counters())?.of).toBe(of);
  });

  test.each([null, 'text', 7, [], {}, { name: '' }, { content: null }, { content: { value: 1 } }])(
    '%o is none, and counted',
    body => {
      const count = counters();
      expect(readEvent(body, count)).toBeUndefined();
      expect(count.garbled).toBe(1);
    },
  );
});

describe('other answers', () => {
  test('modes, variables, HSM and arguments', () => {
    expect(readModes([{ active: true, id: 1, name: 'Day' }, { id: 2 }], counters())).toEqual([
      { active: true, id: '1', name: 'Day' },
    ]);
    expect(readVariables({ name: 'x', value: 1 }, counters())).toEqual([{ name: 'x', value: 1, type: 'string' }]);
    expect(readHsm({ hsm: 'disarmed' })).toBe('disarmed');
    expect(readHsm({ hsm: null })).toBeUndefined();
    const signatures = readSignatures([{ command: 'a', type: ['NUMBER'] }, { command: 'b' }, {}], counters());
    expect([...signatures]).toEqual([
      ['a', ['NUMBER']],
      ['b', []],
    ]);
  });

  test('the unit that a history tells', () => {
    const history = [
      { name: 'battery', unit: '%' },
      { name: 'temperature', unit: null },
      { name: 'temperature', unit: '°F' },
    ];
    expect(unitInHistory(history, ['temperature'], counters())).toBe('°F');
    expect(unitInHistory([], ['temperature'], counters())).toBeUndefined();
  });
});
