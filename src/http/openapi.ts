// The OpenAPI 3.1 document of the REST routes, from the operations.
import { z } from 'zod';
import type { BoundOp, Views } from '../ops/op.ts';
import type { HttpApp } from './app.ts';
import { pathOf } from './rest.ts';

type Schema = Record<string, unknown>;

/** Serves the document; it is made on the first request. */
export function mountOpenApi(app: HttpApp, views: Views): void {
  let document: Schema | undefined;
  app.get('/api/openapi.json', c => {
    document ??= openApiOf(views);
    return c.json(document);
  });
}

/** The document. */
function openApiOf(views: Pick<Views, 'ops' | 'version'>): Schema {
  const schemas: Record<string, Schema> = { Error: ERROR };
  const paths: Record<string, Record<string, Schema>> = {};
  for (const op of views.ops) {
    const path = pathOf(op).replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [op.route[0].toLowerCase()]: operationOf(op, schemas) };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Causeway', version: views.version, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }, { basic: [] }],
    paths,
    components: {
      schemas,
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' }, basic: { type: 'http', scheme: 'basic' } },
    },
  };
}

const ERROR: Schema = {
  type: 'object',
  properties: {
    error: {
      type: 'object',
      properties: {
        code: { type: 'string' },
        message: { type: 'string' },
        path: { type: 'string' },
        hint: { type: 'string' },
        status: { type: 'integer' },
        retryable: { type: 'boolean' },
        details: {},
      },
      required: ['code', 'message', 'status', 'retryable'],
    },
  },
  required: ['error'],
};

function operationOf(op: BoundOp, schemas: Record<string, Schema>): Schema {
  const [method, route] = op.route;
  const input = hoist(op, 'input', schemas);
  const inPath = new Set([...route.matchAll(/:(\w+)/g)].map(([, name]) => name as string));
  const properties = (input.properties ?? {}) as Record<string, Schema>;
  const required = (input.required ?? []) as string[];
  const rest = Object.keys(properties).filter(name => !inPath.has(name));
  const inQuery = method === 'GET' || method === 'DELETE';
  const switches = [
    ...(op.effect === 'read' ? [] : ['dry_run']),
    ...(op.effect === 'destructive' ? ['confirm'] : []),
  ].filter(name => !(name in properties));

  const parameter = (name: string, place: 'path' | 'query') => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    schema: properties[name] ?? { type: 'boolean' },
  });
  return {
    operationId: op.name,
    summary: op.title,
    description: op.description,
    tags: [route.replace('/api/', '/').split('/')[1] ?? 'system'],
    'x-scope': op.scope,
    parameters: [
      ...[...inPath].map(name => parameter(name, 'path')),
      ...(inQuery ? rest : []).map(name => parameter(name, 'query')),
      ...switches.map(name => parameter(name, 'query')),
    ],
    ...(!inQuery &&
      rest.length > 0 && {
        requestBody: {
          required: rest.some(name => required.includes(name)),
          content: json({
            ...input,
            properties: Object.fromEntries(rest.map(name => [name, properties[name]])),
            required: required.filter(name => rest.includes(name)),
          }),
        },
      }),
    responses: {
      200: { description: op.title, content: json(hoist(op, 'output', schemas)) },
      default: { description: 'An error, with what to do next', content: json({ $ref: '#/components/schemas/Error' }) },
    },
  };
}

const json = (schema: Schema) => ({ 'application/json': { schema } });

/** The schema with its definitions moved to the document's components. */
function hoist(op: BoundOp, side: 'input' | 'output', schemas: Record<string, Schema>): Schema {
  const {
    $schema: _dialect,
    $defs,
    id: _id,
    ...schema
  } = z.toJSONSchema(op[side], { io: side, unrepresentable: 'any' }) as Schema;
  // A schema may look different as input and as output, and unnamed ones are numbered per document.
  const nameOf = (name: string) =>
    `${name.startsWith('__') ? `${op.name}${name}` : name}${side === 'output' ? '.out' : ''}`;
  const moved = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value), (key, item) => {
      if (key !== '$ref' || typeof item !== 'string') return item;
      if (item === '#') return `#/components/schemas/${op.name}.${side}`;
      return `#/components/schemas/${nameOf(item.replace('#/$defs/', ''))}`;
    });
  for (const [name, definition] of Object.entries(($defs ?? {}) as Record<string, Schema>)) {
    schemas[nameOf(name)] ??= moved(definition) as Schema;
  }
  const whole = moved(schema) as Schema;
  if (JSON.stringify(schema).includes('"$ref":"#"')) schemas[`${op.name}.${side}`] = whole;
  return whole;
}
