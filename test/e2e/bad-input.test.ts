// Bad input to a running gateway: each time a clear error, nothing lost, and the rest goes on.
import net from 'node:net';
import mqttPacket, { type Packet } from 'mqtt-packet';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../kit/eventually.ts';
import { CallError, type GatewayProcess, gatewayKit, type Home } from '../kit/gateway-process.ts';
import { connectMqtt, type TestMqtt } from '../kit/mqtt-client.ts';

const kit = gatewayKit();
let home: Home;
let gateway: GatewayProcess;
let watcher: TestMqtt;
const sockets: net.Socket[] = [];

const echo = (id: string, device = 'virtual:lamp') => ({
  id,
  name: id,
  triggers: [{ type: 'mqtt', topic: `in/${id}` }],
  actions: [
    { type: 'command', device, command: 'toggle', on_error: 'continue' },
    { type: 'publish', topic: `out/${id}`, payload: '{{ trigger.payload }}' },
  ],
});

const BROKEN = `id: broken
name: Broken
triggers:
  - { type: mqtt, topic: in/broken
actions: []
`;

beforeAll(async () => {
  home = kit.home({
    config: { mqtt: { port: 0, limits: { packet_kilobytes: 64, drain_timeout: '1s' } } },
    rules: {
      'broken.yaml': BROKEN,
      'twin-a.yaml': echo('twin'),
      'twin-b.yaml': { ...echo('twin'), name: 'the other' },
      'well.yaml': echo('well'),
      'wrong.yaml': { ...echo('wrong'), modus: 'single' },
    },
  });
  gateway = await kit.start(home);
  watcher = await connectMqtt(gateway.mqttUrl, ['causeway/result/#', 'causeway/event/#', 'out/#']);
  await gateway.call('create_device', { name: 'lamp', capabilities: ['switch', 'dimmer'], values: { switch: 'off' } });
}, 60_000);
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});
afterAll(async () => {
  await watcher?.end();
  await kit.end();
});

/** A rule is fired from outside, and does what it is there for. */
async function works(rule: string): Promise<void> {
  const word = `${rule} ${watcher.messages.length}`;
  await watcher.publish(`in/${rule}`, word);
  await eventually(
    () => watcher.messages.some(({ topic, text }) => topic === `out/${rule}` && text === word),
    `rule ${rule}`,
  );
}

const refusal = (call: Promise<unknown>): Promise<CallError['error']> =>
  call.then(
    () => {
      throw new Error('it was taken');
    },
    (error: unknown) => {
      if (error instanceof CallError) return error.error;
      throw error;
    },
  );

const ruleOf = (id: string) => gateway.call('get_rule', { id });
const logged = (text: RegExp) => gateway.log().find(line => text.test(String(line.msg)));

/** A client by hand, connected; it reads nothing of its own accord. */
async function rawClient(id: string): Promise<{ socket: net.Socket; send(packet: Packet): void }> {
  const socket = net.connect(Number(new URL(gateway.mqttUrl).port), '127.0.0.1');
  sockets.push(socket);
  socket.on('error', () => {});
  const send = (packet: Packet) => void socket.write(mqttPacket.generate(packet));
  send({ cmd: 'connect', protocolId: 'MQTT', protocolVersion: 4, clean: true, clientId: id, keepalive: 0 });
  await new Promise(resolve => socket.once('data', resolve));
  return { socket, send };
}

describe('a search for a device', () => {
  it('takes words in any order, and says what is near where it finds nothing', async () => {
    await gateway.call('create_device', { name: 'attic-fan', label: 'Big attic fan', capabilities: ['switch'] });
    const found = async (input: object) => gateway.call('list_devices', input);
    expect((await found({ search: 'fan attic' })).devices).toMatchObject([{ id: 'virtual:attic-fan' }]);
    expect(await found({ search: 'big atic fan' })).toMatchObject({
      total: 0,
      hint: expect.stringContaining('Big attic fan'),
    });
    expect((await found({ room: 'halll' })).hint).toContain('there is no room "halll"');
    expect((await found({ backend: 'virtul' })).hint).toContain('did you mean "virtual"?');
    expect(await found({})).not.toHaveProperty('hint');
  });
});

