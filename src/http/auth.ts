// Who calls, and from where. Host and Origin are always checked (a page of another site must not reach a gateway that
// trusts loopback); without a credential only a loopback caller passes, and only while no principal exists.
import type { IncomingMessage } from 'node:http';
import { CausewayError } from '../lib/errors.ts';
import type { Caller } from '../ops/op.ts';
import type { Principals as Store } from '../policy/principals.ts';
import type { Principal } from '../policy/roles.ts';

/** Who may come in, of the one store of principals. */
export type Principals = Pick<
  Store,
  'isOpen' | 'anonymous' | 'isCurrent' | 'authenticatePassword' | 'authenticateToken'
>;

/** The part of the configuration's section `http` that decides who is local and which names are ours. */
export interface AuthConfig {
  readonly host: string;
  readonly public_url?: string | undefined;
  readonly allowed_hosts?: readonly string[] | undefined;
}

/** The door of the HTTP server. */
export interface Auth {
  /** @throws CausewayError FORBIDDEN for a Host or Origin that is not ours */
  checkOrigin(request: IncomingMessage): void;
  /** @throws CausewayError UNAUTHENTICATED, RATE_LIMITED */
  authenticate(request: IncomingMessage, via: Caller['via']): Promise<Caller>;
  /** It came over loopback, and through nobody else. */
  isLocal(request: IncomingMessage): boolean;
}

const LOOPBACK = /^(?:127\.|::1$|::ffff:127\.|localhost$)/;
/** An IP address as it stands in a URL. */
const ADDRESS = /^(?:\d+\.\d+\.\d+\.\d+|\[[0-9a-f:.]+\])$/;
/** A proxy adds one of these; who sends them is remote, whatever his address. */
const FORWARDING = /^(?:x-forwarded-.*|forwarded|x-real-ip|via|cf-connecting-ip|true-client-ip)$/;
/** RFC 7617: a name has no colon, a password may. */
const BASIC = /^([^:]*):(.*)$/s;
const CAUSE = /^[\w:.-]{1,64}$/;

/** An address of this machine alone. */
export const isLoopback = (address: string): boolean => LOOPBACK.test(address);

/** Builds the door. */
export function createAuth(config: AuthConfig, principals: Principals): Auth {
  const names = new Set([
    'localhost',
    ...[config.host, ...(config.allowed_hosts ?? [])].map(name => name.toLowerCase()),
  ]);
  if (config.public_url) names.add(new URL(config.public_url).hostname);

  const isLocal = (request: IncomingMessage): boolean =>
    !config.public_url &&
    isLoopback(request.socket.remoteAddress ?? '') &&
    !Object.keys(request.headers).some(header => FORWARDING.test(header));

  const principalOf = async (request: IncomingMessage): Promise<Principal | undefined> => {
    const [scheme = '', credential = ''] = (request.headers.authorization ?? '').split(/\s+/, 2);
    const address = request.socket.remoteAddress ?? '';
    if (/^bearer$/i.test(scheme)) return principals.authenticateToken(credential, address);
    const [, name, password] = /^basic$/i.test(scheme)
      ? (BASIC.exec(Buffer.from(credential, 'base64').toString('utf8')) ?? [])
      : [];
    if (name !== undefined && password !== undefined) return principals.authenticatePassword(name, password, address);
    return principals.anonymous(isLocal(request));
  };

  return {
    isLocal,

    checkOrigin(request) {
      const host = hostnameOf(`http://${request.headers.host ?? ''}`);
      // A page can point its own name at our address (DNS rebinding), but not an address at ours.
      if (host === undefined || !(names.has(host) || ADDRESS.test(host))) {
        throw new CausewayError('FORBIDDEN', `the host "${request.headers.host ?? ''}" is not one of this gateway`, {
          hint: 'add it to http.allowed_hosts in config.yaml if it should be',
        });
      }
      const origin = request.headers.origin;
      const from = origin === undefined ? host : hostnameOf(origin);
      // A browser leaves Origin out of a plain GET, but says whether another site asked for it.
      const foreign =
        request.headers['sec-fetch-site'] === 'cross-site' && request.headers['sec-fetch-mode'] !== 'navigate';
      if (from === undefined || !(from === host || names.has(from)) || foreign) {
        throw new CausewayError('FORBIDDEN', `a page of ${origin ?? 'another site'} may not call this gateway`, {
          hint: 'add its host to http.allowed_hosts in config.yaml if it should be',
        });
      }
    },

    async authenticate(request, via) {
      const causeId = request.headers['x-causeway-cause'];
      const caller = {
        via,
        by: 'user' as const,
        ...(typeof causeId === 'string' && CAUSE.test(causeId) && { causeId }),
      };
      const principal = await principalOf(request);
      if (principal) {
        const { name, scopes, credential } = principal;
        return { principal: name, scopes, ...(credential !== undefined && { credential }), ...caller };
      }
      if (principals.isOpen()) {
        throw new CausewayError('UNAUTHENTICATED', 'only loopback may call a gateway without users', {
          hint: 'add one on the gateway’s machine: causeway user add NAME --role admin',
        });
      }
      throw new CausewayError('UNAUTHENTICATED', 'this gateway wants a credential', {
        hint: 'send Authorization: Bearer TOKEN; causeway user token NAME makes one',
      });
    },
  };
}

/** Lower-case, brackets kept around IPv6; undefined where there is none (`null`, garbage). */
function hostnameOf(url: string): string | undefined {
  try {
    return new URL(url).hostname || undefined;
  } catch {
    return undefined;
  }
}
