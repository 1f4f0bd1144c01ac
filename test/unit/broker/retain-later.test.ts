import { describe, expect, it } from 'vitest';
import { createLevelTree } from '../../../broker/level-tree.ts';
import { createRetained } from '../../../broker/retained.ts';

const setUp = () =>
  createRetained({ isDerived: topic => topic.startsWith('root/'), maxTopics: 10, maxBytes: 1_000, changed() {} });

const payloads = (retained: ReturnType<typeof setUp>, filter: string) =>
  [...retained.matching(filter)].map(({ payload }) => String(payload));

describe('a retained message that is made later', () => {
  it('is made when somebody looks, and once', () => {
    const retained = setUp();
    let made = 0;
    retained.setLater('root/a', () => `made ${++made}`);
    retained.setLater('root/a', () => `made ${++made} of the newer`);
    expect(made).toBe(0);
    expect(payloads(retained, 'root/+')).toEqual(['made 1 of the newer']);
    expect(payloads(retained, 'root/a')).toEqual(['made 1 of the newer']);
  });

  it('gives way to a message that comes after it, and takes the place of one before', () => {
    const retained = setUp();
    const set = (payload: string) => retained.set({ cmd: 'publish', topic: 'root/a', payload, qos: 0, retain: true });
    retained.setLater('root/a', () => 'later');
    set('now');
    expect(payloads(retained, '#')).toEqual(['now']);
    retained.setLater('root/a', () => 'later still');
    expect(payloads(retained, '#')).toEqual(['later still']);
    set('');
    expect(payloads(retained, '#')).toEqual([]);
  });

  it('that turns out empty is none', () => {
    const retained = setUp();
    retained.setLater('root/a', () => '');
    expect(payloads(retained, '#')).toEqual([]);
    expect(payloads(retained, 'root/a')).toEqual([]);
  });
});

describe('whether a topic may have a filter', () => {
  it('is told by its first level, and never wrongly denied', () => {
    const tree = createLevelTree<string>();
    expect(tree.mayMatch('a/b')).toBe(false);
    tree.set('a/+/c', 'x');
    expect([tree.mayMatch('a/b'), tree.mayMatch('a'), tree.mayMatch('b/a')]).toEqual([true, true, false]);
    tree.set('#', 'y');
    expect(tree.mayMatch('b/a')).toBe(true);
    tree.delete('#');
    tree.set('+/x', 'z');
    expect(tree.mayMatch('b/x')).toBe(true);
  });
});
