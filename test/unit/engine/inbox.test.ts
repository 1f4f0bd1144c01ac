import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Inbox } from '../../../src/engine/inbox.ts';

/** What is taken out, by the names that were put in. */
function stage() {
  const inbox = new Inbox();
  const taken: unknown[] = [];
  let order = 0;
  return {
    inbox,
    push: (name: unknown, key?: string, source = 'hub') =>
      inbox.push(source, key, { at: 0, order: order++ }, () => taken.push(name)),
    take(limit = Number.POSITIVE_INFINITY) {
      for (let n = 0; n < limit; n++) {
        const input = inbox.take();
        if (!input) break;
        input();
      }
      return taken;
    },
  };
}

const range = (n: number) => Array.from({ length: n }, (_, i) => i);

describe('inputs', () => {
  test('are taken in the order in which they came, each once, however putting and taking alternate', () => {
    const moves = fc.array(fc.record({ put: fc.nat(800), take: fc.nat(800) }), { maxLength: 12 });
    fc.assert(
      fc.property(moves, all => {
        const { push, take, inbox } = stage();
        let n = 0;
        for (const move of all) {
          for (let i = 0; i < move.put; i++) push(n++);
          take(move.take);
        }
        expect(take()).toEqual(range(n));
        expect(inbox.size).toBe(0);
      }),
      { numRuns: 50 },
    );
  });

  test('say when the next one arrived', () => {
    const { inbox, push } = stage();
    expect(inbox.next()).toBeUndefined();
    push('a');
    push('b');
    inbox.take();
    expect(inbox.next()).toEqual({ at: 0, order: 1 });
  });
});

describe('in a flood', () => {
  test('the newest report of an attribute stays, in its own place, and the older ones are counted', () => {
    const { push, take, inbox } = stage();
    for (const n of range(5_000)) push(n, 'lamp\nlevel');
    push('end');
    const taken = take();
    expect(taken.slice(-2)).toEqual([4_999, 'end']);
    expect(taken.length - 1 + inbox.coalesced).toBe(5_000);
    expect(taken.length).toBeLessThan(2_100);
  });

  test('nothing that has no key is ever dropped', () => {
    const { push, take } = stage();
    for (const n of range(50_000)) push(n);
    expect(take()).toEqual(range(50_000));
  });

  test('what is new is dropped over the bound, and counted', () => {
    const { push, take, inbox } = stage();
    for (const n of range(25_000)) push(n, `sensor ${n}`);
    expect(take()).toEqual(range(20_000));
    expect(inbox.dropped).toBe(5_000);
  });

  test('one source does not drown the others', () => {
    const { push, take, inbox } = stage();
    for (const n of range(30_000)) push(n, 'a\nb', 'loud');
    for (const n of range(100)) push(`quiet ${n}`, 'c\nd', 'quiet');
    expect(take().filter(name => String(name).startsWith('quiet'))).toHaveLength(100);
    expect(inbox.dropped).toBe(0);
  });

  test('the last report of each attribute is taken last of all its reports', () => {
    const reports = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 10, maxLength: 60 });
    fc.assert(
      fc.property(reports, keys => {
        const { push, take } = stage();
        for (const n of range(2_500)) push(n);
        keys.forEach((key, n) => {
          push(`${key} ${n}`, key);
        });
        const taken = take().filter(name => typeof name === 'string') as string[];
        for (const key of new Set(keys)) {
          const mine = taken.filter(name => name.startsWith(key));
          expect(mine).toEqual([`${key} ${keys.lastIndexOf(key)}`]);
        }
      }),
      { numRuns: 30 },
    );
  });
});
