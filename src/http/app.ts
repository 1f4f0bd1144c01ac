// What all routes share: the types of a request's context, the error answer, and the check of a scope.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Hono, MiddlewareHandler } from 'hono';
import { asCausewayError, CausewayError } from '../lib/errors.ts';
import type { Caller, Scope } from '../ops/op.ts';

/** What a route finds in its context. */
export interface HttpEnv {
  Bindings: { incoming: IncomingMessage; outgoing: ServerResponse };
  Variables: { caller: Caller };
}

/** The routes of the gateway. */
export type HttpApp = Hono<HttpEnv>;

/** 1 MiB: a large rule has 20 kB. */
const MAX_BODY = 1024 * 1024;

/** The body, read no further than `maxBytes`. @throws CausewayError INPUT_INVALID */
export async function readBytes(request: Request, maxBytes = MAX_BODY): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const declared = Number(request.headers.get('content-length') ?? 0);
  if (declared <= maxBytes) {
    for await (const chunk of (request.body ?? []) as AsyncIterable<Uint8Array>) {
      size += chunk.byteLength;
      if (size > maxBytes) break;
      chunks.push(chunk);
    }
  }
  if (declared <= maxBytes && size <= maxBytes) return Buffer.concat(chunks);
  throw new CausewayError('INPUT_INVALID', `the body is larger than ${maxBytes / 1024 / 1024} MiB`, {
    hint: 'send less at a time',
  });
}

/** Lets callers with the scope pass. @throws CausewayError FORBIDDEN */
export const wantScope =
  (scope: Scope): MiddlewareHandler<HttpEnv> =>
  async (c, next) => {
    const caller = c.get('caller');
    if (!caller.scopes.has(scope)) {
      throw new CausewayError('FORBIDDEN', `${caller.principal} has no scope "${scope}"`, {
        hint: 'an administrator can give another role: causeway user add NAME --role ROLE',
      });
    }
    await next();
  };

/** The same JSON for every error, whoever threw it. */
export function errorResponse(thrown: unknown, incoming: IncomingMessage): Response {
  const error = asCausewayError(thrown);
  const headers = new Headers();
  // What was not read is still on its way; the next request cannot come after it.
  if (!incoming.complete) headers.set('Connection', 'close');
  if (error.status === 401)
    headers.set('WWW-Authenticate', 'Bearer realm="causeway", Basic realm="causeway", charset="UTF-8"');
  const { retryAfterMs } = (error.details ?? {}) as { retryAfterMs?: number };
  if (retryAfterMs !== undefined) headers.set('Retry-After', String(Math.ceil(retryAfterMs / 1_000)));
  return Response.json({ error: error.toJSON() }, { status: error.status, headers });
}
