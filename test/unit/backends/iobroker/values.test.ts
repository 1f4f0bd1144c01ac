// States and their objects as ioBroker writes them, legacy forms and nonsense included.
import { describe, expect, test } from 'vitest';
import { newCounters } from '../../../../src/backends/iobroker/counters.ts';
import { parseFile } from '../../../../src/backends/iobroker/logs.ts';
import { matcherOf, selection, withoutCovered } from '../../../../src/backends/iobroker/patterns.ts';
import {
  declarationOf,
  misfitOf,
  qualityOf,
  readValue,
  storedValue,
} from '../../../../src/backends/iobroker/values.ts';
import {
  nameIn,
  readObject,
  readState,
  type StateObject,
  stateObject,
  systemConfig,
} from '../../../../src/backends/iobroker/wire.ts';
import { catalogueOf, state } from './kit.ts';

const objectOf = (common: object): StateObject => stateObject({ id: 'x.0.s', type: 'state', common }, 'de');

describe('an object', () => {
  test('is named in the language that is wanted, else in English, else in any', () => {
    expect(nameIn({ en: 'Lamp', de: 'Lampe' }, 'de')).toBe('Lampe');
    expect(nameIn({ en: 'Lamp', ru: 'Лампа' }, 'de')).toBe('Lamp');
    expect(nameIn({ ru: 'Лампа' }, 'de')).toBe('Лампа');
    expect(nameIn('Lamp', 'de')).toBe('Lamp');
    expect(nameIn(undefined, 'de')).toBe('');
  });

  test.each([
    [
      { type: 'number', states: { 0: 'off', 1: 'on' } },
      { 0: 'off', 1: 'on' },
    ],
    [
      { type: 'number', states: ['off', 'on'] },
      { 0: 'off', 1: 'on' },
    ],
    [
      { type: 'string', states: ['start', 'stop'] },
      { start: 'start', stop: 'stop' },
    ],
    [
      { type: 'number', states: '0:off;1:on' },
      { 0: 'off', 1: 'on' },
    ],
    [{ type: 'number', states: 7 }, undefined],
  ])('has its list of values of %j', (common, labels) => {
    expect(objectOf(common).labels).toEqual(labels);
  });

  test.each([
    [{}, { type: 'mixed', role: '', read: true }],
    [
      { min: '0', max: '100', step: 'x' },
      { min: 0, max: 100 },
    ],
    [
      { type: 5, role: null, unit: {}, read: 'yes', write: 1, name: [] },
      { type: 'mixed', role: '', read: true },
    ],
    [{ alias: { id: 'a.0.b' } }, { alias: 'a.0.b' }],
    [{ alias: { id: { read: 'a.0.r', write: 'a.0.w' } } }, { alias: 'a.0.r' }],
  ])('of %j is read as far as it can be', (common, expected) => {
    expect(objectOf(common)).toMatchObject(expected);
  });

  test('that is none is counted', () => {
    const counters = newCounters();
    for (const odd of [null, 7, {}, { _id: 'x' }, { _id: 'x', type: 'state' }])
      expect(readObject(odd, counters)).toBeUndefined();
    expect(counters.unreadable).toBe(5);
  });
});

describe('a state', () => {
  test('is read as far as it can be', () => {
    const counters = newCounters();
    expect(readState({ val: 5 }, counters)).toEqual({ val: 5, ack: false, ts: 0, q: 0, from: '' });
    expect(readState({ val: 5, ack: 'x', ts: '1', q: null, from: 7 }, counters)).toMatchObject({
      ack: false,
      ts: 0,
      q: 0,
    });
    expect(readState(null, counters)).toBeUndefined();
    expect(readState('x', counters)).toBeUndefined();
    expect(counters.unreadable).toBe(1);
  });

  test.each([
    ['number', '23.5', 23.5],
    ['number', true, undefined],
    ['number', 'warm', undefined],
    ['boolean', 1, true],
    ['boolean', 'off', false],
    ['string', 5, '5'],
    ['array', '[1,2]', [1, 2]],
    ['object', 'no JSON', 'no JSON'],
    ['mixed', '[1,2]', '[1,2]'],
    ['number', null, null],
  ] as const)('of the type %s with %j is %j', (type, val, expected) => {
    expect(readValue({ type }, val as never)).toEqual(expected);
  });

  test.each([
    [0, 'good'],
    [0x01, 'unknown'],
    [0x02, 'unavailable'],
    [0x42, 'unavailable'],
    [0x82, 'unavailable'],
    [0x20, 'unknown'],
    [0x40, 'unknown'],
    [0x44, 'unknown'],
  ] as const)('of the quality %d is %s', (q, expected) => {
    expect(qualityOf(q)).toBe(expected);
  });

  test('that is a button is an event; power and signal are telemetry', () => {
    expect(declarationOf(objectOf({ type: 'boolean', role: 'button.press' })).momentary).toBe(true);
    expect(declarationOf(objectOf({ type: 'number', role: 'value.power' })).telemetry).toBe(true);
    expect(declarationOf(objectOf({ type: 'number', role: 'value.power.consumption' })).telemetry).toBe(true);
    expect(declarationOf(objectOf({ type: 'number', role: 'value.temperature' })).telemetry).toBeUndefined();
  });
});

