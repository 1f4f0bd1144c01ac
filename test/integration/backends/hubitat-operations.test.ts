// What only a Hubitat hub can do, row by row of its table, at a simulated hub: its health, its log, its history, its backups.
import { afterEach, describe, expect, test } from 'vitest';
import { hubitatOperations } from '../../../src/backends/hubitat/operations/index.ts';
import type { OperationContext } from '../../../src/backends/operation.ts';
import { eventually } from '../../kit/eventually.ts';
import { commandTo, patience } from '../../unit/backends/kit.ts';
import { stageHub } from './hubitat-kit.ts';
import { operationContext } from './operation-context.ts';

let ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.reverse()) await end();
  ends = [];
});

const DAY = 24 * 3_600_000;

async function stage(...options: Parameters<typeof stageHub>) {
  const staged = await stageHub(...options);
  ends.push(staged.end);
  // biome-ignore lint/suspicious/noExplicitAny: what operations answer is for the tests to look into
  const call = async (name: string, input: object = {}, context: Partial<OperationContext> = {}): Promise<any> => {
    const row = hubitatOperations.find(one => one.name === name);
    if (!row) throw new Error(`there is no row ${name}`);
    const answer = await row.run(staged.backend, row.input.parse(input), operationContext(context));
    return row.output.parse(answer);
  };
  return { ...staged, call };
}

describe('the table', () => {
  test('says by each name of which system it is', () => {
    expect(hubitatOperations.filter(({ name }) => !/^[a-z]+_hubitat_[a-z_]+$/.test(name))).toEqual([]);
  });
});

describe('the hub’s information', () => {
  test('has model, firmware and the update that waits, and neither place nor credentials', async () => {
    const { call, hub } = await stage();
    const info = await call('get_hubitat_info');
    expect(info).toEqual({
      name: 'Simulated Hub',
      model: 'Rev C-8 Pro',
      firmware: '2.5.1.181',
      address: '192.0.2.10',
      time_zone: 'Europe/Berlin',
      temperature_scale: 'C',
      update: '2.5.2.110',
      missing: {},
    });
    expect(hub.refused).toEqual([]);
  });

  test('is what there is, on firmware that lacks a page, and says what is missing', async () => {
    const { call, hub } = await stage();
    hub.state.quirks.missingPages = /details/;
    expect(await call('get_hubitat_info')).toMatchObject({
      model: 'C-8 Pro',
      firmware: '2.5.1.181',
      time_zone: null,
      missing: { details: expect.stringContaining('/hub/details/json') },
    });
  });

  test('of a hub that has none of it is an error that says so', async () => {
    const { call, hub } = await stage();
    hub.state.quirks.missingPages = /./;
    await expect(call('get_hubitat_info')).rejects.toMatchObject({ code: 'UNSUPPORTED', hint: expect.any(String) });
  });
});

describe('the hub’s health', () => {
  test('has memory, temperature, database, and the uptime where it is asked for', async () => {
    const { call, hub } = await stage();
    const health = { free_memory_kb: 412_000, temperature_c: 48.5, database_size: 65, alerts: [], warnings: [] };
    expect(await call('get_hubitat_health')).toMatchObject(health);
    // The page that tells it is slow on a large hub.
    expect(hub.requests).not.toContain('/logs/json');
    expect(await call('get_hubitat_health', { uptime: true })).toMatchObject({ ...health, uptime: '12d 3h 4m' });
  });

  test('warns of little memory, heat, and what the hub itself warns of', async () => {
    const { call, hub } = await stage();
    Object.assign(hub.state.self, { memoryKb: 31_000, temperatureC: 77 });
    hub.state.self.alerts.hubLoadElevated = true;
    const { alerts, warnings } = await call('get_hubitat_health');
    expect(alerts).toEqual(['hubLoadElevated']);
    expect(warnings).toHaveLength(3);
  });

  test('does without a measure that is no number', async () => {
    const { call, hub } = await stage();
    hub.state.self.memoryKb = 'unavailable';
    hub.state.quirks.missingPages = /Celsius/;
    expect(await call('get_hubitat_health')).toMatchObject({
      free_memory_kb: null,
      temperature_c: null,
      database_size: 65,
      missing: { temperature: expect.any(String) },
    });
  });
});

