// Who gets in, and how far, on every surface of the real process: REST, events, MCP, MQTT and MQTT over WebSocket.
import { networkInterfaces } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../kit/eventually.ts';
import { type Answer, type GatewayProcess, gatewayKit } from '../kit/gateway-process.ts';
import { connectV1, connectV2 } from '../kit/mcp-clients.ts';
import { connectMqtt, type TestMqtt } from '../kit/mqtt-client.ts';

const kit = gatewayKit();
let gateway: GatewayProcess;
const tokens: Record<string, string> = {};
const clients: TestMqtt[] = [];

beforeAll(async () => {
  // Everywhere, if it were allowed to.
  gateway = await kit.start(
    kit.home({ config: { http: { host: '0.0.0.0', port: 0 }, mqtt: { host: '0.0.0.0', port: 0 } } }),
  );
  await gateway.call('create_device', { name: 'lamp', capabilities: ['switch'], values: { switch: 'off' } });
}, 60_000);
afterAll(async () => {
  for (const client of clients) await client.end();
  await kit.end();
});

const outside = Object.values(networkInterfaces())
  .flat()
  .find(address => address?.family === 'IPv4' && !address.internal)?.address;
const at = (host: string, url: string) => url.replace('127.0.0.1', host).replace('0.0.0.0', host);

async function mqtt(options: Parameters<typeof connectMqtt>[2] = {}, url = gateway.mqttUrl): Promise<TestMqtt> {
  const client = await connectMqtt(url, ['causeway/device/#', 'causeway/command/#'], options);
  clients.push(client);
  return client;
}
const webSocketUrl = () => `${gateway.url.replace('http', 'ws')}/mqtt`;
const codeOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'let in',
    (thrown: { error?: { code: string }; code?: number | string; message: string }) =>
      String(thrown.error?.code ?? thrown.code ?? thrown.message),
  );
const statusOf = async (path: string, init: RequestInit = {}, url = gateway.url) => {
  const answer = await fetch(`${url}${path}`, init);
  await answer.body?.cancel();
  return answer.status;
};
const bearer = (token: string) => ({ headers: { Authorization: `Bearer ${token}` } });
const commandLamp = (token?: string) =>
  gateway.call('send_command', { device: 'virtual:lamp', command: 'toggle' }, token);
/** CONNACK "bad user name or password" and "not authorised" (MQTT 3.1.1 §3.2.2.3), as mqtt.js gives them. */
const REFUSED = /^(4|5)$/;

describe('while there is no user', () => {
  it('loopback alone is listened on, whatever the configuration says', async () => {
    expect([gateway.url, gateway.mqttUrl]).toEqual([
      expect.stringMatching(/^http:\/\/127\.0\.0\.1:/),
      expect.stringMatching(/^mqtt:\/\/127\.0\.0\.1:/),
    ]);
    expect(gateway.log().filter(line => /no user|without users/.test(String(line.msg)))).toHaveLength(2);
    await eventually(() => /user add/.test(gateway.stderr()), 'the banner');
    if (outside === undefined) return;
    await expect(fetch(`${at(outside, gateway.url)}/healthz`)).rejects.toThrow();
    await expect(connectMqtt(at(outside, gateway.mqttUrl))).rejects.toThrow();
  });

  it('everybody there is an admin, but not who comes through a proxy', async () => {
    expect(await commandLamp()).toMatchObject({ outcome: 'ok' });
    expect(await statusOf('/api/system')).toBe(200);
    expect(await statusOf('/api/system', { headers: { 'X-Forwarded-For': '203.0.113.7' } })).toBe(401);
  });
});

describe('several commands in one call', () => {
  it('have a result each, and one that fails stops no other', async () => {
    const commands = [
      { device: 'virtual:lamp', command: 'on' },
      { device: 'virtual:nobody', command: 'on' },
      { device: 'virtual:lamp', command: 'explode' },
      { device: 'virtual:lamp', command: 'off' },
    ];
    const { results, failed } = (await gateway.call('send_commands', { commands })) as unknown as {
      results: { outcome: string; error?: { code: string } }[];
      failed: number;
    };
    expect(results.map(({ outcome, error }) => error?.code ?? outcome)).toEqual([
      'ok',
      'DEVICE_NOT_FOUND',
      'COMMAND_UNKNOWN',
      'ok',
    ]);
    expect(failed).toBe(2);
    const dry = await gateway.call('send_commands', { commands: commands.slice(0, 1), dry_run: true });
    expect(dry).toMatchObject({ results: [{ outcome: 'would be sent' }], failed: 0 });
  });
});

