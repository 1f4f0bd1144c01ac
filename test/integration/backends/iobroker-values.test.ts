// What states hold, what their ids look like, and how they end, between the ioBroker backend and a real ioBroker.
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { coerce } from '../../../src/model/value.ts';
import { type IoBroker, type IobValue, startIoBroker } from '../../iobroker/harness.ts';
import { describeIobroker } from '../../iobroker/installed.ts';
import { eventually } from '../../kit/eventually.ts';
import { commandTo, patience } from '../../unit/backends/kit.ts';
import { PATIENCE_MS, SLOW_MS, stageBackend } from './iobroker-kit.ts';

vi.setConfig({ testTimeout: SLOW_MS, hookTimeout: SLOW_MS });

describeIobroker('values of a real ioBroker', () => {
  let io: IoBroker;
  const ends: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    io = await startIoBroker();
  });
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
    io.onCommand = (_id, state) => ({ val: state.val });
  });
  afterAll(() => io?.end());

  const stage = async (states: readonly string[], settings: Readonly<Record<string, unknown>> = {}) => {
    const staged = await stageBackend(io, { settings: { states, ...settings } });
    ends.push(() => staged.supervised.stop());
    const told = (device: string, attribute: string) =>
      staged.sink.reports.flatMap(one =>
        one.type === 'value' && one.device === device && one.attribute === attribute ? [one] : [],
      );
    return { ...staged, told };
  };
  const soon = <T>(look: () => T | undefined | false, what: string) => eventually(look, what, PATIENCE_MS);
  const set = (device: string, attribute: string, value: IobValue) => commandTo(device, `set:${attribute}`, { value });

  // What ioBroker lets stand in an id, letters of other scripts, and names that JavaScript has for itself.
  const ODD = [
    ...[...' _-/:!#$%&()+=@^{}|~'],
    ...['Küche', 'ванная', 'A+B (x)', 'a/b#c', '100%', '{id}', '$share', '..', 'constructor', 'toString'],
  ];

  test('an id with any odd character is one device, is told, and is commanded at exactly that id', async () => {
    const ids = ODD.flatMap(odd => [`hue.0.odd.x${odd}y.on`, `hue.0.odd.lamp.${odd}`]).filter(id => !id.includes('..'));
    for (const id of ids) await io.addState(id, { type: 'boolean', role: 'switch', name: id }, false);
    const { sink, supervised, told } = await stage(['hue.0.odd.*'], { functional: false });
    for (const id of ids) {
      const device = `iobroker:${id.slice(0, id.lastIndexOf('.'))}`;
      const attribute = id.slice(id.lastIndexOf('.') + 1);
      expect([id, Object.keys(sink.declared.get(device)?.attributes ?? {})]).toEqual([
        id,
        expect.arrayContaining([attribute]),
      ]);
      await io.setState(id, true);
      await soon(() => told(device, attribute).at(-1)?.value === true, `a change of ${id}`);
      await supervised.execute(set(device, attribute, false), patience());
      expect([id, (await io.getState(id))?.val, io.commands(id).length]).toEqual([id, false, 1]);
      await soon(() => told(device, attribute).at(-1)?.value === false, `the command to ${id}`);
    }
    // Nothing was mistaken for a wildcard: each was commanded once, and nothing else was.
    expect(io.commands().length).toBe(ids.length);
  });

  test('ids that ioBroker itself would not take harm nobody', async () => {
    const odd = ['*', '?', '[1]', '"', "'", ',', ';', '<', '>', '\\', '\n', '\u0000', '客厅'];
    const ids = ['hue.0.bad.lamp.__proto__', 'hue.0.bad.__proto__.on', ...odd.map(one => `hue.0.bad.x${one}y.on`)];
    for (const id of ids) await io.addState(id, { type: 'boolean', role: 'switch', name: id }, false).catch(() => {});
    await io.addState('hue.0.bad.good.on', { type: 'boolean', role: 'switch' }, false);
    const { sink, until } = await stage(['hue.0.bad.*'], { functional: false });
    for (const id of ids) await io.setState(id, true).catch(() => {});
    await io.setState('hue.0.bad.good.on', true);
    await until('iobroker:hue.0.bad.good/on=true');
    for (const { id, attributes, commands = {} } of sink.declared.values()) {
      for (const own of [attributes, commands])
        expect([id, Object.getPrototypeOf(own)]).toEqual([id, Object.prototype]);
    }
  });

  test('values of another type than declared are made to fit or left out, and never told as they are', async () => {
    const odd: IobValue[] = [
      '23.5',
      'abc',
      '',
      true,
      null,
      999,
      -1e308,
      '{"a":1}',
      '[1]',
      'on',
      'true',
      '1',
      0,
      '0',
      'NaN',
    ];
    const types = ['number', 'boolean', 'string', 'array', 'object', 'json', 'mixed', 'file', 'nonsense'];
    for (const type of types) await io.addState(`hue.0.types.${type}`, { type, role: 'state' });
    const { sink, told } = await stage(['hue.0.types.*'], { functional: false });
    const device = 'iobroker:hue.0.types';
    for (const type of types) {
      for (const value of odd) await io.setState(`hue.0.types.${type}`, value);
      await io.setState(`hue.0.types.${type}`, type === 'boolean' ? true : '7');
    }
    await soon(() => told(device, 'nonsense').at(-1), 'the last');
    await soon(() => String(told(device, 'number').at(-1)?.value) === '7', 'the last number');
    const declared = sink.declared.get(device)?.attributes ?? {};
    for (const type of types) {
      const attribute = declared[type];
      for (const { value } of told(device, type)) {
        if (value === null || attribute === undefined) continue;
        expect([type, value, coerce(value, attribute)]).toEqual([type, value, { ok: true, value }]);
      }
    }
    const numbers = told(device, 'number').map(({ value }) => value);
    expect(numbers).toContain(23.5);
    expect(numbers).not.toContain('abc');
    expect(numbers).not.toContain(Number.NaN);
  });

  test('a value that does not fit is refused before ioBroker hears of it', async () => {
    await io.addState('hue.0.checks.level', { type: 'number', role: 'level', min: 0, max: 100 }, 1);
    await io.addState('hue.0.checks.mode', { type: 'number', role: 'level.mode', states: { 0: 'off', 1: 'on' } }, 0);
    await io.addState('hue.0.checks.reading', { type: 'number', role: 'value', write: false }, 1);
    const { supervised } = await stage(['hue.0.checks.*'], { functional: false });
    const device = 'iobroker:hue.0.checks';
    const refused: [string, IobValue, string][] = [
      ['level', 101, 'ARGUMENT_INVALID'],
      ['level', '5', 'ARGUMENT_INVALID'],
      ['level', null, 'ARGUMENT_INVALID'],
      ['mode', 2, 'ARGUMENT_INVALID'],
      ['reading', 2, 'COMMAND_UNKNOWN'],
    ];
    for (const [attribute, value, code] of refused) {
      await expect(
        supervised.execute(set(device, attribute, value), patience()),
        `${attribute} ${value}`,
      ).rejects.toMatchObject({
        code,
      });
    }
    await supervised.execute(set(device, 'level', 100), patience());
    expect(
      io
        .commands()
        .filter(({ from }) => from === 'system.adapter.ws.0')
        .map(({ val }) => val),
    ).toContain(100);
    expect(await io.getState('hue.0.checks.mode')).toMatchObject({ val: 0, ack: true });
    expect(await io.getState('hue.0.checks.reading')).toMatchObject({ val: 1 });
  });

  test('a command that is carried out is one change; one that nobody confirms is in doubt', async () => {
    await io.addState('hue.0.acks.on', { type: 'boolean', role: 'switch' }, false);
    const { supervised, clock, told, sink } = await stage(['hue.0.acks.*'], { functional: false });
    const device = 'iobroker:hue.0.acks';
    await supervised.execute(set(device, 'on', true), patience());
    await soon(() => told(device, 'on').at(-1)?.value === true, 'the change');
    expect(told(device, 'on').map(({ value }) => value)).toEqual([false, true]);
    expect(sink.lines.filter(line => line.includes('command:on'))).toEqual([]);

    io.onCommand = () => undefined;
    const silent = supervised.execute(set(device, 'on', false), patience());
    await soon(() => io.commands('hue.0.acks.on').length === 2, 'the command');
    const outcome = silent.then(
      () => 'ok',
      (error: { code: string }) => error.code,
    );
    await clock.jump(6_000);
    expect(await outcome).toBe('BACKEND_UNCONFIRMED');
    expect(told(device, 'on').at(-1)?.value).toBe(true);

    // The device answers with another value than it was given.
    io.onCommand = () => ({ val: true });
    const other = supervised.execute(set(device, 'on', false), patience()).then(
      () => 'ok',
      (error: { code: string }) => error.code,
    );
    await soon(() => io.commands('hue.0.acks.on').length === 3, 'the command');
    await clock.jump(6_000);
    expect(await other).toBe('BACKEND_UNCONFIRMED');
  });

  test('a command of somebody else is seen, and is no value', async () => {
    io.onCommand = () => undefined;
    await io.addState('hue.0.foreign.on', { type: 'boolean', role: 'switch' }, false);
    const { told, until } = await stage(['hue.0.foreign.*'], { functional: false });
    await io.setState('hue.0.foreign.on', {
      val: true,
      ack: false,
      from: 'system.adapter.vis.0',
      user: 'system.user.admin',
    });
    await until('iobroker:hue.0.foreign!command:on=true');
    await io.setState('hue.0.foreign.on', true);
    await until('iobroker:hue.0.foreign/on=true');
    expect(told('iobroker:hue.0.foreign', 'on').map(({ value, by }) => [value, by])).toEqual([
      [false, undefined],
      [true, 'user'],
    ]);
  });

  test('quality is told: of a sensor that is not connected, and of a value that is doubtful', async () => {
    await io.addState('hue.0.quality.t', { type: 'number', role: 'value.temperature' }, 20);
    const { until } = await stage(['hue.0.quality.*'], { functional: false });
    await io.setState('hue.0.quality.t', { val: 21, q: 0x82 });
    await until('iobroker:hue.0.quality/t=21 (unavailable)');
    await io.setState('hue.0.quality.t', { val: 22, q: 0x40 });
    await until('iobroker:hue.0.quality/t=22 (unknown)');
    await io.setState('hue.0.quality.t', 23);
    await until('iobroker:hue.0.quality/t=23');
  });

  test('a state that expires or is deleted becomes unknown, and counts again when it is written, whatever our clock says', async () => {
    await io.addState('hue.0.ends.on', { type: 'boolean', role: 'switch' }, true);
    const { clock, told, until } = await stage(['hue.0.ends.*'], { functional: false });
    const device = 'iobroker:hue.0.ends';
    // Our clock is ahead of ioBroker's.
    await clock.jump(30_000);
    await io.deleteState('hue.0.ends.on');
    await until(`${device}/on=null (unknown)`);
    await io.setState('hue.0.ends.on', { val: false, expire: 1 });
    await until(`${device}/on=false`);
    await until(`${device}/on=null (unknown)`, 2);
    await io.setState('hue.0.ends.on', true);
    await until(`${device}/on=true`, 2);
    // What is older than what was told already would never be applied.
    let latest = 0;
    for (const { value, sourceTime = latest } of told(device, 'on')) {
      expect([value, sourceTime]).toEqual([value, Math.max(sourceTime, latest)]);
      latest = sourceTime;
    }
  });

  test('objects that come, change and go are devices that come, change and go', async () => {
    await io.addState('hue.0.house.first.on', { type: 'boolean', role: 'switch' }, true);
    const { sink, until, supervised } = await stage(['hue.0.house.*'], { functional: false });
    await io.setObject('hue.0.house.second', { type: 'device', common: { name: { en: 'Second', de: 'Zweite' } } });
    await io.addState('hue.0.house.second.on', { type: 'boolean', role: 'switch' }, true);
    await until('iobroker:hue.0.house.second/on=true');
    expect(sink.declared.get('iobroker:hue.0.house.second')?.name).toBe('Second');
    await io.addState('hue.0.house.second.level', { type: 'number', role: 'level' }, 5);
    await until('iobroker:hue.0.house.second/level=5');
    await io.deleteObject('hue.0.house.second.level');
    await soon(
      () => sink.declared.get('iobroker:hue.0.house.second')?.attributes.level === undefined,
      'the attribute that went',
    );
    await io.deleteObject('hue.0.house.second.on');
    await io.deleteObject('hue.0.house.second');
    await until('removed: iobroker:hue.0.house.second');
    await expect(supervised.execute(set('iobroker:hue.0.house.second', 'on', true), patience())).rejects.toMatchObject({
      code: 'DEVICE_NOT_FOUND',
    });
  });

  test('devices of an instance that dies or loses its bridge are out of reach until it is back', async () => {
    await io.addInstance('zigbee.0', { alive: true, connection: true });
    await io.addState('zigbee.0.door.open', { type: 'boolean', role: 'sensor.door' }, false);
    const { until } = await stage(['zigbee.0.*'], { functional: false });
    await until('iobroker:zigbee.0.door online');
    await io.addInstance('zigbee.0', { alive: false });
    await until('iobroker:zigbee.0.door offline');
    await io.addInstance('zigbee.0', { alive: true });
    await until('iobroker:zigbee.0.door online', 2);
    await io.setState('zigbee.0.info.connection', false);
    await until('iobroker:zigbee.0.door offline', 2);
    await io.setState('zigbee.0.info.connection', true);
    await until('iobroker:zigbee.0.door online', 3);
  });

  test('an alias is a device whose values and commands are those of its target', async () => {
    await io.addState('hue.0.source.t', { type: 'number', role: 'value.temperature', unit: '°C' }, 20);
    await io.addState('hue.0.source.level', { type: 'number', role: 'level', min: 0, max: 254 }, 0);
    await io.setObject('alias.0.room.t', {
      type: 'state',
      common: {
        name: 'T',
        type: 'number',
        role: 'value.temperature',
        unit: '°F',
        read: true,
        write: false,
        alias: { id: 'hue.0.source.t', read: 'val*1.8+32' },
      },
    });
    await io.setObject('alias.0.room.level', {
      type: 'state',
      common: {
        name: 'L',
        type: 'number',
        role: 'level',
        min: 0,
        max: 100,
        read: true,
        write: true,
        alias: { id: 'hue.0.source.level', read: 'val/2.54', write: 'val*2.54' },
      },
    });
    const { told, supervised, until } = await stage(['alias.0.*'], { functional: false });
    await until('iobroker:alias.0.room/t=68');
    await io.setState('hue.0.source.t', 25);
    await until('iobroker:alias.0.room/t=77');
    await supervised.execute(set('iobroker:alias.0.room', 'level', 50), patience());
    expect(await io.getState('hue.0.source.level')).toMatchObject({ val: 127, ack: true });
    await soon(() => told('iobroker:alias.0.room', 'level').at(-1)?.value === 50, 'the level of the alias');
  });
});
