// What people and their AI clients ask of a running gateway in wrong or careless words: each answer says so, is true, and says
// what to do next.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../kit/eventually.ts';
import { CallError, type GatewayProcess, gatewayKit, type Home } from '../kit/gateway-process.ts';

const kit = gatewayKit();
let home: Home;
let gateway: GatewayProcess;

beforeAll(async () => {
  home = kit.home({ house: { scenes: { evening: { 'virtual:lamp': { switch: 'on' } } } } });
  gateway = await kit.start(home);
}, 60_000);
afterAll(() => kit.end());

const refusal = (name: string, input: Record<string, unknown>): Promise<CallError['error']> =>
  gateway.call(name, input).then(
    answer => {
      throw new Error(`it was taken: ${JSON.stringify(answer)}`);
    },
    (error: unknown) => {
      if (error instanceof CallError) return error.error;
      throw error;
    },
  );

describe('a scenario of a client', () => {
  it('cannot have files of this machine read', async () => {
    const secret = join(home.dir, 'secret.txt');
    home.write(secret, 'the combination is 1234\n');
    const error = await refusal('simulate_rules', { scenario: { name: 'x', files: [secret], expect: [] } });
    expect(error).toMatchObject({
      code: 'INPUT_INVALID',
      path: 'scenario/files',
      hint: expect.stringContaining('rules'),
    });
    expect(JSON.stringify(error)).not.toContain('1234');
  });
});

describe('a question about events', () => {
  const lamp = 'virtual:lamp';
  beforeAll(() => gateway.call('create_device', { name: 'lamp', capabilities: ['dimmer'] }));

  it.each([
    [{ device: 'virtual:lmap' }, 'did you mean "virtual:lamp"?'],
    [{ device: 'virtual:lmap', since: '1h' }, 'did you mean "virtual:lamp"?'],
    [{ device: lamp, attribute: 'levle' }, 'did you mean "level"?'],
    [{ backend: 'virtaul' }, 'did you mean "virtual"?'],
    [{ device: lamp, attribute: 'level' }, 'since: 24h'],
    [{ device: lamp, attribute: 'level', since: '1h' }, 'an earlier since'],
  ])('that finds none says why: %o', async (input, hint) => {
    expect(await gateway.call('list_events', input)).toEqual({ events: [], hint: expect.stringContaining(hint) });
  });

  it('that waits refuses a time that it would not wait', async () => {
    for (const timeout of ['2m', 'soon'])
      expect(await refusal('wait_for_event', { timeout })).toMatchObject({
        code: 'INPUT_INVALID',
        path: 'timeout',
        hint: expect.stringContaining('5s'),
      });
  });
});

describe('a question about rules and runs', () => {
  beforeAll(() =>
    gateway.call('create_rule', {
      rule: {
        id: 'patient',
        name: 'Patient',
        triggers: [{ type: 'startup' }],
        actions: [{ type: 'delay', for: '1h' }],
      },
    }),
  );

  it('says of one that is suspended that enabling it does not help', async () => {
    const follow = (from: string, to: string) => ({
      id: `${from}-${to}`,
      name: 'Follow',
      triggers: [{ type: 'state', device: `virtual:${from}`, attribute: 'switch' }],
      actions: [{ type: 'command', device: `virtual:${to}`, command: 'toggle' }],
    });
    for (const name of ['left', 'right'])
      await gateway.call('create_device', { name, capabilities: ['switch'], values: { switch: 'off' } });
    await gateway.call('create_rule', { rule: follow('left', 'right') });
    await gateway.call('create_rule', { rule: follow('right', 'left') });
    await gateway.call('send_command', { device: 'virtual:left', command: 'on' });
    const suspended = async () => (await gateway.call('list_rules', { status: 'suspended' })).rules[0];
    await eventually(async () => (await suspended()) !== undefined, 'a rule that is suspended');
    const { id } = await suspended();
    expect(await gateway.call('enable_rule', { id })).toMatchObject({
      status: 'suspended',
      hint: expect.stringContaining('resume_rule'),
    });
    expect(await gateway.call('run_rule', { id })).toMatchObject({
      refused: 'suspended',
      hint: expect.stringContaining('resume_rule'),
    });
    expect(await gateway.call('resume_rule', { id })).not.toHaveProperty('hint');
  });

  it('names the words that there are where one is none of them', async () => {
    expect(await refusal('list_rules', { status: 'broken' })).toMatchObject({
      code: 'INPUT_INVALID',
      path: 'status',
      message: expect.stringContaining('suspended'),
    });
    expect(await refusal('list_runs', { outcome: 'complete' })).toMatchObject({
      code: 'INPUT_INVALID',
      path: 'outcome',
      hint: 'did you mean "completed"?',
    });
  });

  it('says of a run that was refused what to look at', async () => {
    await gateway.call('set_panic', { panic: true });
    const panic = await gateway.call('run_rule', { id: 'patient' });
    await gateway.call('set_panic', { panic: false });
    expect(panic).toMatchObject({ refused: 'panic', hint: expect.stringContaining('set_panic') });
    const { run } = await gateway.call('run_rule', { id: 'patient' });
    expect(await gateway.call('run_rule', { id: 'patient' })).toMatchObject({
      refused: 'mode_single',
      hint: expect.stringContaining('list_runs with rule: "patient"'),
    });
    await gateway.call('cancel_run', { run });
  });

  it('has the runs that go on, also by their outcome', async () => {
    const { run } = await gateway.call('run_rule', { id: 'patient' });
    const found = async (outcome: string) => (await gateway.call('list_runs', { rule: 'patient', outcome })).runs;
    expect(await found('running')).toMatchObject([{ run, outcome: 'running' }]);
    expect(await found('waiting')).toEqual([]);
    await gateway.call('cancel_run', { run });
    expect(await found('running')).toEqual([]);
    expect((await found('cancelled'))[0]).toMatchObject({ run });
  });
});