describe('once there is one', () => {
  it('who was in without a credential is out, and nobody comes in without', async () => {
    const anonymous = await mqtt();
    const dropped = new Promise(resolve => anonymous.client.once('close', () => resolve('dropped')));
    const session = await connectV1(gateway.url);
    const modern = await connectV2(gateway.url, 'modern');
    expect(await codeOf(session.client.callTool({ name: 'get_system', arguments: {} }))).toBe('let in');

    const made = await gateway.call('add_user', { name: 'ann', role: 'admin' });
    tokens.ann = made.token;

    expect(await dropped).toBe('dropped');
    for (const path of ['/', '/status', '/metrics', '/api/system', '/api/openapi.json', '/api/events/stream', '/mcp']) {
      expect(await statusOf(path), path).toBe(401);
    }
    expect(await statusOf('/hooks/x', { method: 'POST' })).toBe(401);
    expect(await statusOf('/api/system', bearer('cwy_wrong'))).toBe(401);
    // Probes of machines say no more than that it lives.
    expect([await statusOf('/healthz'), await statusOf('/readyz')]).toEqual([200, 200]);
    expect(await codeOf(commandLamp())).toBe('UNAUTHENTICATED');
    expect(await codeOf(gateway.call('add_user', { name: 'eve', role: 'admin' }))).toBe('UNAUTHENTICATED');
    expect(await codeOf(session.client.callTool({ name: 'get_system', arguments: {} }))).not.toBe('let in');
    expect(await codeOf(modern.client.callTool({ name: 'get_system', arguments: {} }))).not.toBe('let in');
    expect(await codeOf(connectV1(gateway.url))).not.toBe('let in');
    expect(await codeOf(connectV2(gateway.url, 'modern'))).not.toBe('let in');
    expect(await codeOf(mqtt())).toMatch(REFUSED);
    expect(await codeOf(mqtt({ username: 'ann', password: 'guessed' }))).toMatch(REFUSED);
    expect(await codeOf(mqtt({}, webSocketUrl()))).not.toBe('let in');
    await session.client.close();
    await modern.client.close();
  });

  it('a token opens every surface', async () => {
    const { ann } = tokens as { ann: string };
    expect(await statusOf('/api/system', bearer(ann))).toBe(200);
    expect(await commandLamp(ann)).toMatchObject({ outcome: 'ok' });
    for (const connect of [() => connectV1(gateway.url, ann), () => connectV2(gateway.url, 'modern', ann)]) {
      const { client } = await connect();
      expect(await client.callTool({ name: 'get_system', arguments: {} })).toMatchObject({
        structuredContent: { open: false },
      });
      await client.close();
    }
    const client = await mqtt({ username: 'ann', password: ann });
    await client.publish('causeway/device/virtual/lamp/command/toggle', '');
    await eventually(() => client.under('causeway/command/virtual/lamp').length > 0, 'the command');
    const overWeb = await mqtt({ username: 'ann', password: ann }, webSocketUrl());
    await eventually(() => overWeb.under('causeway/device/virtual/lamp/state').length > 0, 'the state');
  });

  it('a viewer sees everything and commands nothing', async () => {
    const { ann } = tokens as { ann: string };
    const { token } = await gateway.call('add_user', { name: 'vic', role: 'viewer' }, ann);
    tokens.vic = token;
    expect(await statusOf('/api/devices', bearer(token))).toBe(200);
    for (const [op, input] of [
      ['send_command', { device: 'virtual:lamp', command: 'on' }],
      ['set_device_value', { device: 'virtual:lamp', attribute: 'switch', value: 'on' }],
      ['create_rule', { rule: {} }],
      ['set_mode', { mode: 'away' }],
      ['set_panic', { panic: true }],
      ['list_users', {}],
      ['add_user', { name: 'eve', role: 'admin' }],
    ] as const) {
      expect(await codeOf(gateway.call(op, input, token)), op).toBe('FORBIDDEN');
    }
    for (const { client } of [await connectV1(gateway.url, token), await connectV2(gateway.url, 'modern', token)]) {
      const { tools } = await client.listTools();
      expect(tools.map(tool => tool.name)).not.toContain('send_command');
      expect(await client.callTool({ name: 'list_devices', arguments: {} })).not.toHaveProperty('isError', true);
      const refused = (await client
        .callTool({ name: 'send_command', arguments: { device: 'virtual:lamp', command: 'on' } })
        .catch(error => ({ isError: true, content: String(error) }))) as Answer;
      expect(refused.isError).toBe(true);
      await client.close();
    }

    const watcher = await mqtt({ username: 'vic', password: token });
    await eventually(() => watcher.under('causeway/device/virtual/lamp/state').length > 0, 'the state');
    for (const topic of ['set', 'set/switch', 'command/toggle'])
      await watcher.publish(`causeway/device/virtual/lamp/${topic}`, 'on');
    await watcher.publish('causeway/bridge/request/add_user', { name: 'eve', role: 'admin' });
    await watcher.publish('causeway/mode/set', 'away');
    // What an admin sends after it arrives, and nothing of the above before it.
    await commandLamp(ann);
    const [first] = await eventually(
      () => watcher.under('causeway/command/').length > 0 && watcher.under('causeway/command/'),
      'the command',
    );
    expect(first?.json.cause).toMatchObject({ by: 'user', origin: { ref: 'rest:ann' } });
    expect(watcher.under('causeway/command/')).toHaveLength(1);
    expect((await gateway.call('list_users', {}, ann)).users.map((user: { name: string }) => user.name)).toEqual([
      'ann',
      'vic',
    ]);
    expect((await gateway.call('get_mode', {}, ann)).mode).not.toBe('away');
  });

  it('an operator commands and writes rules, but lets nobody in', async () => {
    const { ann } = tokens as { ann: string };
    const { token } = await gateway.call('add_user', { name: 'olga', role: 'operator' }, ann);
    expect(await commandLamp(token)).toMatchObject({ outcome: 'ok' });
    expect(await codeOf(gateway.call('add_user', { name: 'eve', role: 'admin' }, token))).toBe('FORBIDDEN');
    const client = await mqtt({ username: 'olga', password: token });
    await client.client.subscribeAsync('causeway/bridge/response/#');
    await client.publish('causeway/bridge/request/add_user', { name: 'eve', role: 'admin' });
    await client.publish('causeway/device/virtual/lamp/command/toggle', '');
    await eventually(() => client.under('causeway/command/virtual/lamp').length > 0, 'the command');
    expect(client.under('causeway/bridge/response')).toEqual([]);
    const denied = await gateway.call('list_audit', { principal: 'olga', op: 'add_user' }, ann);
    expect(denied.records).toMatchObject([{ outcome: 'denied', code: 'FORBIDDEN' }]);
  });

  it('a token that is revoked ends what was opened with it, and nothing else of that user', async () => {
    const { ann, vic } = tokens as { ann: string; vic: string };
    const { token, id } = await gateway.call('create_token', { name: 'vic' }, ann);
    const [watcher, other] = [
      await mqtt({ username: 'vic', password: token }),
      await mqtt({ username: 'vic', password: vic }),
    ];
    const dropped = new Promise(resolve => watcher.client.once('close', () => resolve('dropped')));
    await gateway.call('revoke_token', { name: 'vic', id, confirm: true }, ann);
    expect(await dropped).toBe('dropped');
    await commandLamp(ann);
    await eventually(() => other.under('causeway/command/').length > 0, 'the command');
  });

  it('a removed user is out at once', async () => {
    const { ann, vic } = tokens as { ann: string; vic: string };
    const watcher = await mqtt({ username: 'vic', password: vic });
    const dropped = new Promise(resolve => watcher.client.once('close', () => resolve('dropped')));
    await gateway.call('remove_user', { name: 'vic', confirm: true }, ann);
    expect(await dropped).toBe('dropped');
    expect(await statusOf('/api/devices', bearer(vic))).toBe(401);
    expect(await codeOf(mqtt({ username: 'vic', password: vic }))).toMatch(REFUSED);
  });

  it('it is so after a restart as well, which then listens where it was told to', async () => {
    const { ann } = tokens as { ann: string };
    await gateway.kill();
    gateway = await kit.start(gateway.home);
    const host = outside ?? '127.0.0.1';
    const url = at(host, gateway.url);
    expect(await statusOf('/api/system', {}, url)).toBe(401);
    expect(await statusOf('/api/system', bearer(ann), url)).toBe(200);
    expect(await codeOf(mqtt({}, at(host, gateway.mqttUrl)))).toMatch(REFUSED);
    const client = await mqtt({ username: 'ann', password: ann }, at(host, gateway.mqttUrl));
    await eventually(() => client.under('causeway/device/virtual/lamp/state').length > 0, 'the state');
  }, 40_000);
});
