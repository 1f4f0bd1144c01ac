// The topic tree: what is built is what is parsed, and odd ids never make a level more.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { topicsOf } from '../../../src/bus/topics.ts';

const topics = topicsOf('causeway');

describe('inputs', () => {
  it.each([
    ['causeway/device/virtual/lamp/set', { kind: 'set', device: 'virtual:lamp', attribute: undefined }],
    ['causeway/device/virtual/lamp/set/level', { kind: 'set', device: 'virtual:lamp', attribute: 'level' }],
    ['causeway/device/hubitat/42/command/on', { kind: 'command', device: 'hubitat:42', command: 'on' }],
    ['causeway/rule/attic-fan/set', { kind: 'rule_set', rule: 'attic-fan' }],
    ['causeway/rule/attic-fan/run', { kind: 'rule_run', rule: 'attic-fan' }],
    ['causeway/mode/set', { kind: 'mode_set' }],
    ['causeway/variable/setpoint/set', { kind: 'variable_set', variable: 'setpoint' }],
    ['causeway/bridge/request/get_system', { kind: 'request', op: 'get_system' }],
    [
      'causeway/device/iobroker/0_userdata.0.A%2BB%20%28x%29.%5B1%5D/set/v',
      { kind: 'set', device: 'iobroker:0_userdata.0.A+B (x).[1]', attribute: 'v' },
    ],
  ])('%s', (topic, expected) => {
    expect(topics.parseInput(topic)).toEqual(expected);
  });

  it.each([
    'causeway/device/virtual/lamp/state',
    'causeway/device/virtual/lamp/set/level/more',
    'causeway/device/virtual/lamp/command',
    'causeway/event/virtual/lamp/switch',
    'causeway/rule/attic-fan/state',
    'causeway/mode/state',
    'causeway/bridge/response/get_system',
    'causeway/device/virtual/%E0%A4%A/set',
    'other/mode/set',
    'causewayx/mode/set',
  ])('are not: %s', topic => {
    expect(topics.parseInput(topic)).toBeUndefined();
  });
});

describe('any device id', () => {
  const id = fc
    .tuple(fc.stringMatching(/^[a-z][a-z0-9_-]{0,8}$/), fc.string({ unit: 'grapheme', maxLength: 30 }))
    .map(([backend, native]) => `${backend}:${native.normalize('NFC')}`);

  it('is two levels of the tree, and comes back whole', () => {
    fc.assert(
      fc.property(id, device => {
        const state = topics.device(device, 'state');
        expect(state.split('/')).toHaveLength(5);
        expect(state).not.toMatch(/[+#\s]/);
        expect(topics.parseInput(state.replace(/state$/, 'set'))).toEqual({
          kind: 'set',
          device,
          attribute: undefined,
        });
      }),
    );
  });
});
