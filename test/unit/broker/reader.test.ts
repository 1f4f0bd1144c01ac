import { EventEmitter } from 'node:events';
import { duplexPair } from 'node:stream';
import fc from 'fast-check';
import mqttPacket, { type Packet } from 'mqtt-packet';
import { describe, expect, it } from 'vitest';
import type { AedesClient } from '../../../broker/aedes.ts';
import type { Bucket } from '../../../broker/limits.ts';
import { readFrames } from '../../../broker/reader.ts';
import { handClock } from './kit.ts';

/** A reader before a parser that only notes what it is given. */
function setUp(more: { packetBytes?: number; bucket?: Bucket } = {}) {
  const clock = handClock();
  const [stream] = duplexPair();
  const toAedes: number[] = [];
  const taken: string[] = [];
  const ended: string[] = [];
  let isPaused = false;
  const parser = Object.assign(new EventEmitter(), {
    parse(frame: Buffer) {
      toAedes.push(frame[0]! >> 4);
      return 0;
    },
  });
  const client = {
    closed: false,
    _parser: parser,
    _keepaliveTimer: null,
    pause() {
      isPaused = true;
    },
    resume() {
      isPaused = false;
    },
  };
  const end = (why: string) => {
    ended.push(why);
    client.closed = true;
  };
  const reader = readFrames({
    client: client as unknown as AedesClient,
    stream,
    clock,
    packetBytes: more.packetBytes ?? 1_000,
    maxFilters: 3,
    bucket: more.bucket,
    taken({ topic, payload, qos, messageId, retain, chunk, start, end: stop }) {
      taken.push(`${topic}=${payload} ${qos} ${messageId} ${retain} ${stop - start}/${chunk.length >= stop}`);
      return topic !== 'refused';
    },
    tooLarge: bytes => end(`too large: ${bytes}`),
    tooMany: filters => end(`too many: ${filters}`),
    tooFast: () => ended.push('too fast'),
    failed: error => end(String(error)),
  });
  return { clock, parser, reader, client, toAedes, taken, ended, isPaused: () => isPaused };
}

const connect = {
  cmd: 'connect',
  protocolId: 'MQTT',
  protocolVersion: 4,
  clean: true,
  clientId: 'c',
  keepalive: 0,
} as const;
const frameOf = (packet: object) => mqttPacket.generate(packet as Packet);
const publish = (topic: string, payload: string, qos: 0 | 1 | 2 = 0, messageId = 1) =>
  frameOf({ cmd: 'publish', topic, payload, qos, messageId, retain: false, dup: false });