describe('a write', () => {
  test.each([
    [{ type: 'number', min: -40, max: 80 }, 20, undefined],
    [{ type: 'number', min: -40, max: 80 }, 999, /not within -40 to 80/],
    [{ type: 'number' }, '23.5', /is no number/],
    [{ type: 'number' }, true, /is no number/],
    [{ type: 'boolean' }, 'on', /is no boolean/],
    [{ type: 'number', write: false }, 1, /cannot be written/],
    [{ type: 'number', states: { 0: 'off', 1: 'on' } }, 2, /none of the values.*0, 1/],
    [{ type: 'number', states: { 0: 'off', 1: 'on' } }, 1, undefined],
    [{ type: 'string', states: { auto: 'Auto' } }, 'manual', /none of the values/],
    [{ type: 'array' }, {}, /is no list/],
    [{ type: 'mixed' }, { a: 1 }, undefined],
  ])('to %j of %j', (common, value, refused) => {
    const misfit = misfitOf(objectOf(common), value as never);
    if (refused) expect(misfit).toMatch(refused);
    else expect(misfit).toBeUndefined();
  });

  test('stores lists and objects as text', () => {
    expect(storedValue([1, 2])).toBe('[1,2]');
    expect(storedValue(5)).toBe(5);
  });
});

describe('a pattern', () => {
  test.each([
    ['hue.0.*', 'hue.0.a.b', true],
    ['hue.0.*', 'hue.01.a', false],
    ['*.battery', 'zigbee.0.x.battery', true],
    ['*.battery', 'zigbee.0.x.battery.low', false],
    ['hue.*.on', 'hue.0.lamp.on', true],
    ['a.b', 'a.b', true],
    ['a.b', 'axb', false],
    ['a.0.(x)+*', 'a.0.(x)+1', true],
    ['*', 'anything', true],
  ])('%s and the id %s: %j', (pattern, id, fits) => {
    expect(matcherOf(pattern)(id)).toBe(fits);
  });

  test('lets system.* in only where it says so', () => {
    const all = selection({ states: ['*'], exclude: ['*.rssi'] });
    expect(all('hue.0.a')).toBe(true);
    expect(all('hue.0.rssi')).toBe(false);
    expect(all('system.adapter.hue.0.cpu')).toBe(false);
    expect(selection({ states: ['system.host.*'], exclude: [] })('system.host.x.load')).toBe(true);
  });

  test('that another one covers is left out', () => {
    expect(withoutCovered(['hue.0.*', 'hue.0.a.*', 'hue.0.*', 'zigbee.0.x'])).toEqual(['hue.0.*', 'zigbee.0.x']);
    expect(withoutCovered(['a.*', '*'])).toEqual(['*']);
  });
});

// BC-103: ids may have nearly every character.
test('ids with every odd character that ioBroker allows are devices and attributes', async () => {
  const odd = 'x.0.a-_/ :!#$%&()+=@^{}|~ä.b-_/ :!#$%&()+=@^{}|~ß';
  const catalogue = await catalogueOf({ [odd]: state('number', 'value') });
  const [mapped] = catalogue.devices.values();
  expect(mapped?.device.id).toBe('iobroker:x.0.a-_/ :!#$%&()+=@^{}|~ä');
  expect(Object.keys(mapped?.device.attributes ?? {})).toEqual(['b-_/ :!#$%&()+=@^{}|~ß']);
});

test('a device has the room of what it is a part of, or of one of its states', async () => {
  const room = (members: string[]) => ({ type: 'enum', common: { name: { en: 'Kitchen', de: 'Küche' }, members } });
  for (const member of ['x.0.d', 'x.0', 'x.0.d.on']) {
    const objects = { 'enum.rooms.kitchen': room([member]), 'x.0.d.on': state('boolean', 'switch') };
    const catalogue = await catalogueOf(objects, { language: 'de' });
    expect(catalogue.devices.get('x.0.d')?.device.room).toBe('Küche');
  }
});

test('a log file is read without its colours, with messages of several lines', () => {
  const lines = parseFile([
    '2026-11-30 08:00:00.123  - \u001b[32minfo\u001b[39m: hue.0 (123) hello',
    '2026-11-30 08:00:01.000  - \u001b[31merror\u001b[39m: host.home it broke',
    '    at somewhere',
    42,
    '',
  ]);
  expect(lines).toMatchObject([
    { level: 'info', source: 'hue.0', message: 'hello' },
    { level: 'error', source: 'host.home', message: 'it broke\n    at somewhere' },
  ]);
});

test.each([
  [
    { latitude: 52.5, longitude: 13.4, language: 'de' },
    { language: 'de', place: { latitude: 52.5, longitude: 13.4 } },
  ],
  [
    { latitude: '52.5', longitude: '13.4' },
    { language: 'en', place: { latitude: 52.5, longitude: 13.4 } },
  ],
  [
    { latitude: '', longitude: '' },
    { language: 'en', place: undefined },
  ],
  [{ latitude: 52.5 }, { language: 'en', place: undefined }],
  [undefined, { language: 'en', place: undefined }],
])('of a system that says %j its language and place are known', (common, expected) => {
  expect(systemConfig({ _id: 'system.config', common })).toEqual(expected);
});
