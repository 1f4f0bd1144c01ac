// The table of operations as clients meet it: names, shapes, routes, and what tools/list costs.
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { CATALOGUE } from '../../../src/mcp/catalogue.ts';
import { toolOf } from '../../../src/mcp/tools.ts';
import { ops } from '../../../src/ops/index.ts';
import type { BoundOp } from '../../../src/ops/op.ts';

const bound = ops as unknown as readonly BoundOp[];

describe('every operation', () => {
  it('has a name of its own, verb_noun, within what clients take', () => {
    const names = ops.map(op => op.name);
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter(name => !/^[a-z]+(?:_[a-z]+)+$/.test(name) || name.length > 40)).toEqual([]);
  });

  it('has a route of its own', () => {
    const routes = ops.map(op => op.route.join(' '));
    expect(routes.filter((route, index) => routes.indexOf(route) !== index)).toEqual([]);
  });

  it('names in its route only what its input has', () => {
    const unknown = ops.flatMap(op =>
      [...op.route[1].matchAll(/:(\w+)/g)].map(match => match[1] as string).filter(name => !(name in op.input.shape)),
    );
    expect(unknown).toEqual([]);
  });

  it('takes confirm where it cannot be undone', () => {
    expect(ops.filter(op => op.effect === 'destructive' && !('confirm' in op.input.shape)).map(op => op.name)).toEqual(
      [],
    );
  });

  it('wants no more than reading of who only reads, but for what only admins may see', () => {
    const odd = ops.filter(op => op.effect === 'read' && !['read', 'admin'].includes(op.scope)).map(op => op.name);
    expect(odd).toEqual([]);
  });

  it('takes a flat object without unions at its root', () => {
    const roots = ops.map(op => z.toJSONSchema(op.input, { io: 'input' }) as Record<string, unknown>);
    expect(roots.filter(root => root.type !== 'object' || root.anyOf || root.oneOf || root.allOf)).toEqual([]);
  });
});

describe('tools/list', () => {
  const tools = [...bound.filter(op => op.listed).map(toolOf), ...CATALOGUE];

  it('has at most 25 tools and 10,000 tokens', () => {
    expect(tools.length).toBeLessThanOrEqual(25);
    expect(JSON.stringify(tools).length / 4).toBeLessThan(10_000);
  });

  it('refers to nothing outside of itself', () => {
    expect(tools.filter(tool => JSON.stringify(tool).includes('$ref')).map(tool => tool.name)).toEqual([]);
  });
});
