// The tables of kinds: each kind shows how it is written, says what it does, and stands in its table.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { Action, actions } from '../../../src/engine/actions/index.ts';
import { Condition, conditions } from '../../../src/engine/conditions/index.ts';
import { Trigger, triggers } from '../../../src/engine/triggers/index.ts';
import type { Table } from '../../../src/lib/registry.ts';

const ENGINE = join(import.meta.dirname, '../../../src/engine');

interface Kinds {
  what: string;
  table: Table<{ type: string; schema: z.ZodObject; describe(config: object): string }>;
  union: z.ZodType;
}

const TABLES: Kinds[] = [
  { what: 'triggers', table: triggers, union: Trigger },
  { what: 'conditions', table: conditions, union: Condition },
  { what: 'actions', table: actions, union: Action },
];

const examplesOf = (schema: z.ZodType) => (schema.meta()?.examples ?? []) as object[];

/** Files of a folder of kinds that define one. */
const filesOf = (folder: string): string[] =>
  readdirSync(join(ENGINE, folder)).filter(
    file =>
      file !== 'index.ts' &&
      /\bdefine(Trigger|Condition|Action)\(/.test(readFileSync(join(ENGINE, folder, file), 'utf8')),
  );

describe.each(TABLES)('$what', ({ what, table, union }) => {
  test.each(table.kinds.map(kind => [kind.type, kind] as const))('%s is described and shows examples', (type, kind) => {
    const examples = examplesOf(kind.schema);
    expect(kind.schema.meta()?.description).toMatch(/\w/);
    expect(examples.length).toBeGreaterThan(0);
    for (const example of examples) {
      const parsed = union.parse(example) as { type: string };
      expect(parsed.type).toBe(type);
      const sentence = kind.describe(parsed);
      expect(sentence).toMatch(/\w/);
      expect(sentence).not.toMatch(/undefined|\[object|NaN/);
    }
  });

  test.each(table.kinds.map(kind => [kind.type, kind] as const))('%s has no field that it does not know', (_, kind) => {
    for (const example of examplesOf(kind.schema))
      expect(union.safeParse({ ...example, no_such_field: 1 }).success).toBe(false);
  });

  test('every file that defines a kind is listed in the table', () => {
    const index = readFileSync(join(ENGINE, what, 'index.ts'), 'utf8');
    const files = filesOf(what);
    expect(files.length).toBeGreaterThan(5);
    for (const file of files) expect(index).toContain(`'./${file}'`);
  });

  test('every kind that a file defines is listed in the table', () => {
    const defined = filesOf(what).flatMap(file => [
      ...readFileSync(join(ENGINE, what, file), 'utf8').matchAll(
        /define(?:Trigger|Condition|Action)\(\{\s*type: '(\w+)'/g,
      ),
    ]);
    expect(defined.length).toBeGreaterThan(2);
    const listed = table.kinds.map(kind => kind.type);
    for (const [, type] of defined) expect(listed).toContain(type);
  });
});
