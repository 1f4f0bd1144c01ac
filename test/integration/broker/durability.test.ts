// What outsiders left with the broker is there after a restart, and after a kill but for the last quarter of a second.
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { type BrokerStore, openSqliteStore } from '../../../broker/index.ts';
import { client, loggedIn, ours, packet, pause, subscribe, until } from './kit.ts';

const stays = { clientId: 'stays', clean: false } as const;

function databaseFile(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'broker-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return path.join(folder, 'broker.db');
}

const retainedTopics = (broker: { retained(filter: string): Iterable<{ topic: string; payload: Buffer }> }) =>
  Object.fromEntries([...broker.retained('#')].map(({ topic, payload }) => [topic, payload.toString()]));

it('keeps outsiders’ retained messages over a restart, and nothing that lies under the root', async () => {
  const file = databaseFile();
  const before = await ours({ persistence: openSqliteStore(file) });
  const writer = await client(before.port);
  for (const topic of ['zigbee/a', 'zigbee/b', 'zigbee/c']) {
    await writer.publishAsync(topic, 'one', { qos: 1, retain: true });
  }
  before.broker.publish('causeway/device/state', 'derived', { retain: true });
  before.broker.publish('homeassistant/device/config', 'ours', { retain: true });
  await pause(300);
  await writer.publishAsync('zigbee/a', 'two', { qos: 1, retain: true });
  await writer.publishAsync('zigbee/b', '', { qos: 1, retain: true });
  await before.broker.close();
  const after = await ours({ persistence: openSqliteStore(file) });
  expect(retainedTopics(after.broker)).toEqual({
    'zigbee/a': 'two',
    'zigbee/c': 'one',
    'homeassistant/device/config': 'ours',
  });
});

it('keeps sessions and their queues over a restart: order, QoS, and what was sent but not acknowledged', async () => {
  const file = databaseFile();
  const before = await ours({ persistence: openSqliteStore(file) });
  const first = await loggedIn(before.port, 'stays', { clean: false });
  first.send(subscribe(['t/#'], 2));
  await first.next('suback');
  before.broker.publish('t/0', '0', { qos: 1 });
  before.broker.publish('t/1', '1', { qos: 2 });
  const sent = [await first.next('publish'), await first.next('publish')];
  first.send({ cmd: 'pubrec', messageId: sent[1]!.messageId as number });
  await first.next('pubrel');
  first.send({ ...packet('from', 'it', { qos: 2 }), messageId: 77 });
  await first.next('pubrec');
  first.socket.destroy();
  await until(() => before.broker.clients().length === 0);
  for (let i = 2; i < 20; i++) before.broker.publish(`t/${i}`, String(i), { qos: ((i % 2) + 1) as 1 | 2 });
  await before.broker.close();

  const after = await ours({ persistence: openSqliteStore(file) });
  after.broker.publish('t/20', '20', { qos: 1 });
  const again = await loggedIn(after.port, 'stays', { clean: false });
  expect(again.packets[0]).toMatchObject({ cmd: 'connack', sessionPresent: true });
  const published = () => again.packets.filter(each => each.cmd === 'publish');
  await until(() => published().length === 20);
  expect(published().map(({ payload }) => Number(payload))).toEqual([
    0,
    ...Array.from({ length: 19 }, (_, i) => i + 2),
  ]);
  expect(published()[0]).toMatchObject({ dup: true, messageId: sent[0]!.messageId });
  expect(published()[1]).toMatchObject({ dup: false, qos: 1 });
  expect(await again.next('pubrel')).toMatchObject({ messageId: sent[1]!.messageId });
  again.send({ ...packet('from', 'it', { qos: 2 }), messageId: 77, dup: true });
  await again.next('pubrec');
  expect(after.received).toEqual([]);
});

it('saves nothing of a session whose client comes back clean', async () => {
  const file = databaseFile();
  const before = await ours({ persistence: openSqliteStore(file) });
  await (await client(before.port, stays)).subscribeAsync('t', { qos: 1 });
  before.broker.publish('t', 'x', { qos: 1 });
  await pause(300);
  await (await client(before.port, { ...stays, clean: true })).endAsync();
  await before.broker.close();
  const store = openSqliteStore(file);
  onTestFinished(() => store.close());
  expect(store.load()).toEqual({ retained: [], sessions: [], queued: [] });
});

it('forgets sessions that did not come back in time', async () => {
  const file = databaseFile();
  const before = await ours({ persistence: openSqliteStore(file) });
  await (await client(before.port, stays)).subscribeAsync('t', { qos: 1 });
  await before.broker.close();
  await pause(20);
  const after = await ours({ persistence: openSqliteStore(file), limits: { sessionExpiryMs: 10 } });
  expect(after.broker.counters().sessions).toBe(0);
});

it('loses at most what came in the last 250 ms when it is killed', { timeout: 60_000 }, async () => {
  const file = databaseFile();
  const start = async () => {
    const script = fileURLToPath(new URL('durable-broker.ts', import.meta.url));
    const child = fork(script, [file], { execArgv: ['--import', 'tsx'] });
    onTestFinished(() => {
      child.kill('SIGKILL');
    });
    const answer = () => new Promise<unknown>(resolve => child.once('message', resolve));
    const { port } = (await answer()) as { port: number };
    const publish = (topic: string, payload: string) => {
      const done = answer();
      child.send({ topic, payload });
      return done;
    };
    const kill = () => {
      const gone = new Promise(resolve => child.once('exit', resolve));
      child.kill('SIGKILL');
      return gone;
    };
    return { port, publish, kill };
  };
  let next = 0;
  for (let round = 0; round < 3; round++) {
    const broker = await start();
    const reader = await client(broker.port, stays);
    if (round === 0) await reader.subscribeAsync('t', { qos: 1 });
    await until(() => reader.got.length === (round === 0 ? 0 : 10), 3_000);
    expect(reader.got.map(({ payload }) => Number(payload))).toEqual(Array.from(reader.got, (_, i) => next - 10 + i));
    await reader.endAsync();
    const writer = await client(broker.port);
    await writer.publishAsync('kept', String(round), { qos: 1, retain: true });
    for (let i = 0; i < 10; i++) await broker.publish('t', String(next++));
    await pause(400);
    await broker.kill();
  }
  const store = openSqliteStore(file);
  onTestFinished(() => store.close());
  expect(store.load()).toMatchObject({
    retained: [{ topic: 'kept', payload: Buffer.from('2') }],
    queued: { length: 10 },
  });
});

it('goes on when the store fails, tells of it, and saves all when it works again', async () => {
  const real = openSqliteStore(databaseFile());
  let isFull = true;
  const store: BrokerStore = {
    ...real,
    save(changes) {
      if (isFull) throw new Error('disk full');
      real.save(changes);
    },
    close() {},
  };
  onTestFinished(() => real.close());
  const { broker, port, kinds } = await ours({ persistence: store });
  const writer = await client(port);
  await writer.publishAsync('a', '1', { qos: 1, retain: true });
  await until(() => kinds().includes('store-failed'));
  await writer.publishAsync('b', '2', { qos: 1, retain: true });
  isFull = false;
  await broker.close();
  expect(real.load().retained.map(({ topic }) => topic)).toEqual(['a', 'b']);
});
