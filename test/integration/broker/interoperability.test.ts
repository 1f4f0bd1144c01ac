// What the eleven public interoperability cases for MQTT 3.1.1 ask of a server, as tests of our own. Numbers in brackets
// are the statements of the standard.
import { beforeEach, describe, expect, it } from 'vitest';
import {
  client,
  connect,
  type Got,
  loggedIn,
  ours,
  packet,
  pause,
  raw,
  subscribe,
  type TestBroker,
  until,
} from './kit.ts';

let server: TestBroker;
beforeEach(async () => {
  server = await ours();
});

const payloads = (got: readonly Got[]) => got.map(({ payload }) => payload);

/** Ends a connection as a lost network does: no DISCONNECT. */
async function lose(id: string) {
  server.broker.disconnect(id);
  await until(() => !server.broker.clients().some(each => each.id === id));
}

describe('basic', () => {
  it('connects again and again under the same id', async () => {
    for (let i = 0; i < 3; i++) await (await client(server.port, { clientId: 'a' })).endAsync();
  });

  it('delivers each message at the QoS it was published with', async () => {
    const a = await client(server.port);
    await a.subscribeAsync('TopicA', { qos: 2 });
    for (const qos of [0, 1, 2] as const) await a.publishAsync('TopicA', `qos ${qos}`, { qos });
    await until(() => a.got.length === 3);
    expect(a.got.map(({ qos, payload }) => `${payload}: ${qos}`)).toEqual(['qos 0: 0', 'qos 1: 1', 'qos 2: 2']);
  });

  it('delivers at the lower QoS of message and subscription, for a filter with wildcards too (3.8.4-6)', async () => {
    const a = await client(server.port);
    await a.subscribeAsync('TopicA/#', { qos: 1 });
    for (const qos of [0, 1, 2] as const) await a.publishAsync('TopicA/x', 'm', { qos });
    await until(() => a.got.length === 3);
    expect(a.got.map(({ qos }) => qos)).toEqual([0, 1, 1]);
  });

  it('ends the connection on a second CONNECT, and on a protocol name that is not MQTT (3.1.0-2, 3.1.2-1)', async () => {
    const twice = await loggedIn(server.port, 'twice');
    twice.send(connect('twice'));
    await twice.closed;
    const odd = await raw(server.port);
    odd.write(Buffer.from('100f00054e6f6e736504020000000161', 'hex'));
    await odd.closed;
  });

  it('ends the connection when the first packet is no CONNECT (3.1.0-1)', async () => {
    const rude = await raw(server.port);
    rude.send(packet('a', 'b'));
    await rude.closed;
    expect(server.received).toEqual([]);
  });

  it('serves what a client sends behind its CONNECT without waiting for the answer, however much', async () => {
    const hasty = await raw(server.port);
    const many = Array.from({ length: 300 }, (_, i) => packet('t', String(i), { qos: i % 2 ? 1 : 0 }));
    hasty.send(connect('hasty'), subscribe('t'), ...many.map((each, i) => ({ ...each, messageId: i + 1 })));
    await until(() => server.received.length === 300);
    expect(server.received.map(({ payload }) => Number(payload))).toEqual(many.map((_, i) => i));
    expect(hasty.packets[0]).toMatchObject({ cmd: 'connack', returnCode: 0 });
  });

  it('lets the newer of two connections with one id have it (3.1.4-2)', async () => {
    const first = await loggedIn(server.port, 'same');
    const second = await loggedIn(server.port, 'same');
    await first.closed;
    second.send({ cmd: 'pingreq' });
    await second.next('pingresp');
    expect(server.broker.clients().map(({ id }) => id)).toEqual(['same']);
  });
});

