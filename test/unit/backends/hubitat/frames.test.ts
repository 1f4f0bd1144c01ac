import { describe, expect, test } from 'vitest';
import { newCounters } from '../../../../src/backends/hubitat/counters.ts';
import { frameJoiner } from '../../../../src/backends/hubitat/eventsocket.ts';
import { logReport } from '../../../../src/backends/hubitat/logsocket.ts';

const frame = (value: string) => JSON.stringify({ source: 'DEVICE', name: 'switch', value, deviceId: 7 });

describe('frames of the eventsocket', () => {
  test('are joined, wherever they are split', () => {
    const whole = frame('on');
    for (let at = 1; at < whole.length; at++) {
      const join = frameJoiner(newCounters());
      expect(join(whole.slice(0, at))).toBeUndefined();
      expect(join(whole.slice(at))?.value).toBe('on');
    }
  });

  test('that never end cost no later one', () => {
    const counters = newCounters();
    const join = frameJoiner(counters);
    join(frame('on').slice(0, 20));
    expect(join(frame('off'))?.value).toBe('off');
    expect(counters.garbled).toBe(1);
    expect(join(frame('on'))?.value).toBe('on');
  });

  test.each([2, 3, 7])('that never end cost no later one that is split as well, into %i', parts => {
    const counters = newCounters();
    const join = frameJoiner(counters);
    join(frame('on').slice(0, 20));
    const told = ['off', 'on', 'off'].flatMap(value => {
      const whole = frame(value);
      const size = Math.ceil(whole.length / parts);
      const pieces = Array.from({ length: parts }, (_, i) => whole.slice(i * size, (i + 1) * size));
      return pieces.flatMap(piece => join(piece)?.value ?? []);
    });
    expect(told).toEqual(['off', 'on', 'off']);
    expect(counters.garbled).toBe(1);
  });

  test('do not grow without end', () => {
    const counters = newCounters();
    const join = frameJoiner(counters);
    for (let i = 0; i < 40; i++) join(`{"${'x'.repeat(50_000)}`);
    expect(counters.garbled).toBeGreaterThan(0);
    expect(join(frame('on'))?.value).toBe('on');
  });
});

describe('lines of the logsocket', () => {
  const line = (more: object) =>
    JSON.stringify({ name: 'Lamp', msg: 'hello', id: 7, type: 'dev', level: 'info', ...more });

  test('are reports of their device, or of the hub', () => {
    expect(logReport('hub', line({}), 'info')).toEqual({
      type: 'log',
      device: 'hub:7',
      level: 'info',
      message: 'hello',
    });
    expect(logReport('hub', line({ type: 'app' }), 'info')).toEqual({
      type: 'log',
      level: 'info',
      message: 'Lamp: hello',
    });
  });

  test('below the level are left out; a level that nobody knows is shown', () => {
    expect(logReport('hub', line({ level: 'debug' }), 'info')).toBeUndefined();
    expect(logReport('hub', line({ level: 'fatal' }), 'error')).toBeDefined();
  });

  test('that are none are left out', () => {
    expect(logReport('hub', 'not json', 'info')).toBeUndefined();
    expect(logReport('hub', '{}', 'info')).toBeUndefined();
  });
});
