// Commands to a hub: which way they go, what is tried again, and what is in doubt.
import { afterEach, describe, expect, test } from 'vitest';
import type { Json } from '../../../src/model/value.ts';
import { eventually } from '../../kit/eventually.ts';
import { simOutlet } from '../../simulators/hubitat/index.ts';
import { commandTo, patience } from '../../unit/backends/kit.ts';
import { stageHub } from './hubitat-kit.ts';

let ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends) await end();
  ends = [];
});

async function stage(...options: Parameters<typeof stageHub>) {
  const staged = await stageHub(...options);
  ends.push(staged.end);
  const send = (device: string, command: string, args?: Record<string, Json>, signal = patience()) =>
    staged.supervised.execute(commandTo(device, command, args), signal);
  const arrived = () => staged.hub.state.received.map(({ command, args, way }) => [command, ...args, way]);
  return { ...staged, send, arrived };
}

const LOGIN = { username: 'causeway', password: 'hub-password' };

describe('a command', () => {
  test('without arguments goes through the Maker API', async () => {
    const { send, arrived } = await stage();
    await send('hubitat:1', 'on');
    expect(arrived()).toEqual([['on', 'maker']]);
  });

  test('with arguments goes typed where the hub allows it, so that typed drivers and commas do no harm', async () => {
    const { send, arrived } = await stage();
    await send('hubitat:8', 'setCount', { arg1: 7 });
    await send('hubitat:8', 'deviceNotification', { text: 'one, two/three' });
    expect(arrived()).toEqual([
      ['setCount', 7, 'runmethod'],
      ['deviceNotification', 'one, two/three', 'runmethod'],
    ]);
  });

  test('goes through the Maker API where the hub wants a login and there is none; that is found out once', async () => {
    const { send, arrived, hub, log } = await stage({ login: LOGIN });
    await send('hubitat:2', 'setLevel', { level: 30, duration: 2 });
    await send('hubitat:2', 'setLevel', { level: 50 });
    expect(arrived()).toEqual([
      ['setLevel', '30', '2', 'maker'],
      ['setLevel', '50', 'maker'],
    ]);
    expect(hub.requests.filter(path => path === '/device/runmethod')).toHaveLength(1);
    expect(log.lines.join('\n')).toContain('does not allow typed arguments');
  });

  test('logs in where it can, and again after the hub has forgotten it', async () => {
    const { send, arrived, hub, sink } = await stage({ login: LOGIN, settings: { login: LOGIN } });
    await send('hubitat:2', 'setLevel', { level: 30 });
    sink.take();
    await hub.restart();
    await eventually(() => sink.lines.includes('ready'), 'ready again');
    await send('hubitat:2', 'setLevel', { level: 31 });
    expect(arrived().map(([, , way]) => way)).toEqual(['runmethod', 'runmethod']);
    expect(hub.requests.filter(path => path === '/login')).toHaveLength(2);
  });

  test.each([{ lacksRunMethod: true }, { settings: { runmethod: 'never' } }])(
    'goes through the Maker API where there is no other way (%o)',
    async options => {
      const { send, arrived, hub } = await stage(options);
      await send('hubitat:2', 'setLevel', { level: 30 });
      expect(arrived()).toEqual([['setLevel', '30', 'maker']]);
      expect(hub.refused.filter(path => path !== '/device/runmethod')).toEqual([]);
    },
  );

  test('with a colour is one JSON argument', async () => {
    const { send, arrived, until } = await stage();
    await send('hubitat:2', 'setColor', { hue: 66, saturation: 100 });
    expect(arrived()).toEqual([['setColor', { hue: 66, saturation: 100 }, 'maker']]);
    await until('hubitat:2/hue=66');
  });

  test('that leaves out an argument before another one is refused before it leaves', async () => {
    const { send, arrived } = await stage({
      devices: [{ ...simOutlet({ id: 1, label: 'x' }), commands: [{ name: 'tune', types: ['NUMBER', 'STRING'] }] }],
    });
    await expect(send('hubitat:1', 'tune', { arg2: 'x' })).rejects.toMatchObject({
      code: 'ARGUMENT_INVALID',
      path: 'arg1',
    });
    expect(arrived()).toEqual([]);
  });

  test('to a device that was deselected on the hub since does not reach it, whichever way it would go', async () => {
    const { send, arrived, hub, clock, sink } = await stage();
    await send('hubitat:2', 'setLevel', { level: 20 });
    const asked = hub.requests.length;
    hub.state.unselected.add(2);
    await clock.jump(10_000);
    await expect(send('hubitat:2', 'on')).rejects.toMatchObject({ code: 'BACKEND_REJECTED' });
    await expect(send('hubitat:2', 'setLevel', { level: 30 })).rejects.toMatchObject({
      code: 'DEVICE_NOT_FOUND',
      hint: expect.stringContaining('Maker API'),
    });
    expect(arrived()).toEqual([['setLevel', 20, 'runmethod']]);
    expect(hub.requests.slice(asked)).not.toContain('/device/runmethod');
    await eventually(() => sink.lines.includes('removed: hubitat:2'), 'the list without it');
  });

  test('looks whether its device is selected once in ten seconds; when that cannot be told nothing is in doubt', async () => {
    const { send, arrived, hub, clock } = await stage();
    await clock.jump(10_000);
    const asked = hub.requests.length;
    for (const level of [1, 2, 3]) await send('hubitat:2', 'setLevel', { level });
    expect(hub.requests.slice(asked).filter(path => path === '/apps/api/12/devices/2')).toHaveLength(1);
    hub.trouble.status = { code: 408, times: 3, path: /devices\/4$/ };
    await expect(send('hubitat:4', 'push', { button: 1 })).rejects.toMatchObject({ code: 'BACKEND_OFFLINE' });
    expect(arrived()).toHaveLength(3);
  });

  test.each(['', '.', '..'])(
    'with the text "%s", which a path cannot hold, is refused before it leaves',
    async text => {
      const { send, arrived, hub } = await stage({ lacksRunMethod: true });
      await send('hubitat:2', 'setLevel', { level: 3 });
      const asked = hub.requests.length;
      await expect(send('hubitat:8', 'deviceNotification', { text })).rejects.toMatchObject({
        code: 'ARGUMENT_INVALID',
      });
      await expect(send('hubitat:location', 'setVariable:greeting', { value: text })).rejects.toMatchObject({
        code: 'ARGUMENT_INVALID',
      });
      expect(hub.requests.length).toBe(asked);
      expect(arrived()).toHaveLength(1);
    },
  );

  test('that the hub refuses with a 200 has failed', async () => {
    const { send, hub } = await stage();
    hub.trouble.errors = 1;
    await expect(send('hubitat:1', 'on')).rejects.toMatchObject({
      code: 'BACKEND_REJECTED',
      message: expect.stringContaining('something went wrong'),
    });
  });
});

