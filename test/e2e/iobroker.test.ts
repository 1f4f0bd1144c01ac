// The whole way through a real ioBroker and the real gateway: a device changes, a rule fires, the command arrives, the
// adapter confirms it, and the gateway knows.
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type IoBroker, startIoBroker } from '../iobroker/harness.ts';
import { describeIobroker } from '../iobroker/installed.ts';
import { eventually } from '../kit/eventually.ts';
import { type GatewayProcess, gatewayKit } from '../kit/gateway-process.ts';
import { connectMqtt, type TestMqtt } from '../kit/mqtt-client.ts';

const SLOW_MS = 180_000;
const PATIENCE_MS = 60_000;
vi.setConfig({ testTimeout: SLOW_MS, hookTimeout: SLOW_MS });

// Longer than what lies between a change and its end, even on a busy machine.
const HOLD = '6s';
/** A rule that tells, once a state of `hue.0.<name>` has been true for a while. */
const holding = (name: string) => ({
  id: `hold-${name}`,
  name: `Hold ${name}`,
  triggers: [{ type: 'state', device: `iobroker:hue.0.${name}`, attribute: 'value', to: true, for: HOLD }],
  actions: [{ type: 'publish', topic: `told/${name}`, payload: '{{ trigger.value }}' }],
});

describeIobroker('an ioBroker with a gateway', () => {
  const kit = gatewayKit();
  let io: IoBroker;
  let gateway: GatewayProcess;
  let watcher: TestMqtt;

  const soon = <T>(look: () => T | undefined | false | Promise<T | undefined | false>, what: string) =>
    eventually(look, what, PATIENCE_MS);
  /** The last event of an attribute, once it tells this value. */
  const event = (device: string, attribute: string, value: unknown) =>
    soon(() => {
      const last = watcher.under(`causeway/event/iobroker/${device}/${attribute}`).at(-1);
      return last?.json.value === value && last;
    }, `${device} ${attribute} = ${value}`);

  const online = () =>
    soon(async () => {
      const { backends } = await gateway.call('get_system');
      const { state, ready } = backends.find(({ id }: { id: string }) => id === 'iobroker');
      return state === 'online' && ready !== false;
    }, 'the backend online');

  beforeAll(async () => {
    io = await startIoBroker({ auth: { name: 'gateway', password: 'a real secret' } });
    await io.setObject('hue.0.lamp', { type: 'channel', common: { name: { en: 'Lamp', de: 'Lampe' } } });
    await io.addState('hue.0.lamp.on', { type: 'boolean', role: 'switch.light' }, false);
    await io.addState('zigbee.0.hall.motion', { type: 'boolean', role: 'sensor.motion', write: false }, false);
    for (const name of ['deleted', 'gone', 'restarted', 'last']) {
      await io.addState(`hue.0.${name}.value`, { type: 'boolean', role: 'indicator' }, false);
    }
    gateway = await kit.start(
      kit.home({
        config: {
          backends: {
            iobroker: {
              type: 'iobroker',
              url: io.url,
              user: 'gateway',
              password: 'a real secret',
              states: ['hue.0.*', 'zigbee.0.*'],
              functional: false,
            },
          },
        },
        rules: {
          'light.yaml': {
            id: 'light',
            name: 'Light when somebody is in the hall',
            triggers: [{ type: 'state', device: 'iobroker:zigbee.0.hall', attribute: 'motion', to: true }],
            actions: [{ type: 'command', device: 'iobroker:hue.0.lamp', command: 'set:on', args: { value: true } }],
          },
          ...Object.fromEntries(['deleted', 'gone', 'restarted', 'last'].map(name => [`${name}.yaml`, holding(name)])),
        },
      }),
    );
    watcher = await connectMqtt(gateway.mqttUrl, ['causeway/#', 'told/#']);
    await online();
  });
  afterAll(async () => {
    await watcher?.end();
    await kit.end();
    await io?.end();
  });

  test('a change there makes a rule command a lamp there, confirmed, with its cause', async () => {
    await io.setState('zigbee.0.hall.motion', true);
    const lit = await event('hue.0.lamp', 'on', true);
    const result = await soon(() => watcher.under('causeway/result/iobroker/hue.0.lamp').at(-1), 'the result');
    expect(result.json).toMatchObject({ outcome: 'ok' });
    expect(io.commands('hue.0.lamp.on')).toMatchObject([{ val: true, from: 'system.adapter.ws.0' }]);
    expect(await io.getState('hue.0.lamp.on')).toMatchObject({ val: true, ack: true, from: 'system.adapter.hue.0' });

    const moved = await event('zigbee.0.hall', 'motion', true);
    expect(lit.json).toMatchObject({ change: 'changed', previous: false });
    expect(lit.json.cause).toMatchObject({ root: moved.json.cause.root, by: 'rule:light' });
    expect(lit.json.cause.path.map((step: { rule: string }) => step.rule)).toEqual(['light']);
    // A command that was carried out is one change, not two.
    const all = watcher.under('causeway/event/iobroker/hue.0.lamp/on').filter(({ json }) => json.change === 'changed');
    expect(all).toHaveLength(1);
    const device = await gateway.call('get_device', { device: 'iobroker:hue.0.lamp' });
    expect(device).toMatchObject({ id: 'iobroker:hue.0.lamp', name: 'Lamp' });
  });

  test('what changed while ioBroker could not be reached is known afterwards, and fires no rule', async () => {
    await io.setState('zigbee.0.hall.motion', false);
    await event('zigbee.0.hall', 'motion', false);
    await io.setState('hue.0.lamp.on', false);
    await event('hue.0.lamp', 'on', false);
    const before = io.commands('hue.0.lamp.on').length;

    await io.stopAdapter('ws');
    await io.setState('zigbee.0.hall.motion', true);
    await io.startAdapter('ws');
    await soon(
      () => watcher.under('causeway/event/iobroker/zigbee.0.hall/motion').at(-1)?.json.change === 'resync',
      'the snapshot',
    );
    expect((await event('zigbee.0.hall', 'motion', true)).json).toMatchObject({ change: 'resync', value: true });
    await online();

    // The next real change fires it: once, for that change.
    await io.setState('zigbee.0.hall.motion', false);
    await event('zigbee.0.hall', 'motion', false);
    await io.setState('zigbee.0.hall.motion', true);
    await event('hue.0.lamp', 'on', true);
    expect(io.commands('hue.0.lamp.on')).toHaveLength(before + 1);
  });

  test('a command that nobody confirms ends in doubt, one that does not fit is refused, and a switch in its app is a person’s', async () => {
    const ask = (args: object) =>
      gateway.call('send_command', { device: 'iobroker:hue.0.lamp', command: 'set:on', ...args });
    io.onCommand = () => undefined;
    const before = io.commands('hue.0.lamp.on').length;
    await expect(ask({ args: { value: false } })).rejects.toMatchObject({
      error: { code: 'BACKEND_UNCONFIRMED', details: { outcome: 'in_doubt' }, hint: expect.any(String) },
    });
    await soon(
      () => watcher.under('causeway/result/iobroker/hue.0.lamp').at(-1)?.json.outcome === 'in_doubt',
      'the result in doubt',
    );
    expect(io.commands('hue.0.lamp.on')).toHaveLength(before + 1);
    await expect(ask({ args: { value: 'perhaps' } })).rejects.toMatchObject({
      error: { code: 'ARGUMENT_INVALID' },
    });
    expect(io.commands('hue.0.lamp.on')).toHaveLength(before + 1);

    io.onCommand = (_id, state) => ({ val: state.val });
    await io.setState('hue.0.lamp.on', {
      val: false,
      ack: false,
      from: 'system.adapter.vis.0',
      user: 'system.user.admin',
    });
    expect((await event('hue.0.lamp', 'on', false)).json.cause).toMatchObject({ by: 'user' });
  });

  test('a state, or its object, that is deleted while a rule holds on it ends the hold; a restart of the adapter does not', async () => {
    for (const name of ['deleted', 'gone', 'restarted']) {
      await io.setState(`hue.0.${name}.value`, true);
      await event(`hue.0.${name}`, 'value', true);
    }
    await io.deleteState('hue.0.deleted.value');
    await io.deleteState('hue.0.gone.value');
    await io.deleteObject('hue.0.gone.value');
    await soon(
      async () =>
        (await gateway.call('list_devices')).devices.every(({ id }: { id: string }) => id !== 'iobroker:hue.0.gone'),
      'the end of the device',
    );
    await io.stopAdapter('ws', 'crash');
    await io.startAdapter('ws');
    // This hold begins when the others would be over, or are about to be.
    await online();
    await io.setState('hue.0.last.value', true);
    await soon(() => watcher.under('told/last').length === 1, 'the last hold');
    await soon(() => watcher.under('told/restarted').length === 1, 'the hold over the restart');
    expect(watcher.under('told/deleted')).toEqual([]);
    expect(watcher.under('told/gone')).toEqual([]);

    // They live again as if nothing had been.
    await io.setState('hue.0.deleted.value', false);
    await io.addState('hue.0.gone.value', { type: 'boolean', role: 'indicator' }, false);
    await event('hue.0.deleted', 'value', false);
    await event('hue.0.gone', 'value', false);
    for (const name of ['deleted', 'gone']) await io.setState(`hue.0.${name}.value`, true);
    for (const name of ['deleted', 'gone'])
      await soon(() => watcher.under(`told/${name}`).length === 1, `the hold of ${name}`);
    expect(gateway.log().filter(({ level }) => Number(level) >= 50)).toEqual([]);
  });
});
