// The faults of plain aedes 1.2 that were found by measuring it, each shown on plain aedes and gone in ours.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { MqttClient } from 'mqtt';
import mqttPacket, { type Packet } from 'mqtt-packet';
import { describe, expect, it } from 'vitest';
import {
  client,
  connect,
  frozen,
  type Got,
  loggedIn,
  ours,
  packet,
  pause,
  plain,
  raw,
  subscribe,
  until,
} from './kit.ts';

const PAIRS = 30;
const count = (got: Got[], letter: string) => got.filter(({ payload }) => payload.startsWith(letter)).length;

function frozenSubscriberIn(kind: 'plain' | 'ours'): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = fork(fileURLToPath(new URL('frozen-subscriber.ts', import.meta.url)), [kind], {
    execArgv: ['--import', 'tsx'],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', text => {
    stdout += text;
  });
  child.stderr?.on('data', text => {
    stderr += text;
  });
  return new Promise(resolve => child.on('close', code => resolve({ code, stdout, stderr })));
}

describe('a subscriber that stops reading', () => {
  it('kills plain aedes when the gateway publishes in the same process', async () => {
    const { code, stderr } = await frozenSubscriberIn('plain');
    expect(code).not.toBe(0);
    expect(stderr).toContain('Maximum call stack size exceeded');
  });

  it('is evicted by ours, within bounded memory, and nobody else misses a message', async () => {
    const { code, stdout } = await frozenSubscriberIn('ours');
    expect(code).toBe(0);
    const result = JSON.parse(stdout) as { published: number; healthy: number; grownMb: number; evicted: number };
    expect(result).toMatchObject({ healthy: result.published, evicted: 1 });
    expect(result.published).toBeGreaterThan(10_000);
    expect(result.grownMb).toBeLessThan(150);
  });

  const flood = async (port: number, publisher: MqttClient, healthy: { got: Got[] }, waitMs: number) => {
    await frozen(port, 'big/#');
    const payload = 'x'.repeat(20_000);
    for (let i = 0; i < 1_000; i++) publisher.publish(`big/${i}`, payload);
    await until(() => healthy.got.length === 1_000, waitMs).catch(() => {});
    return healthy.got.length;
  };

  it('stalls publishers over TCP on plain aedes, and new clients with them', async () => {
    const { port } = await plain({ drainTimeout: 10_000 });
    const healthy = await client(port);
    await healthy.subscribeAsync('big/#');
    expect(await flood(port, await client(port), healthy, 1_500)).toBeLessThan(1_000);
  });

  it('stalls nobody over TCP on ours', async () => {
    const { port, kinds } = await ours({ limits: { backlogBytes: 4_000_000 } });
    const healthy = await client(port);
    await healthy.subscribeAsync('big/#');
    expect(await flood(port, await client(port), healthy, 10_000)).toBe(1_000);
    expect(kinds()).toContain('evicted');
  });

  it('is evicted by ours when it drains nothing for the drain timeout', async () => {
    const { broker, port, kinds } = await ours({ limits: { drainTimeoutMs: 300 } });
    await frozen(port, 'big/#');
    for (let i = 0; i < 200; i++) broker.publish(`big/${i}`, 'x'.repeat(30_000));
    await until(() => broker.clients().length === 0, 3_000);
    expect(kinds()).toEqual(['evicted']);
  });

  it('is evicted by ours at QoS 1 too', async () => {
    const { broker, port } = await ours({ limits: { drainTimeoutMs: 300 } });
    await frozen(port, 'big/#', 1);
    for (let i = 0; i < 300; i++) broker.publish(`big/${i}`, 'x'.repeat(30_000), { qos: 1 });
    await until(() => broker.clients().length === 0, 3_000);
  });
});

