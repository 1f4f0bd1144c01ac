import { describe, expect, it } from 'vitest';
import type { AedesPacket } from '../../../broker/aedes.ts';
import { publishFrame } from '../../../broker/frames.ts';
import { createRouter } from '../../../broker/router.ts';

function setUp() {
  const errors: string[] = [];
  const log = { debug() {}, info() {}, warn() {}, error: (_details: object, message: string) => errors.push(message) };
  const router = createRouter(log);
  const client = (mayRead = (_topic: string) => true) => {
    const frames: Buffer[] = [];
    const stored: number[] = [];
    const outbox = { start() {}, seal() {}, send: (frame: Buffer) => frames.push(frame) };
    const subscriber = { outbox, mayRead, sendStored: (_packet: AedesPacket, qos: number) => stored.push(qos) };
    const byAedes: AedesPacket[] = [];
    const subscribe = (filter: string, qos: 0 | 1 | 2 = 0, plain = true) => {
      const deliver = (packet: AedesPacket) => byAedes.push(packet);
      router.subscribing({ subscriber, qos, plain, isRestored: false }, () => router.on(filter, deliver));
      return () => router.removeListener(filter, deliver);
    };
    return { frames, stored, byAedes, subscribe };
  };
  return { router, client, errors };
}
const message = (topic: string) => ({ topic, payload: 'x', retain: false, clientId: undefined, frame: undefined });
const packet = (topic: string, qos: 0 | 1 | 2): AedesPacket => ({
  cmd: 'publish',
  topic,
  payload: 'x',
  qos,
  retain: true,
});

describe('the router', () => {
  it('makes one frame for all who listen, and sends each of them one', () => {
    const { router, client } = setUp();
    const [a, b] = [client(), client()];
    for (const filter of ['t/#', 't/+', 't/1']) a.subscribe(filter);
    b.subscribe('t/1');
    router.deliver(message('t/1'));
    expect(a.frames).toEqual([publishFrame('t/1', 'x')]);
    expect(b.frames[0]).toBe(a.frames[0]);
    expect(router.sent()).toBe(2);
  });

  it('passes a frame on as it came', () => {
    const { router, client } = setUp();
    const a = client();
    a.subscribe('#');
    const frame = Buffer.from('as it came');
    router.deliver({ ...message('t'), frame });
    expect(a.frames[0]).toBe(frame);
  });

  it('sends a message of a higher QoS at the lower of its own and the highest subscription', () => {
    const { router, client } = setUp();
    const a = client();
    a.subscribe('t/#', 1);
    a.subscribe('t/+', 0);
    const b = client();
    b.subscribe('#', 0);
    for (const qos of [0, 1, 2] as const) router.emit(packet('t/1', qos));
    expect([a.stored, a.frames.length, b.stored, b.frames.length]).toEqual([[1, 1], 1, [], 3]);
  });

  it('keeps up with every change of subscriptions', () => {
    const { router, client } = setUp();
    const a = client();
    const seen: boolean[] = [];
    const look = () => seen.push(router.hasSubscribers('t/1'));
    look();
    const end = a.subscribe('t/+');
    look();
    const endOther = a.subscribe('#');
    end();
    look();
    endOther();
    look();
    expect(seen).toEqual([false, true, true, false]);
  });

  it('sends nobody what he may not read, though he is subscribed', () => {
    const { router, client } = setUp();
    const a = client(topic => topic === 'open');
    a.subscribe('+', 1);
    for (const topic of ['open', 'secret']) router.emit(packet(topic, 1));
    expect([a.stored, router.hasSubscribers('secret')]).toEqual([[1], false]);
  });

  it('leaves a bridge to aedes, which knows where a message came from', () => {
    const { router, client } = setUp();
    const bridge = client();
    bridge.subscribe('#', 1, false);
    router.deliver({ ...message('t'), retain: true, clientId: 'c' });
    router.emit(packet('t', 2));
    expect(bridge.frames).toEqual([]);
    expect(bridge.byAedes).toMatchObject([{ qos: 0, retain: true, clientId: 'c' }, { qos: 1 }]);
  });

  it('survives a delivery that throws, and answers aedes all the same', () => {
    const { router, errors } = setUp();
    router.on('t', () => {
      throw new Error('boom');
    });
    let isDone = false;
    router.emit(packet('t', 1), () => {
      isDone = true;
    });
    expect([isDone, errors.length]).toEqual([true, 1]);
  });

  it('bears more topics than it remembers', () => {
    const { router, client } = setUp();
    const a = client();
    a.subscribe('#');
    for (let i = 0; i < 70_000; i++) router.deliver(message(`t/${i}`));
    router.deliver(message('x'.repeat(1_000)));
    expect(a.frames).toHaveLength(70_001);
  });
});
