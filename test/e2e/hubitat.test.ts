// A hub and the gateway as processes of their own kind: events of a simulated hub, rules and operations of the real gateway.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../kit/eventually.ts';
import { type Answer, type CallError, type GatewayProcess, gatewayKit } from '../kit/gateway-process.ts';
import { connectMqtt, type TestMqtt } from '../kit/mqtt-client.ts';
import { type HubSimulator, startHubSimulator } from '../simulators/hubitat/index.ts';

const kit = gatewayKit();
afterAll(() => kit.end());

const DAY = 24 * 3_600_000;

const doorLight = {
  id: 'door-light',
  name: 'Light with the door',
  triggers: [{ type: 'state', device: 'office-door', attribute: 'contact', to: 'open' }],
  actions: [{ type: 'command', device: 'hubitat:2', command: 'setLevel', args: { level: 80 } }],
};
const held = {
  id: 'held',
  name: 'The fan stops when the door was closed for an hour',
  triggers: [{ type: 'state', device: 'hubitat:3', attribute: 'contact', to: 'closed', for: '1h' }],
  actions: [{ type: 'command', device: 'hubitat:1', command: 'off' }],
};
const apart = {
  id: 'apart',
  name: 'Has nothing to do with the hub',
  triggers: [{ type: 'mqtt', topic: 'garden/gate' }],
  actions: [{ type: 'publish', topic: 'garden/answer', payload: 'seen', qos: 1 }],
};

const refusal = (promise: Promise<unknown>): Promise<CallError['error'] | undefined> =>
  promise.then(() => undefined).catch((thrown: CallError) => thrown.error);