describe('retained messages', () => {
  it('go to a new subscriber with the flag set, and to an existing one without (3.3.1-8, 3.3.1-9)', async () => {
    const a = await client(server.port);
    await a.subscribeAsync('fromb/+', { qos: 2 });
    for (const qos of [0, 1, 2] as const) await a.publishAsync(`fromb/${qos}`, `qos ${qos}`, { qos, retain: true });
    const b = await client(server.port);
    await b.subscribeAsync('+/+', { qos: 2 });
    await until(() => a.got.length === 3 && b.got.length === 3);
    expect(a.got.map(({ retain }) => retain)).toEqual([false, false, false]);
    expect(b.got.map(({ payload, qos, retain }) => ({ payload, qos, retain }))).toEqual(
      [0, 1, 2].map(qos => ({ payload: `qos ${qos}`, qos, retain: true })),
    );
  });

  it('are removed by an empty payload (3.3.1-10)', async () => {
    const a = await client(server.port);
    for (const qos of [0, 1, 2] as const) await a.publishAsync(`t/${qos}`, 'x', { qos, retain: true });
    for (const qos of [0, 1, 2] as const) await a.publishAsync(`t/${qos}`, '', { qos, retain: true });
    await a.publishAsync('t/end', 'end', { retain: true });
    const b = await client(server.port);
    await b.subscribeAsync('t/#', { qos: 2 });
    await until(() => b.got.length > 0);
    expect(payloads(b.got)).toEqual(['end']);
  });

  it('come at the lower QoS of message and subscription', async () => {
    const a = await client(server.port);
    await a.publishAsync('t/two', 'x', { qos: 2, retain: true });
    await a.subscribeAsync('t/#', { qos: 0 });
    await until(() => a.got.length === 1);
    expect(a.got[0]).toMatchObject({ qos: 0, retain: true });
  });

  it('never come after a newer message on their topic', async () => {
    const [a, b] = [await loggedIn(server.port, 'a'), await loggedIn(server.port, 'b')];
    a.send(subscribe(['state', 'other']));
    await a.next('suback');
    const rounds = 200;
    for (let round = 2; round < rounds; round++) {
      // In one turn: something for `a`, its subscription, for which the retained message is read, and a newer one.
      a.send(packet('other', 'x'), subscribe('state', 0, round));
      b.send(packet('state', String(round), { retain: true }));
      await a.next('suback');
    }
    const values = () =>
      a.packets.flatMap(each => (each.cmd === 'publish' && each.topic === 'state' ? Number(each.payload) : []));
    await until(() => values().length > rounds && values().at(-1) === rounds - 1);
    expect(values()).toEqual(values().sort((x, y) => x - y));
  });
});

describe('will message', () => {
  const will = { topic: 'TopicA/will', payload: Buffer.from('client gone'), qos: 2, retain: true } as const;

  it('is published when the connection is lost (3.1.2-8)', async () => {
    await client(server.port, { clientId: 'dying', will, keepalive: 2 });
    const b = await client(server.port);
    await b.subscribeAsync('TopicA/will', { qos: 2 });
    await lose('dying');
    await until(() => b.got.length === 1);
    expect(b.got[0]).toMatchObject({ payload: 'client gone', qos: 2, retain: false });
    expect(server.received.map(({ topic, client: id }) => ({ topic, id }))).toEqual([
      { topic: 'TopicA/will', id: 'dying' },
    ]);
    expect([...server.broker.retained('TopicA/will')].map(({ payload }) => payload.toString())).toEqual([
      'client gone',
    ]);
  });

  it('is not published after a DISCONNECT (3.14.4-3)', async () => {
    const a = await client(server.port, { will });
    await a.endAsync();
    await until(() => server.broker.clients().length === 0);
    expect(server.received).toEqual([]);
  });

  it('is published when another connection takes the id', async () => {
    await client(server.port, { clientId: 'same', will });
    await client(server.port, { clientId: 'same' });
    await until(() => server.received.length === 1);
  });
});

describe('zero length client id', () => {
  it('gets an id of the server with a clean session (3.1.3-6)', async () => {
    const a = await loggedIn(server.port, '');
    expect(a.packets[0]).toMatchObject({ returnCode: 0 });
    expect(server.broker.clients()[0]!.id.length).toBeGreaterThan(10);
  });
  // Without a clean session it is refused: faults.test.ts.
});

