import { describe, expect, it } from 'vitest';
import type { AedesPacket } from '../../../broker/aedes.ts';
import { createRetained } from '../../../broker/retained.ts';

function setUp(more: { maxTopics?: number; maxBytes?: number } = {}) {
  const changed: string[] = [];
  const retained = createRetained({
    isDerived: topic => topic.startsWith('root/'),
    maxTopics: more.maxTopics ?? 10,
    maxBytes: more.maxBytes ?? 1_000,
    changed: topic => changed.push(topic),
  });
  const set = (topic: string, payload: string | Buffer, qos: 0 | 1 = 0) =>
    retained.set({ cmd: 'publish', topic, payload, qos, retain: true } satisfies AedesPacket);
  return {
    retained,
    set,
    changed,
    topics: (filter: string) => [...retained.matching(filter)].map(({ topic }) => topic),
  };
}

describe('retained messages', () => {
  it('are one for each topic, found by topic and by filter', () => {
    const { set, topics, retained } = setUp();
    for (const topic of ['a/1', 'a/2', 'root/x', '$sys/x']) set(topic, 'old');
    set('a/1', 'new');
    expect([topics('a/1'), topics('a/+'), topics('#'), topics('$sys/#'), topics('b')]).toEqual([
      ['a/1'],
      ['a/1', 'a/2'],
      ['a/1', 'a/2', 'root/x'],
      ['$sys/x'],
      [],
    ]);
    expect([...retained.matching('a/1')]).toMatchObject([{ payload: 'new' }]);
  });

  it('are read as they are when they are sent, not as they were when they were found', () => {
    const { set, retained } = setUp();
    set('a', 'old');
    set('b', 'old');
    const found = [...retained.matching('+')];
    set('a', 'new', 1);
    set('b', '');
    expect(found).toMatchObject([{ payload: 'new', qos: 1 }, { payload: Buffer.alloc(0) }]);
  });

  it('are limited in number and size outside the root, and never under it', () => {
    const { set, retained, topics } = setUp({ maxTopics: 2, maxBytes: 20 });
    expect([set('a', '123456789'), set('b', '1'), set('c', '1')]).toEqual([true, true, false]);
    expect([set('b', '12345678'), set('b', '1234567890'), set('a', '')]).toEqual([true, false, true]);
    expect([set('c', '1'), retained.bytes]).toEqual([true, 11]);
    for (let i = 0; i < 20; i++) expect(set(`root/${i}`, 'x'.repeat(100))).toBe(true);
    expect([topics('+'), retained.size]).toEqual([['b', 'c'], 22]);
  });

  it('have a row to be saved only outside the root', () => {
    const { set, retained, changed } = setUp();
    set('a', 'text', 1);
    set('root/a', 'x');
    set('b', 'x');
    set('b', '');
    expect(changed).toEqual(['a', 'b', 'b']);
    expect(['a', 'root/a', 'b'].map(retained.row)).toEqual([
      { topic: 'a', payload: Buffer.from('text'), qos: 1 },
      undefined,
      undefined,
    ]);
  });

  it('do not keep the chunk alive that they came in', () => {
    const { set, retained } = setUp();
    set('a', Buffer.alloc(64 * 1024).subarray(10, 20));
    expect(([...retained.matching('a')][0]!.payload as Buffer).buffer.byteLength).toBe(10);
  });
});
