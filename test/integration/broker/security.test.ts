// Nobody in without a credential, nobody beyond his rights, and no client that costs the others more than its share.
import { describe, expect, it } from 'vitest';
import type { Principal } from '../../../broker/index.ts';
import { client, connect, everything, type Got, loggedIn, ours, packet, pause, raw, subscribe, until } from './kit.ts';

const alice: Principal = {
  name: 'alice',
  publish: ['causeway/#', 'zigbee/#'],
  subscribe: ['causeway/#', 'zigbee/+/state'],
};
const bob: Principal = { name: 'bob', publish: [], subscribe: ['#'] };
const users: Record<string, Principal> = { alice, bob };
const authenticate = (_peer: unknown, username: string | undefined, password: string | undefined) =>
  password === 'right' ? (users[username ?? ''] ?? null) : null;
const as = (username: string) => ({ username, password: 'right' });
const topics = (got: readonly Got[]) => got.map(({ topic }) => topic);

describe('logging in', () => {
  it('asks with what the client gave, and where it is', async () => {
    const asked: unknown[] = [];
    const { port } = await ours({
      authenticate: (...all) => {
        asked.push(all);
        return everything;
      },
    });
    await client(port, { clientId: 'c', username: 'u', password: 'pässword' });
    await client(port, { clientId: 'd' });
    const peer = { address: '127.0.0.1', secure: false };
    expect(asked).toEqual([
      [{ id: 'c', ...peer }, 'u', 'pässword'],
      [{ id: 'd', ...peer }, undefined, undefined],
    ]);
  });

  it('may take its time, and refuses when the answer is a rejection', async () => {
    const { port, broker } = await ours({
      authenticate: async (_peer, username) => {
        await pause(30);
        if (username === 'broken') throw new Error('the user store is broken');
        return everything;
      },
    });
    await client(port, { username: 'slow' });
    await expect(client(port, { username: 'broken' })).rejects.toThrow(/Not authorized/i);
    expect(broker.clients().map(({ username }) => username)).toEqual(['anybody']);
  });

  it('refuses a wrong password, and makes an address that tries often wait', async () => {
    const { port, broker } = await ours({ authenticate });
    const attempt = () => client(port, { username: 'alice', password: 'wrong' }).catch(() => {});
    for (let i = 0; i < 5; i++) await attempt();
    const begin = performance.now();
    await attempt();
    expect(performance.now() - begin).toBeGreaterThan(1_500);
    expect(broker.counters().notices).toEqual({ 'login-failed': 6 });
  });

  it('gives no client id to a second user, neither of a client nor of a stored session', async () => {
    const { port, broker, kinds } = await ours({ authenticate });
    const phone = await client(port, { clientId: 'phone', clean: false, ...as('alice') });
    await phone.subscribeAsync('causeway/#', { qos: 1 });
    for (const clean of [true, false]) {
      await expect(client(port, { clientId: 'phone', clean, ...as('bob') })).rejects.toThrow();
    }
    expect(phone.connected).toBe(true);
    await phone.endAsync();
    await until(() => broker.clients().length === 0);
    broker.publish('causeway/secret', 'for alice', { qos: 1 });
    for (const clean of [true, false]) {
      await expect(client(port, { clientId: 'phone', clean, ...as('bob') })).rejects.toThrow();
    }
    const back = await client(port, { clientId: 'phone', clean: false, ...as('alice') });
    await until(() => back.got.length === 1);
    expect(kinds()).toContain('id-taken');
  });

  it('keeps a session its user’s when he takes it over from himself', async () => {
    const { port, broker } = await ours({ authenticate });
    const first = await client(port, { clientId: 'phone', clean: false, ...as('alice') });
    const second = await client(port, { clientId: 'phone', clean: false, ...as('alice') });
    await until(() => !first.connected && broker.counters().sockets === 1);
    await second.subscribeAsync('causeway/#', { qos: 1 });
    await second.endAsync();
    await until(() => broker.clients().length === 0);
    await expect(client(port, { clientId: 'phone', clean: false, ...as('bob') })).rejects.toThrow();
  });

  it('lets a user have the id of a session that was nobody’s, but not what is in it', async () => {
    const { port, broker } = await ours({
      authenticate: (...all) => (all[1] === undefined ? everything : authenticate(...all)),
    });
    const before = await client(port, { clientId: 'zigbee', clean: false });
    await before.subscribeAsync('#', { qos: 1 });
    await before.endAsync();
    broker.publish('secret', 'x', { qos: 1 });
    expect(broker.counters().queued).toBe(1);
    const after = await loggedIn(port, 'zigbee', { clean: false, username: 'bob', password: Buffer.from('right') });
    expect(after.packets[0]).toMatchObject({ sessionPresent: false });
    expect(broker.counters()).toMatchObject({ queued: 0, sessions: 1 });
    after.send(subscribe('#', 1));
    await after.next('suback');
    after.socket.destroy();
    await until(() => broker.clients().length === 0);
    await expect(client(port, { clientId: 'zigbee' })).rejects.toThrow();
  });

  it('refuses the id to the later of two users who come in one moment', async () => {
    const { port, broker } = await ours({ authenticate: async (...all) => authenticate(...all) });
    const clients = await Promise.all([raw(port), raw(port)]);
    for (const [i, each] of clients.entries()) {
      each.send(connect('same', { username: i === 0 ? 'alice' : 'bob', password: Buffer.from('right') }));
    }
    const codes = await Promise.all(clients.map(async each => (await each.next('connack')).returnCode));
    expect(codes.sort()).toEqual([0, 2]);
    expect(broker.clients()).toHaveLength(1);
  });
});

