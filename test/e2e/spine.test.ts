// The whole way, on the real process: rules written over MCP by clients of both eras, fired from MQTT, with command,
// result, event and state seen on MQTT and the notifications on both eras' streams.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../kit/eventually.ts';
import { type GatewayProcess, gatewayKit } from '../kit/gateway-process.ts';
import { connectV1, connectV2 } from '../kit/mcp-clients.ts';
import { connectMqtt, type Received, type TestMqtt } from '../kit/mqtt-client.ts';

const kit = gatewayKit();
let gateway: GatewayProcess;
let watcher: TestMqtt;
let v1: Awaited<ReturnType<typeof connectV1>>;
let v2: Awaited<ReturnType<typeof connectV2>>;

beforeAll(async () => {
  gateway = await kit.start(kit.home({ house: { variables: { setpoint: { type: 'number', initial: 20 } } } }));
  watcher = await connectMqtt(gateway.mqttUrl, ['causeway/#', 'garden/#']);
  v1 = await connectV1(gateway.url);
  v2 = await connectV2(gateway.url, 'modern');
  for (const name of ['lamp', 'desk', 'fan']) {
    const spec = {
      name,
      label: `The ${name}`,
      capabilities: ['switch', 'dimmer'],
      // A value where there was none would fire nothing.
      values: { switch: 'off', level: 0 },
    };
    await v1.client.callTool({ name: 'call_write_tool', arguments: { name: 'create_device', arguments: spec } });
  }
}, 60_000);

afterAll(async () => {
  await watcher?.end();
  await v1?.client.close();
  await v2?.client.close();
  await kit.end();
});

const last = (topic: string): Received | undefined => watcher.messages.findLast(message => message.topic === topic);

describe('a rule written over MCP', () => {
  it('by a v1 client fires from a set topic; command, result, event, state and notification follow', async () => {
    const made = await v1.client.callTool({
      name: 'create_rule',
      arguments: {
        rule: {
          id: 'desk-follows',
          name: 'The desk follows the lamp',
          triggers: [{ type: 'state', device: 'virtual:lamp', attribute: 'switch', to: 'on' }],
          actions: [{ type: 'command', device: 'virtual:desk', command: 'on' }],
        },
      },
    });
    expect(made.structuredContent).toMatchObject({ id: 'desk-follows', status: 'ok', revision: 1 });
    await v1.client.subscribeResource({ uri: 'rule://desk-follows' });
    await v1.client.subscribeResource({ uri: 'device://virtual/desk' });

    await watcher.publish('causeway/device/virtual/lamp/set', { switch: 'on' });
    const state = await eventually(
      () =>
        last('causeway/device/virtual/desk/state')?.json?.switch === 'on' && last('causeway/device/virtual/desk/state'),
      'the state',
    );

    expect(state?.retain).toBe(false);
    const [asked] = watcher.under('causeway/command/virtual/lamp');
    const [command] = watcher.under('causeway/command/virtual/desk');
    expect(asked?.json).toMatchObject({
      device: 'virtual:lamp',
      command: 'on',
      cause: { origin: { kind: 'mqtt' }, by: 'mqtt' },
    });
    expect(command?.json).toMatchObject({ device: 'virtual:desk', command: 'on', cause: { by: 'rule:desk-follows' } });
    // One chain: from the publish over the lamp's report into the rule and out to the desk.
    expect(command?.json.cause.root).toBe(asked?.json.cause.root);
    expect(command?.json.cause.path.map((step: { rule: string }) => step.rule)).toEqual(['desk-follows']);
    expect(watcher.under('causeway/result/virtual/desk')[0]?.json).toMatchObject({
      id: command?.json.id,
      outcome: 'ok',
    });
    const event = last('causeway/event/virtual/desk/switch');
    expect(event?.json).toMatchObject({
      v: 1,
      kind: 'device',
      device: 'virtual:desk',
      attribute: 'switch',
      value: 'on',
      change: 'changed',
      cause: { by: 'rule:desk-follows' },
    });
    expect(last('causeway/rule/desk-follows/state')?.json).toMatchObject({
      enabled: true,
      status: 'ok',
      runs: 1,
      last_outcome: 'completed',
    });

    await eventually(
      () => ['rule://desk-follows', 'device://virtual/desk'].every(uri => v1.updates.includes(uri)),
      'the notifications',
    );
    const { contents } = await v1.client.readResource({ uri: 'device://virtual/desk' });
    expect(JSON.parse((contents[0] as { text: string }).text)).toMatchObject({
      attributes: { switch: { value: 'on', by: 'rule:desk-follows' } },
    });
  });

  it('by a v2 client fires from an outside topic, publishes there, and is notified on its listen stream', async () => {
    const listening = await v2.client.listen({ resourceSubscriptions: ['rule://button', 'device://virtual/fan'] });
    expect(listening.honoredFilter).toEqual({ resourceSubscriptions: ['rule://button', 'device://virtual/fan'] });
    const made = await v2.client.callTool({
      name: 'create_rule',
      arguments: {
        rule: {
          id: 'button',
          name: 'A button outside switches the fan',
          triggers: [{ type: 'mqtt', topic: 'garden/+/action', path: 'action', is: 'single' }],
          actions: [
            { type: 'command', device: 'virtual:fan', command: 'setLevel', args: { level: 40 } },
            { type: 'publish', topic: 'garden/answer', payload: 'from {{ trigger.topic }}', qos: 1 },
          ],
        },
      },
    });
    expect(made.structuredContent).toMatchObject({ id: 'button', status: 'ok' });

    await watcher.publish('garden/gate/action', { action: 'double' });
    await watcher.publish('garden/gate/action', { action: 'single' });
    await eventually(() => last('garden/answer')?.text === 'from garden/gate/action', 'the publish');
    await eventually(() => last('causeway/device/virtual/fan/state')?.json?.level === 40, 'the state');

    expect(watcher.under('causeway/command/virtual/fan')).toHaveLength(1);
    expect(watcher.under('causeway/result/virtual/fan')[0]?.json).toMatchObject({ outcome: 'ok' });
    expect(last('causeway/event/virtual/fan/level')?.json).toMatchObject({
      value: 40,
      cause: { by: 'rule:button' },
    });
    await eventually(
      () => ['rule://button', 'device://virtual/fan'].every(uri => v2.updates.includes(uri)),
      'the notifications',
    );
    await listening.close();
  });

  it('tells both eras of what the other did', async () => {
    v1.updates.length = 0;
    v2.updates.length = 0;
    await v1.client.subscribeResource({ uri: 'rule://button' });
    const listening = await v2.client.listen({ resourceSubscriptions: ['rule://desk-follows', 'rules://all'] });
    await v2.client.callTool({ name: 'update_rule', arguments: { id: 'button', patch: { name: 'Button' } } });
    await v1.client.callTool({ name: 'disable_rule', arguments: { id: 'desk-follows' } });
    await eventually(() => v1.updates.includes('rule://button'), 'the v1 client hears of the v2 client');
    await eventually(() => ['rule://desk-follows', 'rules://all'].every(uri => v2.updates.includes(uri)), 'and back');
    expect(v1.updates).not.toContain('rule://desk-follow');
    await v1.client.callTool({ name: 'enable_rule', arguments: { id: 'desk-follows' } });
    await listening.close();
  });
});

