import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { silentLog } from '../../../src/lib/log.ts';
import { CATALOGUE } from '../../../src/mcp/catalogue.ts';
import { createProtocol, MAX_TOOLS } from '../../../src/mcp/protocol.ts';
import { callOp, type Tool, toolOf } from '../../../src/mcp/tools.ts';
import type { BoundOp, Caller, Scope } from '../../../src/ops/op.ts';
import { boundOp, fakeViews } from '../../kit/fake-views.ts';

const callerWith = (...scopes: Scope[]): Caller => ({
  principal: 'x',
  scopes: new Set(scopes),
  via: 'mcp',
  by: 'user',
});
const everything = callerWith('read', 'rules:write', 'devices:control', 'house:write', 'admin');
const toolsOf = (views: Parameters<typeof createProtocol>[0], caller = everything) =>
  createProtocol(views, silentLog).toolsFor(caller);

/** As the budget of clients is counted: four characters a token. */
const tokens = (tools: readonly Tool[]) => JSON.stringify(tools).length / 4;

/** An operation as heavy as they come: a long description and a schema far over its share. */
const heavy = (index: number): BoundOp => ({
  ...boundOp({
    name: `heavy_operation_${index}`,
    route: ['POST', `/heavy/${index}`],
    effect: 'write',
    scope: 'read',
    input: z.strictObject(
      Object.fromEntries(
        Array.from({ length: 8 }, (_, i) => [
          `field_${i}`,
          z
            .strictObject({ a: z.string(), b: z.array(z.enum(['one', 'two', 'three'])) })
            .meta({ description: 'What this field is for, in one sentence.' }),
        ]),
      ),
    ),
    run: () => ({}),
  }),
  description: 'Does something. '.repeat(18),
});

describe('tools/list', () => {
  it('never has more than 25 tools or 10,000 tokens, however many operations are listed', () => {
    const tools = toolsOf(fakeViews(Array.from({ length: 40 }, (_, i) => heavy(i))));
    expect(tools).toHaveLength(MAX_TOOLS);
    expect(tokens(tools)).toBeLessThan(10_000);
  });

  it('has names that every client takes, flat objects, and no references', () => {
    for (const { name, inputSchema } of toolsOf(fakeViews())) {
      expect(name).toMatch(/^[a-z_]{1,40}$/);
      expect(inputSchema.type).toBe('object');
      for (const key of ['anyOf', 'oneOf', 'allOf', '$ref', '$defs', '$schema'])
        expect(inputSchema).not.toHaveProperty([key]);
      expect(JSON.stringify(inputSchema)).not.toContain('"$ref"');
    }
  });

  it('points from a rule to the operation that describes it', () => {
    const create = toolsOf(fakeViews()).find(tool => tool.name === 'create_rule');
    expect(JSON.stringify(create?.inputSchema)).toContain('get_rule_schema');
  });

  it('has all four hints of every tool', () => {
    const hints = Object.fromEntries(toolsOf(fakeViews()).map(tool => [tool.name, tool.annotations]));
    for (const hint of Object.values(hints)) expect(Object.keys(hint)).toHaveLength(4);
    expect(hints.get_rule).toEqual({
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
    });
    expect(hints.update_rule).toEqual({
      readOnlyHint: false,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
    });
    expect(hints.delete_rule).toMatchObject({ destructiveHint: true, readOnlyHint: false });
    expect(hints.send_command).toMatchObject({ openWorldHint: true });
    expect(hints.call_read_tool).toMatchObject({ readOnlyHint: true });
    expect(hints.call_destructive_tool).toMatchObject({ destructiveHint: true });
  });

  it('hides what the caller may not do, and the catalogue tools that would be empty', () => {
    const names = toolsOf(fakeViews(), callerWith('read')).map(tool => tool.name);
    expect(names).not.toContain('create_rule');
    expect(names).not.toContain('call_write_tool');
    expect(toolsOf(fakeViews(), callerWith('read', 'devices:control')).map(tool => tool.name)).toContain(
      'call_write_tool',
    );
  });
});

describe('the switches of a tool', () => {
  const base = { name: 'x', route: ['POST', '/x'] as const, run: () => ({}) };

  it('are dry_run for writes, and confirm for what is destructive, unless it takes them itself', () => {
    const properties = (effect: BoundOp['effect'], input = z.strictObject({})) =>
      Object.keys(toolOf(boundOp({ ...base, effect, input })).inputSchema.properties as object);
    expect(properties('read')).toEqual([]);
    expect(properties('write')).toEqual(['dry_run']);
    expect(properties('destructive')).toEqual(['dry_run', 'confirm']);
    const own = toolOf(
      boundOp({ ...base, effect: 'destructive', input: z.strictObject({ confirm: z.literal(true) }) }),
    );
    expect((own.inputSchema.properties as Record<string, unknown>).confirm).toMatchObject({ const: true });
  });

  it('reach the operation as context, not as input', async () => {
    const views = fakeViews();
    const op = views.ops.find(candidate => candidate.name === 'update_rule') as BoundOp;
    await callOp(op, { id: 'attic-fan', name: 'x', dry_run: true }, everything, AbortSignal.abort());
    expect(views.calls.at(-1)).toMatchObject({ input: { id: 'attic-fan', name: 'x' }, context: { dryRun: true } });
    await expect(callOp(op, { dry_run: 'yes' }, everything, AbortSignal.abort())).rejects.toMatchObject({
      path: 'dry_run',
    });
    await expect(callOp(op, 'x', everything, AbortSignal.abort())).rejects.toMatchObject({ code: 'INPUT_INVALID' });
  });
});

describe('a call of the catalogue', () => {
  it('with dry_run beside the arguments is refused, and not carried out', async () => {
    let calls = 0;
    const run = () => ({ calls: ++calls });
    const op = boundOp({
      name: 'set_x',
      route: ['POST', '/x'],
      effect: 'write',
      scope: 'read',
      input: z.strictObject({}),
      run,
    });
    const tool = CATALOGUE.find(({ name }) => name === 'call_write_tool');
    const call = (args: Record<string, unknown>) =>
      tool?.run({ ops: [op], args, caller: everything, signal: new AbortController().signal });
    await expect(call({ name: 'set_x', arguments: {}, dry_run: true })).rejects.toMatchObject({
      code: 'INPUT_INVALID',
      path: 'dry_run',
      hint: expect.stringContaining('inside `arguments`'),
    });
    await expect(call({ name: 'set_x', args: {} })).rejects.toMatchObject({ path: 'args' });
    expect(calls).toBe(0);
    await call({ name: 'set_x', arguments: {} });
    expect(calls).toBe(1);
  });
});
