// A console's Alarm Manager and the real gateway with users: a webhook starts a rule once, and everything else stays shut.
import { X509Certificate } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from '../kit/eventually.ts';
import { type GatewayProcess, gatewayKit } from '../kit/gateway-process.ts';
import { ring, sendAlarm, sendSigned } from '../simulators/unifi/alarms.ts';
import { type ConsoleSimulator, certificate, startConsole } from '../simulators/unifi/index.ts';

const TOKEN = 'the-token-of-an-admin';
const SECRET = 'the-key-of-a-sender-that-signs';
const PATH = 'x7Qp-2mVt_9LwZ4kR';

const alarmRule = {
  id: 'alarm',
  name: 'Notes each alarm',
  triggers: [{ type: 'event', device: 'unifi:site:default', name: 'alarm' }],
  condition: { type: 'expression', expr: "trigger.value.type != 'test'" },
  actions: [{ type: 'log', message: '{{ trigger.value.source }} tells {{ trigger.value.type }}' }],
};

const kit = gatewayKit();
let console: ConsoleSimulator | undefined;
afterEach(async () => {
  await kit.end();
  await console?.stop();
});

/** The runs of the rule that have ended, once there are so many. */
const runs = (gateway: GatewayProcess, many: number) =>
  eventually(async () => {
    const { runs: all } = await gateway.call('list_runs', { rule: 'alarm', outcome: 'completed' }, TOKEN);
    return all.length >= many && all;
  }, `${many} runs`);

const online = (gateway: GatewayProcess, state: string) =>
  eventually(
    async () =>
      (await gateway.call('get_system', {}, TOKEN)).backends.find(({ id }: { id: string }) => id === 'unifi')?.state ===
      state,
    state,
    30_000,
  );

describe('an alarm of the console', () => {
  it('starts a rule once, over restarts of the gateway, and while the console is away is to come again', async () => {
    console = await startConsole();
    const home = kit.home({
      config: {
        backends: {
          unifi: {
            type: 'unifi',
            url: console.url,
            login: { username: 'causeway', password: console.password },
            tls: { fingerprint: new X509Certificate(certificate.cert).fingerprint256 },
            poll: '10s',
            webhook: { secret: '!secret hook_key', path: '!secret hook_path' },
          },
        },
      },
      rules: { 'alarm.yaml': alarmRule },
    });
    home.write('config.yaml', home.read('config.yaml').replace(/"(!secret \w+)"/g, '$1'));
    home.write('secrets.yaml', { hook_key: SECRET, hook_path: PATH });
    const env = { CAUSEWAY_ADMIN_TOKEN: TOKEN };
    let gateway = await kit.start(home, { env });
    const signed = () => `${gateway.url}/hooks/unifi/signed`;
    const secret = () => `${gateway.url}/hooks/unifi/${PATH}`;
    await online(gateway, 'online');

    await expect(gateway.call('list_devices')).rejects.toMatchObject({ status: 401 });
    const at = Date.now();
    expect(await ring(secret(), 'Gate', 'motion', at)).toMatchObject({ status: 202 });
    expect(await ring(secret(), 'Gate', 'motion', at)).toMatchObject({ status: 200 });
    const event = { event_type: 'device.offline', event_id: 'e-1', timestamp: at };
    expect((await sendSigned(signed(), 'another key', event)).status).toBe(401);
    expect((await sendSigned(signed(), SECRET, event)).status).toBe(202);
    expect((await sendSigned(signed(), SECRET, event)).status).toBe(200);
    const first = await runs(gateway, 2);
    expect(first).toHaveLength(2);
    expect(first.map(({ triggerInfo }: { triggerInfo: { value: object } }) => triggerInfo.value)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ source: 'alarm_manager', type: 'motion', title: 'Gate' }),
        expect.objectContaining({ source: 'signed', type: 'device.offline', id: 'e-1' }),
      ]),
    );

    expect(await gateway.stop()).toMatchObject({ code: 0 });
    gateway = await kit.start(home, { env });
    await online(gateway, 'online');
    expect((await sendAlarm(`${secret()}?type=test`, { method: 'GET' })).status).toBe(202);
    expect((await sendAlarm(secret(), { method: 'GET' })).status).toBe(202);
    expect(await runs(gateway, 3)).toHaveLength(3);

    await console.down();
    await online(gateway, 'offline');
    expect(await sendAlarm(secret())).toMatchObject({ status: 503, retryAfter: 30 });
    await console.up();
    await online(gateway, 'online');
    expect((await sendAlarm(secret())).status).toBe(202);
    expect(await runs(gateway, 4)).toHaveLength(4);

    expect((await sendAlarm(`${gateway.url}/hooks/nobody/${PATH}`)).status).toBe(404);
    for (const told of [
      gateway.stdout(),
      gateway.stderr(),
      JSON.stringify(await gateway.call('get_system', {}, TOKEN)),
    ])
      for (const hidden of [PATH, SECRET]) expect(told).not.toContain(hidden);
    expect(await gateway.stop()).toMatchObject({ code: 0 });
  }, 120_000);
});
