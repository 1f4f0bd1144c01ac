// Mutated frames from a seeded generator for two and a half seconds: the broker goes on, and delivers afterwards.
import { setTimeout as pause } from 'node:timers/promises';
import mqttPacket, { type Packet } from 'mqtt-packet';
import { expect, it } from 'vitest';
import { client, connect, ours, packet, raw, subscribe, until } from './kit.ts';

const RUN_MS = 2_500;
const SOCKETS = 10;

/** A small generator of whole numbers below `n` (xorshift32). */
function seeded(seed: number): (n: number) => number {
  let state = seed;
  return n => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % n;
  };
}

const will = { topic: 'w', payload: Buffer.from('x'), qos: 1, retain: true };
const frames = (
  [
    connect('f', { keepalive: 10, will, username: 'u', password: Buffer.from('p') }),
    connect('g', { protocolId: 'MQIsdp', protocolVersion: 3, clean: false }),
    connect('h', { protocolVersion: 5 }),
    { ...packet('a/b/c', 'A'.repeat(50), { qos: 2, retain: true }), messageId: 7 },
    { ...packet('a/b', 'A'.repeat(300), { qos: 1 }), messageId: 8 },
    packet('a', 'z', { retain: true }),
    packet('causeway/a/set', 'z'),
    subscribe(['a/+/#', '#'], 2, 3),
    { cmd: 'unsubscribe', messageId: 4, unsubscriptions: ['a/+/#'] },
    { cmd: 'pubrel', messageId: 7 },
    { cmd: 'puback', messageId: 9 },
    { cmd: 'pubrec', messageId: 9 },
    { cmd: 'pubcomp', messageId: 9 },
    { cmd: 'pingreq' },
    { cmd: 'disconnect' },
  ] as Packet[]
).map(each => mqttPacket.generate(each));

it('survives frames that nobody meant', { timeout: 30_000 }, async () => {
  const below = seeded(7);
  const any = () => frames[below(frames.length)]!;
  const flip = (bytes: Buffer) => {
    const copy = Buffer.from(bytes);
    copy[below(copy.length)]! ^= 1 << below(8);
    return copy;
  };
  const mutations: ((bytes: Buffer) => Buffer)[] = [
    flip,
    bytes => flip(flip(bytes)),
    bytes => bytes.subarray(0, below(bytes.length) + 1),
    bytes => Buffer.concat([bytes, Buffer.from([below(256), below(256)])]),
    bytes => Buffer.concat([bytes.subarray(0, below(bytes.length)), any().subarray(below(3))]),
  ];
  const mutate = (bytes: Buffer) => mutations[below(mutations.length)]!(bytes);

  const { broker, port, received } = await ours({ limits: { connectTimeoutMs: 500 } });
  let sent = 0;
  const attack = async () => {
    const socket = await raw(port);
    socket.socket.removeAllListeners('data').resume();
    if (below(4) > 0) socket.write(frames[0]!);
    for (let i = below(8); i >= 0; i--) {
      socket.write(below(3) > 0 ? mutate(any()) : any());
      sent++;
    }
    await pause(10 + below(20));
    socket.socket.destroy();
  };
  const end = performance.now() + RUN_MS;
  const attackers = Array.from({ length: SOCKETS }, async () => {
    while (performance.now() < end) await attack();
  });
  await Promise.all(attackers);

  expect(sent).toBeGreaterThan(1_000);
  expect(broker.counters().notices.fault).toBeUndefined();
  const survivor = await client(port);
  await survivor.subscribeAsync('check', { qos: 1 });
  const before = received.length;
  await survivor.publishAsync('check', 'alive', { qos: 1 });
  await until(() => survivor.got.length === 1 && received.length > before);
  await survivor.endAsync();
  await until(() => broker.counters().sockets === 0);
});