describe('publishing', () => {
  it('under the root reaches inputs alone, and a denied message costs no connection', async () => {
    const { port, received, kinds } = await ours({ authenticate });
    const reader = await client(port, as('bob'));
    await reader.subscribeAsync('#', { qos: 2 });
    const writer = await client(port, as('alice'));
    for (const qos of [0, 1, 2] as const) {
      await writer.publishAsync('causeway/device/d/state', 'forged', { qos, retain: true });
      await writer.publishAsync('causeway', 'forged', { qos });
      await writer.publishAsync('other/topic', 'not permitted', { qos });
      await writer.publishAsync('causeway/device/d/set', `ON ${qos}`, { qos });
    }
    await until(() => reader.got.length === 3);
    await pause(30);
    expect(received.map(({ payload, username }) => `${username}: ${payload}`)).toEqual(
      [0, 1, 2].map(i => `alice: ON ${i}`),
    );
    expect(topics(reader.got)).toEqual(Array(3).fill('causeway/device/d/set'));
    expect(new Set(kinds())).toEqual(new Set(['publish-denied']));
    expect(writer.connected).toBe(true);
  });

  it('counts what is denied, and tells of it once', async () => {
    const { port, broker, notices } = await ours({ authenticate });
    const writer = await client(port, { clientId: 'w', ...as('bob') });
    for (let i = 0; i < 50; i++) await writer.publishAsync('a', 'x', { qos: 1 });
    expect(broker.counters().notices).toEqual({ 'publish-denied': 50 });
    expect(notices).toMatchObject([{ kind: 'publish-denied', client: 'w', username: 'bob', topic: 'a' }]);
  });

  it('retained on an input is dropped whole, and leaves nothing behind', async () => {
    const { port, broker, received, kinds } = await ours();
    const writer = await client(port);
    for (const qos of [0, 1, 2] as const) await writer.publishAsync('causeway/d/set', 'ON', { qos, retain: true });
    await writer.publishAsync('causeway/d/set', 'OFF', { qos: 1 });
    expect(received.map(({ payload }) => payload.toString())).toEqual(['OFF']);
    expect([...broker.retained('#')]).toEqual([]);
    expect(kinds()).toEqual(['retained-input']);
  });

  it('of a will goes through the same checks', async () => {
    const { port, broker, received } = await ours({ authenticate });
    const will = (topic: string) => ({ topic, payload: Buffer.from('x'), qos: 1 as const, retain: false });
    const wills = ['causeway/d/state', 'other', 'zigbee/bridge'];
    for (const topic of wills) await client(port, { clientId: topic, will: will(topic), ...as('alice') });
    await client(port, { clientId: 'r', will: { ...will('causeway/d/set'), retain: true }, ...as('alice') });
    for (const id of [...wills, 'r']) broker.disconnect(id);
    await until(() => broker.clients().length === 0 && received.length > 0);
    expect(received.map(({ topic }) => topic)).toEqual(['zigbee/bridge']);
    expect(broker.counters().notices).toMatchObject({ 'publish-denied': 2, 'retained-input': 1 });
  });

  it('to a topic that no topic is ends the connection', async () => {
    const { port, received } = await ours();
    for (const topic of ['a/+/b', 'a/#', 'nul\u0000', 'ill-formed \uFFFD']) {
      const writer = await loggedIn(port, 'w');
      writer.send(packet(topic, 'x'));
      await writer.closed;
    }
    expect(received).toEqual([]);
  });

  it('deeper than sixteen levels, or to a topic of more than a thousand characters, is denied', async () => {
    const { port, kinds, received } = await ours();
    const writer = await client(port);
    await writer.publishAsync('a/'.repeat(16), 'x', { qos: 1 });
    await writer.publishAsync('a'.repeat(2_000), 'x', { qos: 1 });
    await writer.publishAsync('a/'.repeat(15), 'x', { qos: 1 });
    expect(kinds()).toEqual(['publish-denied']);
    expect(received).toHaveLength(1);
  });
});

