import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createLevelTree } from '../../../broker/level-tree.ts';
import { matches } from '../../../broker/topics.ts';

const name = fc.constantFrom('a', 'b', '', '$x');
const topics = fc.uniqueArray(
  fc.array(name, { minLength: 1, maxLength: 4 }).map(levels => levels.join('/')),
  { maxLength: 30 },
);
const filters = fc.uniqueArray(
  fc
    .tuple(fc.array(fc.oneof(name, fc.constant('+')), { maxLength: 3 }), fc.boolean())
    .map(([levels, ends]) => [...levels, ...(ends || levels.length === 0 ? ['#'] : [])].join('/')),
  { maxLength: 30 },
);

const treeOf = (paths: readonly string[]) => {
  const tree = createLevelTree<string>();
  for (const path of paths) tree.set(path, path);
  return tree;
};

it('finds the stored filters that match a topic', () => {
  fc.assert(
    fc.property(filters, topics, (stored, wanted) => {
      const tree = treeOf(stored);
      for (const topic of wanted) {
        expect(tree.matching(topic).sort()).toEqual(stored.filter(filter => matches(filter, topic)).sort());
      }
    }),
  );
});

it('finds the stored topics that a filter matches', () => {
  fc.assert(
    fc.property(topics, filters, (stored, wanted) => {
      const tree = treeOf(stored);
      for (const filter of wanted) {
        expect([...tree.under(filter)].sort()).toEqual(stored.filter(topic => matches(filter, topic)).sort());
      }
    }),
  );
});

it('forgets what is removed, and nothing else', () => {
  fc.assert(
    fc.property(topics, topics, (stored, removed) => {
      const tree = treeOf(stored);
      for (const path of removed) tree.delete(path);
      const left = stored.filter(path => !removed.includes(path));
      expect(left.map(tree.get)).toEqual(left);
      expect(removed.map(tree.get)).toEqual(removed.map(() => undefined));
      expect([...tree.under('#'), ...tree.under('$x/#')].sort()).toEqual(
        left.filter(path => !path.startsWith('$') || path === '$x' || path.startsWith('$x/')).sort(),
      );
    }),
  );
});

it('may change while it is read', () => {
  const tree = treeOf(['a/1', 'a/2', 'a/3']);
  const seen: string[] = [];
  for (const path of tree.under('a/+')) {
    seen.push(path);
    tree.delete('a/2');
    tree.set('a/4', 'a/4');
  }
  expect(seen).toEqual(['a/1', 'a/3', 'a/4']);
});
