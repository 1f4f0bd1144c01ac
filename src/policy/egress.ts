// Where outgoing requests of rules may go: the allow list, and never loopback, link-local or metadata addresses by default.
import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import { CausewayError } from '../lib/errors.ts';

/** The allow list, read. */
export interface Egress {
  /** @throws FORBIDDEN when the address is not allowed, BACKEND_OFFLINE when the name does not resolve */
  check(url: string): Promise<void>;
}

const guarded = new BlockList();
guarded.addSubnet('127.0.0.0', 8, 'ipv4');
guarded.addSubnet('0.0.0.0', 8, 'ipv4');
guarded.addSubnet('169.254.0.0', 16, 'ipv4');
guarded.addAddress('100.100.100.200', 'ipv4');
guarded.addAddress('::1', 'ipv6');
guarded.addAddress('::', 'ipv6');
guarded.addSubnet('fe80::', 10, 'ipv6');
guarded.addAddress('fd00:ec2::254', 'ipv6');

interface Entry {
  fits(host: string, addresses: readonly string[]): boolean;
  readonly port: string | undefined;
  /** `*` does not reach guarded addresses; whoever names one means it. */
  readonly isAny: boolean;
}

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4');
const plain = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/, '');

function read(text: string): Entry {
  const [, bracketed, bare, port] = /^(?:\[([^\]]+)\]|([^:]*(?:::?[^:]*)*?))(?::(\d+))?$/.exec(text) ?? [];
  const name = (bracketed ?? bare ?? text).toLowerCase();
  const [base = '', bits] = name.split('/');
  if (name === '*') return { fits: () => true, port, isAny: true };
  if (bits !== undefined && isIP(base)) {
    const list = new BlockList();
    list.addSubnet(base, Number(bits), familyOf(base));
    return {
      fits: (_host, addresses) => addresses.every(address => list.check(address, familyOf(address))),
      port,
      isAny: false,
    };
  }
  if (name.startsWith('*.')) return { fits: host => host.endsWith(name.slice(1)), port, isAny: true };
  return {
    fits: (host, addresses) => host === name || addresses.every(address => address === name),
    port,
    isAny: false,
  };
}

/** Reads the list `security.egress.allow`. */
export function egressOf(allow: readonly string[]): Egress {
  const entries = allow.map(read);
  return {
    async check(text) {
      let url: URL;
      try {
        url = new URL(text);
      } catch {
        throw new CausewayError('INPUT_INVALID', `"${text}" is no URL`);
      }
      if (url.protocol !== 'http:' && url.protocol !== 'https:') {
        throw new CausewayError('FORBIDDEN', `${url.protocol} is not http or https`);
      }
      const host = url.hostname.toLowerCase().replace(/^\[|\]$/g, '');
      const port = url.port || (url.protocol === 'https:' ? '443' : '80');
      const addresses = isIP(host) ? [plain(host)] : await resolve(host);
      const isGuarded = addresses.some(address => guarded.check(address, familyOf(address)));
      const fits = entries.some(
        entry =>
          (entry.port === undefined || entry.port === port) &&
          (!isGuarded || !entry.isAny) &&
          entry.fits(host, addresses),
      );
      if (fits) return;
      throw new CausewayError('FORBIDDEN', `rules may not reach ${host}`, {
        hint: isGuarded
          ? `it is an address of this machine or its link: name it in security.egress.allow`
          : 'add it to security.egress.allow in config.yaml',
      });
    },
  };
}

async function resolve(host: string): Promise<string[]> {
  try {
    return (await lookup(host, { all: true })).map(({ address }) => plain(address));
  } catch {
    throw new CausewayError('BACKEND_OFFLINE', `the name ${host} does not resolve`);
  }
}
