// ioBroker's own operations, against a real ioBroker with its history and admin adapters.
import { createServer } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { z } from 'zod';
import { iobrokerOperations } from '../../../src/backends/iobroker/index.ts';
import type { JournalEntry } from '../../../src/store/journal-port.ts';
import { type IoBroker, startIoBroker } from '../../iobroker/harness.ts';
import { describeIobroker } from '../../iobroker/installed.ts';
import { eventually } from '../../kit/eventually.ts';
import { PATIENCE_MS, SLOW_MS, stageBackend } from './iobroker-kit.ts';
import { operationContext } from './operation-context.ts';

type Answer = Record<string, never> & Record<string, unknown>;
type Row = Record<string, unknown>;

const LOGGED = { custom: { 'history.0': { enabled: true, changesOnly: false, debounce: 0, retention: 0 } } };
const MINUTE = 60_000;

describeIobroker('the operations of ioBroker', () => {
  let io: IoBroker;
  let stage: Awaited<ReturnType<typeof stageBackend>>;
  let journal: JournalEntry[] = [];
  /** When the series of the history began. */
  let began: number;

  const call = async (name: string, input: object = {}, dryRun = false): Promise<Answer> => {
    const operation = iobrokerOperations.find(one => one.name === name);
    if (!operation) throw new Error(`no operation ${name}`);
    const context = operationContext({ dryRun, entries: journal });
    const answer = await operation.run(stage.backend, operation.input.parse(input), context);
    return (operation.output as z.ZodObject).parse(answer) as Answer;
  };
  const rows = (answer: Answer, key: string) => answer[key] as unknown as Row[];
  const ids = (answer: Answer, key: string) => rows(answer, key).map(({ id }) => id);

  beforeAll(async () => {
    io = await startIoBroker({ adapters: ['ws', 'admin', 'history'] });
    const set = (id: string, type: string, common: object, native: object = {}) =>
      io.setObject(id, { type, common, native } as Parameters<IoBroker['setObject']>[1]);
    await set(
      'hue.0.lamp',
      'channel',
      { name: { en: 'Desk lamp', de: 'Schreibtischlampe' } },
      { apiToken: 'topsecret' },
    );
    await set('enum.rooms.study', 'enum', { name: { en: 'Study', de: 'Büro' }, members: ['hue.0.lamp', 'gone.0.x'] });
    await set('enum.functions.light', 'enum', { name: { en: 'Light' }, members: ['hue.0.lamp.on'] });
    await io.addState(
      'hue.0.lamp.on',
      { name: 'on', type: 'boolean', role: 'switch.light', read: true, write: true },
      true,
    );
    const dimmer = { name: 'level', type: 'number', role: 'level.dimmer', min: 0, max: 254, read: true, write: true };
    await io.addState('hue.0.lamp.level', dimmer, 127);
    await io.addState('hue.0.lamp.empty', { name: 'empty', type: 'number', role: 'value', read: true, write: false });
    await io.addState('other.0.thing', { name: 'thing', type: 'number', role: 'value.temperature', unit: '°C' }, 21);
    await io.addState('hue.0.meter', {
      name: 'meter',
      type: 'number',
      role: 'value',
      read: true,
      write: false,
      ...LOGGED,
    });
    await io.addInstance('hue.0', { alive: true, connection: false });
    stage = await stageBackend(io, { settings: { admin: io.adminUrl, timeout: '3s', logs: 'warn' } });

    began = Math.floor(Date.now() / MINUTE) * MINUTE - 30 * MINUTE;
    const series = [2, 4, 6, 3].map((val, index) => ({ ts: began + index * MINUTE, val, ack: true, q: 0 }));
    const { socket } = stage.backend.live;
    const [stored] = await socket.call('sendTo', 'history.0', 'storeState', { id: 'hue.0.meter', state: series });
    expect(stored).toMatchObject({ success: true });
    journal = series.map(({ ts, val }, seq) => ({
      ts,
      seq,
      kind: 'event',
      subject: 'iobroker:hue.0',
      attribute: 'meter',
      body: JSON.stringify({ value: val, quality: 'good' }),
    }));
  }, SLOW_MS);
  afterAll(async () => {
    await stage?.supervised.stop();
    await io?.end();
  }, SLOW_MS);

  test('where ioBroker stands is told before it is ready', () => {
    const { latitude, longitude } = stage.sink.reports.find(report => report.type === 'place') ?? {};
    expect([latitude, longitude]).toEqual([52.5, 13.4]);
    expect(stage.sink.lines.indexOf('place')).toBeLessThan(stage.sink.lines.indexOf('ready'));
  });

  test('states are found by id and by pattern, once each, also those that do not come in', async () => {
    const answer = await call('list_iobroker_states', { ids: ['hue.0.lamp.*', 'hue.0.lamp.on', 'other.0.thing'] });
    expect(ids(answer, 'states')).toEqual(['hue.0.lamp.empty', 'hue.0.lamp.level', 'hue.0.lamp.on', 'other.0.thing']);
    const [, , on, thing] = rows(answer, 'states');
    expect(on).toMatchObject({ value: true, ack: true, q: 0, role: 'switch.light', device: 'iobroker:hue.0.lamp' });
    expect(thing).toMatchObject({ value: 21 });
    expect(thing).not.toHaveProperty('device');
  });

  test('a state without a value is told apart from one that does not exist', async () => {
    const answer = await call('list_iobroker_states', { ids: ['hue.0.lamp.empty', 'hue.0.lamp.nothing'] });
    expect(rows(answer, 'states')).toMatchObject([{ id: 'hue.0.lamp.empty', value: null }]);
    expect(rows(answer, 'states')[0]).not.toHaveProperty('ts');
    expect(answer.missing).toEqual(['hue.0.lamp.nothing']);
  });

  test('states come in pages', async () => {
    const first = await call('list_iobroker_states', { ids: ['hue.0.lamp.*'], limit: 2 });
    expect(first).toMatchObject({ total: 3, next_offset: 2 });
    const second = await call('list_iobroker_states', { ids: ['hue.0.lamp.*'], limit: 2, offset: 2 });
    expect(ids(second, 'states')).toEqual(['hue.0.lamp.on']);
    expect(second).not.toHaveProperty('next_offset');
  });

  test('an object is shown as it is, with its value, and without secrets', async () => {
    const state = await call('get_iobroker_object', { id: 'hue.0.lamp.level' });
    expect(state).toMatchObject({ object: { common: { max: 254 } }, state: { value: 127 } });
    const channel = await call('get_iobroker_object', { id: 'hue.0.lamp' });
    expect(JSON.stringify(channel)).not.toContain('topsecret');
  });

  test('an object that does not exist is an error that names the nearest', async () => {
    await expect(call('get_iobroker_object', { id: 'hue.0.lamp.levle' })).rejects.toMatchObject({
      code: 'NOT_FOUND',
      hint: expect.stringContaining('hue.0.lamp.level'),
    });
  });

  test('an object is deleted, but not what others lie below', async () => {
    await io.addState('other.0.gone', { name: 'gone', type: 'number', role: 'value' }, 1);
    await expect(call('delete_iobroker_object', { id: 'hue.0.lamp' })).rejects.toMatchObject({ code: 'INPUT_INVALID' });
    expect(await call('delete_iobroker_object', { id: 'other.0.gone' }, true)).toMatchObject({ deleted: false });
    expect(await io.getObject('other.0.gone')).not.toBeNull();
    expect(await call('delete_iobroker_object', { id: 'other.0.gone' })).toMatchObject({ deleted: true });
    await expect(call('delete_iobroker_object', { id: 'other.0.gone' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  test.each([
    [{ query: 'schreibtisch' }, ['hue.0.lamp']],
    [{ query: 'LAMP.ON' }, ['hue.0.lamp.on']],
    [{ role: 'level.*' }, ['hue.0.lamp.level']],
    [{ role: 'level' }, []],
    [{ room: 'büro', type: 'state' }, ['hue.0.lamp.empty', 'hue.0.lamp.level', 'hue.0.lamp.on']],
    [{ room: 'Study', function: 'Light' }, ['hue.0.lamp.on']],
    [{ adapter: 'other' }, ['other.0.thing']],
    [{ adapter: 'hue.0', type: 'instance' }, ['system.adapter.hue.0']],
  ])('objects are found by %j', async (input, expected) => {
    // `Study` is the name in the language of ioBroker, `büro` a name in none that is looked at.
    const search = call('search_iobroker_objects', { ...input, limit: 100 });
    if ('room' in input && input.room === 'büro') {
      await expect(search).rejects.toMatchObject({ code: 'NOT_FOUND', hint: expect.stringContaining('Study') });
      return;
    }
    expect(ids(await search, 'objects')).toEqual(expected);
  });

  test('objects of every type can be searched', async () => {
    const { input } = iobrokerOperations.find(({ name }) => name === 'search_iobroker_objects') ?? {};
    const types = (
      input as unknown as z.ZodObject<{ type: z.ZodOptional<z.ZodEnum<Record<string, string>>> }>
    ).shape.type.unwrap().options;
    expect(types.length).toBeGreaterThan(10);
    for (const type of types) await call('search_iobroker_objects', { type });
  });

  test('devices come by room, with the states behind each attribute', async () => {
    const answer = await call('list_iobroker_devices', { room: 'study' });
    expect(answer.rooms).toEqual([
      {
        room: 'Study',
        devices: [
          {
            device: 'iobroker:hue.0.lamp',
            name: 'Desk lamp',
            capabilities: ['switch', 'dimmer'],
            attributes: { switch: ['hue.0.lamp.on'], level: ['hue.0.lamp.level'] },
            commands: ['on', 'off', 'toggle', 'setLevel'],
          },
        ],
      },
    ]);
  });

  test('instances tell whether they run, and whether they reach what they are for', async () => {
    const answer = await call('list_iobroker_instances');
    const byId = Object.fromEntries(rows(answer, 'instances').map(one => [one.id, one]));
    expect(byId['hue.0']).toMatchObject({ alive: true, connected: false, status: 'disconnected' });
    expect(byId['history.0']).toMatchObject({ alive: true, connected: null, status: 'ok' });
  });

  test('rooms and functions list their members, and those that are gone', async () => {
    const { rooms } = await call('list_iobroker_rooms', { language: 'de' });
    expect(rooms).toEqual([
      {
        id: 'enum.rooms.study',
        name: 'Büro',
        members: [
          { id: 'hue.0.lamp', type: 'channel', name: 'Schreibtischlampe' },
          { id: 'gone.0.x', missing: true },
        ],
      },
    ]);
    const { functions } = await call('list_iobroker_functions');
    expect(functions).toMatchObject([{ name: 'Light', members: [{ id: 'hue.0.lamp.on', role: 'switch.light' }] }]);
  });

  const span = () => ({
    id: 'hue.0.meter',
    from: new Date(began).toISOString(),
    to: new Date(began + 4 * MINUTE).toISOString(),
  });

  test('raw history comes oldest first, in pages', async () => {
    const all = await call('get_iobroker_history', span());
    expect(all).toMatchObject({ source: 'history.0' });
    expect(rows(all, 'rows').map(({ value }) => value)).toEqual([2, 4, 6, 3]);
    const page = await call('get_iobroker_history', { ...span(), limit: 2 });
    expect(rows(page, 'rows')).toHaveLength(2);
    expect(page).toMatchObject({ truncated: true, next_from: new Date(began + MINUTE + 1).toISOString() });
  });

  // By hand: of 2, 4, 6, 3 at full minutes, each held for one.
  const expected = {
    min: 2,
    max: 6,
    avg: 3.75,
    sum: 15,
    count: 4,
    percentile: 3.5,
    quantile: 3.5,
    integral: 15,
  } as const;

  test.each(Object.entries(expected))(
    '%s is %d, from the history adapter and from the journal',
    async (what, value) => {
      for (const source of ['adapter', 'journal']) {
        const answer = await call('get_iobroker_history', { ...span(), aggregate: what, source });
        expect(rows(answer, 'rows')).toEqual([{ ts: span().from, value, points: 4 }]);
      }
    },
  );

  test('minmax per interval is the same from both', async () => {
    const asked = { ...span(), aggregate: 'minmax', interval: '2m' };
    const [adapter, own] = await Promise.all(
      ['adapter', 'journal'].map(async source =>
        rows(await call('get_iobroker_history', { ...asked, source }), 'rows'),
      ),
    );
    expect(adapter).toEqual(own);
    expect(adapter).toMatchObject([
      { min: 2, max: 4 },
      { min: 3, max: 6 },
    ]);
  });

  test.each([
    ['a date that is none', { from: 'yesterday-ish' }, 'from'],
    ['an interval that is none', { aggregate: 'avg', interval: '5 parsecs' }, 'interval'],
    ['more intervals than anybody reads', { aggregate: 'avg', from: '365d', to: '1s', interval: '1s' }, 'interval'],
    ['an end before its beginning', { from: '1h', to: '2h' }, 'from'],
  ])('%s is refused', async (_what, input, path) => {
    await expect(call('get_iobroker_history', { id: 'hue.0.meter', ...input })).rejects.toMatchObject({
      code: 'INPUT_INVALID',
      path,
    });
  });

  test(
    'the log is filtered by level, source and text',
    async () => {
      await call('get_iobroker_logs');
      await io.log({ severity: 'info', message: 'hue.0 (12) all is well', from: 'hue.0' });
      await io.log({ severity: 'error', message: 'hue.0 (12) bridge lost', from: 'hue.0' });
      await io.log({ severity: 'error', message: 'other.0 (13) broken', from: 'other.0' });
      const lines = async (input: object) => rows(await call('get_iobroker_logs', input), 'lines');
      const found = await eventually(
        async () => {
          const some = await lines({ level: 'warn', source: 'hue' });
          return some.length > 0 && some;
        },
        'the lines',
        PATIENCE_MS,
      );
      expect(found).toMatchObject([{ level: 'error', source: 'hue.0', message: 'bridge lost' }]);
      expect(await lines({ search: 'WELL' })).toMatchObject([{ level: 'info' }]);
      // From the level of the configuration on they are told to the gateway, too.
      const told = stage.sink.reports.flatMap(report => (report.type === 'log' ? [report.message] : []));
      expect(told).toEqual(expect.arrayContaining(['hue.0: bridge lost', 'other.0: broken']));
      expect(told).not.toContain('hue.0: all is well');
    },
    SLOW_MS,
  );

  test(
    'a ping says what a TCP port does',
    async () => {
      const server = createServer().listen(0, '127.0.0.1');
      await new Promise(resolve => server.once('listening', resolve));
      const { port } = server.address() as { port: number };
      const open = await call('ping_iobroker_host', { host: '127.0.0.1', port, count: 1 });
      expect(open).toMatchObject({ reachable: true, tcp: { port, open: true, answers: true } });
      await new Promise(resolve => server.close(resolve));
      const closed = await call('ping_iobroker_host', { host: '127.0.0.1', port, count: 1 });
      expect(closed).toMatchObject({ reachable: true, tcp: { open: false, answers: true, error: 'ECONNREFUSED' } });
      const unknown = await call('ping_iobroker_host', { host: 'no-such-host.invalid', count: 1 });
      expect(unknown).toMatchObject({ reachable: false });
    },
    SLOW_MS,
  );
});
