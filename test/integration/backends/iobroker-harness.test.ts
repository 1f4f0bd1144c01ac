// The harness itself: a real ioBroker that tells over its ws adapter what the test does, and bears being stopped.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { type IoBroker, startIoBroker } from '../../iobroker/harness.ts';
import { describeIobroker } from '../../iobroker/installed.ts';
import { eventually } from '../../kit/eventually.ts';

const SLOW = 120_000;

/** A client of few words: calls, and the changes that it was told. */
async function client(url: string, query = '') {
  const socket = new WebSocket(`${url}/?sid=1&name=test${query}`);
  const told: unknown[][] = [];
  const waiting = new Map<number, (args: unknown[]) => void>();
  let isReady = false;
  let count = 0;
  socket.on('message', data => {
    const [type, number, name, args = []] = JSON.parse(String(data)) as [number, number, string, unknown[]?];
    if (name === '___ready___') isReady = true;
    else if (type === 3) waiting.get(number)?.(args);
    else if (type === 0) told.push([name, ...args]);
  });
  socket.on('error', () => {});
  await eventually(() => isReady || socket.readyState === WebSocket.CLOSED, 'a word of the adapter', 30_000);
  return {
    isReady: () => isReady,
    isOpen: () => socket.readyState === WebSocket.OPEN,
    told,
    call: (name: string, ...args: unknown[]) =>
      new Promise<unknown[]>(resolve => {
        waiting.set(++count, resolve);
        socket.send(JSON.stringify([3, count, name, args]));
      }),
    changesOf: (id: string) =>
      told.filter(([name, of]) => name === 'stateChange' && of === id).map(([, , state]) => state),
    end: () => socket.terminate(),
  };
}

describeIobroker('the real ioBroker of the tests', () => {
  let io: IoBroker;
  afterEach(() => io.end(), SLOW);

  test('tells what a device does, takes a command to it, and has it confirmed', { timeout: SLOW }, async () => {
    io = await startIoBroker();
    await io.addState('hue.0.lamp.on', { type: 'boolean', role: 'switch' }, false);
    const one = await client(io.wireUrl);
    expect(await one.call('subscribe', 'hue.0.*')).toEqual([null]);
    await io.setState('hue.0.lamp.on', true);
    await eventually(() => one.changesOf('hue.0.lamp.on').length === 1);
    await one.call('setState', 'hue.0.lamp.on', { val: false, ack: false });
    await eventually(() => one.changesOf('hue.0.lamp.on').length === 3);
    expect(one.changesOf('hue.0.lamp.on')).toMatchObject([
      { val: true, ack: true, from: 'system.adapter.hue.0' },
      { val: false, ack: false, from: 'system.adapter.ws.0' },
      { val: false, ack: true, from: 'system.adapter.hue.0' },
    ]);
    expect(io.commands('hue.0.lamp.on')).toMatchObject([{ val: false }]);
    await io.deleteState('hue.0.lamp.on');
    await eventually(() => one.changesOf('hue.0.lamp.on').at(-1) === null);
    expect([io.wire.made, io.wire.open]).toEqual([1, 1]);
    io.wire.cut();
    await eventually(() => !one.isOpen());
  });

  test('keeps what it has over stops of the adapter and of the controller', { timeout: SLOW }, async () => {
    io = await startIoBroker();
    await io.addState('hue.0.lamp.level', { type: 'number' }, 7);
    await io.stopAdapter('ws');
    expect(await io.getState('system.adapter.ws.0.alive')).toMatchObject({ val: false });
    await expect(client(io.url)).resolves.toMatchObject({});
    await io.startAdapter('ws');
    await io.stopController();
    await io.startController();
    const one = await client(io.url);
    expect(await one.call('getState', 'hue.0.lamp.level')).toMatchObject([null, { val: 7, ack: true }]);
    await io.loseDatabases();
    await io.startController();
    const two = await client(io.url);
    expect(await two.call('getObject', 'hue.0.lamp.level')).toMatchObject([null, { type: 'state' }]);
    two.end();
  });

  test('asks for the password that a user has', { timeout: SLOW }, async () => {
    io = await startIoBroker({ auth: { name: 'gw', password: 'secret1' } });
    await io.addState('hue.0.lamp.level', { type: 'number' }, 7);
    expect((await client(io.url)).isReady()).toBe(false);
    expect((await client(io.url, '&user=gw&pass=wrong')).isReady()).toBe(false);
    const one = await client(io.url, '&user=gw&pass=secret1');
    expect(await one.call('getState', 'hue.0.lamp.level')).toMatchObject([null, { val: 7 }]);
    one.end();
    await io.setUser({ name: 'gw', password: 'secret2' });
    expect((await client(io.url, '&user=gw&pass=secret1')).isReady()).toBe(false);
  });

  test('keeps a history, and tells its log', { timeout: SLOW }, async () => {
    io = await startIoBroker({ adapters: ['ws', 'admin', 'history'] });
    const custom = { 'history.0': { enabled: true, changesOnly: false, debounceTime: 0, blockTime: 0, maxLength: 10 } };
    await io.addState('hue.0.lamp.level', { type: 'number', custom });
    const one = await client(io.url);
    const rows = async () => {
      const past = { instance: 'history.0', start: Date.now() - 3_600_000, end: Date.now() + 1_000, aggregate: 'none' };
      return ((await one.call('getHistory', 'hue.0.lamp.level', past))[1] ?? []) as { val: unknown }[];
    };
    let value = 0;
    await eventually(
      async () => {
        await io.setState('hue.0.lamp.level', ++value);
        return (await rows()).some(row => row.val === value);
      },
      'a row',
      30_000,
    );
    const admin = await client(io.adminUrl);
    await admin.call('requireLog', true);
    await eventually(async () => {
      await io.log({ severity: 'warn', message: 'hue.0 (1) the bridge is slow', from: 'hue.0' });
      return admin.told.some(([name, line]) => name === 'log' && JSON.stringify(line).includes('the bridge is slow'));
    });
    await admin.call('delObject', 'hue.0.lamp.level');
    expect(await io.getObject('hue.0.lamp.level')).toBeNull();
    for (const each of [one, admin]) each.end();
  });
});

describeIobroker('an ioBroker whose test is killed', () => {
  test('leaves no process and no folder, not even one that stands still', { timeout: SLOW }, async () => {
    const harness = new URL('../../iobroker/harness.ts', import.meta.url).href;
    const abandon = `
      const { startIoBroker } = await import('${harness}');
      const io = await startIoBroker({ adapters: ['ws', 'history'] });
      io.holdAdapter('history');
      console.log(JSON.stringify({ pids: io.pids(), dir: io.dir }));
      setTimeout(() => process.kill(process.pid, 'SIGKILL'), 100);`;
    const args = ['--import', import.meta.resolve('tsx'), '--input-type=module', '--eval', abandon];
    const { stdout } = await new Promise<{ stdout: string }>(resolve => {
      execFile(process.execPath, args, (_killed, stdout) => resolve({ stdout }));
    });
    const { pids, dir } = JSON.parse(stdout) as { pids: number[]; dir: string };
    expect(pids).toHaveLength(3);
    await eventually(() => !pids.some(isAlive) && !existsSync(dir), 'the end of all of it', 60_000);
  });
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