describe('subscribing', () => {
  it('is granted inside the rights, and refused outside, however the filter is written', async () => {
    const { port } = await ours({ authenticate });
    const reader = await loggedIn(port, 'r', { username: 'alice', password: Buffer.from('right') });
    const wanted = ['causeway/#', 'causeway/+/x', 'causeway', 'zigbee/lamp/state', 'zigbee/+/state'];
    const refused = ['#', '+/#', '+/x', 'zigbee/#', 'zigbee/+/+', 'zigbee/lamp/set', 'causewayx', '$SYS/#'];
    reader.send(subscribe([...wanted, ...refused], 1));
    expect((await reader.next('suback')).granted).toEqual([...wanted.map(() => 1), ...refused.map(() => 0x80)]);
  });

  it('sends no retained message for a refused filter, and stores none of its kind for a session', async () => {
    const { port, broker } = await ours({ authenticate });
    broker.publish('secret', 'x', { retain: true });
    const login = { clean: false, username: 'alice', password: Buffer.from('right') };
    const reader = await loggedIn(port, 'r', login);
    reader.send(subscribe(['causeway/a', 'secret', 'causeway/b'], 1));
    expect((await reader.next('suback')).granted).toEqual([1, 0x80, 1]);
    reader.socket.destroy();
    await until(() => broker.clients().length === 0);
    for (const topic of ['secret', 'causeway/a', 'causeway/b']) broker.publish(topic, topic, { qos: 1 });
    const back = await loggedIn(port, 'r', login);
    const got = [await back.next('publish'), await back.next('publish')];
    await pause(50);
    expect(got.map(each => each.topic)).toEqual(['causeway/a', 'causeway/b']);
    expect(back.packets.filter(({ cmd }) => cmd === 'publish')).toHaveLength(2);
  });

  it('is judged anew for a restored session whose user has fewer rights by now', async () => {
    let rights: Principal = { name: 'carol', publish: [], subscribe: ['#'] };
    const { port, broker } = await ours({ authenticate: () => rights });
    const first = await client(port, { clientId: 'c', clean: false });
    await first.subscribeAsync(['secret/#', 'open/#'], { qos: 1 });
    await first.endAsync();
    await until(() => broker.clients().length === 0);
    const both = () => {
      for (const topic of ['secret/x', 'open/x']) broker.publish(topic, topic, { qos: 1 });
    };
    both();
    rights = { ...rights, subscribe: ['open/#'] };
    const again = await client(port, { clientId: 'c', clean: false });
    both();
    await until(() => again.got.length >= 2);
    await pause(50);
    expect(topics(again.got)).toEqual(['open/x', 'open/x']);
    expect(broker.counters().queued).toBe(0);
  });

  it('is limited in number, and an overfull packet ends the connection', async () => {
    const { port, kinds } = await ours({ limits: { subscriptions: 3 } });
    const reader = await loggedIn(port, 'r');
    reader.send(subscribe(['a', 'b']));
    reader.send(subscribe(['b', 'c', 'd'], 1, 2));
    await reader.next('suback');
    expect((await reader.next('suback')).granted).toEqual([1, 1, 0x80]);
    reader.send({ cmd: 'unsubscribe', messageId: 3, unsubscriptions: ['a'] }, subscribe(['d'], 1, 4));
    expect((await reader.next('suback')).granted).toEqual([1]);
    reader.send(subscribe(['1', '2', '3', '4'], 0, 5));
    await reader.closed;
    expect(kinds()).toContain('subscriptions-full');
  });

  it('with wildcards in odd places ends the connection or is refused, and never granted', async () => {
    const { port } = await ours();
    for (const filter of ['a/#/b', 'a#', '+a', 'a+', '#a', 'a+/b']) {
      const reader = await loggedIn(port, 'r');
      reader.send(subscribe(filter));
      const answer = await Promise.race([reader.next('suback'), reader.closed]).catch(() => undefined);
      expect(answer?.granted ?? [0x80]).toEqual([0x80]);
    }
  });
});

