// What the rows of the table share, so that an operation of the hub is a name, a shape and a page.
import { z } from 'zod';
import { asCausewayError } from '../../../lib/errors.ts';
import type { Json } from '../../../model/value.ts';
import { type BackendOperation, defineOperation, type OperationContext } from '../../operation.ts';
import type { HubitatBackend } from '../index.ts';

interface Row<I extends z.ZodRawShape, O extends z.ZodRawShape> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: I;
  readonly output: O;
  readonly path: string;
  run(
    hub: HubitatBackend,
    input: z.output<z.ZodObject<I>>,
    context: OperationContext,
  ): Promise<z.input<z.ZodObject<O>> & Record<string, unknown>>;
}

type Ruling = Pick<BackendOperation, 'effect' | 'scope' | 'idempotent' | 'wantsBackup'>;

const rows =
  (ruling: Ruling) =>
  <I extends z.ZodRawShape, O extends z.ZodRawShape>(row: Row<I, O>): BackendOperation =>
    defineOperation({
      ...row,
      ...ruling,
      input: z.strictObject(row.input),
      output: z.looseObject(row.output),
    } as unknown as BackendOperation<HubitatBackend>);

/** A row that changes nothing. */
export const read = rows({ effect: 'read', scope: 'read', idempotent: true });

/** A row that cannot be undone: it wants `confirm`, and a backup that is younger than a day. */
export const destructive = rows({ effect: 'destructive', scope: 'admin', wantsBackup: true });

/** A device of the hub: id or alias. */
export const device = z
  .string()
  .min(1)
  .describe('Device id (`hubitat:42`) or alias; it must be selected in the Maker API');

/** How many rows at most. */
export const limit = z.int().min(1).max(500).optional();

/** What of several answers came; the others are named with the reason: a page may be missing in this hub's firmware. */
export async function gather<T extends Readonly<Record<string, Promise<unknown>>>>(
  asked: T,
): Promise<{ got: { [K in keyof T]?: Awaited<T[K]> }; missing: Record<string, string> }> {
  const got: { [K in keyof T]?: Awaited<T[K]> } = {};
  const missing: Record<string, string> = {};
  await Promise.all(
    (Object.keys(asked) as (keyof T & string)[]).map(async name => {
      try {
        got[name] = (await asked[name]) as Awaited<T[typeof name]>;
      } catch (error) {
        missing[name] = asCausewayError(error).message;
      }
    }),
  );
  // Nothing at all: then the first reason is the answer.
  if (Object.keys(got).length === 0) await Object.values(asked)[0];
  return { got, missing };
}

/** What a page told, as far as it has a known shape: fields of another type are left out. */
export function known<S extends z.ZodRawShape>(shape: S, page: Json | undefined): Partial<z.output<z.ZodObject<S>>> {
  const source = page !== null && typeof page === 'object' && !Array.isArray(page) ? page : {};
  const found = Object.entries(shape).flatMap(([name, schema]): [string, unknown][] => {
    const parsed = (schema as z.ZodType).safeParse(source[name]);
    return parsed.success && parsed.data !== undefined && parsed.data !== null ? [[name, parsed.data]] : [];
  });
  return Object.fromEntries(found) as Partial<z.output<z.ZodObject<S>>>;
}
