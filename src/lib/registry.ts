// A table of kinds: one entry a file, looked up by its `type`. The union schema of all kinds comes from here.
import { z } from 'zod';
import { CausewayError } from './errors.ts';

/** What every kind of anything has. */
export interface Kind {
  readonly type: string;
  /** A strict object with `type` as a literal, described and with examples by `.meta`. */
  readonly schema: z.ZodObject;
}

/** Kinds by type, in the order in which people read them. */
export interface Table<K extends Kind> {
  readonly kinds: readonly K[];
  has(type: string): boolean;
  /** The kind of a parsed configuration; unknown types cannot get here past the schema. */
  get(type: string): K;
}

/** Builds a table; a type listed twice is a fault of ours and stops the start. */
export function defineTable<K extends Kind>(what: string, kinds: readonly K[]): Table<K> {
  const byType = new Map<string, K>();
  for (const kind of kinds) {
    if (byType.has(kind.type)) throw new CausewayError('INTERNAL', `${what} ${kind.type} is listed twice`);
    byType.set(kind.type, kind);
  }
  return {
    kinds,
    has: type => byType.has(type),
    get(type) {
      const kind = byType.get(type);
      if (!kind) throw new CausewayError('INTERNAL', `there is no ${what} of type ${type}`);
      return kind;
    },
  };
}

/** The discriminated union of all kinds of a table, as one named schema. */
export function unionOf(table: Table<Kind>, id: string) {
  const [first, ...rest] = table.kinds.map(kind => kind.schema);
  if (!first) throw new CausewayError('INTERNAL', `${id} has no kinds`);
  return z.discriminatedUnion('type', [first, ...rest]).meta({ id });
}
