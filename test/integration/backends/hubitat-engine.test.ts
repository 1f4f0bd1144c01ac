// From the hub through the engine and back to the hub: event → rule → command, with one chain of causes; and what an outage
// of the hub is to rules.

import { afterEach, describe, expect, test } from 'vitest';
import type { HubitatBackend } from '../../../src/backends/hubitat/index.ts';
import { supervise } from '../../../src/backends/supervisor.ts';
import { Engine } from '../../../src/engine/engine.ts';
import { GUARD_DEFAULTS } from '../../../src/engine/guard.ts';
import { statusOf } from '../../../src/engine/rule-status.ts';
import { requireRule } from '../../../src/engine/rules/schema.ts';
import { silentLog } from '../../../src/lib/log.ts';
import type { Backend, CommandResult } from '../../../src/model/command.ts';
import type { Event } from '../../../src/model/event.ts';
import { Devices } from '../../../src/state/devices.ts';
import { House } from '../../../src/state/house.ts';
import { Values } from '../../../src/state/values.ts';
import { memoryStore } from '../../../src/store/memory.ts';
import { eventually } from '../../kit/eventually.ts';
import { type HubSimulatorOptions, startHubSimulator } from '../../simulators/hubitat/index.ts';
import { jumpingClock, passing } from './clock.ts';
import { backendAt, type Settings } from './hubitat-kit.ts';

const ALL = { name: 'file', devices: true, house: true, rules: true };
const nothing = () => {};

let ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.reverse()) await end();
  ends = [];
});

async function stage(
  rules: object[],
  {
    settings,
    random = 0,
    ...options
  }: HubSimulatorOptions & { modeOwner?: boolean; settings?: Settings; random?: number } = {},
) {
  const clock = jumpingClock();
  const hub = await startHubSimulator(options);
  const backend: HubitatBackend = backendAt(hub, { temperature_scale: 'C', ...settings }, { clock });
  const supervised = supervise(backend, { clock, log: silentLog, random: () => random });
  const events: Event[] = [];
  const results: CommandResult[] = [];
  const devices = new Devices();
  const house = new House();
  house.declare(['Day', 'Evening', 'Night', 'Away'], {}, clock.now());
  const engine: Engine = new Engine(
    {
      clock,
      log: silentLog,
      store: memoryStore(),
      devices,
      values: new Values(),
      house,
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
      ...(options.modeOwner && {
        modeOwner: () => ({ backend: 'hubitat', device: 'hubitat:location', command: 'setMode' }),
      }),
    },
    { skew: 0 },
  );
  const stored = rules.map(rule => ({ rule: requireRule(rule), revision: 1, authority: ALL }));
  await engine.start(stored, (await memoryStore().load()).tables);
  await supervised.start(engine.sink('hubitat'));
  await eventually(() => devices.backend('hubitat')?.ready, 'ready');
  await engine.idle();
  ends.push(
    () => hub.stop(),
    () => engine.stop(),
    () => supervised.stop(),
  );
  return { clock, hub, engine, events, results, devices, house };
}

const doorLight = {
  id: 'door-light',
  name: 'Light with the door',
  triggers: [{ type: 'state', device: 'hubitat:3', attribute: 'contact', to: 'open' }],
  actions: [{ type: 'command', device: 'hubitat:2', command: 'setLevel', args: { level: 80 } }],
};

