import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { covers, isFilter, isTopic, isUnder, levelCount, matches } from '../../../broker/topics.ts';

// Few names, so that filters and topics meet often.
const name = fc.constantFrom('a', 'b', '', '$x');
const topic = fc.array(name, { minLength: 1, maxLength: 4 }).map(levels => levels.join('/'));
const filter = fc
  .tuple(fc.array(fc.oneof(name, fc.constant('+')), { maxLength: 4 }), fc.boolean())
  .map(([levels, ends]) => [...levels, ...(ends || levels.length === 0 ? ['#'] : [])].join('/'));

describe('matching', () => {
  it.each([
    ['a/b', 'a/b', true],
    ['a/b', 'a/b/c', false],
    ['a/b/c', 'a/b', false],
    ['a/+', 'a/b', true],
    ['a/+', 'a/', true],
    ['a/+', 'a', false],
    ['+/+', '/a', true],
    ['/+', '/a', true],
    ['+', '/a', false],
    ['a/#', 'a', true],
    ['a/#', 'a/b/c', true],
    ['a/#', 'ab', false],
    ['#', 'a/b', true],
    ['#', '$SYS/x', false],
    ['+/x', '$SYS/x', false],
    ['$SYS/#', '$SYS/x', true],
    ['A', 'a', false],
  ])('of %s and %s is %s', (wanted, given, expected) => {
    expect(matches(wanted, given)).toBe(expected);
  });
});

describe('coverage', () => {
  it.each([
    ['#', 'a/+/b/#', true],
    ['#', '$SYS/#', false],
    ['+/#', '$SYS/a', false],
    ['a/#', 'a', true],
    ['a/#', 'a/#', true],
    ['a/+', 'a/#', false],
    ['a/+', 'a/+', true],
    ['a/b', 'a/+', false],
    ['a/+/c', 'a/b/c', true],
    ['a/+/#', 'a/#', false],
    ['a/#', 'ab/c', false],
  ])('of %s over %s is %s', (allowed, wanted, expected) => {
    expect(covers(allowed, wanted)).toBe(expected);
  });

  it('never lets through a topic that the allowed filter does not match', () => {
    fc.assert(
      fc.property(filter, filter, topic, (allowed, wanted, given) => {
        fc.pre(covers(allowed, wanted) && matches(wanted, given));
        expect(matches(allowed, given)).toBe(true);
      }),
    );
  });

  it('is there for every filter over itself, and passes on', () => {
    fc.assert(
      fc.property(filter, filter, filter, (a, b, c) => {
        expect(covers(a, a)).toBe(true);
        if (covers(a, b) && covers(b, c)) expect(covers(a, c)).toBe(true);
      }),
    );
  });

  it('over a topic is matching', () => {
    fc.assert(fc.property(filter, topic, (allowed, given) => covers(allowed, given) === matches(allowed, given)));
  });

  it('is refused only where some topic shows why, but for filters that say “everything” in an odd way', () => {
    const strange = 'a level that no filter names';
    fc.assert(
      fc.property(filter, filter, (allowed, wanted) => {
        // The first level may be empty, and the topic that is nothing else is none.
        fc.pre(isFilter(wanted) && !covers(allowed, wanted) && !/^\/?\+\//.test(allowed));
        const base = wanted.replaceAll('+', strange);
        const instances = ['', strange, `${strange}/${strange}`].map(rest =>
          rest === '' ? base.replace(/\/?#$/, '') : base.replace(/#$/, rest),
        );
        const shown = instances.filter(each => each !== '' && matches(wanted, each));
        expect(shown.some(each => !matches(allowed, each))).toBe(true);
      }),
    );
  });
});

describe('well-formedness', () => {
  it.each(['a', '/', 'a//b', 'ä/☀', '$SYS/x', ' '])('is given for the topic %j', given => {
    expect(isTopic(given) && isFilter(given)).toBe(true);
  });
  it.each(['', 'a/+', '#', 'a#', 'a\u0000b', 'a\uFFFD'])('is missing in the topic %j', given => {
    expect(isTopic(given)).toBe(false);
  });
  it.each(['+', '#', 'a/+/b', '+/+/#', '/+'])('is given for the filter %j', given => {
    expect(isFilter(given)).toBe(true);
  });
  it.each(['', 'a+', '+a', 'a/#/b', 'a#', '#/', 'a\u0000'])('is missing in the filter %j', given => {
    expect(isFilter(given)).toBe(false);
  });
});

it('counts levels, and knows what lies under a root', () => {
  expect(['a', 'a/', '//', 'a/b/c'].map(levelCount)).toEqual([1, 2, 3, 3]);
  expect(['gw', 'gw/a', 'gwx', 'g', 'x/gw'].map(each => isUnder('gw', each))).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
});
