// What the rows of the table share, so that an operation of a console is a name, a shape and a question.
import { z } from 'zod';
import { iso } from '../../../lib/clock.ts';
import { CausewayError } from '../../../lib/errors.ts';
import type { Json } from '../../../model/value.ts';
import { type BackendOperation, defineOperation, type OperationContext } from '../../operation.ts';
import type { Surface } from '../console/answers.ts';
import type { UnifiBackend } from '../index.ts';

interface Row<I extends z.ZodRawShape, O extends z.ZodRawShape> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: I;
  readonly output: O;
  /** Below `/unifi/`. */
  readonly path: string;
  run(
    backend: UnifiBackend,
    input: z.output<z.ZodObject<I>>,
    context: OperationContext,
  ): Promise<z.input<z.ZodObject<O>>>;
}

/** A row that changes nothing. */
export const read = <I extends z.ZodRawShape, O extends z.ZodRawShape>(row: Row<I, O>): BackendOperation =>
  defineOperation({
    ...row,
    effect: 'read',
    scope: 'read',
    idempotent: true,
    input: z.strictObject(row.input),
    output: z.object(row.output),
  } as unknown as BackendOperation<UnifiBackend>);

/** Asks the console, though an answer is at hand that is not old. */
export const fresh = z.boolean().optional().describe('Ask the console itself, even if its last answer is not old');

/** How many at most, and from which on. */
export const paging = {
  limit: z.int().min(1).max(500).default(100).describe('How many at most'),
  offset: z.int().min(0).default(0).describe('How many to leave out before'),
};

/** One page of all. */
export const pageOf = <T>(all: readonly T[], { limit, offset }: { limit: number; offset: number }): T[] =>
  all.slice(offset, offset + limit);

/** A client or device: its id, or its MAC alone. */
export const device = z
  .string()
  .min(1)
  .describe('Device id (`unifi:client:<mac>`, `unifi:device:<mac>`), alias, or MAC');

const NAMED = /^(?:([^:]+):(?:client|device):)?((?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2})$/i;

/** The MAC of an id or a MAC. @param backend whose it must be, where an id says whose it is @throws INPUT_INVALID */
export function macOf(text: string, backend: Pick<UnifiBackend, 'id'>, path: 'device' | 'client' = 'device'): string {
  const [, owner = backend.id, mac] = NAMED.exec(text) ?? [];
  if (mac === undefined) {
    throw new CausewayError('INPUT_INVALID', `"${text}" names neither a client nor a device`, {
      path,
      hint: 'give an id such as unifi:client:00:00:5e:00:53:01, or the MAC',
    });
  }
  if (owner === backend.id) return mac.toLowerCase().replaceAll('-', ':');
  throw new CausewayError('INPUT_INVALID', `${text} is not of the backend "${backend.id}"`, {
    path,
    hint: `say backend: "${owner}" with it, or give the MAC alone`,
  });
}

/** How long answers are taken for true, s; as long as people on real consoles found fit. */
export const LASTS = {
  sites: 300,
  networks: 300,
  wlans: 300,
  firewall: 300,
  forwards: 300,
  clients: 30,
  events: 0,
} as const;

/** Rows of a list, of the console or of its last answer. */
export async function rowsOf(
  backend: UnifiBackend,
  [surface, path]: readonly [Surface, string],
  seconds: number,
  { fresh: isFresh, signal }: { fresh?: boolean | undefined; signal: AbortSignal },
): Promise<{ [key: string]: Json }[]> {
  const body = await backend.answers.read(surface, path, { seconds, fresh: isFresh === true, signal });
  const rows = Array.isArray(body) ? body : ((body as { data?: Json } | null)?.data ?? []);
  return (Array.isArray(rows) ? rows : []).filter(
    (row): row is { [key: string]: Json } => row !== null && typeof row === 'object' && !Array.isArray(row),
  );
}

/** A text, a number, a yes or no, or nothing. */
export type Plained = string | number | boolean | null;

/** A field if it is one of these; null otherwise. */
export const plain = (value: Json | undefined): Plained =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null;

/** Whether a field is what somebody has asked for, whatever the case of its letters. */
export const sameAs = (field: Plained, asked: string | boolean): boolean =>
  typeof field === 'string' && typeof asked === 'string'
    ? field.toLowerCase() === asked.toLowerCase()
    : field === asked;

/** The last instant that a date can be. */
const LAST_MS = 8.64e15;

/** ISO 8601 of epoch ms; null for what is none. */
export const instantOf = (ms: unknown): string | null =>
  typeof ms === 'number' && Math.abs(ms) <= LAST_MS ? iso(ms) : null;

/** What `plain` gives. */
export const Plain = z.union([z.string(), z.number(), z.boolean()]).nullable();