describe('a rule over a hub', () => {
  test('is triggered by its event and commands it; the report that follows has the same cause', async () => {
    const { hub, events, results } = await stage([doorLight]);
    hub.state.set(3, 'contact', 'open');
    const level = await eventually(
      () => events.find(event => event.device === 'hubitat:2' && event.attribute === 'level' && event.value === 80),
      'the level',
    );
    const contact = events.find(event => event.attribute === 'contact' && event.value === 'open');
    expect(contact).toMatchObject({ change: 'changed', previous: 'closed', cause: { by: 'device' } });
    expect(level).toMatchObject({ change: 'changed', cause: { root: contact?.id, by: 'rule:door-light' } });
    await eventually(() => results.length === 1, 'the result');
    expect(results).toMatchObject([{ outcome: 'ok' }]);
    expect(hub.state.received).toMatchObject([{ device: 2, command: 'setLevel', args: [80], way: 'runmethod' }]);
  });

  test('is not triggered by what the hub is when we begin, nor by what changed in an outage', async () => {
    const { clock, hub, events, devices } = await stage([doorLight]);
    await hub.down();
    await passing(clock, () => devices.backend('hubitat')?.state === 'offline', 'offline');
    expect(devices.availability('hubitat:3')).toBe('offline');
    hub.state.set(3, 'contact', 'open');
    await hub.up();
    await eventually(() => devices.backend('hubitat')?.ready, 'ready');
    const told = await eventually(() =>
      events.find(({ attribute, value }) => attribute === 'contact' && value === 'open'),
    );
    expect(told.change).toBe('resync');
    hub.state.press(4, 1);
    await eventually(() => events.some(({ attribute }) => attribute === 'pushed'), 'a later event');
    expect(hub.state.received).toEqual([]);
  });

  test('leaves a command out that would change nothing', async () => {
    const { hub, results, events } = await stage([
      {
        ...doorLight,
        actions: [
          { type: 'command', device: 'hubitat:1', command: 'off' },
          { type: 'command', device: 'hubitat:1', command: 'on' },
        ],
      },
    ]);
    hub.state.set(3, 'contact', 'open');
    await eventually(() => events.some(({ device, value }) => device === 'hubitat:1' && value === 'on'), 'on');
    await eventually(() => results.length > 0, 'the result');
    expect(hub.state.received.map(({ command }) => command)).toEqual(['on']);
  });

  test('has a command in doubt when the answer to one that is not idempotent is lost', async () => {
    const { hub, results } = await stage([
      { ...doorLight, actions: [{ type: 'command', device: 'hubitat:4', command: 'push', args: { button: 1 } }] },
    ]);
    hub.trouble.cuts = 1;
    hub.state.set(3, 'contact', 'open');
    await eventually(() => results.length === 1, 'the result');
    expect(results).toMatchObject([{ outcome: 'in_doubt', error: { code: 'BACKEND_TIMEOUT' } }]);
    expect(hub.state.received).toHaveLength(1);
  });

  test('sees the hub’s mode as the house’s where the hub owns it, and sets it there', async () => {
    const { hub, house } = await stage(
      [
        {
          id: 'night',
          name: 'Night',
          triggers: [{ type: 'mode', to: 'Evening' }],
          actions: [{ type: 'set_mode', mode: 'Night' }],
        },
      ],
      { modeOwner: true },
    );
    expect(house.mode.value).toBe('Day');
    hub.state.setMode('Evening');
    await eventually(() => house.mode.value === 'Night', 'the mode');
    expect(hub.state.modes?.find(mode => mode.active)?.name).toBe('Night');
  });

  test('sees a line of the hub’s log as an event of the system, which wakes no rule', async () => {
    const { hub, events, engine } = await stage([doorLight], { settings: { logs: 'warn' } });
    await eventually(() => hub.sockets.logs === 1, 'the log socket');
    const turnsBefore = engine.live.get('door-light')?.runtime.refused;
    hub.log({ name: 'Office Door', msg: 'chatter', id: 3, type: 'dev', level: 'info' });
    hub.log({ name: 'Office Door', msg: 'no <b>answer</b>', id: 3, type: 'dev', level: 'error' });
    hub.log({ name: 'Maker API', msg: 'slow', id: 12, type: 'app', level: 'warn' });
    const lines = () => events.filter(({ attribute }) => attribute === '$log');
    await eventually(() => lines().length === 2, 'the lines');
    expect(lines()).toMatchObject([
      { kind: 'system', device: 'hubitat:3', change: 'reported', value: { level: 'error', message: 'no answer' } },
      { kind: 'system', device: 'hubitat', value: { level: 'warn', message: 'Maker API: slow' } },
    ]);
    expect(engine.live.get('door-light')?.runtime).toMatchObject({ runs: 0, refused: turnsBefore });
    expect(hub.state.received).toEqual([]);
  });

  test('goes on in a flood of its log: nothing of the devices is lost, the lines are bounded and the rest is counted', async () => {
    const { hub, events, engine } = await stage([doorLight], { settings: { logs: 'trace' } });
    await eventually(() => hub.sockets.logs === 1, 'the log socket');
    for (let i = 0; i < 3_000; i++) hub.log({ name: 'x', msg: `line ${i}`, id: 3, type: 'dev', level: 'debug' });
    hub.state.set(3, 'contact', 'open');
    await eventually(() => events.some(({ device, value }) => device === 'hubitat:2' && value === 80), 'the rule');
    await eventually(() => engine.counters.logsLeftOut > 2_000, 'the count');
    const lines = events.filter(({ attribute }) => attribute === '$log').length;
    expect(lines).toBeLessThan(1_000);
    expect(lines + engine.counters.logsLeftOut).toBeGreaterThanOrEqual(2_900);
  });

  test('over a hub that is gone for an hour: holds bridge the gap, and what has nothing to do with it goes on', async () => {
    const after30m = (id: string, device: string, attribute: string, to: string, act: object) => ({
      id,
      name: id,
      triggers: [{ type: 'state', device, attribute, to, for: '30m' }],
      actions: [{ type: 'command', ...act }],
    });
    const { clock, hub, engine, events, devices } = await stage(
      [
        after30m('still-open', 'hubitat:3', 'contact', 'open', { device: 'hubitat:1', command: 'on' }),
        after30m('locked-again', 'hubitat:6', 'lock', 'unlocked', { device: 'hubitat:7', command: 'open' }),
        {
          id: 'beat',
          name: 'beat',
          triggers: [{ type: 'interval', every: '10m' }],
          actions: [{ type: 'log', message: 'beat' }],
        },
      ],
      { random: 1 },
    );
    hub.state.set(3, 'contact', 'open');
    hub.state.set(6, 'lock', 'unlocked');
    await eventually(() => events.some(({ value }) => value === 'unlocked'), 'both');
    await engine.idle();
    await hub.down();
    await passing(clock, () => devices.backend('hubitat')?.state === 'offline', 'offline');
    hub.state.set(6, 'lock', 'locked');
    const status = (id: string) => {
      const live = engine.live.get(id);
      return live && statusOf(engine.core, live);
    };
    for (let minute = 0; minute < 60; minute++) {
      await clock.jump(60_000);
      await engine.idle();
    }
    expect(status('still-open')).toEqual({ status: 'degraded', reason: 'hubitat is offline' });
    expect(status('beat')).toEqual({ status: 'ok' });
    expect(engine.live.get('beat')?.runtime.runs).toBeGreaterThanOrEqual(5);
    expect(engine.live.get('still-open')?.runtime.runs).toBe(0);
    await hub.up();
    await eventually(async () => {
      await clock.jump(20_000);
      return devices.backend('hubitat')?.ready;
    }, 'ready');
    await eventually(() => hub.state.received.length > 0, 'the hold');
    hub.state.press(4, 1);
    await eventually(() => events.some(({ attribute }) => attribute === 'pushed'), 'a later event');
    expect(hub.state.received).toMatchObject([{ device: 1, command: 'on' }]);
    expect(status('still-open')).toEqual({ status: 'ok' });
  });

  test('takes a device that was renamed and got another driver on the hub as it is now; one that was removed is missed', async () => {
    const { clock, hub, engine, devices, events } = await stage([doorLight]);
    Object.assign(hub.state.device(3), { label: 'Study Door' });
    hub.state.device(2).commands = [{ name: 'on' }, { name: 'off' }];
    hub.state.device(2).driver = 'Plain Switch';
    await clock.jump(300_000);
    await eventually(() => devices.get('hubitat:3')?.name === 'Study Door', 'the name');
    expect(devices.get('hubitat:2')?.commands).not.toHaveProperty('setLevel');
    hub.state.set(3, 'contact', 'open');
    await eventually(() => engine.live.get('door-light')?.runtime.runs === 1, 'the run');
    await engine.idle();
    expect(engine.live.get('door-light')?.runtime.lastOutcome).toBe('failed');
    expect(hub.state.received).toEqual([]);
    hub.state.devices.delete(3);
    await clock.jump(300_000);
    const live = engine.live.get('door-light');
    await eventually(() => devices.get('hubitat:3') === undefined, 'its removal');
    expect(live && statusOf(engine.core, live)).toEqual({ status: 'degraded', reason: 'there is no device hubitat:3' });
    // What the hub still tells of it, or of one that was never selected, is nothing.
    const before = events.length;
    hub.state.happen({ name: 'contact', value: 'open', device: { ...hub.state.device(2), id: 999 } });
    hub.state.press(4, 2);
    await eventually(() => events.some(({ attribute, value }) => attribute === 'pushed' && value === 2), 'a later one');
    expect(events.slice(before).some(({ device }) => device === 'hubitat:999')).toBe(false);
  });
});