describe('the hub’s log', () => {
  async function withLog() {
    const staged = await stage();
    const { hub } = staged;
    hub.log({ name: 'Loft Fan', msg: 'switched <b>on</b>', id: 1, type: 'dev', level: 'info' });
    hub.log({ name: 'Office Door', msg: 'no answer', id: 3, type: 'dev', level: 'error' });
    hub.state.logLines.push('java.lang.Exception: deeper down', 'at line 7');
    hub.log({ name: 'Maker API', msg: 'slow', id: 12, type: 'app', level: 'warn' });
    return staged;
  }

  test('is told newest first, without markup, and lines that go on are one entry', async () => {
    const { call } = await withLog();
    const { entries, total } = await call('list_hubitat_logs');
    expect(total).toBe(3);
    expect(entries).toMatchObject([
      { level: 'warn', name: 'Maker API', app: '12', message: 'slow' },
      { level: 'error', device: 'hubitat:3', message: 'no answer\njava.lang.Exception: deeper down\nat line 7' },
      { level: 'info', device: 'hubitat:1', message: 'switched on' },
    ]);
  });

  test.each([
    [{ level: 'warn' }, ['slow', 'no answer']],
    [{ device: 'hubitat:1' }, ['switched on']],
    [{ app: '12' }, ['slow']],
    [{ text: 'OFFICE' }, ['no answer']],
    [{ since: '1h' }, ['slow', 'no answer', 'switched on']],
    [{ until: '1h' }, []],
    [{ limit: 1 }, ['slow']],
  ])('is narrowed by %j', async (input, messages) => {
    const { call } = await withLog();
    const { entries } = await call('list_hubitat_logs', input);
    expect(entries.map(({ message }: { message: string }) => message.split('\n')[0])).toEqual(messages);
  });
});

describe('the history of a device', () => {
  test('is the hub’s own, with who did it', async () => {
    const { call, hub } = await stage();
    hub.state.set(3, 'contact', 'open');
    hub.state.set(3, 'temperature', 22);
    hub.state.set(1, 'switch', 'on');
    const { from, events } = await call('list_hubitat_events', { device: 'hubitat:3' });
    expect(from).toBe('hub');
    expect(events).toMatchObject([
      { name: 'temperature', value: '22', unit: '°C', by: 'Office Door' },
      { name: 'contact', value: 'open', at: expect.stringMatching(/Z$/) },
    ]);
    const { events: contact } = await call('list_hubitat_events', { device: 'hubitat:3', attribute: 'contact' });
    expect(contact).toHaveLength(1);
  });

  test('is the Maker API’s where the hub’s own page is not there', async () => {
    const { call, hub } = await stage();
    hub.state.set(3, 'contact', 'open');
    hub.state.quirks.missingPages = /eventsJson/;
    expect(await call('list_hubitat_events', { device: 'hubitat:3' })).toMatchObject({
      from: 'maker',
      events: [{ name: 'contact', value: 'open' }],
    });
  });

  test('is not told of a device that is not selected', async () => {
    const { call, hub } = await stage();
    const asked = hub.requests.length;
    await expect(call('list_hubitat_events', { device: 'hubitat:999' })).rejects.toMatchObject({
      code: 'DEVICE_NOT_FOUND',
    });
    await expect(call('get_hubitat_device', { device: 'hubitat:../../hub/reboot' })).rejects.toMatchObject({
      code: 'DEVICE_NOT_FOUND',
    });
    expect(hub.requests.length).toBe(asked);
  });

  test('of the location has modes and HSM', async () => {
    const { call, hub } = await stage();
    hub.state.setMode('Night');
    hub.state.set(1, 'switch', 'on');
    expect((await call('list_hubitat_location_events')).events).toMatchObject([{ name: 'mode', value: 'Night' }]);
  });
});

describe('a device as the hub knows it', () => {
  test('has driver, states with their times, and the hub’s apps that use it', async () => {
    const { call } = await stage();
    expect(await call('get_hubitat_device', { device: 'hubitat:3' })).toMatchObject({
      name: 'Office Door',
      driver: 'Simulated Sensor',
      room: 'Office',
      disabled: false,
      states: { battery: { value: 87, unit: '%', at: '2026-06-27T16:30:00.000Z' } },
      apps: [{ id: '12', name: 'Causeway', disabled: false }],
    });
  });
});

