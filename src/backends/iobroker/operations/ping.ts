// Whether a device of the network answers: an echo request by the system's own `ping`, and a TCP connection.
import { execFile } from 'node:child_process';
import { lookup } from 'node:dns/promises';
import { connect } from 'node:net';
import { z } from 'zod';
import type { Clock } from '../../../lib/clock.ts';
import { defineOperation } from '../../operation.ts';
import type { IobrokerBackend } from '../index.ts';

/** Ports that devices of a house often have open, tried where no echo comes and no port is told. */
const USUAL = [80, 443, 22, 53, 8080, 1883];

// No name begins with a dash, which `ping` would take for an option.
const Host = z.string().regex(/^[A-Za-z0-9:_][A-Za-z0-9._:-]{0,252}$/, { error: 'expected a name or address' });

/** The ping. */
export const pingHost = defineOperation({
  name: 'ping_iobroker_host',
  title: 'Ping a device of the network',
  description:
    'Whether a host answers, seen from the gateway: echo requests, and a TCP connection to a port (or to usual ones, where ' +
    'no echo comes). For adapters that report ETIMEDOUT and the like.',
  input: z.strictObject({
    host: Host,
    port: z.int().min(1).max(65_535).optional(),
    count: z.int().min(1).max(5).optional().describe('Echo requests; 2 unless told'),
    timeout_ms: z.int().min(100).max(10_000).optional().describe('For each of them; 2000 unless told'),
  }),
  output: z.looseObject({ host: z.string(), reachable: z.boolean() }),
  effect: 'read',
  // It lets the caller look about in the network.
  scope: 'admin',
  path: 'ping',
  async run(backend: IobrokerBackend, { host, port, count = 2, timeout_ms: timeoutMs = 2_000 }) {
    const { clock } = backend;
    const address = await lookup(host).then(
      found => found.address,
      () => undefined,
    );
    if (address === undefined) return { host, reachable: false, error: 'the name is not known' };
    const [icmp, asked] = await Promise.all([
      echo(address, count, timeoutMs),
      port === undefined ? undefined : probe(clock, address, port, timeoutMs),
    ]);
    const isFound = icmp.reachable === true || asked?.answers === true;
    const others =
      isFound || port !== undefined ? [] : await Promise.all(USUAL.map(one => probe(clock, address, one, timeoutMs)));
    return {
      host,
      address,
      reachable: isFound || others.some(({ answers }) => answers),
      icmp,
      ...(asked && { tcp: asked }),
      ...(others.length > 0 && { tried: others }),
    };
  },
});

/** A TCP connection; one that is refused is an answer, too. */
interface Probe {
  readonly port: number;
  readonly open: boolean;
  readonly answers: boolean;
  readonly ms?: number;
  readonly error?: string;
}

/** Connects, and hangs up. */
function probe(clock: Clock, host: string, port: number, timeoutMs: number): Promise<Probe> {
  return new Promise(resolve => {
    const began = clock.elapsed();
    const socket = connect({ host, port });
    const end = (found: Omit<Probe, 'port'>) => {
      cancel();
      socket.destroy();
      resolve({ port, ...found });
    };
    const cancel = clock.after(timeoutMs, () => end({ open: false, answers: false, error: 'no answer' }));
    socket.once('connect', () => end({ open: true, answers: true, ms: Math.round(clock.elapsed() - began) }));
    socket.once('error', error => {
      const code = (error as { code?: string }).code ?? error.message;
      end({ open: false, answers: code === 'ECONNREFUSED', error: code });
    });
  });
}

interface Echo {
  /** Null: it could not be tried. */
  readonly reachable: boolean | null;
  readonly sent?: number;
  readonly received?: number;
  readonly avg_ms?: number;
  readonly note?: string;
}

function echo(host: string, count: number, timeoutMs: number): Promise<Echo> {
  const seconds = String(Math.max(1, Math.ceil(timeoutMs / 1_000)));
  const args = ['-n', '-c', String(count), '-W', seconds, host];
  return new Promise(resolve => {
    execFile('ping', args, { timeout: (timeoutMs + 1_000) * count, maxBuffer: 64 * 1024 }, (error, stdout) => {
      const [, received] = /(\d+) (?:packets )?received/.exec(stdout) ?? [];
      if (received === undefined) {
        const isMissing = (error as { code?: unknown } | null)?.code === 'ENOENT';
        const note = isMissing ? 'this machine has no ping command' : 'ping could not be used here';
        return resolve({ reachable: null, note });
      }
      const [, average] = /= [\d.]+\/([\d.]+)\//.exec(stdout) ?? [];
      const got = Number(received);
      resolve({
        reachable: got > 0,
        sent: count,
        received: got,
        ...(average !== undefined && { avg_ms: Number(average) }),
      });
    });
  });
}