describe('frames', () => {
  it('are found however the stream is cut', () => {
    const packet = fc.oneof(
      fc.record({ cmd: fc.constant('publish'), qos: fc.constantFrom(0, 1, 2), size: fc.constantFrom(0, 1, 100, 300) }),
      fc.record({ cmd: fc.constantFrom('pingreq', 'puback', 'subscribe'), qos: fc.constant(0), size: fc.constant(0) }),
    );
    const cuts = fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(fc.array(packet, { maxLength: 12 }), cuts, (packets, sizes) => {
        const stream = Buffer.concat([
          frameOf(connect),
          ...packets.map(({ cmd, qos, size }, i) =>
            cmd === 'publish'
              ? publish(`t${i}`, 'x'.repeat(size), qos as 0, i + 1)
              : frameOf({ cmd, messageId: 1, subscriptions: [{ topic: 'a', qos: 0 }] }),
          ),
        ]);
        const { parser, reader, toAedes, taken, ended } = setUp();
        for (let at = 0, i = 0; at < stream.length; i++) {
          const next = at + sizes[i % sizes.length]!;
          parser.parse(stream.subarray(at, next));
          // The CONNECT is answered some time later.
          if (i === 2) reader.open();
          at = next;
        }
        reader.open();
        const short = packets.flatMap(({ cmd, qos, size }, i) =>
          cmd === 'publish' && qos < 2
            ? [
                `t${i}=${'x'.repeat(size)} ${qos} ${qos && i + 1} false ${publish(`t${i}`, 'x'.repeat(size), qos as 0).length}/true`,
              ]
            : [],
        );
        expect(taken).toEqual(short);
        expect(toAedes).toHaveLength(1 + packets.length - short.length);
        expect(ended).toEqual([]);
      }),
    );
  });

  it('behind a CONNECT wait for its answer', () => {
    const { parser, reader, toAedes, taken } = setUp();
    parser.parse(Buffer.concat([frameOf(connect), publish('a', '1'), frameOf({ cmd: 'pingreq' })]));
    parser.parse(publish('b', '2'));
    expect([toAedes, taken]).toEqual([[1], []]);
    reader.open();
    expect(taken.map(each => each[0])).toEqual(['a', 'b']);
    expect(toAedes).toEqual([1, 12]);
  });

  it('that come before any CONNECT go to aedes, which ends the connection', () => {
    const { parser, toAedes, taken } = setUp();
    parser.parse(publish('a', '1'));
    expect([toAedes, taken]).toEqual([[3], []]);
  });

  it('that are odd go to aedes: of QoS 3, a duplicate of QoS 0, without an id, cut short, or refused', () => {
    const { parser, reader, toAedes, taken } = setUp();
    reader.open();
    parser.parse(Buffer.from('360300016100', 'hex').subarray(0, 5));
    parser.parse(Buffer.from('3803000161', 'hex'));
    parser.parse(Buffer.from('32050001610000', 'hex'));
    parser.parse(Buffer.from('3003000961', 'hex'));
    parser.parse(Buffer.from('300100', 'hex'));
    parser.parse(Buffer.from('3200', 'hex'));
    parser.parse(publish('refused', 'x'));
    expect(toAedes).toEqual(Array(7).fill(3));
    expect(taken).toHaveLength(1);
  });
});

describe('too much', () => {
  it('in one packet ends with its header, before its body comes', () => {
    const { parser, ended, toAedes } = setUp({ packetBytes: 100 });
    parser.parse(Buffer.from([0x10, 101]));
    expect([ended, toAedes]).toEqual([['too large: 101'], []]);
  });

  it('to say how long it is ends too', () => {
    const { parser, ended } = setUp();
    parser.parse(Buffer.from([0x30, 0xff, 0xff, 0xff, 0xff]));
    expect(ended).toHaveLength(1);
  });

  it('in a second is read later, in order, and without loss', () => {
    let tokens = 3;
    const bucket: Bucket = {
      take(cost) {
        if (tokens < cost) return 100;
        tokens -= cost;
        return 0;
      },
    };
    const { clock, parser, reader, taken, ended, isPaused } = setUp({ bucket });
    reader.open();
    parser.parse(Buffer.concat(Array.from({ length: 7 }, (_, i) => publish(String(i), 'x'))));
    const seen = () => taken.map(each => Number(each[0]));
    expect([seen(), isPaused(), ended]).toEqual([[0, 1, 2], true, ['too fast']]);
    tokens = 2;
    clock.advance(100);
    expect([seen(), isPaused()]).toEqual([[0, 1, 2, 3, 4], true]);
    tokens = 10;
    clock.advance(100);
    expect([seen(), isPaused()]).toEqual([[0, 1, 2, 3, 4, 5, 6], false]);
  });

  it('of filters in one packet ends, and aedes sees none of them', () => {
    const { parser, ended } = setUp();
    const subscriptions = Array.from({ length: 4 }, () => ({ topic: 'a', qos: 0 }));
    const few = [{ topic: 'a', qos: 0 }];
    parser.emit('packet', { cmd: 'subscribe', subscriptions: few });
    parser.emit('packet', { cmd: 'subscribe', subscriptions });
    expect([few.length, subscriptions.length, ended]).toEqual([1, 0, ['too many: 4']]);
  });
});

it('what throws ends the connection, and nothing else', () => {
  const { parser, client, ended } = setUp();
  Object.defineProperty(client, '_keepaliveTimer', {
    get() {
      throw new Error('boom');
    },
  });
  parser.parse(publish('a', 'x'));
  expect(ended).toEqual(['Error: boom']);
});