describe('two messages of one tick', () => {
  type Publish = (topic: string, payload: string, more: { qos?: 0 | 1; retain?: boolean }) => void;
  const cases = [
    { name: 'retained, then plain', first: { retain: true }, second: {} },
    { name: 'QoS 1, then QoS 0', first: { qos: 1 }, second: {} },
    { name: 'retained QoS 1, then plain QoS 1', first: { qos: 1, retain: true }, second: { qos: 1 } },
  ] as const;

  const pairs = async (publish: Publish, got: Got[], { first, second }: (typeof cases)[number]) => {
    for (let i = 0; i < PAIRS; i++) {
      publish('a/state', `A${i}`, first);
      publish('a/event', `B${i}`, second);
      await pause(2);
    }
    await pause(100);
    return [count(got, 'A'), count(got, 'B')];
  };

  it('lose the first of them on plain aedes', async () => {
    const { aedes, port } = await plain();
    const reader = await client(port);
    await reader.subscribeAsync('#', { qos: 1 });
    const publish: Publish = (topic, payload, more) => aedes.publish(packet(topic, payload, more), () => {});
    expect(await pairs(publish, reader.got, cases[0])).toEqual([0, PAIRS]);
  });

  it.each(cases)('both arrive with ours: $name', async each => {
    const { broker, port } = await ours();
    const reader = await client(port);
    const stays = await client(port, { clientId: 'stays', clean: false });
    for (const subscriber of [reader, stays]) await subscriber.subscribeAsync('#', { qos: 1 });
    expect(await pairs(broker.publish, reader.got, each)).toEqual([PAIRS, PAIRS]);
    expect([count(stays.got, 'A'), count(stays.got, 'B')]).toEqual([PAIRS, PAIRS]);
  });

  it('both arrive with ours from an outside publisher', async () => {
    const { port } = await ours();
    const reader = await client(port);
    await reader.subscribeAsync('#');
    const writer = await client(port);
    const publish: Publish = (topic, payload, more) => writer.publish(topic, payload, more);
    expect(await pairs(publish, reader.got, cases[0])).toEqual([PAIRS, PAIRS]);
  });

  it('arrive in their order', async () => {
    const { broker, port } = await ours();
    const reader = await client(port);
    await reader.subscribeAsync('#', { qos: 1 });
    const sent = Array.from({ length: 60 }, (_, i) => String(i));
    for (const i of sent) broker.publish('a', i, { qos: Number(i) % 3 === 0 ? 1 : 0, retain: Number(i) % 2 === 0 });
    await until(() => reader.got.length === sent.length);
    expect(reader.got.map(({ payload }) => payload)).toEqual(sent);
  });
});

describe('code of the gateway that takes messages', () => {
  it('leaks a slot for each throw on plain aedes, until nothing is delivered any more', async () => {
    const { aedes } = await plain();
    let seen = 0;
    aedes.subscribe(
      'boom',
      () => {
        throw new Error('boom');
      },
      () => {},
    );
    aedes.subscribe(
      'fine',
      (_packet, done) => {
        seen++;
        done();
      },
      () => {},
    );
    let thrown = 0;
    for (let i = 0; i < 200; i++) {
      try {
        aedes.publish(packet('boom', ''), () => {});
      } catch {
        thrown++;
      }
    }
    aedes.publish(packet('fine', ''), () => {});
    await pause(50);
    expect({ seen, thrown: thrown > 0 }).toEqual({ seen: 0, thrown: true });
  });

  it('may throw with ours: it is logged, and every publish is still routed and handed over', async () => {
    const errors: string[] = [];
    const log = {
      debug() {},
      info() {},
      warn() {},
      error: (_details: object, message: string) => errors.push(message),
    };
    let handed = 0;
    const { port } = await ours({
      log,
      onPublish() {
        handed++;
        throw new Error('boom');
      },
    });
    const reader = await client(port);
    await reader.subscribeAsync('#');
    for (const qos of [0, 1, 2] as const) for (let i = 0; i < 100; i++) reader.publish('a', 'x', { qos });
    await until(() => reader.got.length === 300);
    expect({ handed, errors: errors.length, connected: reader.connected }).toEqual({
      handed: 300,
      errors: 300,
      connected: true,
    });
  });

  it('may publish what makes it publish again, as often as it likes', async () => {
    const { broker, port } = await ours({
      isInput: () => true,
      onPublish: ({ topic, payload }) => broker.publish(topic, String(Number(payload) + 1)),
    });
    const reader = await client(port);
    await reader.subscribeAsync('#');
    for (let i = 0; i < 100; i++) reader.publish('causeway/loop/set', '1');
    await until(() => count(reader.got, '2') === 100);
  });
});

