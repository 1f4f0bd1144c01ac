// What outsiders publish on input topics becomes operations on their behalf.
import { describe, expect, it, vi } from 'vitest';
import type { Face } from '../../../src/bus/face.ts';
import { topicsOf } from '../../../src/bus/topics.ts';
import type { Engine } from '../../../src/engine/engine.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { deviceOf } from '../../../src/model/device.ts';
import type { BoundOp } from '../../../src/ops/op.ts';
import { admin } from '../../../src/policy/roles.ts';
import { Devices } from '../../../src/state/devices.ts';
import { hearOutsiders } from '../../../src/wiring/bus-inputs.ts';

function stage() {
  const calls: [string, unknown, string | undefined][] = [];
  const told: unknown[] = [];
  const messages: unknown[] = [];
  const devices = new Devices();
  devices.put(deviceOf({ id: 'virtual:lamp', name: 'Lamp', capabilities: ['switch', 'dimmer', 'lock'] }));
  const names = ['send_command', 'enable_rule', 'disable_rule', 'run_rule', 'set_mode', 'set_variable', 'get_system'];
  const ops = names.map(name => ({
    name,
    async call(input: unknown, { caller }: { caller: { causeId?: string } }) {
      calls.push([name, input, caller.causeId]);
      if (name === 'get_system') return { version: 'x' };
      return {};
    },
  })) as unknown as BoundOp[];
  const face = {
    result: (r: unknown) => told.push(r),
    response: (op: string, r: unknown) => told.push([op, r]),
  } as unknown as Face;
  const engine = { core: { devices, ids: () => 'id' }, message: (m: unknown) => messages.push(m) } as unknown as Engine;
  const principals = {
    find: (name: string) => (name === 'eva' ? admin('eva') : undefined),
    anonymous: () => undefined,
  };
  const hear = hearOutsiders({ ops, engine, face, topics: topicsOf('causeway'), principals, log: silentLog });
  const say = (topic: string, payload: string, principal = 'eva') =>
    hear({ topic, payload, retained: false, client: 'c', principal });
  return { calls, told, messages, say };
}

describe('a set topic', () => {
  it.each([
    [
      'causeway/device/virtual/lamp/set',
      '{"switch":"on","level":30}',
      [
        ['on', {}],
        ['setLevel', { level: 30 }],
      ],
    ],
    ['causeway/device/virtual/lamp/set', 'ON', [['on', {}]]],
    ['causeway/device/virtual/lamp/set', 'false', [['off', {}]]],
    ['causeway/device/virtual/lamp/set/switch', 'OFF', [['off', {}]]],
    ['causeway/device/virtual/lamp/set/switch', 'true', [['on', {}]]],
    ['causeway/device/virtual/lamp/set/level', '22.5', [['setLevel', { level: 22.5 }]]],
    ['causeway/device/virtual/lamp/set/lock', 'locked', [['lock', {}]]],
  ])('%s with %s', async (topic, payload, expected) => {
    const { calls, say } = stage();
    say(topic, payload);
    await vi.waitFor(() =>
      expect(
        calls.map(([, input]) => [(input as { command: string }).command, (input as { args: unknown }).args]),
      ).toEqual(expected),
    );
  });

  it('that says nothing sensible is answered on the result topic', async () => {
    const { calls, told, say } = stage();
    say('causeway/device/virtual/lamp/set', 'brighter please');
    await vi.waitFor(() => expect(told).toMatchObject([{ outcome: 'refused', error: { code: 'INPUT_INVALID' } }]));
    say('causeway/device/virtual/lamp/set/switch', 'purple');
    await vi.waitFor(() => expect(told[1]).toMatchObject({ outcome: 'refused', error: { code: 'COMMAND_UNKNOWN' } }));
    expect(calls).toEqual([]);
  });
});

describe('the other inputs', () => {
  it.each([
    [
      'causeway/device/virtual/lamp/command/setLevel',
      '{"level":5}',
      'send_command',
      { device: 'virtual:lamp', command: 'setLevel', args: { level: 5 }, wait: false },
    ],
    [
      'causeway/device/virtual/lamp/command/setLevel',
      '5',
      'send_command',
      { device: 'virtual:lamp', command: 'setLevel', args: [5], wait: false },
    ],
    [
      'causeway/device/virtual/lamp/command/on',
      '',
      'send_command',
      { device: 'virtual:lamp', command: 'on', wait: false },
    ],
    ['causeway/rule/r/set', 'OFF', 'disable_rule', { id: 'r' }],
    ['causeway/rule/r/set', '{"enabled":true}', 'enable_rule', { id: 'r' }],
    ['causeway/rule/r/run', '{"x":1}', 'run_rule', { id: 'r', args: { x: 1 } }],
    ['causeway/mode/set', 'night', 'set_mode', { mode: 'night' }],
    ['causeway/variable/n/set', '3', 'set_variable', { name: 'n', value: 3 }],
  ])('%s with %s is %s', async (topic, payload, op, input) => {
    const { calls, say } = stage();
    say(topic, payload);
    await vi.waitFor(() => expect(calls).toEqual([[op, input, undefined]]));
  });

  it('take a cause by its id, and nothing else of it', async () => {
    const { calls, say } = stage();
    say('causeway/device/virtual/lamp/command/setLevel', '{"level":5,"_cause":"01ABC"}');
    await vi.waitFor(() =>
      expect(calls).toEqual([['send_command', expect.objectContaining({ args: { level: 5 } }), '01ABC']]),
    );
  });

  it('answer a request with its transaction, faults too', async () => {
    const { told, say } = stage();
    say('causeway/bridge/request/get_system', '{"transaction":7}');
    say('causeway/bridge/request/get_sytem', '');
    await vi.waitFor(() =>
      expect(new Map(told as [string, unknown][])).toEqual(
        new Map<string, unknown>([
          ['get_system', { transaction: 7, status: 'ok', data: { version: 'x' } }],
          [
            'get_sytem',
            {
              status: 'error',
              error: expect.objectContaining({ code: 'NOT_FOUND', hint: 'did you mean "get_system"?' }),
            },
          ],
        ]),
      ),
    );
  });
});

describe('a request', () => {
  it.each(['not json', '[1]', '7'])('of which the payload is %s is refused, and nothing carried out', async payload => {
    const { calls, told, say } = stage();
    say('causeway/bridge/request/get_system', payload);
    await vi.waitFor(() =>
      expect(told).toEqual([
        [
          'get_system',
          {
            status: 'error',
            error: expect.objectContaining({ code: 'INPUT_INVALID', hint: expect.stringContaining('transaction') }),
          },
        ],
      ]),
    );
    expect(calls).toEqual([]);
  });
});

it('nobody who is not known (any more) moves anything', async () => {
  const { calls, messages, say } = stage();
  say('causeway/mode/set', 'night', 'ghost');
  say('home/x', '1', 'ghost');
  await vi.waitFor(() => expect(messages).toHaveLength(1));
  expect(calls).toEqual([]);
});
