import { describe, expect, it } from 'vitest';
import { pairs } from '../../../src/cli/input.ts';
import { eventLine, nothing, table } from '../../../src/cli/output.ts';

describe('a table', () => {
  it('aligns its columns, and shows what is missing as a dash', () => {
    const rows = [
      { id: 'a', name: 'Short' },
      { id: 'long-id', name: undefined },
      { id: 'b', name: { x: 1 } },
    ];
    expect(table(rows, ['id', 'name'], '')).toBe('ID       NAME\na        Short\nlong-id  -\nb        {"x":1}');
    expect(table([], ['id'], 'none')).toBe('none');
  });
});

it('an empty list says why, where the gateway does', () => {
  expect(nothing('no devices', { devices: [], hint: 'did you mean "hall"?' })).toBe('no devices: did you mean "hall"?');
  expect(nothing('no devices', { devices: [] })).toBe('no devices');
});

describe('an event', () => {
  it('is one line with its value, unit and maker', () => {
    const event = {
      ts: '2026-11-30T10:00:00.000Z',
      device: 'virtual:fan',
      attribute: 'switch',
      value: 'on',
      change: 'changed',
    };
    expect(eventLine({ ...event, cause: { by: 'rule:attic-fan' } })).toBe(
      '2026-11-30T10:00:00.000Z  virtual:fan  switch = on  by rule:attic-fan',
    );
    expect(eventLine({ ...event, value: 21.5, unit: '°C', change: 'reported', cause: { by: 'device' } })).toBe(
      '2026-11-30T10:00:00.000Z  virtual:fan  switch = 21.5 °C (reported)',
    );
    const command = { ...event, attribute: 'setLevel', change: 'reported', cause: { by: 'user' } };
    expect(eventLine({ ...command, value: { $command: '01M8', level: 30 } })).toBe(
      '2026-11-30T10:00:00.000Z  virtual:fan  ← setLevel {"level":30}  by user',
    );
    const message = { ...event, kind: 'input', device: 'home/say', attribute: '', value: 'Dinner', change: 'reported' };
    expect(eventLine({ ...message, cause: { by: 'mqtt' } })).toBe(
      '2026-11-30T10:00:00.000Z  home/say = Dinner  by mqtt',
    );
    expect(eventLine({ dropped: 7 })).toContain('7 events left out');
  });
});

describe('arguments on the command line', () => {
  it('are JSON where they parse as it, else text', () => {
    expect(pairs(['level=50', 'color=#fff', 'on=true', 'text=a=b', 'list=[1,2]'])).toEqual({
      level: 50,
      color: '#fff',
      on: true,
      text: 'a=b',
      list: [1, 2],
    });
    expect(() => pairs(['level'])).toThrow('"level" is no argument');
  });
});