describe.each(['listener', 'eventsocket'])('a hub over the %s', events => {
  let hub: HubSimulator;
  let gateway: GatewayProcess;
  let watcher: TestMqtt;

  beforeAll(async () => {
    hub = await startHubSimulator();
    const backend = {
      type: 'hubitat',
      url: hub.url,
      app: hub.app,
      token: hub.token,
      events,
      listen: { host: '127.0.0.1', port: 0 },
      logs: 'warn',
      temperature_scale: 'C',
    };
    const home = kit.home({
      config: { backends: { hubitat: backend } },
      house: { aliases: { 'office-door': 'hubitat:3' } },
      rules: { 'door.yaml': doorLight, 'held.yaml': held, 'apart.yaml': apart },
    });
    gateway = await kit.start(home);
    watcher = await connectMqtt(gateway.mqttUrl, ['causeway/#', 'garden/#']);
    await eventually(() => watcher.under('causeway/backend/hubitat/state').at(-1)?.json?.state === 'online', 'online');
  }, 60_000);
  afterAll(async () => {
    await watcher?.end();
    await gateway?.stop();
    await hub?.stop();
  }, 30_000);

  const last = (topic: string) => watcher.messages.findLast(message => message.topic === topic);

  it('has its devices on the bus, with rooms, capabilities and values', async () => {
    const meta = await eventually(() => last('causeway/device/hubitat/2/meta'), 'what is retained of it');
    expect(meta.json).toMatchObject({
      name: 'Hall Lamp',
      room: 'Hall',
      capabilities: expect.arrayContaining(['dimmer']),
    });
    const { devices } = await gateway.call('list_devices', { backend: 'hubitat' });
    expect(devices).toHaveLength(9);
    expect(devices.find(({ id }: Answer) => id === 'hubitat:3')).toMatchObject({
      alias: 'office-door',
      room: 'Office',
      state: { contact: 'closed', temperature: 21.5, battery: 87 },
    });
    const { rooms } = await gateway.call('list_rooms');
    expect(rooms).toContainEqual({ room: 'Hall', count: 1, devices: ['hubitat:2'] });
  });

  it('goes the whole way: its event, a rule, a command at the hub, and the report that comes of it', async () => {
    hub.state.set(3, 'contact', 'open');
    await eventually(() => hub.state.received.length > 0, 'the command at the hub');
    expect(hub.state.received).toMatchObject([{ device: 2, command: 'setLevel', args: [80] }]);
    const report = await eventually(
      () => watcher.under('causeway/event/hubitat/2/level').find(({ json }) => json.value === 80),
      'the report',
    );
    const opened = watcher.under('causeway/event/hubitat/3/contact').find(({ json }) => json.value === 'open');
    expect(report.json.cause).toMatchObject({ root: opened?.json.id, by: 'rule:door-light' });
    const result = await eventually(() => watcher.under('causeway/result/hubitat/2')[0], 'the result');
    expect(result.json).toMatchObject({ outcome: 'ok' });
    const { runs } = await gateway.call('list_runs', { rule: 'door-light' });
    expect(runs).toMatchObject([{ outcome: 'completed' }]);
    expect(hub.refused).toEqual([]);
  });

  it('is commanded by a person, and refuses what a device cannot before it leaves', async () => {
    const received = hub.state.received.length;
    expect(await gateway.call('send_command', { device: 'hubitat:1', command: 'on' })).toMatchObject({ outcome: 'ok' });
    const isOn = { devices: ['hubitat:1'], attribute: 'switch', value: 'on' };
    expect(await gateway.call('wait_for_state', isOn)).toMatchObject({ met: true });
    const warm = {
      devices: ['office-door', 'hubitat:5'],
      attribute: 'temperature',
      comparator: 'between',
      value: [18, 25],
    };
    expect(await gateway.call('wait_for_state', warm)).toMatchObject({ met: true, met_count: 2 });
    const opening = gateway.call('wait_for_state', {
      devices: ['office-door'],
      attribute: 'temperature',
      comparator: 'gt',
      value: 30,
    });
    hub.state.set(3, 'temperature', 31);
    expect(await opening).toMatchObject({ met: true, devices: [{ device: 'hubitat:3', value: 31 }] });
    hub.state.set(3, 'temperature', 21.5);
    expect(await refusal(gateway.call('send_command', { device: 'hubitat:1', command: 'fly' }))).toMatchObject({
      code: 'COMMAND_UNKNOWN',
    });
    const args = { level: 'high' };
    expect(
      await refusal(gateway.call('send_command', { device: 'hubitat:2', command: 'setLevel', args })),
    ).toMatchObject({ code: 'ARGUMENT_INVALID' });
    expect(hub.state.received).toHaveLength(received + 1);
  });

  it('has modes, HSM and variables of its own on hubitat:location', async () => {
    const command = (name: string, args: object) =>
      gateway.call('send_command', { device: 'hubitat:location', command: name, args });
    await command('setMode', { mode: 'Night' });
    await command('setHsm', { status: 'armedNight' });
    await command('setVariable:guests', { value: 3 });
    const values = async () => (await gateway.call('get_device', { device: 'hubitat:location' })).attributes;
    const told = await eventually(async () => {
      const { mode, hsmStatus, 'variable:guests': guests } = await values();
      return hsmStatus.value === 'armedNight' && guests.value === 3 && { mode, hsmStatus, guests };
    }, 'the reports');
    expect(told.mode.value).toBe('Night');
  });

  it('answers its own operations, also by the alias of a device, and its log lies in the journal', async () => {
    expect(await gateway.call('get_hubitat_info')).toMatchObject({ firmware: '2.5.1.181' });
    expect(await gateway.call('get_hubitat_health', { backend: 'hubitat' })).toMatchObject({ free_memory_kb: 412_000 });
    const { device, events: history } = await gateway.call('list_hubitat_events', { device: 'office-door' });
    expect(device).toBe('hubitat:3');
    expect(history.at(-1)).toMatchObject({ name: 'contact', value: 'open' });
    await eventually(() => hub.sockets.logs === 1, 'the log socket');
    hub.log({ name: 'Office Door', msg: 'weak signal', id: 3, type: 'dev', level: 'warn' });
    const lines = await eventually(async () => {
      const answer = await gateway.call('list_logs', { device: 'office-door', level: 'warn' });
      return answer.lines.length > 0 && answer.lines;
    }, 'the line');
    expect(lines).toMatchObject([{ backend: 'hubitat', device: 'hubitat:3', level: 'warn', message: 'weak signal' }]);
    const { events: system } = await gateway.call('list_events', { kind: 'system', since: '1h', attribute: '$log' });
    expect(system).toHaveLength(1);
    expect((await gateway.call('list_hubitat_logs', { text: 'weak' })).entries).toHaveLength(1);
  });

  it('is not restarted without a confirmation and a backup of the last day; dry runs change nothing', async () => {
    const reboot = (input: object = {}) => gateway.call('reboot_hubitat_hub', input);
    expect(await refusal(reboot())).toMatchObject({ code: 'CONFIRM_REQUIRED' });
    expect(await refusal(reboot({ confirm: true }))).toMatchObject({
      code: 'BACKUP_REQUIRED',
      message: expect.stringContaining('no backup'),
    });
    hub.state.addBackup(Date.now() - DAY - 60_000);
    expect(await refusal(reboot({ dry_run: true }))).toMatchObject({
      code: 'BACKUP_REQUIRED',
      message: expect.stringContaining('1d1m'),
    });
    const made = await gateway.call('create_backup', { backend: 'hubitat' });
    expect(made).toMatchObject({ backend: 'hubitat', bytes: 3 * 1024 * 1024 });
    const { backups } = await gateway.call('list_backups', { backend: 'hubitat' });
    expect(backups).toHaveLength(2);
    expect(backups[0].name).toBe(made.name);
    expect(await reboot({ dry_run: true })).toMatchObject({ dry_run: true });
    expect(hub.state.reboots).toBe(0);
    expect(await reboot({ confirm: true })).toEqual({ rebooting: true });
    expect(hub.state.reboots).toBe(1);
    expect(await refusal(gateway.call('list_backups', { backend: 'virtual' }))).toMatchObject({ code: 'UNSUPPORTED' });
  });

  it('that is gone leaves its rules degraded and others running; what changed meanwhile fires nothing', async () => {
    hub.state.set(3, 'contact', 'closed');
    await eventually(
      async () => (await gateway.call('get_device', { device: 'hubitat:3' })).attributes.contact.value === 'closed',
      'closed',
    );
    await hub.down();
    // A command finds out at once, where the hub pushes its events.
    expect(await refusal(gateway.call('send_command', { device: 'hubitat:2', command: 'on' }))).toBeDefined();
    const status = async (id: string) => (await gateway.call('get_rule', { id })).status;
    await eventually(async () => (await status('door-light')) === 'degraded', 'degraded', 20_000);
    expect(await status('apart')).toBe('ok');
    await eventually(
      () => last('causeway/rule/door-light/state')?.json.status_reason === 'hubitat is offline',
      'the state of the rule on the bus',
    );
    expect(last('causeway/backend/hubitat/state')?.json).toMatchObject({
      state: 'offline',
      reason: expect.any(String),
    });
    await watcher.publish('garden/gate', 'open');
    await eventually(() => watcher.under('garden/answer').length > 0, 'the other rule');
    const commands = hub.state.received.length;
    hub.state.set(3, 'contact', 'open');
    hub.state.set(2, 'level', 10);
    await hub.up();
    await eventually(async () => (await status('door-light')) === 'ok', 'ok again', 20_000);
    await eventually(
      async () => (await gateway.call('get_device', { device: 'hubitat:3' })).attributes.contact.value === 'open',
      'the snapshot',
    );
    expect(hub.state.received).toHaveLength(commands);
    hub.state.set(3, 'contact', 'closed');
    hub.state.set(3, 'contact', 'open');
    await eventually(() => hub.state.received.length > commands, 'the rule runs again');
  }, 60_000);
});

describe('causeway demo --hubitat', () => {
  it('starts a hub and the gateway together; a rule goes from the hub to the hub', async () => {
    const gateway = await kit.start(kit.home(), { args: ['demo', '--hubitat'] });
    expect(gateway.stderr()).toContain('hubitat, simulated at http://127.0.0.1:');
    const ran = await eventually(
      async () => {
        const { runs } = await gateway.call('list_runs', { rule: 'hub-door-light', outcome: 'completed' });
        return runs[0];
      },
      'a run of the rule over the hub',
      20_000,
    );
    expect(ran).toMatchObject({ rule: 'hub-door-light' });
    expect(await gateway.call('get_hubitat_health')).toMatchObject({ warnings: [] });
    expect((await gateway.call('list_devices', { backend: 'virtual', limit: 1 })).total).toBeGreaterThan(10);
    expect(await gateway.stop()).toMatchObject({ code: 0 });
  }, 60_000);
});
