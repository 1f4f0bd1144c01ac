// The operations as MCP tools: names, flat schemas, annotations, and one call with its result or error.
import { asCausewayError, CausewayError } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import type { BoundOp, Caller } from '../ops/op.ts';
import { inlineSchema, type JsonSchema, wholeSchema } from './json-schema.ts';

/** A tool as it stands in tools/list. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonSchema & { type: 'object' };
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint: boolean;
    readonly idempotentHint: boolean;
    readonly openWorldHint: boolean;
  };
}

/** What a call answers: the same JSON as structured content and as text, since clients show the model only one of them. */
export interface ToolResult {
  readonly content: { type: 'text'; text: string }[];
  readonly structuredContent: Record<string, unknown>;
  readonly isError?: boolean;
}

/** Per tool; 25 of them stay far below 10,000 tokens. */
const MAX_SCHEMA_CHARS = 1_100;
const CUT_HINT = 'Shortened here; describe_tool shows all of it.';
const RULE_HINT = 'Open object here: get_rule_schema has its fields.';

/** True when the caller may call the operation at all. */
export const allowed = (op: BoundOp, caller: Caller): boolean => caller.scopes.has(op.scope);

/** The tool of an operation. `dry_run` and `confirm` are added where the operation itself does not take them. */
export function toolOf(op: BoundOp): Tool {
  const hint = /rule/.test(op.name) ? RULE_HINT : CUT_HINT;
  const schema = inlineSchema(wholeSchema(op.input), { maxChars: MAX_SCHEMA_CHARS, hint });
  return {
    name: op.name,
    title: op.title,
    description: op.description,
    inputSchema: { ...schema, type: 'object', properties: { ...(schema.properties as object), ...switches(op) } },
    annotations: annotationsOf(op),
  };
}

/** The hints by which clients ask, or do not ask, their user. */
function annotationsOf(op: Pick<BoundOp, 'effect' | 'idempotent' | 'scope'>): Tool['annotations'] {
  return {
    readOnlyHint: op.effect === 'read',
    destructiveHint: op.effect === 'destructive' || op.effect === 'admin',
    idempotentHint: op.effect === 'read' || op.idempotent === true,
    // Commands reach devices, and whatever those move.
    openWorldHint: op.scope === 'devices:control',
  };
}

/** The switches that every write, and every destructive operation, takes beside its own input. */
export function switches(op: BoundOp): Record<string, JsonSchema> {
  const own = op.input.shape;
  return {
    ...(op.effect !== 'read' &&
      !('dry_run' in own) && { dry_run: { type: 'boolean', description: 'Check all, change nothing.' } }),
    ...(op.effect === 'destructive' &&
      !('confirm' in own) && { confirm: { type: 'boolean', description: 'Must be true.' } }),
  };
}

/** Calls an operation with the arguments of a tool call; `confirm` stays in the input, where policy looks for it. */
export async function callOp(
  op: BoundOp,
  args: unknown,
  caller: Caller,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  if (args !== undefined && (typeof args !== 'object' || args === null || Array.isArray(args))) {
    throw new CausewayError('INPUT_INVALID', 'arguments must be an object', {
      hint: `describe_tool shows those of ${op.name}`,
    });
  }
  if ('dry_run' in op.input.shape) return op.call(args ?? {}, { caller, dryRun: false, signal });
  const { dry_run: dryRun = false, ...input } = (args ?? {}) as Record<string, unknown>;
  if (typeof dryRun !== 'boolean')
    throw new CausewayError('INPUT_INVALID', 'dry_run is true or false', { path: 'dry_run' });
  return op.call(input, { caller, dryRun: dryRun && op.effect !== 'read', signal });
}

/** A successful result. */
export function success(output: Record<string, unknown>): ToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(output) }], structuredContent: output };
}

/** An error that the model can act upon: what went wrong, where, and what to do next. */
export function failure(thrown: unknown, log: Log, tool: string): ToolResult {
  const error = asCausewayError(thrown);
  if (error.code === 'INTERNAL') log.error({ err: thrown, tool }, 'a tool call failed');
  const body = { error: error.toJSON() };
  return { content: [{ type: 'text', text: JSON.stringify(body) }], structuredContent: body, isError: true };
}
