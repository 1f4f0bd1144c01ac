import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { atPath, type Json } from '../../../src/lib/json.ts';
import { parseYaml } from '../../../src/lib/yaml.ts';
import { updateYaml } from '../../../src/lib/yaml-edit.ts';

const read = (text: string): Json => parseYaml(text, { file: 'test' }).value as Json;

const RULE = `# Attic fan, see the plan in the cellar
schema: 1
id: attic-fan       # a slug
name:   Attic fan

# why it is there
description: "Fan on while it is hot"
triggers:
  # the sensor under the roof
  - { id: hot, type: numeric, device: "hubitat:17", above: 25, for: 5m }   # five
  - id: two   # by hand
    type: state
    # pushed
    to: 'on'
actions:
- type: log
  message: |
    hello
    you
- {type: command, # the fan
   device: fan, command: "on"}
  # end of the actions

# labels
tags: [a, b,  c]
limits:
# the end
`;

type Fields = Record<string, Json>;
interface Rule extends Record<string, unknown> {
  triggers: [Fields, Fields];
  actions: [Fields, Fields];
  tags?: Json[];
}

/** The text in which a value was changed. */
function changed<T = Rule>(change: (value: T) => void, text = RULE): string {
  const value = structuredClone(read(text)) as T;
  change(value);
  const result = updateYaml(text, value);
  expect(read(result)).toEqual(value);
  return result;
}

const replaced = (from: string, to: string): string => {
  expect(RULE).toContain(from);
  return RULE.replace(from, () => to);
};

