// The fields of a schema as rows of a table: name, type in words, what it is for.
import type { z } from 'zod';
import { Action } from '../../src/engine/actions/index.ts';
import { Condition } from '../../src/engine/conditions/index.ts';
import { DynamicDuration, DynamicNumber, DynamicValue, Expr, OneOrMany } from '../../src/engine/fields.ts';
import { Trigger } from '../../src/engine/triggers/index.ts';
import { Duration, SignedDuration } from '../../src/lib/duration.ts';
import { definitionOf, metaOf } from '../../src/lib/schema.ts';
import { Target } from '../../src/model/target.ts';
import { code, table } from './markdown.ts';

type Schema = z.core.$ZodType;

/** A field in words. */
export interface Field {
  readonly name: string;
  readonly required: boolean;
  readonly type: string;
  readonly text: string;
}

const NAMED = new Map<Schema, string>([
  [Duration, 'duration'],
  [SignedDuration, '± duration'],
  [DynamicDuration, 'duration ‡'],
  [DynamicNumber, 'number ‡'],
  [DynamicValue, 'any value ‡'],
  [Expr, '{ expr }'],
  [OneOrMany, 'value or list'],
  [Target, 'target'],
  [Trigger, 'trigger'],
  [Condition, 'condition'],
  [Action, 'step'],
]);

/** A type in words. Where values are listed, the first one is the default of an optional field. */
export function typeText(schema: Schema): string {
  const named = NAMED.get(schema);
  if (named !== undefined) return named;
  const def = definitionOf(schema);
  switch (def.type) {
    case 'optional':
    case 'default':
    case 'prefault':
    case 'nullable':
    case 'readonly':
      return typeText(def.innerType as Schema);
    case 'lazy':
      return typeText((def.getter as () => Schema)());
    case 'pipe':
      return typeText((definitionOf(def.in as Schema).type === 'transform' ? def.out : def.in) as Schema);
    case 'enum':
      return (schema as z.ZodEnum).options.map(option => code(String(option))).join(' · ');
    case 'literal':
      return (def.values ?? []).map(value => code(String(value))).join(' · ');
    case 'union':
      return [...new Set((def.options ?? []).map(typeText))].join(' or ');
    case 'array':
      return `list of ${plural(typeText(def.element as Schema))}`;
    case 'record':
      return 'map';
    case 'object':
      return `{ ${Object.keys(def.shape ?? {}).join(', ')} }`;
    case 'boolean':
      return 'true or false';
    case 'string':
      return 'text';
    case 'unknown':
    case 'any':
      return 'any value';
    default:
      return def.type;
  }
}

const plural = (word: string): string => (/^[a-z]+$/.test(word) && word !== 'text' ? `${word}s` : word);

/** The fields of an object. */
export function fieldsOf(schema: z.ZodObject): Field[] {
  return Object.entries(schema.shape).map(([name, field]) => ({
    name,
    required: definitionOf(field).type !== 'optional' && definitionOf(field).type !== 'default',
    type: typeText(field),
    text: metaOf(field).description ?? '',
  }));
}

/** A table of fields; required ones are marked. */
export const fieldTable = (fields: readonly Field[]): string =>
  table(
    ['field', 'value', 'meaning'],
    fields.map(({ name, required, type, text }) => [`${code(name)}${required ? ' *' : ''}`, type, text]),
  );