describe('causeway rule check', () => {
  it('of a rule that is none says what is wrong, and where', async () => {
    home.write('odd.yaml', { id: 'odd', name: 'Odd', triggers: [{ type: 'stat' }], actions: [] });
    const { code, stdout } = await kit.run(home, ['--url', gateway.url, 'rule', 'check', 'odd.yaml']);
    expect([code, stdout]).toEqual([1, expect.stringMatching(/^error: triggers\/0/)]);
    expect(stdout).not.toContain('nothing to say');
  });
});

describe('a rule file', () => {
  it('with a syntax error stays listed with line and column, stops nobody, and runs once it is mended', async () => {
    const broken = await ruleOf('broken');
    expect(broken).toMatchObject({ status: 'unavailable', enabled: false, file: 'broken.yaml' });
    expect(broken.faults[0]).toMatchObject({ line: expect.any(Number), column: expect.any(Number) });
    expect(broken.status_reason).toMatch(/^broken\.yaml:5:\d+ /);
    await works('well');
    home.write('rules/broken.yaml', echo('broken'));
    await eventually(async () => (await ruleOf('broken')).status === 'ok', 'the mended rule');
    await works('broken');
  });

  it('with a wrong field says where, and the nearest right name', async () => {
    const wrong = await ruleOf('wrong');
    expect(wrong).toMatchObject({ status: 'unavailable' });
    expect(wrong.faults[0]).toMatchObject({ path: 'modus', hint: expect.stringMatching(/mode/) });
    expect(home.read('rules/wrong.yaml').split('\n')[wrong.faults[0].line - 1]).toContain('modus');
  });

  it('with the id of another one is listed beside it, and runs once it has an id of its own', async () => {
    const { rules } = await gateway.call('list_rules');
    const twins = rules.filter((rule: { id: string }) => rule.id.startsWith('twin'));
    expect(twins).toMatchObject([
      { id: 'twin', status: 'ok' },
      { id: 'twin@twin-b.yaml', status: 'unavailable', status_reason: expect.stringMatching(/twin-a\.yaml/) },
    ]);
    await works('twin');
    home.write('rules/twin-b.yaml', echo('second'));
    await eventually(
      async () =>
        (await gateway.call('list_rules')).rules.some(
          (rule: { id: string; status: string }) => rule.id === 'second' && rule.status === 'ok',
        ),
      'the second one',
    );
    await works('second');
    await works('twin');
    const { rules: after } = await gateway.call('list_rules');
    expect(after.map((rule: { id: string }) => rule.id)).not.toContain('twin@twin-b.yaml');
  });

  it('that breaks while it runs leaves the last good revision running', async () => {
    home.write('rules/well.yaml', `${home.read('rules/well.yaml')}\nactions: {`);
    await eventually(async () => (await ruleOf('well')).faults?.length > 0, 'the fault');
    expect(await ruleOf('well')).toMatchObject({ status: 'unavailable' });
    await works('well');
    home.write('rules/well.yaml', echo('well'));
    await eventually(async () => (await ruleOf('well')).status === 'ok', 'the mended rule');
    await works('well');
  });
});

describe('a rule over an operation', () => {
  it('with an unknown device is saved, degraded, and works once the device appears', async () => {
    const made = await gateway.call('create_rule', { rule: echo('early', 'virtual:later') });
    expect(made).toMatchObject({ status: 'degraded', status_reason: expect.stringMatching(/virtual:later/) });
    expect(made.findings).toMatchObject([{ code: 'unknown_device', path: 'actions/0/device' }]);
    await works('early');
    await gateway.call('create_device', { name: 'later', capabilities: ['switch'], values: { switch: 'off' } });
    await eventually(async () => (await ruleOf('early')).status === 'ok', 'the known device');
    await works('early');
    await eventually(
      () => watcher.under('causeway/event/virtual/later/switch').some(({ json }) => json.value === 'on'),
      'its switch',
    );
  });

  it('with an empty interval is refused, with the path', async () => {
    const error = await refusal(
      gateway.call('create_rule', {
        rule: {
          ...echo('empty'),
          triggers: [{ type: 'numeric', device: 'virtual:lamp', attribute: 'level', above: 50, below: 50 }],
        },
      }),
    );
    expect(error).toMatchObject({ code: 'RULE_INVALID', path: expect.stringMatching(/^triggers\/0/) });
    expect(await refusal(ruleOf('empty'))).toMatchObject({ code: 'RULE_NOT_FOUND' });
  });
});

