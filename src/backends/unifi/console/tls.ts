// The way to a console: TLS with the check that the configuration asks for. Consoles sign their certificates themselves, for
// the name unifi.local; so there is an authority of one's own, a name of one's own, and a pin.
import { connect, type TLSSocket } from 'node:tls';
import type { Clock } from '../../../lib/clock.ts';
import { CausewayError } from '../../../lib/errors.ts';

/** What is checked. */
export interface TlsParts {
  readonly clock: Clock;
  readonly url: URL;
  /** PEM. */
  readonly ca?: string | undefined;
  readonly serverName?: string | undefined;
  /** SHA-256, in any spelling. */
  readonly fingerprint?: string | undefined;
  readonly insecure: boolean;
  /** Gives up what is being opened. */
  readonly signal?: AbortSignal | undefined;
}

const CONNECT_MS = 10_000;
const hexOf = (fingerprint: string): string =>
  fingerprint
    .toLowerCase()
    .replace(/^sha256/, '')
    .replace(/[^0-9a-f]/g, '');
const isName = (host: string): boolean => /[a-z]/i.test(host) && !host.includes(':');

/**
 * Opens a connection that has passed the check; nothing was sent over it.
 * @throws BACKEND_OFFLINE when nobody is there, BACKEND_AUTH when the certificate is not the right one
 */
export function connectTls({
  clock,
  url,
  ca,
  serverName,
  fingerprint,
  insecure,
  signal,
}: TlsParts): Promise<TLSSocket> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const name = serverName ?? (isName(host) ? host : undefined);
  return new Promise((resolve, reject) => {
    const socket = connect({
      host,
      port: Number(url.port) || 443,
      ...(name !== undefined && { servername: name }),
      ...(ca !== undefined && { ca }),
      // Judged below, before anything is sent: so that the refusal can tell which certificate it is.
      rejectUnauthorized: false,
      ALPNProtocols: ['http/1.1'],
    });
    const end = (error: Error) => {
      cancel();
      signal?.removeEventListener('abort', onAbort);
      socket.destroy();
      reject(error);
    };
    const onAbort = () => end(unreachable(url, 'given up'));
    signal?.addEventListener('abort', onAbort, { once: true });
    const cancel = clock.after(CONNECT_MS, () => end(unreachable(url, 'ETIMEDOUT')));
    socket.once('error', (error: NodeJS.ErrnoException) => end(unreachable(url, error.code ?? error.message)));
    socket.once('secureConnect', () => {
      const seen = socket.getPeerCertificate().fingerprint256 ?? '';
      const isRight = insecure || (fingerprint === undefined ? socket.authorized : hexOf(seen) === hexOf(fingerprint));
      if (!isRight) {
        // Node's own words for it, such as DEPTH_ZERO_SELF_SIGNED_CERT.
        return end(
          fingerprint === undefined ? untrusted(url, seen, String(socket.authorizationError)) : mispinned(url, seen),
        );
      }
      cancel();
      signal?.removeEventListener('abort', onAbort);
      socket.removeAllListeners('error');
      resolve(socket);
    });
  });
}

const unreachable = ({ host }: URL, why: string): CausewayError =>
  new CausewayError('BACKEND_OFFLINE', `the console at ${host} cannot be reached (${why})`, {
    hint: 'see whether it has power and is on the network, and check url in config.yaml',
  });

const untrusted = ({ host }: URL, seen: string, why: string): CausewayError =>
  new CausewayError('BACKEND_AUTH', `the certificate of the console at ${host} is not trusted (${why})`, {
    hint: `compare its SHA-256 fingerprint ${seen} at the console and set tls.fingerprint, or set tls.ca_file and tls.server_name`,
  });

const mispinned = ({ host }: URL, seen: string): CausewayError =>
  new CausewayError('BACKEND_AUTH', `the console at ${host} shows another certificate than the pinned one`, {
    hint: `if it was renewed, its fingerprint is now ${seen}: compare it at the console and set tls.fingerprint`,
  });