describe('only what differs is touched', () => {
  test('nothing, when nothing differs', () => {
    expect(changed(() => {})).toBe(RULE);
  });

  test('a number in a flow map', () => {
    expect(
      changed(rule => {
        rule.triggers[0].above = 27.5;
      }),
    ).toBe(replaced('above: 25', 'above: 27.5'));
  });

  test('text keeps its quotes', () => {
    expect(
      changed(rule => {
        rule.description = 'Fan off';
      }),
    ).toBe(replaced('"Fan on while it is hot"', '"Fan off"'));
    expect(
      changed(rule => {
        rule.triggers[1].to = 'off';
      }),
    ).toBe(replaced("'on'", "'off'"));
  });

  test('plain text gets quotes where it needs them', () => {
    expect(
      changed(rule => {
        rule.name = 'Attic: fan';
      }),
    ).toBe(replaced('Attic fan\n\n', '"Attic: fan"\n\n'));
    expect(
      changed(rule => {
        rule.name = 'true';
      }),
    ).toBe(replaced('Attic fan\n\n', '"true"\n\n'));
    expect(
      changed(rule => {
        rule.name = 'Fan, attic';
      }),
    ).toBe(replaced('Attic fan\n\n', 'Fan, attic\n\n'));
    expect(
      changed(rule => {
        rule.triggers[0].for = 'a, b';
      }),
    ).toBe(replaced('for: 5m', 'for: "a, b"'));
  });

  test('a new key stands behind the one that precedes it', () => {
    const text = changed(rule => {
      const { schema, id, name, ...rest } = rule;
      for (const key of Object.keys(rule)) delete rule[key];
      Object.assign(rule, { schema, id, name, enabled: false }, rest);
    });
    expect(text).toBe(replaced('name:   Attic fan\n', 'name:   Attic fan\nenabled: false\n'));
  });

  test('a new key in a flow map', () => {
    expect(
      changed(rule => {
        rule.triggers[0].hysteresis = 1;
      }),
    ).toBe(replaced('for: 5m }', 'for: 5m, hysteresis: 1 }'));
  });

  test('a removed key takes its own comment with it', () => {
    expect(
      changed(rule => {
        delete rule.description;
      }),
    ).toBe(replaced('\n# why it is there\ndescription: "Fan on while it is hot"\n', ''));
  });

  test('a removed key leaves the comments that are not its own', () => {
    expect(
      changed(rule => {
        delete rule.tags;
      }),
    ).toBe(replaced('# labels\ntags: [a, b,  c]\n', ''));
    expect(
      changed(rule => {
        delete rule.schema;
      }),
    ).toBe(replaced('schema: 1\n', ''));
  });

  test('removed entries of flow collections', () => {
    expect(changed(rule => rule.tags?.shift())).toBe(replaced('[a, b,  c]', '[b,  c]'));
    expect(changed(rule => rule.tags?.pop())).toBe(replaced('[a, b,  c]', '[a, b]'));
    expect(
      changed(rule => {
        rule.tags = [];
      }),
    ).toBe(replaced('[a, b,  c]', '[]'));
    expect(
      changed(rule => {
        delete rule.actions[1].device;
      }),
    ).toBe(replaced('# the fan\n   device: fan, command', '# the fan\n   command'));
  });

  test('a trigger before all others leaves each comment with its trigger', () => {
    expect(changed(({ triggers }: { triggers: Json[] }) => triggers.unshift({ id: 'new', type: 'startup' }))).toBe(
      replaced('  # the sensor', '  - id: new\n    type: startup\n  # the sensor'),
    );
  });

  test('the first trigger goes with its comment', () => {
    expect(changed(({ triggers }: { triggers: Json[] }) => triggers.shift())).toBe(
      replaced(
        '  # the sensor under the roof\n  - { id: hot, type: numeric, device: "hubitat:17", above: 25, for: 5m }   # five\n',
        '',
      ),
    );
  });

  test('triggers that change their places are known by their ids', () => {
    expect(changed(rule => rule.triggers.reverse())).toContain(
      '  - id: two   # by hand\n    type: state\n    # pushed\n',
    );
  });

  test('a new action in the style of its neighbours', () => {
    const text = 'actions:\n  - { type: delay, for: 5m }\n';
    expect(changed<{ actions: Json[] }>(rule => rule.actions.push({ type: 'stop' }), text)).toBe(
      `${text}  - { type: stop }\n`,
    );
  });

  test('a value where there was none, and none where there was a value', () => {
    expect(
      changed(rule => {
        rule.limits = { runs: 5 };
      }),
    ).toBe(replaced('limits:\n', 'limits:\n  runs: 5\n'));
    expect(
      changed(rule => {
        rule.id = null;
      }),
    ).toBe(replaced('attic-fan       # a slug', 'null       # a slug'));
  });

  test('a block of text', () => {
    expect(
      changed(rule => {
        rule.actions[0].message = 'good\nbye\n';
      }),
    ).toBe(replaced('hello\n    you', 'good\n    bye'));
    expect(
      changed(rule => {
        rule.actions[0].message = 'bye';
      }),
    ).toBe(replaced('|\n    hello\n    you', 'bye'));
  });

  test('Windows line ends and a missing last one stay', () => {
    const text = 'a: 1 # one\r\nb: 2\r\nc: 3';
    expect(
      changed<Fields>(value => {
        value.b = 5;
      }, text),
    ).toBe('a: 1 # one\r\nb: 5\r\nc: 3');
    expect(
      changed<Fields>(value => {
        value.d = 4;
      }, text),
    ).toBe('a: 1 # one\r\nb: 2\r\nc: 3\r\nd: 4');
  });
});

describe('anchors', () => {
  const text = 'base: &n { after: "22:00" } # here\none: *n\ntwo: *n # there\n';

  test('a change at one alias leaves the others', () => {
    expect(
      changed<Fields>(value => {
        value.one = 5;
      }, text),
    ).toBe('base: &n { after: "22:00" } # here\none: 5\ntwo: *n # there\n');
  });

  test('a change at the anchor does not reach the aliases that did not change', () => {
    const result = changed<Fields>(value => {
      value.base = { after: '23:00' };
      value.one = { after: '23:00' };
    }, text);
    expect(result).toBe('base: &n { after: "23:00" } # here\none: *n\ntwo: { after: 22:00 } # there\n');
  });

  test('an anchor that goes leaves its value to the aliases', () => {
    expect(
      changed<Fields>(value => {
        delete value.base;
      }, text),
    ).toContain('# there');
  });
});