describe('offline message queueing', () => {
  it('keeps what was published at QoS 1 and 2 while the client was away, in order (3.1.2-5)', async () => {
    const a = await client(server.port, { clientId: 'a', clean: false });
    await a.subscribeAsync('+/+', { qos: 2 });
    await a.endAsync();
    await until(() => server.broker.clients().length === 0);
    const b = await client(server.port);
    for (let i = 0; i < 30; i++) await b.publishAsync('TopicA/B', String(i), { qos: (i % 3) as 0 | 1 | 2 });
    // mqtt.js would show a QoS 2 message only at its release: the order is that of the wire.
    const again = await loggedIn(server.port, 'a', { clean: false });
    const published = () => again.packets.filter(each => each.cmd === 'publish');
    await until(() => published().length === 20);
    const expected = Array.from({ length: 30 }, (_, i) => i).filter(i => i % 3 > 0);
    expect(published().map(({ payload }) => Number(payload))).toEqual(expected);
    expect(published().map(({ qos }) => qos)).toEqual(expected.map(i => i % 3));
  });

  it('keeps the order when messages come while the queue is being sent', async () => {
    const stored = { clientId: 'a', clean: false };
    const a = await client(server.port, stored);
    await a.subscribeAsync('t', { qos: 1 });
    await a.endAsync();
    await until(() => server.broker.clients().length === 0);
    let i = 0;
    for (; i < 500; i++) server.broker.publish('t', String(i), { qos: 1 });
    const returning = client(server.port, stored);
    for (; i < 900; i++) {
      server.broker.publish('t', String(i), { qos: 1 });
      await new Promise(resolve => setImmediate(resolve));
    }
    const again = await returning;
    await until(() => again.got.length >= 900);
    expect(payloads(again.got).map(Number)).toEqual(Array.from({ length: 900 }, (_, n) => n));
  });

  it('forgets the session when its client comes with a clean one (3.1.2-6)', async () => {
    const a = await client(server.port, { clientId: 'a', clean: false });
    await a.subscribeAsync('t', { qos: 1 });
    await a.endAsync();
    server.broker.publish('t', 'lost', { qos: 1 });
    await (await client(server.port, { clientId: 'a', clean: true })).endAsync();
    const b = await loggedIn(server.port, 'a', { clean: false });
    expect(b.packets[0]).toMatchObject({ sessionPresent: false });
    expect(server.broker.counters()).toMatchObject({ queued: 0 });
  });

  it('says whether the session was present (3.2.2-2)', async () => {
    const first = await loggedIn(server.port, 'a', { clean: false });
    first.send(subscribe('t', 1));
    await first.next('suback');
    await lose('a');
    const second = await loggedIn(server.port, 'a', { clean: false });
    expect([first.packets[0], second.packets[0]]).toMatchObject([{ sessionPresent: false }, { sessionPresent: true }]);
  });
});

describe('overlapping subscriptions', () => {
  it('deliver once, at the highest QoS', async () => {
    const a = await client(server.port);
    await a.subscribeAsync({ 'TopicA/#': { qos: 2 }, 'TopicA/+': { qos: 1 }, 'TopicA/C': { qos: 0 } });
    for (const qos of [2, 0] as const) await a.publishAsync('TopicA/C', 'overlapping', { qos });
    await until(() => a.got.length >= 2);
    await pause(30);
    expect(a.got.map(({ qos }) => qos)).toEqual([2, 0]);
  });
});

describe('keepalive', () => {
  it('of a silent client ends its connection after one and a half times, and its will is published (3.1.2-24)', async () => {
    const begin = performance.now();
    const silent = await loggedIn(server.port, 'silent', {
      keepalive: 1,
      will: { topic: 'gone', payload: Buffer.from('x'), qos: 0, retain: false },
    });
    await silent.closed;
    expect(performance.now() - begin).toBeGreaterThan(1_400);
    await until(() => server.received.length === 1);
  });

  it('is kept by publishing alone', async () => {
    const busy = await loggedIn(server.port, 'busy', { keepalive: 1 });
    for (let i = 0; i < 9; i++) {
      busy.send(packet('t', 'x'));
      await pause(250);
    }
    expect(busy.isClosed()).toBe(false);
  });
});

