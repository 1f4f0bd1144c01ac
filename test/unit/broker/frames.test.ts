import fc from 'fast-check';
import mqttPacket from 'mqtt-packet';
import { expect, it } from 'vitest';
import { type Header, pubackFrame, publishFrame, readHeader } from '../../../broker/frames.ts';

const topic = fc.string({ minLength: 1, maxLength: 40, unit: 'binary' });
const payload = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.uint8Array({ maxLength: 300 }).map(bytes => Buffer.from(bytes)),
  fc.constantFrom(127, 128, 16_383, 16_384, 100_000, 2_097_151).map(length => 'x'.repeat(length)),
);
const qos = fc.constantFrom(0, 1, 2);
const messageId = fc.integer({ min: 1, max: 65_535 });

it('are what mqtt-packet would make', () => {
  fc.assert(
    fc.property(topic, payload, qos, messageId, (t, p, q, id) => {
      const expected = mqttPacket.generate({
        cmd: 'publish',
        topic: t,
        payload: p,
        qos: q,
        messageId: id,
        retain: false,
        dup: false,
      });
      expect(publishFrame(t, p, q, id).equals(expected)).toBe(true);
    }),
  );
  expect(pubackFrame(0xabcd)).toEqual(mqttPacket.generate({ cmd: 'puback', messageId: 0xabcd }));
});

it('are found again by their header, however little of it is there yet', () => {
  fc.assert(
    fc.property(topic, payload, fc.nat(10), (t, p, before) => {
      const frame = publishFrame(t, p);
      const chunk = Buffer.concat([Buffer.alloc(before), frame]);
      const header: Header = { first: 0, body: 0, end: 0 };
      expect(readHeader(chunk, before, header)).toBe(true);
      expect(header).toMatchObject({ first: 0x30, end: chunk.length });
      for (let length = 1; length < header.body - before; length++) {
        expect(readHeader(frame.subarray(0, length), 0, { ...header })).toBe(false);
      }
    }),
  );
});

it('of a malformed length have no end', () => {
  const header: Header = { first: 0, body: 0, end: 0 };
  expect(readHeader(Buffer.from([0x30, 0xff, 0xff, 0xff, 0xff, 1]), 0, header)).toBe(true);
  expect(header.end).toBe(-1);
});
