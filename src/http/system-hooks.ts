// Webhooks of bridged systems: /hooks/<backend>/<path>. Who calls has no credential of ours; the system knows him by a
// signature, or by the path, which is a secret then. So guessing is slow here, and what was wrong is not told.

import type { Clock } from '../lib/clock.ts';
import { CausewayError } from '../lib/errors.ts';
import { type HookAnswer, type HookCall, SIGNED } from '../model/hook.ts';
import { attempts } from '../policy/attempts.ts';
import { type HttpApp, readBytes } from './app.ts';

/** Takes a call to a backend; undefined where there is no such backend, or it does not let the caller in. */
export type SystemHook = (backend: string, call: HookCall) => Promise<HookAnswer | undefined>;

/** Adds the route. It stands before the door that asks for credentials. */
export function mountSystemHooks(app: HttpApp, hook: SystemHook, clock: Clock): void {
  const failures = attempts(clock);
  app.on(['GET', 'POST'], '/hooks/:backend/:path', async (c, next) => {
    const { backend, path } = c.req.param();
    const { method } = c.req;
    // A HEAD comes here too, and is to change nothing.
    if (method !== 'GET' && method !== 'POST') return next();
    const address = c.env.incoming.socket.remoteAddress ?? '';
    // Before anything is read, and again when it is his turn.
    failures.check(address);
    const body = await readBytes(c.req.raw);
    const call: HookCall = { path, method, headers: c.req.header(), query: c.req.query(), body };
    const answer = await failures.inTurn(address, async () => {
      const taken = await hook(backend, call);
      if (!taken) failures.failed(address);
      return taken;
    });
    if (!answer) throw refusal(path);
    return Response.json(answer.body, { status: answer.status });
  });
}

/** The same for a backend that there is and one that there is not. */
const refusal = (path: string): CausewayError =>
  path === SIGNED
    ? new CausewayError('UNAUTHENTICATED', 'the signature is missing or wrong, or nobody here takes signed calls', {
        hint: 'sign the body as it is sent, with the secret in config.yaml; see the page of that system in docs',
      })
    : new CausewayError('NOT_FOUND', 'there is no such webhook', {
        hint: 'compare the address with the backend’s id and its secret path in config.yaml',
      });