describe('a name that there is not', () => {
  it('is answered with those that there are, in a sentence that reads', async () => {
    expect(await refusal('set_mode', { mode: 'vacation' })).toMatchObject({
      hint: 'known are home, away, night (modes are declared in house.yaml)',
    });
    expect(await refusal('get_scene', { name: 'evning' })).toMatchObject({
      message: 'there is no scene "evning"',
      hint: 'did you mean "evening"?',
    });
    expect(await refusal('delete_scene', { name: 'evening', confirm: true })).toMatchObject({
      message: 'the scene "evening" was not captured, it is one of house.yaml',
      hint: expect.stringContaining('house.yaml'),
    });
  });
});

describe('a device of another system', () => {
  it.each([
    ['rename_device', { name: 'x' }],
    ['delete_device', { confirm: true }],
    ['set_device_value', { attribute: 'presence', value: 'present' }],
  ])('is there, and %s says why it is not for it, in a dry run too', async (name, input) => {
    for (const dry_run of [true, false])
      expect(await refusal(name, { device: 'house:notify', ...input, dry_run })).toMatchObject({
        code: 'UNSUPPORTED',
        message: 'house:notify is no virtual device',
        hint: expect.stringContaining('alias'),
      });
  });
});

describe('a virtual device', () => {
  it('of nothing is refused with what could be written', async () => {
    expect(await refusal('create_device', { name: 'empty' })).toMatchObject({
      code: 'INPUT_INVALID',
      message: expect.stringContaining('capabilities: ["switch"]'),
    });
  });

  it('without commands says so', async () => {
    expect(await refusal('send_command', { device: 'house:notify', command: 'speak' })).toMatchObject({
      code: 'COMMAND_UNKNOWN',
      hint: 'there are none',
    });
  });
});

describe('to wait for a word', () => {
  const wait = (value: unknown) =>
    gateway.call('wait_for_state', { devices: ['virtual:switched'], attribute: 'switch', value, timeout: '1s' });
  beforeAll(() =>
    gateway.call('create_device', { name: 'switched', capabilities: ['switch'], values: { switch: 'on' } }),
  );

  it('takes it as commands do, however it is written', async () => {
    for (const value of ['on', 'ON', true, ['off', 'On']]) expect(await wait(value)).toMatchObject({ met: true });
  });

  it('is refused at once for one that it never is', async () => {
    await expect(wait('onn')).rejects.toMatchObject({
      error: { code: 'VALUE_INVALID', path: 'value', hint: 'did you mean "on"?' },
    });
  });
});

describe('a swap that changes no rule', () => {
  it.each([
    ['virtual:lmap', 'did you mean "virtual:lamp"?'],
    ['virtual:lamp', 'nothing to change'],
  ])('of %s says why', async (from, hint) => {
    expect(await gateway.call('swap_device', { from, to: 'virtual:switched' })).toMatchObject({
      rules: [],
      hint: expect.stringContaining(hint),
    });
  });
});

describe('a question about logs', () => {
  it.each([
    [{}, 'config.yaml'],
    [{ backend: 'virtaul' }, 'did you mean "virtual"?'],
  ])('%o that finds none says why', async (input, hint) => {
    expect(await gateway.call('list_logs', input)).toEqual({ lines: [], hint: expect.stringContaining(hint) });
  });
});