describe('declarations', () => {
  test('have canonical commands with their effects, and a driver’s own with the types of its arguments', async () => {
    const { sink } = await stage();
    const lamp = sink.declared.get('hubitat:2');
    expect(lamp?.capabilities).toEqual(['switch', 'dimmer', 'color', 'color_temperature']);
    expect(lamp?.commands.setLevel).toMatchObject({
      idempotent: true,
      effects: [{ attribute: 'level', fromArg: 'level' }],
    });
    expect(lamp?.commands.flash).toMatchObject({ idempotent: false });
    const gadget = sink.declared.get('hubitat:8');
    expect(gadget?.commands.setCount).toEqual({
      args: [{ name: 'arg1', type: 'number', optional: true }],
      effects: [],
      idempotent: false,
    });
    expect(gadget?.commands.blink?.args).toEqual([]);
  });

  test('ask for the arguments once for each driver', async () => {
    const devices = Array.from({ length: 40 }, (_, i) => simOutlet({ id: i + 1, label: `Outlet ${i}` }));
    const { hub } = await stage({ devices });
    expect(hub.requests.filter(path => path.endsWith('/commands'))).toHaveLength(1);
  });
});

describe('canonical commands that hubs lack', () => {
  test('toggle is the opposite of what the hub knows, one after the other', async () => {
    const { send, arrived, sink } = await stage();
    expect(sink.declared.get('hubitat:1')?.commands.toggle).toMatchObject({ idempotent: false });
    await Promise.all([send('hubitat:1', 'toggle'), send('hubitat:1', 'toggle'), send('hubitat:1', 'toggle')]);
    expect(arrived().map(([command]) => command)).toEqual(['on', 'off', 'on']);
  });

  test('stop of a shade has another name', async () => {
    const { send, arrived, until } = await stage();
    await send('hubitat:7', 'stop');
    expect(arrived()).toEqual([['stopPositionChange', 'maker']]);
    await until('hubitat:7/windowShade=partially open');
  });

  test('of a switch only, not of a siren or thermostat that has an off', async () => {
    const { sink } = await stage();
    expect(sink.declared.get('hubitat:5')?.commands).not.toHaveProperty('toggle');
    expect(sink.declared.get('hubitat:5')?.commands.off?.effects).toEqual([
      { attribute: 'thermostatMode', value: 'off' },
    ]);
  });
});