describe('on MQTT', () => {
  it('a packet over the limit ends its sender alone', async () => {
    const sender = await connectMqtt(gateway.mqttUrl);
    const closed = new Promise(resolve => sender.client.once('close', () => resolve(true)));
    sender.client.publish('in/well', 'x'.repeat(70 * 1024), { qos: 0 });
    expect(await closed).toBe(true);
    await eventually(() => logged(/its packet has \d+ bytes/), 'the notice');
    await works('well');
    await watcher.publish('in/well', 'y'.repeat(60 * 1024));
    await eventually(
      () => watcher.under('out/well').some(({ text }) => text.length === 60 * 1024),
      'one within the limit',
    );
  });

  it('a client that stops reading is let go; the others get all, and the gateway stays as it was', async () => {
    const frozen = await rawClient('frozen');
    frozen.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: '#', qos: 0 }] });
    await new Promise(resolve => frozen.socket.once('data', resolve));
    frozen.socket.pause();
    const sender = await connectMqtt(gateway.mqttUrl);
    const payload = 'z'.repeat(50 * 1024);
    const before = watcher.under('out/flood').length;
    let sent = 0;
    await eventually(
      async () => {
        await sender.publish('out/flood', payload);
        sent++;
        return logged(/a client was disconnected: (?!its packet)/);
      },
      'the end of the frozen client',
      20_000,
    );
    await eventually(() => watcher.under('out/flood').length === before + sent, 'all messages to the other one');
    await sender.end();
    await works('well');
  }, 40_000);

  it('a publish to a topic that is no input goes nowhere, and is told', async () => {
    const other = await connectMqtt(gateway.mqttUrl, ['causeway/device/#']);
    await eventually(() => other.under('causeway/device/virtual/lamp/state').length > 0, 'the retained state');
    await watcher.publish('causeway/device/virtual/lamp/state', { switch: 'nonsense' }, { retain: true });
    await watcher.publish('causeway/event/virtual/lamp/switch', { value: 'nonsense' });
    await watcher.publish('causeway/nonsense', 'nonsense');
    await eventually(() => logged(/a publish was dropped: the topic is not an input/), 'the notice');
    await works('well');
    expect([...other.messages, ...watcher.messages].filter(({ text }) => text.includes('nonsense'))).toEqual([]);
    await other.end();
  });

  it.each([
    ['no JSON', 'device/virtual/lamp/set', '{"switch": ', 'INPUT_INVALID'],
    ['a value that nothing sets', 'device/virtual/lamp/set', '{"switch":"purple"}', 'COMMAND_UNKNOWN'],
    ['an attribute that it lacks', 'device/virtual/lamp/set/colour', 'red', 'COMMAND_UNKNOWN'],
    ['a number out of range', 'device/virtual/lamp/set/level', '400', 'ARGUMENT_INVALID'],
    ['a command that it lacks', 'device/virtual/lamp/command/explode', '', 'COMMAND_UNKNOWN'],
    ['a device that is not there', 'device/virtual/nobody/set', 'ON', 'DEVICE_NOT_FOUND'],
  ])('a set topic with %s answers with a refusal that says why', async (_what, topic, payload, code) => {
    const before = watcher.under('causeway/result/').filter(({ json }) => json.outcome === 'refused').length;
    await watcher.publish(`causeway/${topic}`, payload);
    const refused = await eventually(
      () => watcher.under('causeway/result/').filter(({ json }) => json.outcome === 'refused')[before],
      'the refusal',
    );
    expect(refused?.topic).toBe(`causeway/result/virtual/${topic.split('/')[2]}`);
    expect(refused?.json.error).toMatchObject({ code, message: expect.any(String) });
  });

  it('one bad value of several holds the others not back', async () => {
    const refused = watcher.under('causeway/result/virtual/lamp').length;
    await watcher.publish('causeway/device/virtual/lamp/set', { colour: 'red', level: 33 });
    await eventually(
      () => watcher.under('causeway/event/virtual/lamp/level').some(({ json }) => json.value === 33),
      'the good one',
    );
    await eventually(() => watcher.under('causeway/result/virtual/lamp').length >= refused + 2, 'both results');
  });
});

it('nothing of all this was a fault of its own', () => {
  expect(gateway.log().filter(line => Number(line.level) >= 50)).toEqual([]);
  expect(gateway.stderr()).not.toMatch(/Error|Warning/);
});