describe('laws', () => {
  const scalar = fc.oneof(
    fc.constantFrom<Json>(
      null,
      true,
      false,
      0,
      1,
      22.5,
      -3,
      'on',
      'true',
      '08:00',
      '',
      ' x',
      '# no',
      'a: b',
      'a\nb\n',
      '- x',
      '*a',
      '{',
      'é',
    ),
    fc.string({ maxLength: 12 }),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
  );
  const key = fc.oneof(
    fc.constantFrom('id', 'on', 'type', 'a', 'b', 'c', 'device', '12', 'x y', '#k', 'k:'),
    fc.string({ minLength: 1, maxLength: 6 }),
  );
  const { value } = fc.letrec<{ value: Json }>(tie => ({
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      scalar,
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(key, tie('value'), { maxKeys: 4 }),
    ),
  })) as { value: fc.Arbitrary<Json> };
  const style = fc.constantFrom(
    {},
    { collectionStyle: 'flow' as const },
    { indentSeq: false, indent: 4 },
    { defaultStringType: 'QUOTE_SINGLE' as const },
  );

  test('reading the result gives the new value, whatever the old text was', () => {
    fc.assert(
      fc.property(value, value, style, (old, wanted, options) => {
        const text = stringify(old, options);
        const plain = JSON.parse(JSON.stringify(wanted)) as Json;
        // JSON has one zero: a text that says -0 need not be touched for 0.
        expect(JSON.parse(JSON.stringify(read(updateYaml(text, wanted))))).toEqual(plain);
      }),
      { numRuns: 300, examples: [[-0, 0, {}]] },
    );
  });

  // A rule-like text in which every line of a key has a comment that names it: above it, or behind it.
  const names = ['alpha', 'beta', 'gamma', 'delta', 'kappa'];
  const leaf = fc.constantFrom<Json>(1, 'x', true, '08:00', [1, 2], { p: 1, q: [2] });
  const commented = fc.uniqueArray(
    fc.record({ key: fc.constantFrom(...names), leaf, above: fc.boolean(), flow: fc.boolean() }),
    {
      selector: item => item.key,
      minLength: 1,
    },
  );
  const change = fc.record({ key: fc.constantFrom(...names), value: fc.option(leaf, { nil: undefined }) });

  test('comments of the keys that are not touched stay where they are', () => {
    fc.assert(
      fc.property(
        commented,
        fc.array(change, { minLength: 1, maxLength: 3 }),
        fc.boolean(),
        (items, changes, nested) => {
          const lines = items.flatMap(({ key, leaf, above, flow }) => {
            const body = stringify({ [key]: leaf }, flow ? { collectionStyle: 'flow' } : {}).trimEnd();
            const entry = flow ? body.replace(/^\{ (.*) \}$/s, '$1') : body;
            const [first, ...rest] = entry.split('\n') as [string, ...string[]];
            return above ? [`# about ${key}`, first, ...rest] : [`${first} # about ${key}`, ...rest];
          });
          const text = nested
            ? `root:\n  list:\n${lines.map((line, i) => `${i === 0 ? '    - ' : '      '}${line}\n`).join('')}`
            : `# head\n${lines.join('\n')}\n`;
          const whole = structuredClone(read(text));
          const map = (nested ? atPath(whole, 'root/list/0') : whole) as Fields;
          for (const { key, value } of changes) {
            if (value === undefined) delete map[key];
            else map[key] = value;
          }
          const result = updateYaml(text, whole);
          expect(read(result)).toEqual(whole);
          const touched = new Set(changes.map(item => item.key));
          for (const { key, above } of items) {
            if (touched.has(key)) continue;
            const pattern = above ? `# about ${key}\n\\s*${key}:` : `${key}:.* # about ${key}\n`;
            expect(result).toMatch(new RegExp(pattern));
          }
          if (!nested) expect(result).toMatch(/^# head\n/);
        },
      ),
      { numRuns: 300 },
    );
  });
});
