// A device is replaced: swap_device over all rules in the real process; and the scenes that rules have captured.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../kit/eventually.ts';
import { type Answer, type CallError, type GatewayProcess, gatewayKit } from '../kit/gateway-process.ts';

const kit = gatewayKit();
let gateway: GatewayProcess;

const direct = `# the hall\nid: direct
name: Direct
triggers:
  - { type: state, device: "virtual:old", attribute: switch, to: "on" } # by its id
actions:
  - { type: command, device: ["virtual:old", "virtual:other"], command: setLevel, args: { level: 5 } }
`;

const rules = {
  'direct.yaml': direct,
  'alias.yaml': {
    id: 'alias',
    name: 'Alias',
    triggers: [{ type: 'state', device: 'hall-lamp', attribute: 'switch', to: 'on' }],
    actions: [{ type: 'log', message: 'virtual:old is on' }],
  },
  'level.yaml': {
    id: 'level',
    name: 'Level',
    triggers: [{ type: 'state', device: 'virtual:old', attribute: 'level' }],
    actions: [{ type: 'log', message: 'moved' }],
  },
  'scene.yaml': {
    id: 'scene',
    name: 'Scene',
    triggers: [{ type: 'webhook', id: 'capture' }],
    actions: [{ type: 'scene', capture: 'before', devices: ['virtual:other'] }],
  },
};

const house = {
  aliases: { 'hall-lamp': 'virtual:old' },
  people: { anna: { trackers: ['virtual:old'] }, ben: { trackers: ['hall-lamp'] } },
  groups: {
    lights: { members: ['virtual:other', 'virtual:old'], attribute: 'switch' },
    rest: { members: { capability: 'switch', except: ['virtual:old'] }, attribute: 'switch' },
  },
  rooms: { hall: { devices: ['virtual:old'] } },
  scenes: { evening: { 'virtual:old': { switch: 'on' } } },
  notifiers: { speaker: { type: 'device', device: 'virtual:old' } },
};

beforeAll(async () => {
  gateway = await kit.start(kit.home({ rules, house }));
  for (const name of ['old', 'other', 'new']) {
    const spec = { name, capabilities: ['switch', 'dimmer'], values: { switch: 'off', level: 40 } };
    await gateway.call('create_device', spec);
  }
  await gateway.call('create_device', { name: 'plain', capabilities: ['switch'], values: { switch: 'off' } });
}, 60_000);
afterAll(() => kit.end());

const revisions = async (id: string): Promise<Answer[]> => (await gateway.call('list_revisions', { id })).revisions;

describe('a swap of devices', () => {
  it('shows in a dry run every place that would change, what stays, and the better way, and changes nothing', async () => {
    const before = (await revisions('direct')).length;
    const answer = await gateway.call('swap_device', { from: 'virtual:old', to: 'virtual:new', dry_run: true });
    expect(answer).toMatchObject({
      rules: [
        { rule: 'direct', places: ['triggers/0/device', 'actions/0/device/0'] },
        { rule: 'level', places: ['triggers/0/device'] },
      ],
      left: [{ rule: 'alias', places: ['actions/0/message'] }],
      elsewhere: [
        expect.stringContaining('the alias hall-lamp'),
        ...['person anna', 'group lights', 'group rest', 'room hall', 'notifier speaker', 'scene evening'].map(
          place => `house.yaml: the ${place}`,
        ),
      ],
      advice: expect.stringContaining('aliases'),
      fits: true,
      dry_run: true,
    });
    expect(await revisions('direct')).toHaveLength(before);
  });

  it('is refused as a whole where the new device lacks a command or an attribute', async () => {
    const error = await gateway
      .call('swap_device', { from: 'virtual:old', to: 'virtual:plain' })
      .then(() => undefined)
      .catch((thrown: CallError) => thrown.error);
    expect(error).toMatchObject({
      code: 'RULE_INVALID',
      message: expect.stringContaining('setLevel'),
      details: {
        misfits: [
          { rule: 'direct', path: 'actions/0/command' },
          { rule: 'level', path: 'triggers/0' },
        ],
      },
    });
    expect(gateway.home.read('rules/direct.yaml')).toBe(direct);
  });

  it('is one revision of each rule, keeps comments, and the rule runs with the new device', async () => {
    const before = (await revisions('direct')).length;
    const answer = await gateway.call('swap_device', { from: 'hall-lamp', to: 'virtual:new' });
    expect(answer.rules).toMatchObject([
      { rule: 'direct', revision: before + 1 },
      { rule: 'level', revision: 2 },
    ]);
    expect(await revisions('direct')).toHaveLength(before + 1);
    const text = gateway.home.read('rules/direct.yaml');
    expect(text).toContain('# by its id');
    expect(text).not.toContain('virtual:old');
    await gateway.call('send_command', { device: 'virtual:new', command: 'on' });
    await eventually(
      async () => (await gateway.call('get_device', { device: 'virtual:other' })).attributes.level.value === 5,
      'the command of the rule',
    );
    // A second call finds nothing more to do.
    expect((await gateway.call('swap_device', { from: 'virtual:old', to: 'virtual:new' })).rules).toEqual([]);
  });

  it('wants a device that is there, and another one', async () => {
    await expect(gateway.call('swap_device', { from: 'virtual:old', to: 'virtual:nobody' })).rejects.toThrow(
      'DEVICE_NOT_FOUND',
    );
    await expect(gateway.call('swap_device', { from: 'hall-lamp', to: 'virtual:old' })).rejects.toThrow(
      'INPUT_INVALID',
    );
  });
});

describe('a captured scene', () => {
  it('is listed with its devices and rules, shown with its values, and deleted for good', async () => {
    await gateway.call('send_command', { device: 'virtual:other', command: 'setLevel', args: { level: 17 } });
    await eventually(
      async () => (await gateway.call('get_device', { device: 'virtual:other' })).attributes.level.value === 17,
      'the level',
    );
    expect((await gateway.call('list_scenes')).scenes).toMatchObject([{ name: 'evening', from: 'house' }]);
    await gateway.call('run_rule', { id: 'scene' });
    const listed = async () => (await gateway.call('list_scenes')).scenes.find(({ name }: Answer) => name === 'before');
    expect(await eventually(listed, 'the capture')).toEqual({
      name: 'before',
      from: 'captured',
      devices: ['virtual:other'],
      used_by: ['scene'],
    });
    expect(await gateway.call('get_scene', { name: 'before' })).toMatchObject({
      values: { 'virtual:other': { level: 17 } },
    });
    await expect(gateway.call('delete_scene', { name: 'before' })).rejects.toThrow('CONFIRM_REQUIRED');
    expect(await gateway.call('delete_scene', { name: 'before', confirm: true })).toMatchObject({ deleted: true });
    await gateway.stop();
    gateway = await kit.start(gateway.home);
    await expect(gateway.call('get_scene', { name: 'before' })).rejects.toThrow('NOT_FOUND');
  }, 60_000);
});
