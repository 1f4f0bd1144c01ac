import { describe, expect, test } from 'vitest';
import { newWord } from '../../../../src/backends/hubitat/additions.ts';
import { newCounters } from '../../../../src/backends/hubitat/counters.ts';
import {
  celsiusOf,
  fahrenheitOf,
  type Reader,
  readerOf,
  readValue,
  scaleOf,
} from '../../../../src/backends/hubitat/values.ts';

const number: Reader = { form: 'plain', declared: { type: 'number' } };
const temperature: Reader = { form: 'temperature', declared: { type: 'number', unit: '°C' } };
const read = (reader: Reader, raw: unknown, unit?: string, scale: 'C' | 'F' = 'C') =>
  readValue(reader, raw, unit, scale, newCounters());

describe('data types', () => {
  test.each([
    ['NUMBER', 'number', 'plain'],
    ['ENUM', 'enum', 'plain'],
    ['STRING', 'string', 'plain'],
    ['DYNAMIC_ENUM', 'string', 'plain'],
    ['DATE', 'string', 'plain'],
    ['VECTOR3', 'json', 'vector'],
    ['JSON_OBJECT', 'json', 'json'],
    ['BOOL', 'boolean', 'plain'],
    ['BOOLEAN', 'boolean', 'plain'],
    ['JSON', 'json', 'json'],
    ['bigdecimal', 'number', 'plain'],
  ])('%s is %s', (dataType, type, form) => {
    expect(readerOf(dataType, newCounters())).toEqual({ type, form });
  });

  test('that nobody knows are taken as they are, and counted once by name', () => {
    const counters = newCounters();
    expect(readerOf('TENSOR', counters)).toEqual({ type: 'json', form: 'json' });
    readerOf('TENSOR', counters);
    expect([...counters.unknownTypes]).toEqual(['TENSOR']);
  });
});

describe('values', () => {
  test.each([null, undefined, 'null'])('%o is none', raw => {
    expect(read(number, raw)).toBeNull();
    expect(read({ form: 'vector', declared: { type: 'json' } }, raw)).toBeNull();
  });

  test('numbers come as text, too', () => {
    expect(read(number, '21.5')).toBe(21.5);
    expect(read(number, 21.5)).toBe(21.5);
  });

  test('a number that is none is unknown, and counted', () => {
    const counters = newCounters();
    expect(readValue(number, 'N/A', undefined, 'C', counters)).toBeNull();
    expect(counters.misfits).toBe(1);
  });

  test.each([
    ['[x:2,y:-4,z:1.5]', { x: 2, y: -4, z: 1.5 }],
    ['[42.5,24]', [42.5, 24]],
    ['[x:1e-3,y:-2.5E2,z:+4]', { x: 0.001, y: -250, z: 4 }],
    ['[x:1.2.3,y:1]', '[x:1.2.3,y:1]'],
    ['[x:.,y:1]', '[x:.,y:1]'],
    ['[1e2,0x10]', '[1e2,0x10]'],
    ['[]', '[]'],
    ['', ''],
    ['up', 'up'],
  ])('the vector %s is %o', (raw, value) => {
    expect(read({ form: 'vector', declared: { type: 'json' } }, raw)).toEqual(value);
  });

  test('JSON is read, and text that is none stays text', () => {
    const json: Reader = { form: 'json', declared: { type: 'json' } };
    expect(read(json, '{"a":1}')).toEqual({ a: 1 });
    expect(read(json, 'not json')).toBe('not json');
  });

  test('an object where text is declared becomes JSON text', () => {
    expect(read({ form: 'plain', declared: { type: 'string' } }, { a: 1 })).toBe('{"a":1}');
  });

  test('an empty text is a text, and no word, number or boolean', () => {
    const words: Reader = { form: 'plain', declared: { type: 'enum', values: ['on', 'off'] } };
    expect(newWord(words, '')).toBeUndefined();
    expect(read(words, '')).toBeNull();
    expect(read(number, '')).toBeNull();
    expect(read({ form: 'plain', declared: { type: 'boolean' } }, '')).toBeNull();
    expect(read({ form: 'plain', declared: { type: 'string' } }, '')).toBe('');
  });

  test('"unknown" is no word of a lock, but one of an enum that has it', () => {
    const lock = (...values: string[]): Reader => ({ form: 'plain', declared: { type: 'enum', values } });
    expect(read(lock('locked', 'unlocked'), 'unknown')).toBeNull();
    expect(read(lock('known', 'unknown'), 'unknown')).toBe('unknown');
  });
});

describe('temperatures', () => {
  test('go by the unit that is told, else by the hub’s scale', () => {
    expect(read(temperature, '68', undefined, 'F')).toBe(20);
    expect(read(temperature, '68', '°F', 'C')).toBe(20);
    expect(read(temperature, '20', '°C', 'F')).toBe(20);
    expect(read(temperature, '20')).toBe(20);
  });

  test('go there and back without a difference: what a scene has captured is restored as it was', () => {
    for (let c = 5; c <= 35; c += 0.5) expect(celsiusOf(fahrenheitOf(c))).toBe(c);
    for (let f = 40; f <= 100; f += 0.5) expect(fahrenheitOf(celsiusOf(f))).toBe(f);
  });

  test.each([
    ['°F', 'F'],
    ['F', 'F'],
    ['° f', 'F'],
    ['°C', 'C'],
    ['%', undefined],
    ['°K', undefined],
    [undefined, undefined],
  ])('the unit %s means %s', (unit, scale) => {
    expect(scaleOf(unit)).toBe(scale);
  });
});
