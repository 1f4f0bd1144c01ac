// One device in the place of another in a rule as it is written.
import { describe, expect, it } from 'vitest';
import { swapDevice } from '../../../../src/engine/analysis/swap.ts';
import type { Json } from '../../../../src/model/value.ts';

const swap = (body: Json) => swapDevice(body, 'hubitat:3', 'hubitat:33');

describe('a device in a rule', () => {
  it.each<[string, Json, Json, string[]]>([
    [
      'a trigger',
      { triggers: [{ type: 'state', device: 'hubitat:3', attribute: 'contact' }] },
      { triggers: [{ type: 'state', device: 'hubitat:33', attribute: 'contact' }] },
      ['triggers/0/device'],
    ],
    [
      'a list, at each place',
      { condition: { type: 'and', conditions: [{ type: 'state', device: ['a:1', 'hubitat:3', 'hubitat:3'] }] } },
      { condition: { type: 'and', conditions: [{ type: 'state', device: ['a:1', 'hubitat:33', 'hubitat:33'] }] } },
      ['condition/conditions/0/device/1', 'condition/conditions/0/device/2'],
    ],
    [
      'what a selector leaves out',
      { actions: [{ type: 'command', device: { room: 'Hall', except: ['hubitat:3'] }, command: 'off' }] },
      { actions: [{ type: 'command', device: { room: 'Hall', except: ['hubitat:33'] }, command: 'off' }] },
      ['actions/0/device/except/0'],
    ],
    [
      'nested steps and scenes',
      { actions: [{ type: 'if', then: [{ type: 'scene', capture: 'x', devices: 'hubitat:3' }] }] },
      { actions: [{ type: 'if', then: [{ type: 'scene', capture: 'x', devices: 'hubitat:33' }] }] },
      ['actions/0/then/0/devices'],
    ],
    [
      'expressions, in quotes of both kinds',
      { condition: { type: 'expression', expr: `state("hubitat:3", "level") > state('hubitat:3', 'min')` } },
      { condition: { type: 'expression', expr: `state("hubitat:33", "level") > state('hubitat:33', 'min')` } },
      ['condition/expr'],
    ],
    [
      'text with an expression',
      { actions: [{ type: 'notify', message: '{{ state("hubitat:3", "level") }} %' }] },
      { actions: [{ type: 'notify', message: '{{ state("hubitat:33", "level") }} %' }] },
      ['actions/0/message'],
    ],
    [
      'its tests, where it is a key',
      { tests: [{ given: { 'hubitat:3': { level: 1 } }, expect: [{ command: { device: 'hubitat:3' } }] }] },
      { tests: [{ given: { 'hubitat:33': { level: 1 } }, expect: [{ command: { device: 'hubitat:33' } }] }] },
      ['tests/0/given/hubitat:3', 'tests/0/expect/0/command/device'],
    ],
  ])('is swapped in %s', (_, before, after, places) => {
    expect(swap(before)).toEqual({ body: after, places, left: [] });
  });

  it('is not taken for another whose id begins the same, nor for an alias', () => {
    const body: Json = {
      triggers: [{ device: 'hubitat:31' }, { device: 'door' }, { expr: 'state("hubitat:3.x", "a")' }],
    };
    expect(swap(body)).toEqual({ body, places: [], left: [] });
  });

  it('stays where it is a word among others or a word of another field, which is told', () => {
    const body: Json = {
      name: 'hubitat:3 at night',
      triggers: [{ type: 'mqtt', topic: 'causeway/event/hubitat/3/contact' }],
      actions: [
        { type: 'log', message: 'hubitat:3' },
        { type: 'http', url: 'http://x.lan/hubitat/33' },
      ],
    };
    expect(swap(body)).toEqual({ body, places: [], left: ['name', 'triggers/0/topic', 'actions/0/message'] });
  });
});
