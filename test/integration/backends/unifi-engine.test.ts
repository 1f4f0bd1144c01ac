// From the console through the engine and back: a phone leaves and comes back, a storm of blocked flows, and what an outage of
// the console is to rules.
import { afterEach, describe, expect, test } from 'vitest';
import { supervise } from '../../../src/backends/supervisor.ts';
import { Engine } from '../../../src/engine/engine.ts';
import { GUARD_DEFAULTS } from '../../../src/engine/guard.ts';
import { requireRule } from '../../../src/engine/rules/schema.ts';
import { silentLog } from '../../../src/lib/log.ts';
import type { Backend, CommandResult } from '../../../src/model/command.ts';
import type { Event } from '../../../src/model/event.ts';
import { Devices } from '../../../src/state/devices.ts';
import { House } from '../../../src/state/house.ts';
import { Values } from '../../../src/state/values.ts';
import { memoryStore } from '../../../src/store/memory.ts';
import { eventually } from '../../kit/eventually.ts';
import { CLIENT, type ConsoleOptions, DEVICE, startConsole } from '../../simulators/unifi/index.ts';
import { jumpingClock, passing } from './clock.ts';
import { backendAt, passTime, quiet, type Settings } from './unifi-kit.ts';

const ALL = { name: 'file', devices: true, house: true, rules: true };
const nothing = () => {};
const PHONE = `unifi:client:${CLIENT.phone}`;
const PLUG = `unifi:device:${DEVICE.plug}`;

let ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.reverse()) await end();
  ends = [];
});

async function stage(rules: object[], { settings = {}, ...options }: ConsoleOptions & { settings?: Settings } = {}) {
  const clock = jumpingClock();
  const console = await startConsole({ now: () => clock.now(), ...options });
  const supervised = supervise(backendAt(console, settings, { clock }), { clock, log: silentLog, random: () => 0 });
  const events: Event[] = [];
  const results: CommandResult[] = [];
  const devices = new Devices();
  const engine: Engine = new Engine(
    {
      clock,
      log: silentLog,
      store: memoryStore(),
      devices,
      values: new Values(),
      house: new House(),
      backends: new Map<string, Backend>([[supervised.id, supervised]]),
      surroundings: { zone: 'Europe/Berlin', place: undefined, periods: {}, scenes: {}, isWorkday: () => true },
      settings: { guard: GUARD_DEFAULTS, readyTimeoutMs: 0, clockCheckMs: 0, fileAuthority: ALL },
      sinks: {
        onEvent: event => events.push(event),
        onTrace: nothing,
        onGuard: nothing,
        onRule: nothing,
        onEffect: id => engine.answered(id, { outcome: 'ok' }),
        onResult: result => results.push(result),
        onLog: nothing,
      },
      deviceBudget: 6_000,
    },
    { skew: 0 },
  );
  await engine.start(rules.map(rule => ({ rule: requireRule(rule), revision: 1, authority: ALL })));
  await supervised.start(engine.sink('unifi'));
  await eventually(() => devices.backend('unifi')?.ready, 'ready');
  await engine.idle();
  await quiet(console);
  ends.push(
    () => console.stop(),
    () => engine.stop(),
    () => supervised.stop(),
  );
  const commands = () =>
    console.state.received.filter(({ method, path }) => method === 'PUT' || path.includes('/cmd/'));
  return {
    clock,
    console,
    engine,
    events,
    results,
    devices,
    commands,
    pass: (ms: number) => passTime(clock, console, ms),
  };
}

const whenPhone = (to: string, command: string) => ({
  id: `phone-${command}`,
  name: `The plug goes ${command}`,
  triggers: [{ type: 'state', device: PHONE, attribute: 'presence', to }],
  actions: [{ type: 'command', device: PLUG, command }],
});

describe('a rule over a console', () => {
  test('switches off when the phone has left for five minutes, and on as it comes back', async () => {
    const { console, pass, events, clock } = await stage([whenPhone('not present', 'off'), whenPhone('present', 'on')]);
    const isOn = () => (console.state.device(DEVICE.plug).outlet_table as { relay_state: boolean }[])[0]?.relay_state;
    console.state.disconnect(CLIENT.phone);
    const leftAt = clock.elapsed();
    await pass(285_000);
    expect(isOn()).toBe(true);
    await pass(30_000);
    await eventually(() => isOn() === false, 'off');
    console.state.connect(CLIENT.phone);
    await eventually(() => isOn() === true, 'on');
    const away = events.find(event => event.device === PHONE && event.value === 'not present');
    expect(away).toMatchObject({ change: 'changed', previous: 'present' });
    expect((away?.ts ?? 0) - (clock.now() - clock.elapsed() + leftAt)).toBeGreaterThan(299_000);
    const echo = await eventually(
      () => events.find(event => event.device === PLUG && event.attribute === 'switch' && event.value === 'off'),
      'the echo',
    );
    expect(echo.cause).toMatchObject({ root: away?.id, by: 'rule:phone-off' });
  });

  test('blocks the client of a storm of blocked flows once', async () => {
    const rule = {
      id: 'storm',
      name: 'Block who knocks at many doors',
      triggers: [{ type: 'flow', where: { action: 'blocked' }, within: '5m', count: 20, per: 'source.mac' }],
      actions: [
        {
          type: 'command',
          device: 'unifi:site:default',
          command: 'blockClient',
          args: { mac: { expr: 'trigger.flow.source.mac' } },
        },
      ],
    };
    const { console, pass, commands } = await stage([rule], { settings: { flows: 'blocked' } });
    const from = (mac: string, many: number) => {
      for (let i = 0; i < many; i++) console.state.flow({ action: 'blocked', source: console.state.flowSource(mac) });
    };
    from(CLIENT.camera, 35);
    from(CLIENT.tv, 10);
    await pass(16_000);
    await eventually(() => console.state.client(CLIENT.camera).blocked, 'the block');
    await pass(16_000);
    expect(commands().map(({ body }) => `${body.cmd} ${body.mac}`)).toEqual([`block-sta ${CLIENT.camera}`]);
  });

  test('hears of an event of the console, with its value', async () => {
    const rule = {
      id: 'find',
      name: 'Show where the newcomer is',
      triggers: [{ type: 'event', device: 'unifi:site:default', name: 'newClient' }],
      actions: [{ type: 'command', device: `unifi:device:${DEVICE.hall}`, command: 'locate' }],
    };
    const { console, events } = await stage([rule]);
    console.state.newClient('00:00:5e:00:53:55');
    await eventually(() => console.state.device(DEVICE.hall).locating === true, 'the light');
    expect(events.find(({ attribute }) => attribute === 'newClient')?.value).toMatchObject({
      mac: '00:00:5e:00:53:55',
    });
  });

  test('is not triggered by what the console is when we begin, nor by an outage of it', async () => {
    const { console, clock, devices, commands, events } = await stage([
      whenPhone('not present', 'off'),
      whenPhone('present', 'on'),
    ]);
    await console.down();
    await passing(clock, () => devices.backend('unifi')?.state === 'offline', 'offline');
    await clock.jump(20_000);
    await console.up();
    await passing(clock, () => devices.backend('unifi')?.ready === true, 'ready');
    await quiet(console);
    expect(commands()).toEqual([]);
    expect(
      events
        .filter(({ device, attribute }) => device === PHONE && attribute === 'presence')
        .every(({ change }) => change === 'resync'),
    ).toBe(true);
  });
});
