// A real HTTP server over fake views, on a free port, for tests of the views.
import { Subject } from 'rxjs';
import type { Principals } from '../../src/http/auth.ts';
import type { StreamedEvent } from '../../src/http/event-stream.ts';
import { createHttp, type HttpParts } from '../../src/http/server.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { CausewayError } from '../../src/lib/errors.ts';
import { silentLog } from '../../src/lib/log.ts';
import { createMcp, type Mcp, type McpLimits } from '../../src/mcp/server.ts';
import { admin, LOCAL, type Principal, type Scope } from '../../src/policy/roles.ts';
import { type FakeViews, fakeViews } from './fake-views.ts';

/** A principal whose token is `<name>-token` and whose password is `<name>-password`. */
export const person = (name: string, ...scopes: Scope[]): Principal => ({
  name,
  role: 'viewer',
  scopes: new Set(scopes),
});

/** Those who may come in; the list may change. */
export function principalsOf(people: readonly Principal[]): Principals {
  const who = (fits: (name: string) => boolean): Principal => {
    const found = people.find(({ name }) => fits(name));
    if (!found) throw new CausewayError('UNAUTHENTICATED', 'wrong credential');
    return found;
  };
  return {
    isOpen: () => people.length === 0,
    anonymous: loopback => (loopback && people.length === 0 ? admin(LOCAL) : undefined),
    isCurrent: ({ name }) => people.some(one => one.name === name) || (people.length === 0 && name === LOCAL),
    authenticateToken: token => who(name => token === `${name}-token`),
    authenticatePassword: async (given, password) => who(name => name === given && password === `${name}-password`),
  };
}

/** The parts of a running fake gateway. */
export interface FakeGateway {
  readonly views: FakeViews;
  readonly mcp: Mcp;
  readonly events$: Subject<StreamedEvent>;
  readonly url: string;
  readonly port: number;
  stop(): Promise<void>;
}

interface Options {
  readonly views?: FakeViews;
  readonly people?: Principal[];
  readonly limits?: Partial<McpLimits>;
  readonly config?: Partial<HttpParts['config']>;
  readonly parts?: Partial<HttpParts>;
  readonly port?: number;
}

/** Starts one. */
export async function startGateway(options: Options = {}): Promise<FakeGateway> {
  const views = options.views ?? fakeViews();
  const events$ = new Subject<StreamedEvent>();
  const mcp = createMcp({ views, clock: systemClock, log: silentLog, limits: { windowMs: 20, ...options.limits } });
  const http = await createHttp({
    views,
    config: { host: '127.0.0.1', port: options.port ?? 0, ...options.config },
    principals: principalsOf(options.people ?? []),
    clock: systemClock,
    log: silentLog,
    mcp,
    events$,
    ...options.parts,
  });
  const { port } = await http.listen();
  return {
    views,
    mcp,
    events$,
    port,
    url: `http://127.0.0.1:${port}`,
    async stop() {
      events$.complete();
      await mcp.stop();
      await http.stop();
    },
  };
}
