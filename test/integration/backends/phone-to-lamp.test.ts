// From a phone at one system to a fan at another, over a person, rules that an AI client has made, and the whole gateway.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../../kit/eventually.ts';
import { type HubSimulator, startHubSimulator } from '../../simulators/hubitat/index.ts';
import { CLIENT, type ConsoleSimulator } from '../../simulators/unifi/index.ts';
import { passTime } from './unifi-kit.ts';
import { stageMcp } from './unifi-mcp-kit.ts';

const FAN = 1;
const PHONE = `unifi:client:${CLIENT.phone}`;
const when = (to: string, command: string) => ({
  id: `fan-${command}`,
  name: `The fan goes ${command}`,
  triggers: [{ type: 'state', device: 'house:anna', attribute: 'presence', to }],
  actions: [
    { type: 'command', device: 'hubitat:1', command },
    { type: 'command', device: 'virtual:sign', command },
  ],
});

describe('a house over a console and a hub', () => {
  let hub: HubSimulator;
  let staged: Awaited<ReturnType<typeof stageMcp>>;
  let console: ConsoleSimulator;
  beforeAll(async () => {
    hub = await startHubSimulator();
    hub.state.set(FAN, 'switch', 'on');
    staged = await stageMcp(
      { unifi: {} },
      { people: { anna: { trackers: [PHONE], away_after: '0s' } } },
      {
        hubitat: {
          ...{ type: 'hubitat', url: hub.url, app: hub.app, token: hub.token },
          ...{ listen: { host: '127.0.0.1', port: 0 }, temperature_scale: 'C' },
        },
      },
    );
    console = staged.consoles.get('unifi') as ConsoleSimulator;
    await eventually(() => staged.isReady('hubitat'), 'the hub');
    await staged.ask('create_device', { name: 'Sign', capabilities: ['switch'], values: { switch: 'on' } });
    for (const rule of [when('not present', 'off'), when('present', 'on')]) await staged.ask('create_rule', { rule });
  });
  afterAll(async () => {
    await staged?.end();
    await hub?.stop();
  });

  const isOn = () => hub.state.device(FAN).attributes.find(({ name }) => name === 'switch')?.value === 'on';
  const sign = async () => (await staged.ask('get_device', { device: 'virtual:sign' })).attributes.switch.value;
  const pass = (ms: number) => passTime(staged.clock, console, ms);
  const runs = async (rule: string) => (await staged.ask('list_runs', { rule })).runs;

  test('switches both off five minutes after the phone has left, and not before', async () => {
    console.state.disconnect(CLIENT.phone);
    await pass(285_000);
    expect(isOn()).toBe(true);
    expect(await sign()).toBe('on');
    await pass(30_000);
    await eventually(() => !isOn(), 'the fan to stop');
    await eventually(async () => (await sign()) === 'off', 'the sign to go out');
    expect(await runs('fan-off')).toHaveLength(1);
  });

  test('switches both on at once when it is back', async () => {
    console.state.connect(CLIENT.phone);
    await eventually(() => isOn(), 'the fan to run');
    await eventually(async () => (await sign()) === 'on', 'the sign to light up');
    expect(await runs('fan-on')).toHaveLength(1);
    expect(await runs('fan-off')).toHaveLength(1);
  });

  test('says of each effect what led to it, back to the phone', async () => {
    const [run] = await runs('fan-on');
    const trace = await staged.ask('get_run', { run: run.run });
    expect(trace).toMatchObject({ rule: 'fan-on', outcome: 'completed', cause: { origin: { kind: 'device' } } });
    const { events } = await staged.ask('list_events', { device: 'hubitat:1', attribute: 'switch', limit: 1 });
    expect(events[0]).toMatchObject({ value: 'on', cause: { root: trace.cause.root, by: 'rule:fan-on' } });
  });
});
