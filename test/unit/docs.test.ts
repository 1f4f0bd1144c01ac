// The generated pages are fresh, and what is written by hand in them holds: the notes fit the tables, the examples are valid.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { NAMES, TRIGGER_FIELDS } from '../../bin/docs/expressions.ts';
import { generate, ROOT, staleFiles } from '../../bin/docs/index.ts';
import { ACTION_NOTES, CONDITION_NOTES, SEED_COUNTERPARTS, TRIGGER_NOTES } from '../../bin/docs/kinds.ts';
import { CLI_OF, nameOf, program, verbsOf } from '../../bin/docs/operations.ts';
import { KEYS } from '../../bin/docs/scenarios.ts';
import { houseSchema } from '../../src/config/house.ts';
import { loadConfig, loadFile } from '../../src/config/load.ts';
import { actions } from '../../src/engine/actions/index.ts';
import { conditions } from '../../src/engine/conditions/index.ts';
import { parseRule } from '../../src/engine/rules/schema.ts';
import { triggers } from '../../src/engine/triggers/index.ts';
import { FIELDS, ROOTS } from '../../src/lib/expression/scope.ts';
import { Target } from '../../src/model/target.ts';
import { ops } from '../../src/ops/index.ts';
import { Scenario } from '../../src/world/scenario.ts';

const TABLES = [
  ['trigger', triggers, TRIGGER_NOTES, SEED_COUNTERPARTS.triggers],
  ['condition', conditions, CONDITION_NOTES, SEED_COUNTERPARTS.conditions],
  ['action', actions, ACTION_NOTES, SEED_COUNTERPARTS.actions],
] as const;

const types = (table: { kinds: readonly { type: string }[] }) => table.kinds.map(kind => kind.type);

/** The blocks of code of a page in a language. */
const blocks = (path: string, language: string): string[] =>
  [...readFileSync(join(ROOT, path), 'utf8').matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
    .filter(match => match[1] === language)
    .map(match => match[2] ?? '');

describe('the generated files', () => {
  it('are those that `npm run docs` would write now', () => {
    expect(staleFiles()).toEqual([]);
  });

  it('name every kind, with examples', () => {
    const page = generate().get('docs/rules.md') ?? '';
    for (const [part, table] of TABLES) {
      for (const kind of table.kinds) {
        expect(page).toContain(`### ${part} ${kind.type}\n`);
        expect(kind.schema.meta()?.examples, `${part} ${kind.type}`).not.toHaveLength(0);
      }
    }
  });

  it('leave no field of a kind unexplained', () => {
    const unexplained = [...(generate().get('docs/rules.md') ?? '').matchAll(/^\| `(\w+)`.*\|\s*\|$/gm)];
    expect(unexplained.map(match => match[1])).toEqual(['mode']);
  });

  it('show an example of config.yaml and house.yaml that can be used as it is', () => {
    expect(() => loadConfig({ file: join(ROOT, 'config.example.yaml'), dir: ROOT, environment: {} })).not.toThrow();
    const texts = { environment: {}, secrets: new Map() };
    expect(() => loadFile(join(ROOT, 'house.example.yaml'), houseSchema(Target), texts)).not.toThrow();
  });
});

describe('what is written by hand', () => {
  it.each(TABLES)('has a note on every %s and on no other', (_part, table, notes) => {
    expect(Object.keys(notes).sort()).toEqual(types(table).sort());
  });

  it('has a counterpart for the 6 triggers, 14 conditions and 29 actions of the Hubitat MCP rule engine', () => {
    expect(TABLES.map(([, , , counterparts]) => new Set(counterparts.map(({ there }) => there)).size)).toEqual([
      6, 14, 29,
    ]);
  });

  it.each(TABLES)('names only kinds that there are as a counterpart of a %s', (_part, table, _notes, counterparts) => {
    for (const { there, here } of counterparts) {
      const [named] = [...here.matchAll(/`(\w+)`/g)]
        .map(match => match[1])
        .filter(name => types(table).includes(name ?? ''));
      expect(named, there).toBeDefined();
    }
  });

  it('explains the names of expressions, the keys of scenarios and the fields of a trigger', () => {
    expect(Object.keys(NAMES)).toEqual(Object.keys(ROOTS));
    expect(Object.keys(TRIGGER_FIELDS).sort()).toEqual(Object.keys(FIELDS.Trigger ?? {}).sort());
    expect(Object.keys(KEYS)).toEqual(Object.keys(Scenario.shape));
  });

  it('names operations and verbs of the command line that there are', () => {
    const verbs = verbsOf(program()).map(nameOf);
    expect(Object.keys(CLI_OF).filter(name => !ops.some(op => op.name === name))).toEqual([]);
    expect(Object.values(CLI_OF).filter(verb => !verbs.includes(verb))).toEqual([]);
  });
});

describe('the examples', () => {
  it('of a rule can be saved', () => {
    expect(parseRule(parse(blocks('docs/rules.md', 'yaml')[0] ?? ''))).toHaveProperty('rule');
  });

  it('of kinds can be parts of a rule', () => {
    const frame = { id: 'x', name: 'X', triggers: [{ type: 'startup' }], actions: [] };
    for (const [part, table] of TABLES) {
      for (const kind of table.kinds) {
        for (const example of (kind.schema.meta()?.examples ?? []) as object[]) {
          const rule =
            part === 'trigger'
              ? { ...frame, triggers: [example] }
              : part === 'condition'
                ? { ...frame, condition: example }
                : { ...frame, actions: [example] };
          expect(parseRule(rule), `${part} ${kind.type}`).toHaveProperty('rule');
        }
      }
    }
  });

  it('of a scenario can be read', () => {
    expect(() => Scenario.parse(parse(blocks('docs/scenarios.md', 'yaml')[0] ?? ''))).not.toThrow();
  });

  it('are YAML everywhere', () => {
    const pages = [...generate().keys(), 'README.md', 'CONTRIBUTING.md'].filter(path => path.endsWith('.md'));
    const faults = pages.flatMap(path =>
      blocks(path, 'yaml').flatMap(text =>
        parseAllDocuments(text).flatMap(document => document.errors.map(error => `${path}: ${error.message}`)),
      ),
    );
    expect(faults).toEqual([]);
  });
});