describe('the other inputs on MQTT', () => {
  it('set the mode and variables, switch and run rules, and call operations', async () => {
    await watcher.publish('causeway/mode/set', 'away');
    await eventually(() => last('causeway/mode/state')?.json?.value === 'away', 'the mode');
    await watcher.publish('causeway/variable/setpoint/set', '21.5');
    await eventually(() => last('causeway/variable/setpoint/state')?.json?.value === 21.5, 'the variable');

    const stateOf = () => last('causeway/rule/desk-follows/state')?.json;
    await watcher.publish('causeway/rule/desk-follows/set', 'OFF');
    await eventually(() => stateOf()?.enabled === false, 'the rule off');
    await watcher.publish('causeway/rule/desk-follows/set', 'ON');
    await eventually(() => stateOf()?.enabled === true, 'the rule on');
    const { runs } = stateOf();
    await watcher.publish('causeway/rule/desk-follows/run', '');
    await eventually(() => stateOf().runs === runs + 1, 'the run');

    await watcher.publish('causeway/bridge/request/get_device', { device: 'virtual:fan', transaction: 't-1' });
    const answer = await eventually(() => last('causeway/bridge/response/get_device'), 'the answer');
    expect(answer?.json).toMatchObject({
      transaction: 't-1',
      status: 'ok',
      data: { id: 'virtual:fan', name: 'The fan' },
    });
    await watcher.publish('causeway/bridge/request/get_devise', { transaction: 't-2' });
    const refusal = await eventually(() => last('causeway/bridge/response/get_devise'), 'the refusal');
    expect(refusal?.json).toMatchObject({ transaction: 't-2', status: 'error', error: { code: 'NOT_FOUND' } });
  });
});

describe('the events on the bus', () => {
  it('are those that the engine saw, with the same ids in the same order', async () => {
    // A burst from three clients at once, through rules, so that turns, commands and echoes interleave.
    const clients = await Promise.all([1, 2, 3].map(() => connectMqtt(gateway.mqttUrl)));
    for (let round = 0; round < 40; round++) {
      await Promise.all([
        clients[0]?.publish('causeway/device/virtual/lamp/set', { switch: round % 2 === 0 ? 'off' : 'on' }, { qos: 0 }),
        clients[1]?.publish('causeway/device/virtual/fan/set/level', String(round), { qos: 0 }),
        clients[2]?.publish('garden/gate/action', { action: round % 4 === 0 ? 'single' : 'long' }, { qos: 0 }),
        gateway.call('set_device_value', { device: 'virtual:desk', attribute: 'level', value: round }),
      ]);
    }
    const marker = 99;
    await clients[1]?.publish('causeway/device/virtual/fan/set/level', String(marker), { qos: 0 });
    await eventually(() => last('causeway/device/virtual/fan/state')?.json?.level === marker, 'the last event', 15_000);
    await Promise.all(clients.map(client => client.end()));

    const published = watcher
      .under('causeway/event/')
      .map(message => message.json as { id: string; seq: number; device: string });
    expect(published.length).toBeGreaterThan(100);
    expect(published.map(event => event.seq)).toEqual(published.map(event => event.seq).toSorted((a, b) => a - b));

    const ids = (events: { id: string; kind: string; attribute: string }[]) =>
      events.filter(event => event.kind === 'device' && !event.attribute.startsWith('$')).map(event => event.id);
    const since = (all: string[]) => all.slice(all.indexOf(published[0]?.id ?? ''));
    const recent = await gateway.call('list_events', { limit: 500 });
    const journal = await gateway.call('list_events', { limit: 500, since: '1h' });
    expect(since(ids(recent.events.toReversed()))).toEqual(published.map(event => event.id));
    expect(since(ids(journal.events.toReversed()))).toEqual(published.map(event => event.id));
  });
});
