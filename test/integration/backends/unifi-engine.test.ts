// From the console through the engine and back: a phone leaves and comes back, a storm of blocked flows, and what an outage of
// the console is to rules.
import { afterEach, describe, expect, test } from 'vitest';
import { supervise } from '../../../src/backends/supervisor.ts';
import { Engine } from '../../../src/engine/engine.ts';
import { GUARD_DEFAULTS } from '../../../src/engine/guard.ts';
import { requireRule } from '../../../src/engine/rules/schema.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { rootCause } from '../../../src/model/cause.ts';
import type { Backend, CommandResult } from '../../../src/model/command.ts';
import type { Event } from '../../../src/model/event.ts';
import type { Json } from '../../../src/model/value.ts';
import { Devices } from '../../../src/state/devices.ts';
import { House } from '../../../src/state/house.ts';
import { Values } from '../../../src/state/values.ts';
import { memoryStore } from '../../../src/store/memory.ts';
import type { Store } from '../../../src/store/store.ts';
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
  ends.push(() => console.stop());
  return { console, clock, ...(await live(rules, { console, clock, settings, store: memoryStore() })) };
}

interface Around {
  readonly console: Awaited<ReturnType<typeof startConsole>>;
  readonly clock: ReturnType<typeof jumpingClock>;
  readonly settings: Settings;
  readonly store: Store;
}

