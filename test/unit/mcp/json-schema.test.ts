import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { inlineSchema, type JsonSchema, wholeSchema } from '../../../src/mcp/json-schema.ts';

const options = { maxChars: 2_000, hint: 'Cut.' };
const inline = (schema: z.ZodType, given = options) => inlineSchema(wholeSchema(schema), given);

const Place = z.strictObject({ room: z.string() }).meta({ id: 'TestPlace', description: 'Where.' });

type Tree = { name: string; parts?: Tree[] };
const Tree: z.ZodType<Tree> = z
  .lazy(() => z.strictObject({ name: z.string(), parts: z.array(Tree).optional() }))
  .meta({ id: 'TestTree', description: 'A tree.' });

describe('an inlined schema', () => {
  it('has no references, and keeps what stands beside them', () => {
    const schema = inline(z.strictObject({ from: Place, to: Place.meta({ description: 'Whither.' }) }));
    expect(JSON.stringify(schema)).not.toContain('$ref');
    expect(JSON.stringify(schema)).not.toContain('$defs');
    const properties = schema.properties as Record<string, JsonSchema>;
    expect(properties.from).toMatchObject({
      type: 'object',
      description: 'Where.',
      properties: { room: { type: 'string' } },
    });
    expect(properties.to).toMatchObject({ description: 'Whither.', properties: { room: { type: 'string' } } });
  });

  it('is cut where it recurses, with a description', () => {
    const schema = inline(z.strictObject({ tree: Tree }));
    const text = JSON.stringify(schema);
    expect(text).not.toContain('$ref');
    expect(text).toContain('A tree. Cut.');
  });

  it('recurses by getter as well as by lazy', () => {
    const Node = z.strictObject({
      name: z.string(),
      get next() {
        return Node.optional();
      },
    });
    expect(JSON.stringify(inline(z.strictObject({ node: Node })))).not.toContain('$ref');
  });

  it('stays within its length, the outermost level always whole', () => {
    const wide = z.strictObject(Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`field${i}`, Place])));
    const schema = inline(z.strictObject({ id: z.string(), wide }), { maxChars: 400, hint: 'Cut.' });
    expect(JSON.stringify(schema).length).toBeLessThan(400);
    expect(schema.properties).toEqual({ id: { type: 'string' }, wide: { type: 'object', description: 'Cut.' } });
    expect(schema).toMatchObject({ type: 'object', required: ['id', 'wide'], additionalProperties: false });
  });

  it('keeps a property that is called like a keyword', () => {
    const schema = inline(
      z.strictObject({
        id: z.string(),
        properties: z.record(z.string(), z.number()),
        items: z.string(),
        $defs: z.string(),
      }),
    );
    expect(Object.keys(schema.properties as object)).toEqual(['id', 'properties', 'items', '$defs']);
  });

  it('keeps examples and defaults as they are', () => {
    const schema = inline(
      z.strictObject({
        at: z
          .string()
          .meta({ examples: ['$ref'] })
          .default('5m'),
        choice: z.enum(['a', 'b']),
      }),
    );
    expect(schema.properties).toMatchObject({
      at: { examples: ['$ref'], default: '5m' },
      choice: { enum: ['a', 'b'] },
    });
  });
});