describe('login security', () => {
  const login = { username: 'causeway', password: 'open sesame' };

  test('is passed with one login for all that is asked at once', async () => {
    const { call, hub } = await stage({ login, settings: { login } });
    expect(await call('get_hubitat_health')).toMatchObject({ free_memory_kb: 412_000, missing: {} });
    expect(hub.requests.filter(path => path === '/login')).toHaveLength(1);
  });

  test('without a login set says which key is missing', async () => {
    const { call } = await stage({ login });
    await expect(call('list_hubitat_logs')).rejects.toMatchObject({
      code: 'BACKEND_AUTH',
      hint: expect.stringContaining('login'),
    });
  });

  test('that refuses ours is not asked again within a minute, by operations nor by commands', async () => {
    const { call, hub, supervised, clock } = await stage({
      login,
      settings: { login: { ...login, password: 'wrong' } },
    });
    const logins = () => hub.requests.filter(path => path === '/login').length;
    await expect(call('list_hubitat_logs')).rejects.toMatchObject({
      code: 'BACKEND_AUTH',
      message: expect.not.stringContaining('wrong'),
    });
    await expect(call('get_hubitat_health')).rejects.toMatchObject({ code: 'BACKEND_AUTH' });
    // A command finds its way over the Maker API.
    await supervised.execute(commandTo('hubitat:2', 'setLevel', { level: 5 }), patience());
    expect(hub.state.received).toMatchObject([{ command: 'setLevel', way: 'maker' }]);
    await clock.jump(59_000);
    await expect(call('list_hubitat_logs')).rejects.toMatchObject({ code: 'BACKEND_AUTH' });
    expect(logins()).toBe(1);
    await clock.jump(2_000);
    await expect(call('list_hubitat_logs')).rejects.toMatchObject({ code: 'BACKEND_AUTH' });
    expect(logins()).toBe(2);
  });
});

describe('backups of the hub', () => {
  test('are listed newest first; rows of no known shape cost no other', async () => {
    const { hub, supervised, backend } = await stage();
    hub.state.addBackup(Date.now() - 2 * DAY);
    hub.state.addBackup(Date.now() - DAY);
    hub.state.backups.push({ name: 'odd', createTimeOrig: 'yesterday' }, { size: 3 });
    const backups = await supervised.backups?.(patience());
    expect(backups).toHaveLength(2);
    expect(backups?.[0]?.at).toBeGreaterThan(backups?.[1]?.at as number);
    expect(backups?.[0]).toMatchObject({ name: expect.stringContaining('.lzf'), bytes: 3 * 1024 * 1024 });
    expect(backend.counters.unreadable).toBe(2);
  });

  test('are made, and told once they are in the hub’s list', async () => {
    const { hub, supervised } = await stage();
    hub.state.addBackup(Date.now() - DAY);
    const made = await supervised.backup?.(patience());
    expect(made?.name).toBe(hub.state.backups[0]?.name);
    expect(Date.now() - (made?.at as number)).toBeLessThan(60_000);
  });

  test('that do not appear in the list are no backups', async () => {
    const { hub, supervised, clock } = await stage();
    hub.state.quirks.losesBackups = true;
    const made = supervised.backup?.(patience());
    const outcome = expect(made).rejects.toMatchObject({ code: 'BACKEND_TIMEOUT', hint: expect.any(String) });
    let isOver = false;
    void made?.catch(() => {
      isOver = true;
    });
    await eventually(async () => {
      await clock.jump(2_000);
      return isOver;
    }, 'the end of the looks');
    await outcome;
  });

  test('are asked for once: an answer that is lost is not followed by a second', async () => {
    const { hub, supervised } = await stage();
    await supervised.backups?.(patience());
    const making = () => hub.requests.filter(path => path === '/hub/backupDB').length;
    hub.trouble.status = { code: 500, times: 1, path: /backupDB/ };
    await expect(supervised.backup?.(patience())).rejects.toMatchObject({ code: 'BACKEND_TIMEOUT' });
    expect(making()).toBe(1);
  });
});

describe('a restart of the hub', () => {
  test('is asked for once, wants a backup, and in a dry run nothing happens', async () => {
    const { call, hub } = await stage();
    expect(hubitatOperations.find(({ name }) => name === 'reboot_hubitat_hub')).toMatchObject({
      effect: 'destructive',
      wantsBackup: true,
    });
    await call('reboot_hubitat_hub', {}, { dryRun: true });
    expect(hub.state.reboots).toBe(0);
    expect(await call('reboot_hubitat_hub')).toEqual({ rebooting: true });
    expect(hub.state.reboots).toBe(1);
  });

  test('is taken to be under way when the hub breaks off instead of answering', async () => {
    const { call, hub } = await stage();
    hub.trouble.cuts = 1;
    expect(await call('reboot_hubitat_hub')).toMatchObject({ rebooting: true, note: expect.any(String) });
    expect(hub.state.reboots).toBe(1);
  });
});