describe('$share and $SYS', () => {
  it('are granted by plain aedes: the one delivers nothing, the other shows every client to anybody', async () => {
    const { aedes, port } = await plain();
    const spy = await loggedIn(port, 'spy');
    spy.send(subscribe(['$share/g/t', '$SYS/#']));
    expect((await spy.next('suback')).granted).toEqual([0, 0]);
    aedes.publish(packet('t', 'x'), () => {});
    await loggedIn(port, 'victim');
    await until(() => spy.packets.some(each => each.cmd === 'publish' && each.payload.toString() === 'victim'));
    expect(spy.packets.some(each => each.cmd === 'publish' && each.topic === 't')).toBe(false);
  });

  it('are refused by ours with 0x80', async () => {
    const { port } = await ours();
    const spy = await loggedIn(port, 'spy');
    spy.send(subscribe(['$share/g/t', '$SYS/#', 'mine', '#']));
    expect((await spy.next('suback')).granted).toEqual([0x80, 0x80, 0, 0]);
    await loggedIn(port, 'victim');
    await pause(50);
    expect(spy.packets.filter(each => each.cmd === 'publish')).toEqual([]);
  });
});

describe('size and number', () => {
  const hugeConnect = async (port: number) => {
    const socket = await raw(port);
    socket.write(Buffer.from([0x10, 0xff, 0xff, 0xff, 0x7f]));
    for (let i = 0; i < 8 && !socket.isClosed(); i++) {
      socket.write(Buffer.alloc(256 * 1024));
      await pause(10);
    }
    return socket;
  };

  it('let a stranger fill the memory of plain aedes inside one CONNECT', async () => {
    const { port } = await plain();
    const stranger = await hugeConnect(port);
    expect(stranger.isClosed()).toBe(false);
  });

  it('end with the fixed header of a packet that is too large on ours', async () => {
    const { port, kinds } = await ours();
    const stranger = await raw(port);
    stranger.write(Buffer.from([0x10, 0xff, 0xff, 0xff, 0x7f]));
    await stranger.closed;
    expect(kinds()).toEqual(['packet-too-large']);
  });

  it('allow 256 kB in one message, and not a byte more in its body', async () => {
    const { port, received } = await ours();
    const writer = await loggedIn(port, 'writer');
    writer.send({ ...packet('t', 'x'.repeat(256 * 1024 - 3)) });
    await until(() => received.length === 1);
    writer.send({ ...packet('t', 'x'.repeat(256 * 1024 - 2)) });
    await writer.closed;
    expect(received).toHaveLength(1);
  });

  it('have no limit on plain aedes: 300 silent sockets are kept', async () => {
    const { port } = await plain();
    const sockets = await Promise.all(Array.from({ length: 300 }, () => raw(port)));
    await pause(50);
    expect(sockets.filter(each => each.isClosed())).toEqual([]);
  });

  it('are limited by ours: 16 sockets of an address that have not logged in, and five seconds to do so', async () => {
    const { port } = await ours({ limits: { exemptLoopback: false, connectTimeoutMs: 400 } });
    const sockets = await Promise.all(Array.from({ length: 20 }, () => raw(port)));
    await until(() => sockets.filter(each => each.isClosed()).length === 4);
    await until(() => sockets.every(each => each.isClosed()), 2_000);
  });
});

