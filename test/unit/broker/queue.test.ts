import { describe, expect, it } from 'vitest';
import type { AedesPacket } from '../../../broker/aedes.ts';
import { createQueue, type Queued } from '../../../broker/queue.ts';

function setUp(more: { maxMessages?: number; maxBytes?: number } = {}) {
  const removed: number[] = [];
  const overflowed: number[] = [];
  const queue = createQueue({
    maxMessages: more.maxMessages ?? 100,
    maxBytes: more.maxBytes ?? 1_000,
    changed() {},
    removed: ({ seq }) => removed.push(seq),
    overflowed: ({ seq }) => overflowed.push(seq),
  });
  const add = (seq: number, bytes = 1) => {
    const packet: AedesPacket = { ...reference(seq), topic: 't', payload: '', qos: 1, retain: false };
    queue.add({ seq, session: 's', bytes, packet } satisfies Queued);
  };
  return { queue, add, removed, overflowed, seqs: () => queue.entries.map(({ seq }) => seq) };
}
const reference = (brokerCounter: number) => ({ cmd: 'publish' as const, brokerId: 'b', brokerCounter });
const sending = (brokerCounter: number, messageId: number) => ({ ...reference(brokerCounter), messageId });

describe('a queue', () => {
  it('is emptied by acknowledgements, in any order', () => {
    const { queue, add, seqs, removed } = setUp();
    for (const seq of [1, 2, 3]) add(seq);
    for (const seq of [1, 2, 3]) queue.sending(sending(seq, seq * 10));
    expect(queue.settle({ cmd: 'puback', messageId: 20 })).toMatchObject({ messageId: 20 });
    expect(queue.settle({ cmd: 'puback', messageId: 20 })).toBeUndefined();
    expect([seqs(), removed]).toEqual([[1, 3], [2]]);
  });

  it('lets go of what its client may not read, by its counter, and of nothing else', () => {
    const { queue, add, seqs } = setUp();
    for (const seq of [1, 2]) add(seq);
    queue.settle({ ...reference(9) });
    queue.settle({ cmd: 'publish' });
    queue.settle({ cmd: 'puback' });
    expect(seqs()).toEqual([1, 2]);
    queue.settle(reference(2));
    expect(seqs()).toEqual([1]);
  });

  it('gives an id of its own to each message, also past the last one', () => {
    const { queue, add } = setUp();
    for (const seq of [1, 2, 3]) add(seq);
    const packets = [sending(1, 65_535), sending(2, 65_535), sending(3, 1)];
    for (const packet of packets) queue.sending(packet);
    expect(packets.map(({ messageId }) => messageId)).toEqual([65_535, 1, 2]);
    expect(queue.entries.map(({ packet }) => packet.messageId)).toEqual([65_535, 1, 2]);
  });

  it('turns a message into the release that is owed for it', () => {
    const { queue, add } = setUp();
    add(1);
    queue.sending(sending(1, 7));
    queue.sending({ cmd: 'pubrel', messageId: 7 });
    queue.sending({ cmd: 'pubrel', messageId: 8 });
    queue.markResent();
    expect(queue.entries.map(({ packet }) => packet)).toEqual([{ cmd: 'pubrel', messageId: 7 }]);
  });

  it('marks as duplicates what was sent before', () => {
    const { queue, add } = setUp();
    for (const seq of [1, 2]) add(seq);
    queue.sending(sending(1, 7));
    queue.markResent();
    expect(queue.entries.map(({ packet }) => packet.cmd === 'publish' && packet.dup)).toEqual([true, undefined]);
  });

  it('drops its oldest when there are too many, or they are too large', () => {
    const many = setUp({ maxMessages: 2 });
    for (const seq of [1, 2, 3]) many.add(seq);
    expect([many.seqs(), many.overflowed]).toEqual([[2, 3], [1]]);
    const large = setUp({ maxBytes: 10 });
    large.add(1, 4);
    large.add(2, 4);
    large.add(3, 9);
    expect([large.seqs(), large.overflowed]).toEqual([[3], [1, 2]]);
  });
});