describe('a flood', () => {
  const limits = { exemptLoopback: false, rate: 100, burst: 50 };

  it('is read at the permitted rate, loses nothing, and leaves others alone', async () => {
    const { port, received, kinds } = await ours({ limits });
    const flooder = await loggedIn(port, 'flooder', { keepalive: 1 });
    const begin = performance.now();
    flooder.send(...Array.from({ length: 200 }, (_, i) => packet('t', String(i))));
    const other = await client(port, { clientId: 'other' });
    await other.publishAsync('o', 'x', { qos: 1 });
    expect(received.length).toBeLessThan(150);
    await until(() => received.length === 201);
    expect(performance.now() - begin).toBeGreaterThan(1_300);
    expect(received.filter(({ topic }) => topic === 't').map(({ payload }) => Number(payload))).toEqual(
      Array.from({ length: 200 }, (_, i) => i),
    );
    expect(kinds()).toEqual(['rate']);
    expect(flooder.isClosed()).toBe(false);
  });

  it('from this machine is not slowed down, unless one wants it', async () => {
    const { port, received } = await ours({ limits: { ...limits, exemptLoopback: true } });
    const writer = await loggedIn(port, 'writer');
    writer.send(...Array.from({ length: 1_000 }, () => packet('t', 'x')));
    await until(() => received.length === 1_000, 900);
  });
});

describe('what is kept', () => {
  it('for a session is its latest messages', async () => {
    const { port, broker, kinds } = await ours({ limits: { queuedMessages: 10 } });
    const away = await client(port, { clientId: 'away', clean: false });
    await away.subscribeAsync('t', { qos: 1 });
    await away.endAsync();
    await until(() => broker.clients().length === 0);
    for (let i = 0; i < 25; i++) broker.publish('t', String(i), { qos: 1 });
    const back = await client(port, { clientId: 'away', clean: false });
    await until(() => back.got.length === 10);
    expect(back.got.map(({ payload }) => Number(payload))).toEqual([15, 16, 17, 18, 19, 20, 21, 22, 23, 24]);
    expect(kinds()).toEqual(['queue-full']);
  });

  it('of sessions is limited in number', async () => {
    const { port, broker } = await ours({ limits: { sessions: 2 } });
    for (const clientId of ['a', 'b']) {
      const each = await client(port, { clientId, clean: false });
      await each.subscribeAsync('t', { qos: 1 });
      await each.endAsync();
    }
    await expect(client(port, { clientId: 'c', clean: false })).rejects.toThrow();
    await client(port, { clientId: 'c' });
    await client(port, { clientId: 'a', clean: false });
    expect(broker.counters()).toMatchObject({ sessions: 2, notices: { 'sessions-full': 1 } });
  });

  it('of retained messages outside the root is limited; what is over goes out but is not kept', async () => {
    const { port, broker, received } = await ours({ limits: { retainedTopics: 2 } });
    const writer = await client(port);
    for (const topic of ['a', 'b', 'c', 'a']) await writer.publishAsync(topic, 'x', { qos: 1, retain: true });
    for (let i = 0; i < 5; i++) broker.publish(`causeway/${i}`, 'x', { retain: true });
    expect(received).toHaveLength(4);
    expect([...broker.retained('+')].map(({ topic }) => topic)).toEqual(['a', 'b']);
    expect([...broker.retained('causeway/#')]).toHaveLength(5);
    expect(broker.counters().notices).toEqual({ 'retained-full': 1 });
  });
});