describe('a refusal', () => {
  it('leaks the socket on plain aedes: no answer and no end', async () => {
    const { port } = await plain({ connectTimeout: 200, preConnect: (_client, _packet, done) => done(null, false) });
    const stranger = await raw(port);
    stranger.send(connect('stranger'));
    await pause(600);
    expect({ packets: stranger.packets, closed: stranger.isClosed() }).toEqual({ packets: [], closed: false });
  });

  const refused = async (port: number, ...frames: [Packet | Buffer]) => {
    const stranger = await raw(port);
    for (const frame of frames) stranger.write(Buffer.isBuffer(frame) ? frame : mqttPacket.generate(frame));
    const { returnCode } = await stranger.next('connack');
    await stranger.closed;
    return returnCode;
  };

  it('is answered by ours and ends the connection: an empty id with a session to keep', async () => {
    const { port } = await ours();
    const emptyId = mqttPacket.generate(connect('', { clean: true }));
    // mqtt-packet will not write the packet that it shall be.
    emptyId[9]! &= ~0x02;
    expect(await refused(port, emptyId)).toBe(2);
  });

  it('is answered by ours and ends the connection: bad credentials', async () => {
    const { port, kinds } = await ours({ authenticate: () => null });
    expect(await refused(port, connect('a', { username: 'a', password: Buffer.from('b') }))).toBe(4);
    expect(kinds()).toEqual(['login-failed']);
  });

  it('is answered by ours and ends the connection: too many clients', async () => {
    const { port, kinds } = await ours({ limits: { clients: 2 } });
    await loggedIn(port, 'one');
    await loggedIn(port, 'two');
    expect(await refused(port, connect('three'))).toBe(3);
    expect(kinds()).toEqual(['clients-full']);
  });

  it('is answered by ours and ends the connection: too many clients of one address', async () => {
    const { port } = await ours({ limits: { clientsPerAddress: 1, exemptLoopback: false } });
    await loggedIn(port, 'one');
    expect(await refused(port, connect('two'))).toBe(3);
  });

  it('frees the place', async () => {
    const { port, broker } = await ours({ limits: { clients: 1 } });
    const first = await loggedIn(port, 'one');
    expect(await refused(port, connect('two'))).toBe(3);
    first.socket.destroy();
    await until(() => broker.counters().sockets === 0);
    await loggedIn(port, 'two');
  });

  it('is answered to a client of MQTT 5', async () => {
    const { port } = await ours();
    expect(await refused(port, connect('five', { protocolVersion: 5 }))).toBe(1);
  });
});

describe('overlapping subscriptions of a session, and two QoS 1 messages of one tick (aedes #543)', () => {
  const overlapping = async (port: number, publish: (topic: string) => void) => {
    const reader = await client(port, { clientId: 'r', clean: false });
    await reader.subscribeAsync(['a/#', 'a/+'], { qos: 1 });
    for (let i = 0; i < 10 && reader.connected; i++) {
      publish('a/one');
      publish('a/two');
      await pause(5);
    }
    await pause(100);
    return { connected: reader.connected, messages: reader.got.length };
  };

  it('cost the client its connection on plain aedes', async () => {
    const { aedes, port } = await plain();
    const result = await overlapping(port, topic => aedes.publish(packet(topic, 'x', { qos: 1 }), () => {}));
    expect(result.connected).toBe(false);
  });

  it('arrive once each with ours, and not again after a reconnect', async () => {
    const { broker, port } = await ours();
    const result = await overlapping(port, topic => broker.publish(topic, 'x', { qos: 1 }));
    expect(result).toEqual({ connected: true, messages: 20 });
    const again = await client(port, { clientId: 'r', clean: false });
    await pause(100);
    expect(again.got).toEqual([]);
    expect(broker.counters().queued).toBe(0);
  });
});