describe('setpoints', () => {
  test('go out in the hub’s scale, and come back as ours', async () => {
    const { send, arrived, until, sink } = await stage({ scale: 'F', settings: { temperature_scale: 'F' } });
    await send('hubitat:5', 'setHeatingSetpoint', { temperature: 21 });
    expect(arrived()).toEqual([['setHeatingSetpoint', 69.8, 'runmethod']]);
    await until('hubitat:5/heatingSetpoint=21.11');
    // Near enough for a thermostat that keeps whole °F: it is what was asked for.
    expect(sink.declared.get('hubitat:5')?.attributes.heatingSetpoint?.step).toBeGreaterThan(0.5);
  });

  test('go out in °F from the moment in which an event tells that the hub has °F', async () => {
    const { hub, send, arrived, until, sink } = await stage({ scale: 'F' });
    // Neither the list nor the history told it.
    expect(sink.lines).toContain('hubitat:5/heatingSetpoint=20');
    hub.state.set(3, 'temperature', 68);
    await until('hubitat:3/temperature=20');
    await send('hubitat:5', 'setHeatingSetpoint', { temperature: 21 });
    expect(arrived()).toEqual([['setHeatingSetpoint', 69.8, 'runmethod']]);
  });

  test('stay as they are where the hub reports °C', async () => {
    const { send, arrived } = await stage({ settings: { temperature_scale: 'C' } });
    await send('hubitat:5', 'setHeatingSetpoint', { temperature: 21.5 });
    expect(arrived()).toEqual([['setHeatingSetpoint', 21.5, 'runmethod']]);
  });
});

describe('the location', () => {
  test('takes a mode, arms HSM, and sets variables, each of its type', async () => {
    const { send, arrived, until } = await stage();
    await send('hubitat:location', 'setMode', { mode: 'Night' });
    await until('hubitat:location/mode=Night');
    await send('hubitat:location', 'setHsm', { status: 'armedHome' });
    await until('hubitat:location/hsmStatus=armedHome');
    await send('hubitat:location', 'cancelAlerts');
    await send('hubitat:location', 'setVariable:guests', { value: 4 });
    await until('hubitat:location/variable:guests=4');
    await send('hubitat:location', 'setVariable:greeting', { value: 'good/evening, all' });
    expect(arrived()).toEqual([
      ['mode', 'Night', 'maker'],
      ['hsm', 'armHome', 'maker'],
      ['hsm', 'cancelAlerts', 'maker'],
      ['variable', 'guests', '4', 'maker'],
      ['variable', 'greeting', 'good/evening, all', 'maker'],
    ]);
  });

  test('tells its mode from the answer too, since the Maker API may be told to post no events of the location', async () => {
    const { send, until } = await stage({
      settings: { events: 'listener' },
      prepare: hub => {
        hub.state.quirks.noLocationPosts = true;
      },
    });
    await send('hubitat:location', 'setMode', { mode: 'Away' });
    await until('hubitat:location/mode=Away');
  });

  test('declares modes as words and variables by their types', async () => {
    const { sink } = await stage();
    const { attributes, commands } = sink.declared.get('hubitat:location') ?? {};
    expect(attributes?.mode).toEqual({ type: 'enum', values: ['Day', 'Evening', 'Night', 'Away'] });
    expect(attributes?.['variable:guests']).toEqual({ type: 'number' });
    expect(commands?.['setVariable:holiday']).toMatchObject({
      args: [{ name: 'value', type: 'boolean' }],
      effects: [{ attribute: 'variable:holiday', fromArg: 'value' }],
      idempotent: true,
    });
  });
});