/** One life of a gateway at a console. */
async function live(rules: object[], around: Around) {
  const { console, clock, settings, store } = around;
  const supervised = supervise(backendAt(console, settings, { clock }), { clock, log: silentLog, random: () => 0 });
  const events: Event[] = [];
  const results: CommandResult[] = [];
  const devices = new Devices();
  const engine: Engine = new Engine(
    {
      clock,
      log: silentLog,
      store,
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
  const stored = rules.map(rule => ({ rule: requireRule(rule), revision: 1, authority: ALL }));
  await engine.start(stored, (await store.load()).tables);
  await supervised.start(engine.sink('unifi'));
  await eventually(() => devices.backend('unifi')?.ready, 'ready');
  await engine.idle();
  await quiet(console);
  ends.push(
    () => engine.stop(),
    () => supervised.stop(),
  );
  const commands = () =>
    console.state.received.filter(({ method, path }) => method === 'PUT' || path.includes('/cmd/'));
  return {
    engine,
    /** The process is killed, and begins anew so much later. */
    async again(ms: number) {
      engine.kill();
      await supervised.stop();
      await clock.jump(ms);
      return live(rules, around);
    },
    events,
    results,
    devices,
    commands,
    /** A person commands a device, and it is done. */
    async say(device: string, command: string, args: Record<string, Json> = {}) {
      const cause = rootCause(engine.core.ids(), { kind: 'user' }, 'user');
      const { id, error } = await engine.do(() =>
        engine.core.gate.submit(engine.core.tx, { device, command, args, cause }),
      );
      if (error) throw error;
      return eventually(() => results.find(result => result.id === id), command);
    },
    pass: (ms: number) => passTime(clock, console, ms),
  };
}

const whenPhone = (to: string, command: string) => ({
  id: `phone-${command}`,
  name: `The plug goes ${command}`,
  triggers: [{ type: 'state', device: PHONE, attribute: 'presence', to }],
  actions: [{ type: 'command', device: PLUG, command }],
});

const STORM = {
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
    const { console, pass, commands } = await stage([STORM], { settings: { flows: 'blocked' } });
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

  test('does not take for a storm what came over the time of an outage', async () => {
    const { console, clock, pass, devices, commands } = await stage([STORM], { settings: { flows: 'blocked' } });
    const { state } = console;
    const knock = () => state.flow({ action: 'blocked', source: state.flowSource(CLIENT.camera) });
    await console.down();
    await passing(clock, () => devices.backend('unifi')?.state === 'offline', 'offline');
    // Three a minute, as always: no more than fifteen within five minutes.
    for (let i = 0; i < 36; i++) {
      knock();
      await clock.jump(20_000);
    }
    await console.up();
    await passing(clock, () => devices.backend('unifi')?.ready === true, 'ready');
    await pass(40_000);
    expect(commands()).toEqual([]);
    for (let i = 0; i < 20; i++) knock();
    await pass(20_000);
    await eventually(() => state.client(CLIENT.camera).blocked, 'the block');
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

describe('what is to last for a time', () => {
  const blockFor = (command: string, args: object) => ({
    id: 'block',
    name: 'Block who knocks',
    triggers: [{ type: 'flow', where: { action: 'blocked' } }],
    actions: [{ type: 'command', device: 'unifi:site:default', command, args }],
  });

  test('ends by itself: a device is dark again after it has shown itself', async () => {
    const rule = {
      id: 'find',
      name: 'Show where the newcomer is',
      triggers: [{ type: 'event', device: 'unifi:site:default', name: 'newClient' }],
      actions: [{ type: 'command', device: `unifi:device:${DEVICE.hall}`, command: 'locate', args: { seconds: 20 } }],
    };
    const { console, pass, clock } = await stage([rule]);
    const isLit = () => console.state.device(DEVICE.hall).locating;
    console.state.newClient('00:00:5e:00:53:55');
    await eventually(() => isLit() === true, 'the light');
    await pass(15_000);
    console.state.newClient('00:00:5e:00:53:56');
    await quiet(console);
    await pass(15_000);
    expect(isLit()).toBe(true);
    await passing(clock, () => isLit() === false, 'dark');
  });

  test.each([
    ['comes back before', 10 * 60_000],
    ['comes back long after', 5 * 3_600_000],
  ])('ends though the process was killed meanwhile and %s', async (_when, away) => {
    const before = await stage([blockFor('blockClient', { mac: { expr: 'trigger.flow.source.mac' }, minutes: 60 })], {
      settings: { flows: 'blocked' },
    });
    const { console, clock } = before;
    console.state.flow({ action: 'blocked', source: console.state.flowSource(CLIENT.camera) });
    await before.pass(16_000);
    await eventually(() => console.state.client(CLIENT.camera).blocked, 'the block');
    await before.engine.idle();
    const after = await before.again(away);
    if (away < 3_600_000) {
      expect(console.state.client(CLIENT.camera).blocked).toBe(true);
      await clock.jump(45 * 60_000);
      await quiet(console);
      expect(console.state.client(CLIENT.camera).blocked).toBe(true);
    }
    if (away < 3_600_000) await clock.jump(5 * 60_000);
    await passing(clock, () => !console.state.client(CLIENT.camera).blocked, 'the end of the block');
    await quiet(console);
    expect(after.commands().filter(({ body }) => body.cmd === 'unblock-sta')).toHaveLength(1);
  });

  const SITE = 'unifi:site:default';
  const CAMERA = `unifi:client:${CLIENT.camera}`;
  const SHOUTED = CLIENT.camera.toUpperCase();

  test.each([
    [CAMERA, 'block', {}, SITE, 'blockClient', { mac: CLIENT.camera }],
    [SITE, 'blockClient', { mac: CLIENT.camera }, CAMERA, 'block', {}],
    [SITE, 'blockClient', { mac: SHOUTED }, SITE, 'blockClient', { mac: CLIENT.camera }],
  ])('lasts for good where that is the last word: %s %s %j, then %s %s %j', async (d1, c1, a1, d2, c2, a2) => {
    const { console, clock, say, pass } = await stage([]);
    const isBlocked = () => console.state.client(CLIENT.camera).blocked;
    expect(await say(d1, c1, { ...a1, minutes: 5 })).toMatchObject({ outcome: 'ok' });
    expect(await say(d2, c2, a2)).toMatchObject({ outcome: 'ok' });
    await pass(330_000);
    expect(isBlocked()).toBe(true);
    expect(await say(d1, c1, { ...a1, minutes: 5 })).toMatchObject({ outcome: 'ok' });
    await clock.jump(300_000);
    await passing(clock, () => !isBlocked(), 'the end');
  });

  test('ends by itself also where the console is lost after it has taken it, and nobody knows', async () => {
    const { console, clock, say, pass } = await stage([]);
    const { trouble, state } = console;
    const isBlocked = () => state.client(CLIENT.camera).blocked;
    trouble.holds = path => {
      if (path.endsWith('/rest/user') && isBlocked()) trouble.status = 502;
      return undefined;
    };
    const result = say(SITE, 'blockClient', { mac: CLIENT.camera, minutes: 5 });
    await passing(clock, () => isBlocked(), 'the block');
    await pass(5_000);
    expect(await result).toMatchObject({ error: { code: 'BACKEND_TIMEOUT' } });
    Object.assign(trouble, { holds: undefined, status: undefined });
    await pass(200_000);
    expect(isBlocked()).toBe(true);
    await pass(150_000);
    expect(isBlocked()).toBe(false);
  });

  test('lasts for good where that is the last word, also of a destination that is written otherwise', async () => {
    const { console, say, pass } = await stage([]);
    const policies = () => console.state.objects['firewall-policies'].length;
    const had = policies();
    await say(SITE, 'blockDestination', { destination: 'Example.COM ', minutes: 5 });
    await say(SITE, 'blockDestination', { destination: 'example.com' });
    await say(SITE, 'blockDestination', { destination: 'example.com', client: CLIENT.camera, minutes: 5 });
    const all = policies();
    expect(all).toBeGreaterThan(had);
    await pass(330_000);
    expect(policies()).toBeLessThan(all);
    expect(policies()).toBeGreaterThan(had);
    await say(SITE, 'unblockDestination', { destination: 'EXAMPLE.com' });
    expect(policies()).toBe(had);
  });

  test('waits for a console that is away when it should end', async () => {
    const { console, clock, pass, devices } = await stage(
      [blockFor('blockDestination', { destination: { expr: 'trigger.flow.destination.domain' }, minutes: 5 })],
      { settings: { flows: 'blocked' } },
    );
    const policies = () => console.state.objects['firewall-policies'].length;
    const had = policies();
    console.state.flow({ action: 'blocked', source: console.state.flowSource(CLIENT.camera) });
    await pass(16_000);
    await eventually(() => policies() > had, 'the block');
    await console.down();
    await passing(clock, () => devices.backend('unifi')?.state === 'offline', 'offline');
    await clock.jump(600_000);
    expect(policies()).toBeGreaterThan(had);
    await console.up();
    await passing(clock, () => policies() === had, 'the end of the block');
  });
});
