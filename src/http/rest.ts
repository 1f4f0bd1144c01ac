// The REST routes, one per operation, and one route that calls any operation by its name.
import type { Context } from 'hono';
import { z } from 'zod';
import { CausewayError } from '../lib/errors.ts';
import { parseJson } from '../lib/json.ts';
import { didYouMean } from '../lib/text.ts';
import type { BoundOp, Views } from '../ops/op.ts';
import { type HttpApp, type HttpEnv, readBytes } from './app.ts';

type Input = Record<string, unknown>;

/** The path of an operation's route, below `/api`. */
export const pathOf = (op: Pick<BoundOp, 'route'>): string =>
  op.route[1].startsWith('/api/') ? op.route[1] : `/api${op.route[1]}`;

/** Adds the routes; those with fewer parts to fill in come first, so `/rules/schema` is not taken for a rule. */
export function mountRest(app: HttpApp, views: Views): void {
  const ops = [...views.ops].sort((a, b) => partsOf(a) - partsOf(b));
  for (const op of ops) {
    const [method] = op.route;
    const inQuery = method === 'GET' || method === 'DELETE';
    const coerce = coercerOf(op);
    app.on(method, pathOf(op), async c => {
      const query = coerce(c.req.queries());
      // A body may come with DELETE too: `confirm` is often sent so.
      const body = inQuery && method === 'GET' ? {} : await bodyOf(c);
      return c.json(await call(op, { ...query, ...body, ...coerce(paramsOf(c)) }, c));
    });
  }
  app.post('/api/call/:op', async c => {
    const name = c.req.param('op');
    const op = views.ops.find(candidate => candidate.name === name);
    if (!op)
      throw new CausewayError('NOT_FOUND', `there is no operation "${name}"`, {
        hint: didYouMean(
          name,
          views.ops.map(known => known.name),
        ),
      });
    return c.json(await call(op, await bodyOf(c), c));
  });
}

const partsOf = (op: BoundOp): number => op.route[1].split(':').length;

const paramsOf = (c: Context<HttpEnv>): Record<string, string[]> =>
  Object.fromEntries(Object.entries(c.req.param() as Record<string, string>).map(([name, value]) => [name, [value]]));

/** `dry_run` goes into the context; `confirm` stays in the input, where policy looks for it. */
function call(op: BoundOp, { dry_run: dryRun, ...input }: Input, c: Context<HttpEnv>): Promise<Input> {
  const context = { caller: c.get('caller'), dryRun: false, signal: c.req.raw.signal };
  if (dryRun === undefined) return op.call(input, context);
  if ('dry_run' in op.input.shape) return op.call({ ...input, dry_run: dryRun }, context);
  if (typeof dryRun !== 'boolean')
    throw new CausewayError('INPUT_INVALID', 'dry_run is true or false', { path: 'dry_run' });
  return op.call(input, { ...context, dryRun: dryRun && op.effect !== 'read' });
}

/** The JSON object in the body; none is `{}`. @throws CausewayError INPUT_INVALID */
async function bodyOf(c: Context<HttpEnv>): Promise<Input> {
  const text = (await readBytes(c.req.raw)).toString('utf8');
  if (text.trim() === '') return {};
  const body = parseJson(text);
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body;
  throw new CausewayError('INPUT_INVALID', 'the body must be a JSON object', {
    hint: 'GET /api/openapi.json describes it',
  });
}

/** Turns the text of a query into what the operation's schema wants; what does not fit stays text and is refused there. */
function coercerOf(op: BoundOp): (query: Record<string, string[]>) => Input {
  const schema = z.toJSONSchema(op.input, { io: 'input', unrepresentable: 'any' }) as {
    properties?: Record<string, { type?: string }>;
  };
  const types: Record<string, { type?: string }> = {
    ...schema.properties,
    dry_run: { type: 'boolean' },
    confirm: { type: 'boolean' },
  };
  return query =>
    Object.fromEntries(Object.entries(query).map(([name, texts]) => [name, coerce(types[name]?.type, texts)]));
}

function coerce(type: string | undefined, texts: string[]): unknown {
  const text = texts.at(-1) ?? '';
  switch (type) {
    case 'string':
      return text;
    case 'boolean':
      return text === 'true' || text === '1' || text === '' ? true : text === 'false' || text === '0' ? false : text;
    case 'number':
    case 'integer':
      return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
    case 'array': {
      const whole = text.startsWith('[') ? parseJson(text) : undefined;
      return whole ?? texts.flatMap(item => item.split(',')).filter(item => item !== '');
    }
    default:
      return parseJson(text) ?? text;
  }
}
