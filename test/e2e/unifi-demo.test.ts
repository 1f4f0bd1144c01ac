// The demo with a simulated console beside it, in the real process.
import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from '../kit/eventually.ts';
import { gatewayKit } from '../kit/gateway-process.ts';
import { connectMqtt } from '../kit/mqtt-client.ts';

const kit = gatewayKit();
afterEach(() => kit.end());

describe('causeway demo --unifi', () => {
  it('starts a console and the gateway together; who comes and goes there is known here', async () => {
    const gateway = await kit.start(kit.home(), { args: ['demo', '--unifi'] });
    await eventually(() => gateway.stderr().includes('unifi, simulated at https://127.0.0.1:'), 'the banner');
    const come = await eventually(
      async () => (await gateway.call('list_runs', { rule: 'console-second-phone', outcome: 'completed' })).runs[0],
      'the phone that comes',
      30_000,
    );
    expect(come.triggerInfo).toMatchObject({ attribute: 'presence', value: 'present', previous: 'not present' });
    const { devices } = await gateway.call('list_devices', { backend: 'unifi', capability: 'presence' });
    expect(devices.length).toBeGreaterThan(5);
    const watcher = await connectMqtt(gateway.mqttUrl, ['causeway/bridge/info']);
    const told = () => watcher.under('causeway/bridge/info').at(-1)?.json;
    await eventually(() => told()?.devices > 28 && told().rules === 13, 'what there is, in numbers');
    await watcher.end();
    expect(await gateway.stop()).toMatchObject({ code: 0 });
  }, 90_000);
});
