// The operations that are not listed as tools: found by search_tools, shown by describe_tool, called by one of three
// tools, apart by effect, so that a client can permit reading without permitting writing.
import { CausewayError } from '../lib/errors.ts';
import { didYouMean } from '../lib/text.ts';
import type { BoundOp, Caller, OpEffect } from '../ops/op.ts';
import { inlineSchema, wholeSchema } from './json-schema.ts';
import { searchOps } from './search.ts';
import { allowed, callOp, switches, type Tool } from './tools.ts';

/** How a catalogue tool is run: which operations the caller has, and who he is. */
interface CatalogueCall {
  readonly ops: readonly BoundOp[];
  readonly args: Record<string, unknown>;
  readonly caller: Caller;
  readonly signal: AbortSignal;
}

/** A tool of the catalogue itself. */
export interface CatalogueTool extends Tool {
  /** Shown only to callers who have an operation with one of these effects. */
  readonly effects?: readonly OpEffect[];
  run(call: CatalogueCall): Promise<Record<string, unknown>>;
}

const SEARCH_LIMIT = 15;
/** A description may be long, but a model reads it: whole schemas beyond this are cut. */
const DESCRIBE_CHARS = 24_000;

const CALL_WITH: Record<OpEffect, string> = {
  read: 'call_read_tool',
  write: 'call_write_tool',
  destructive: 'call_destructive_tool',
  admin: 'call_destructive_tool',
};

const NAME = { type: 'string', description: 'Name of the operation, as search_tools gives it' };
const READING = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };

/** The five tools, in the order in which they are listed. */
export const CATALOGUE: readonly CatalogueTool[] = [
  {
    name: 'search_tools',
    title: 'Search operations',
    description: 'Finds operations by words. Many more exist than are listed as tools. Without a query it names all.',
    inputSchema: {
      type: 'object',
      properties: { query: { type: 'string', description: 'Words, such as "backup" or "scene"' } },
    },
    annotations: READING,
    run: async ({ ops, args }) => search(ops, typeof args.query === 'string' ? args.query : ''),
  },
  {
    name: 'describe_tool',
    title: 'Describe an operation',
    description: 'The whole input and output schema of an operation, and the tool by which it is called.',
    inputSchema: { type: 'object', properties: { name: NAME }, required: ['name'] },
    annotations: READING,
    run: async ({ ops, args }) => describe(find(ops, args.name)),
  },
  callTool('call_read_tool', 'Call a reading operation', ['read'], READING),
  callTool('call_write_tool', 'Call a writing operation', ['write'], {
    readOnlyHint: false,
    destructiveHint: false,
    idempotentHint: false,
    openWorldHint: true,
  }),
  callTool('call_destructive_tool', 'Call a destructive or administrative operation', ['destructive', 'admin'], {
    readOnlyHint: false,
    destructiveHint: true,
    idempotentHint: false,
    openWorldHint: true,
  }),
];

function callTool(
  name: string,
  title: string,
  effects: readonly OpEffect[],
  annotations: Tool['annotations'],
): CatalogueTool {
  return {
    name,
    title,
    effects,
    annotations,
    description: `Calls an operation whose effect is ${effects.join(' or ')}, by name. describe_tool shows its arguments.`,
    inputSchema: {
      type: 'object',
      properties: { name: NAME, arguments: { type: 'object', description: 'Its arguments' } },
      required: ['name'],
      additionalProperties: false,
    },
    run: async ({ ops, args, caller, signal }) => {
      refuseStray(args);
      const op = find(ops, args.name);
      if (effects.includes(op.effect)) return callOp(op, args.arguments, caller, signal);
      throw new CausewayError('INPUT_INVALID', `${op.name} is an operation with the effect "${op.effect}"`, {
        path: 'name',
        hint: `call it with ${CALL_WITH[op.effect]}`,
      });
    },
  };
}

/** A `dry_run` beside the arguments must not be passed over: the call would be carried out. @throws INPUT_INVALID */
function refuseStray(args: Record<string, unknown>): void {
  const stray = Object.keys(args).find(key => key !== 'name' && key !== 'arguments');
  if (stray === undefined) return;
  throw new CausewayError('INPUT_INVALID', `"${stray}" stands beside the arguments`, {
    path: stray,
    hint: 'give `name`, and everything else inside `arguments`, also dry_run and confirm',
  });
}

/** The catalogue tools of a caller. */
export const catalogueFor = (ops: readonly BoundOp[], caller: Caller): CatalogueTool[] =>
  CATALOGUE.filter(tool => !tool.effects || ops.some(op => allowed(op, caller) && tool.effects?.includes(op.effect)));

/** An operation among those of the caller. @throws CausewayError NOT_FOUND with the nearest name */
function find(ops: readonly BoundOp[], name: unknown): BoundOp {
  const op = ops.find(candidate => candidate.name === name);
  if (op) return op;
  const near = didYouMean(
    String(name),
    ops.map(candidate => candidate.name),
  );
  const hint = `${near} (search_tools finds them by words)`;
  throw new CausewayError('NOT_FOUND', `there is no operation "${String(name)}" for you`, { path: 'name', hint });
}

function search(ops: readonly BoundOp[], query: string): Record<string, unknown> {
  const isAll = query.trim() === '';
  const found = searchOps(ops, query);
  const shown = isAll ? found : found.slice(0, SEARCH_LIMIT);
  return {
    total: found.length,
    operations: shown.map(op => summaryOf(op, !isAll)),
    ...(found.length === 0 && {
      hint: 'no operation has these words: try others, or none for all names; what devices can do is in get_device, and sent with send_command',
    }),
  };
}

const summaryOf = (op: BoundOp, withDescription: boolean) => ({
  name: op.name,
  title: op.title,
  ...(withDescription && { description: op.description }),
  effect: op.effect,
  call_with: op.listed ? op.name : CALL_WITH[op.effect],
});

function describe(op: BoundOp): Record<string, unknown> {
  const whole = wholeSchema(op.input);
  const hint = 'Cut here, it is too long.';
  const fits = JSON.stringify(whole).length <= DESCRIBE_CHARS;
  const input = fits ? whole : inlineSchema(whole, { maxChars: DESCRIBE_CHARS, hint });
  return {
    ...summaryOf(op, true),
    input_schema: { ...input, properties: { ...(input.properties as object), ...switches(op) } },
    output_schema: inlineSchema(wholeSchema(op.output, 'output'), { maxChars: DESCRIBE_CHARS / 4, hint }),
  };
}