describe('redelivery on reconnect', () => {
  const subscribed = async (qos: 1 | 2) => {
    const a = await loggedIn(server.port, 'a', { clean: false });
    a.send(subscribe('t', qos));
    await a.next('suback');
    return a;
  };

  it('sends what was not acknowledged again: the same id, marked as duplicate (4.4.0-1, 3.3.1-1)', async () => {
    const a = await subscribed(1);
    server.broker.publish('t', 'one', { qos: 1 });
    const first = await a.next('publish');
    await lose('a');
    const again = await loggedIn(server.port, 'a', { clean: false });
    const second = await again.next('publish');
    expect(first).toMatchObject({ dup: false, qos: 1 });
    expect(second).toMatchObject({ dup: true, qos: 1, messageId: first.messageId });
    again.send({ cmd: 'puback', messageId: first.messageId as number });
    await until(() => server.broker.counters().queued === 0);
  });

  it('sends the release again of what was received at QoS 2', async () => {
    const a = await subscribed(2);
    server.broker.publish('t', 'two', { qos: 2 });
    const { messageId } = await a.next('publish');
    a.send({ cmd: 'pubrec', messageId: messageId as number });
    await a.next('pubrel');
    await lose('a');
    const again = await loggedIn(server.port, 'a', { clean: false });
    expect(await again.next('pubrel')).toMatchObject({ messageId });
    again.send({ cmd: 'pubcomp', messageId: messageId as number });
    await until(() => server.broker.counters().queued === 0);
    expect(again.packets.filter(({ cmd }) => cmd === 'publish')).toEqual([]);
  });

  it('publishes a QoS 2 message once, however often its client sends it before the release (4.3.3-2)', async () => {
    const a = await loggedIn(server.port, 'a', { clean: false });
    a.send({ ...packet('t', 'x', { qos: 2 }), messageId: 7 });
    await a.next('pubrec');
    await lose('a');
    const again = await loggedIn(server.port, 'a', { clean: false });
    again.send({ ...packet('t', 'x', { qos: 2 }), messageId: 7, dup: true });
    await again.next('pubrec');
    again.send({ cmd: 'pubrel', messageId: 7 });
    await again.next('pubcomp');
    expect(server.received).toHaveLength(1);
  });

  it('never uses an id that is still in use', async () => {
    const a = await subscribed(1);
    const ids = new Set<number>();
    for (let connection = 0; connection < 4; connection++) {
      const current = connection === 0 ? a : await loggedIn(server.port, 'a', { clean: false });
      for (let i = 0; i < 100; i++) server.broker.publish('t', 'x', { qos: 1 });
      await until(() => current.packets.filter(({ cmd }) => cmd === 'publish').length >= 100 * (connection + 1));
      for (const each of current.packets) if (each.cmd === 'publish') ids.add(each.messageId!);
      await lose('a');
    }
    expect(ids.size).toBe(400);
  });
});

describe('subscribe failure', () => {
  it('is 0x80 for the filter that is not permitted, and nothing for the others (3.8.4-5)', async () => {
    const limited = await ours({ authenticate: () => ({ name: 'a', publish: [], subscribe: ['test/#'] }) });
    const a = await loggedIn(limited.port, 'a');
    a.send(subscribe(['test/x', 'other/x', 'test/#', '#'], 2));
    expect((await a.next('suback')).granted).toEqual([2, 0x80, 2, 0x80]);
  });
});

describe('dollar topics', () => {
  it('are not reached by a filter that begins with a wildcard (4.7.2-1)', async () => {
    const a = await client(server.port);
    const stored = await client(server.port, { clientId: 's', clean: false });
    for (const each of [a, stored]) await each.subscribeAsync(['#', '+/x'], { qos: 2 });
    await a.publishAsync('$TopicA/x', 'hidden', { qos: 1, retain: true });
    await a.publishAsync('plain/x', 'seen');
    await until(() => a.got.length > 0 && stored.got.length > 0);
    expect([payloads(a.got), payloads(stored.got)]).toEqual([['seen'], ['seen']]);
  });
});

describe('unsubscribe', () => {
  it('stops delivery, and leaves the other filters (3.10.4-2)', async () => {
    const a = await client(server.port);
    await a.subscribeAsync(['TopicA', 'TopicA/B', 'Topic/C'], { qos: 2 });
    await a.unsubscribeAsync('TopicA');
    const b = await client(server.port);
    for (const topic of ['TopicA', 'TopicA/B', 'Topic/C']) await b.publishAsync(topic, topic, { qos: 1 });
    await until(() => a.got.length === 2);
    await pause(30);
    expect(payloads(a.got)).toEqual(['TopicA/B', 'Topic/C']);
  });

  it('of what was never subscribed is answered all the same (3.10.4-5)', async () => {
    const a = await loggedIn(server.port, 'a');
    a.send({ cmd: 'unsubscribe', messageId: 9, unsubscriptions: ['never'] });
    expect(await a.next('unsuback')).toMatchObject({ messageId: 9 });
  });

  it('stops queueing for a session', async () => {
    const a = await client(server.port, { clientId: 'a', clean: false });
    await a.subscribeAsync('t', { qos: 1 });
    await a.unsubscribeAsync('t');
    await a.endAsync();
    server.broker.publish('t', 'x', { qos: 1 });
    expect(server.broker.counters().queued).toBe(0);
  });
});
