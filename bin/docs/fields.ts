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

// Said once, at the top of the page.
const TARGET = metaOf(Target).description;

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
function typeText(schema: Schema): string {
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
      // What is lazy is a kind, or any JSON, which holds itself.
      return NAMED.get((def.getter as () => Schema)()) ?? 'any value';
    case 'pipe':
      return pipeText(def.in as Schema, def.out as Schema);
    case 'enum':
      return (schema as z.ZodEnum).options.map(option => code(String(option))).join(' · ');
    case 'literal':
      return (def.values ?? []).map(value => code(String(value))).join(' · ');
    case 'union':
      return unionText(def.options ?? []);
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

/** A text that is read into something else is a duration: `.meta` makes it one that the table does not know. */
function pipeText(from: Schema, to: Schema): string {
  if (definitionOf(from).type === 'transform') return typeText(to);
  return definitionOf(from).type === 'string' && definitionOf(to).type === 'transform' ? 'duration' : typeText(from);
}

function unionText(options: readonly Schema[]): string {
  const others = options.filter(option => option !== Expr);
  const text = [...new Set(others.map(typeText))].join(' or ');
  return others.length < options.length ? `${text} ‡` : text;
}

const plural = (word: string): string => (/^[a-z]+$/.test(word) && word !== 'text' ? `${word}s` : word);

/** The fields of an object. */
export function fieldsOf(schema: z.ZodObject): Field[] {
  return Object.entries(schema.shape).map(([name, field]) => ({
    name,
    required: definitionOf(field).type !== 'optional' && definitionOf(field).type !== 'default',
    type: typeText(field),
    text: metaOf(field).description === TARGET ? 'one device or several' : (metaOf(field).description ?? ''),
  }));
}

/** A table of fields; required ones are marked. */
export const fieldTable = (fields: readonly Field[]): string =>
  table(
    ['field', 'value', 'meaning'],
    fields.map(({ name, required, type, text }) => [`${code(name)}${required ? ' *' : ''}`, type, text]),
  );
