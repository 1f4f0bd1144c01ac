// `!secret name` (from secrets.yaml) and `!env NAME` in a YAML file. Both carry text, which is read as the schema at
// their place expects it.
import type { ScalarTag } from 'yaml';
import type { z } from 'zod';
import type { Issue } from '../lib/problems.ts';
import { childOf } from '../lib/schema.ts';
import { didYouMean } from '../lib/text.ts';
import type { Environment } from './environment.ts';
import { acceptsAnything, readAs } from './reading.ts';
import type { Secret } from './secret.ts';

/** Stands in a parsed file until the text is put in. */
class Reference {
  readonly kind: 'secret' | 'env';
  readonly name: string;

  constructor(kind: 'secret' | 'env', name: string) {
    this.kind = kind;
    this.name = name;
  }
}

/** The tags for `parseYaml`. */
export const TAGS: readonly ScalarTag[] = (['secret', 'env'] as const).map(kind => ({
  tag: `!${kind}`,
  resolve: (name: string) => new Reference(kind, name),
}));

/** Where the texts come from. */
export interface Texts {
  readonly environment: Environment;
  readonly secrets: ReadonlyMap<string, Secret>;
}

/**
 * The value with all references resolved; what is missing is reported to `fault`. A secret stays a `Secret` where the schema
 * says nothing about its place.
 */
export function settle(
  value: unknown,
  schema: z.core.$ZodType | undefined,
  texts: Texts,
  fault: (issue: Issue) => void,
): unknown {
  const walk = (item: unknown, at: z.core.$ZodType | undefined, path: readonly PropertyKey[]): unknown => {
    if (item instanceof Reference) return resolve(item, at, path);
    if (Array.isArray(item))
      return item.map((entry, index) => walk(entry, at && childOf(at, index, item), [...path, index]));
    if (item === null || typeof item !== 'object') return item;
    const entries = Object.entries(item);
    // An own `__proto__` must stay one: fromEntries defines, it does not assign.
    return Object.fromEntries(
      entries.map(([key, entry]) => [key, walk(entry, at && childOf(at, key, item), [...path, key])]),
    );
  };

  const resolve = (
    { kind, name }: Reference,
    at: z.core.$ZodType | undefined,
    path: readonly PropertyKey[],
  ): unknown => {
    const { environment, secrets } = texts;
    const missing = (message: string, hint: string) => {
      fault({ path, at: 'value', message, hint });
      return MISSING;
    };
    if (kind === 'secret') {
      const secret = secrets.get(name);
      if (!secret) return missing(`secrets.yaml has no "${name}"`, didYouMean(name, secrets.keys()));
      return !at || acceptsAnything(at) ? secret : readAs(at, secret.reveal());
    }
    const text = environment[name];
    return text === undefined
      ? missing(`the environment has no ${name}`, `set it, or write the value here`)
      : readAs(at, text);
  };

  return walk(value, schema, []);
}

/** Stands where a text was missing, so that the schema's complaint about the same place can be left out. */
const MISSING = Symbol('missing');