describe('what is tried again', () => {
  test('are idempotent commands, when the hub is overloaded', async () => {
    const { send, arrived, hub, backend } = await stage();
    for (const code of [408, 500, 503]) {
      hub.trouble.status = { code, times: 1, path: /\/on$/ };
      await send('hubitat:1', 'on');
    }
    expect(arrived()).toHaveLength(3);
    expect(backend.counters.retries).toBe(3);
  });

  test('are idempotent commands whose answer was lost', async () => {
    const { send, arrived, hub } = await stage();
    hub.trouble.cuts = 1;
    await send('hubitat:1', 'on');
    expect(arrived()).toEqual([
      ['on', 'maker'],
      ['on', 'maker'],
    ]);
  });

  test('are never others: when their answer is lost, it is not known whether they were done', async () => {
    const { send, arrived, hub } = await stage();
    hub.trouble.cuts = 1;
    const lost = send('hubitat:4', 'push', { button: 2 });
    // The gate makes `in_doubt` of it for commands that are not idempotent.
    await expect(lost).rejects.toMatchObject({
      code: 'BACKEND_TIMEOUT',
      hint: expect.stringContaining('before sending'),
    });
    expect(arrived()).toEqual([['push', 2, 'runmethod']]);
    hub.trouble.status = { code: 502, times: 5, path: /runmethod/ };
    await expect(send('hubitat:4', 'push', { button: 2 })).rejects.toMatchObject({ code: 'BACKEND_TIMEOUT' });
    expect(hub.trouble.status.times).toBe(4);
  });

  test.each(['', 'null', '[]', '{"message":"done"}'])(
    'nor are those of which the hub does not say whether they were done: %j',
    async body => {
      const { send, hub } = await stage();
      hub.trouble.instead = { body, times: 9, path: /runmethod/ };
      await expect(send('hubitat:4', 'push', { button: 2 })).rejects.toMatchObject({ code: 'BACKEND_TIMEOUT' });
      expect(hub.trouble.instead.times).toBe(8);
    },
  );

  test('nor are those that the hub refused', async () => {
    const { send, hub } = await stage();
    hub.trouble.instead = { body: '{"success":false,"message":"no such method"}', times: 9, path: /runmethod/ };
    await expect(send('hubitat:4', 'push', { button: 2 })).rejects.toMatchObject({
      code: 'BACKEND_REJECTED',
      message: expect.stringContaining('no such method'),
    });
    expect(hub.trouble.instead.times).toBe(8);
  });

  test('nor are those that surely were not done: they have failed', async () => {
    const { send, hub, arrived } = await stage();
    hub.trouble.status = { code: 503, times: 1, path: /runmethod/ };
    await expect(send('hubitat:4', 'push', { button: 2 })).rejects.toMatchObject({ code: 'BACKEND_OFFLINE' });
    expect(arrived()).toEqual([]);
  });

  test('a command that is not answered ends after ten seconds, in doubt where it is not idempotent', async () => {
    const { send, hub, clock } = await stage();
    hub.trouble.latencyMs = 3_000;
    const pending = send('hubitat:4', 'push', { button: 2 });
    const outcome = expect(pending).rejects.toMatchObject({ code: 'BACKEND_TIMEOUT' });
    await eventually(() => hub.requests.at(-1) === '/device/runmethod', 'the request');
    await clock.jump(10_000);
    await outcome;
    hub.trouble.latencyMs = 0;
  });

  test('one that is on its way when the connection ends is in doubt, too', async () => {
    const { send, hub, supervised } = await stage();
    hub.trouble.latencyMs = 300;
    const outcome = expect(send('hubitat:4', 'push', { button: 2 })).rejects.toMatchObject({ code: 'BACKEND_TIMEOUT' });
    await eventually(() => hub.requests.at(-1) === '/device/runmethod', 'the request');
    await supervised.stop();
    await outcome;
  });
});

describe('many commands at once', () => {
  test('are four in flight at most, and in order for each device', async () => {
    const devices = Array.from({ length: 8 }, (_, i) => simOutlet({ id: i + 1, label: `Outlet ${i}` }));
    const { send, hub } = await stage({ devices });
    hub.trouble.latencyMs = 5;
    const all = Array.from({ length: 10 }, (_, round) =>
      devices.map(({ id }) => send(`hubitat:${id}`, round % 2 ? 'off' : 'on')),
    );
    await Promise.all(all.flat());
    expect(hub.mostInFlight).toBe(4);
    for (const { id } of devices) {
      const mine = hub.state.received.filter(({ device }) => device === id).map(({ command }) => command);
      expect(mine).toEqual(Array.from({ length: 10 }, (_, round) => (round % 2 ? 'off' : 'on')));
    }
  });

  test('one that was given up while it waited is never sent', async () => {
    const { send, hub, arrived } = await stage();
    hub.trouble.latencyMs = 100;
    const first = send('hubitat:1', 'on');
    const given = new AbortController();
    const second = expect(send('hubitat:1', 'off', {}, given.signal)).rejects.toBeDefined();
    given.abort();
    await second;
    await first;
    expect(arrived()).toEqual([['on', 'maker']]);
  });
});
