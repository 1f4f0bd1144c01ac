import { Duplex } from 'node:stream';
import mqttPacket from 'mqtt-packet';
import { describe, expect, it } from 'vitest';
import { corkPerTurn } from '../../../broker/cork.ts';
import { createOutbox } from '../../../broker/outbox.ts';
import { handClock, turn } from './kit.ts';

/** A stream that notes its writes; `block` keeps it from finishing them. */
function sink() {
  const writes: string[] = [];
  let isBlocked = false;
  let release = () => {};
  const finish = (done: () => void) => {
    if (isBlocked) release = done;
    else done();
  };
  const stream = new Duplex({
    highWaterMark: 10,
    read() {},
    write(chunk: Buffer, _encoding, done) {
      writes.push(chunk.toString());
      finish(done);
    },
    writev(chunks, done) {
      writes.push(chunks.map(({ chunk }) => chunk.toString()).join(''));
      finish(done);
    },
  });
  stream.on('error', () => {});
  return {
    stream,
    writes,
    block() {
      isBlocked = true;
    },
    drain() {
      isBlocked = false;
      release();
    },
  };
}

function outboxOn(stream: Duplex, more: { backlogBytes?: number } = {}) {
  const clock = handClock();
  const evictions: string[] = [];
  const outbox = createOutbox({
    stream,
    clock,
    backlogBytes: more.backlogBytes ?? 1_000,
    drainTimeoutMs: 500,
    evict(why) {
      evictions.push(why);
      stream.destroy();
    },
  });
  const send = (...frames: string[]) => {
    for (const frame of frames) outbox.send(Buffer.from(frame));
  };
  return { clock, outbox, evictions, send };
}

describe('an outbox', () => {
  it('writes the frames of a turn at once, at its end', async () => {
    const { stream, writes } = sink();
    const { outbox, send } = outboxOn(stream);
    outbox.start();
    send('a', 'b', 'c');
    expect(writes).toEqual([]);
    await turn();
    send('d');
    await turn();
    expect(writes).toEqual(['abc', 'd']);
  });

  it('does not copy what is large', async () => {
    const { stream, writes } = sink();
    const { outbox, send } = outboxOn(stream, { backlogBytes: 1_000_000 });
    outbox.start();
    send('a'.repeat(50_000), 'b'.repeat(50_000));
    await turn();
    expect(writes.map(({ length }) => length)).toEqual([100_000]);
  });

  it('holds everything until it is started', async () => {
    const { stream, writes } = sink();
    const { outbox, send } = outboxOn(stream);
    send('a');
    await turn();
    send('b');
    await turn();
    expect(writes).toEqual([]);
    outbox.start();
    expect(writes).toEqual(['ab']);
  });

  it('keeps its order with what others write at their next turn', async () => {
    const { stream, writes } = sink();
    const { outbox, send } = outboxOn(stream);
    outbox.start();
    const writeByAedes = (text: string) => {
      outbox.seal();
      setImmediate(() => stream.write(text));
    };
    writeByAedes('1');
    send('2', '3');
    writeByAedes('4');
    writeByAedes('5');
    send('6');
    await turn();
    expect(writes.join('')).toBe('123456');
  });

  it('holds frames back while the stream is full, and keeps the order then too', async () => {
    const { stream, writes, block, drain } = sink();
    const { outbox, send, evictions, clock } = outboxOn(stream);
    outbox.start();
    block();
    send('0123456789');
    await turn();
    send('a');
    await turn();
    send('b');
    await turn();
    expect(writes).toEqual(['0123456789']);
    outbox.seal();
    setImmediate(() => stream.write('c'));
    send('d');
    await turn();
    drain();
    await turn();
    expect(writes.join('')).toBe('0123456789abcd');
    clock.advance(10_000);
    expect(evictions).toEqual([]);
  });

  it('gives a peer up that takes nothing for the drain timeout', async () => {
    const { stream, block } = sink();
    const { outbox, send, evictions, clock } = outboxOn(stream);
    outbox.start();
    block();
    send('0123456789');
    await turn();
    clock.advance(499);
    expect(evictions).toEqual([]);
    clock.advance(1);
    expect(evictions).toEqual(['it reads nothing']);
    await turn();
    expect(clock.pending()).toBe(0);
  });

  it('gives a peer up for whom too much waits, here or in its stream', async () => {
    const { stream, block } = sink();
    const first = outboxOn(stream, { backlogBytes: 25 });
    first.outbox.start();
    block();
    first.send('0123456789', '0123456789');
    expect(first.evictions).toEqual([]);
    first.send('0123456789', 'after the end');
    expect(first.evictions).toEqual(['it reads too slowly']);

    const other = sink();
    const second = outboxOn(other.stream, { backlogBytes: 25 });
    other.block();
    other.stream.write('x'.repeat(30));
    second.outbox.seal();
    expect(second.evictions).toEqual(['it reads too slowly']);
  });
});

it('a cork per turn makes one write of many packets, where mqtt-packet makes one of each', async () => {
  const count = async (prepare: (stream: Duplex) => void) => {
    const { stream, writes } = sink();
    prepare(stream);
    for (let i = 0; i < 10; i++) {
      mqttPacket.writeToStream({ cmd: 'puback', messageId: i + 1 }, stream);
      // Each in its own tick of one turn, as aedes does it.
      await null;
      await new Promise<void>(resolve => process.nextTick(resolve));
    }
    await turn();
    return writes.length;
  };
  expect(await count(() => {})).toBe(10);
  expect(await count(corkPerTurn)).toBe(1);
});
