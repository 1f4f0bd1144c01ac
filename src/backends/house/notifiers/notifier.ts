// Notifiers: ways to tell a person something. A kind is one file and one line in the table.
import { z } from 'zod';
import { type Clock, sleep } from '../../../lib/clock.ts';
import { CausewayError } from '../../../lib/errors.ts';
import type { Log } from '../../../lib/log.ts';
import type { Kind } from '../../../lib/registry.ts';
import type { Device } from '../../../model/device.ts';
import type { Json } from '../../../model/value.ts';

/** What is to be told. */
export interface Message {
  readonly message: string;
  readonly title?: string | undefined;
  readonly priority?: 'low' | 'normal' | 'high' | 'urgent' | undefined;
  /** Of two with one tag the later one takes the place of the other, where the way can do that. */
  readonly tag?: string | undefined;
  /** Answers to choose from, where the way can ask. */
  readonly answers?: readonly string[] | undefined;
}

/** What notifiers may use. */
export interface NotifierPorts {
  readonly clock: Clock;
  readonly log: Log;
  /** A declared device by id or alias. */
  device(ref: string): Device | undefined;
  /** Commands a device through the gate; rejects when it is refused or fails. */
  command(device: string, command: string, args: Record<string, Json>): Promise<void>;
  /** Publishes outside of the gateway's own tree. */
  publish(topic: string, payload: string, options: { qos: 0 | 1 | 2; retain: boolean }): Promise<void>;
  /** Reaches only what the house allows; that is checked there. */
  readonly fetch: typeof fetch;
}

/** A configured notifier. Rejects with a CausewayError when the message did not get through. */
export interface Notifier {
  send(message: Message): Promise<void>;
}

/** A kind of notifier. */
export interface NotifierKind extends Kind {
  create(config: object, ports: NotifierPorts): Notifier;
}

/** Types a notifier by its schema. */
export const defineNotifier = <S extends z.ZodObject>(kind: {
  type: string;
  schema: S;
  create(config: z.output<S>, ports: NotifierPorts): Notifier;
}): NotifierKind => kind as unknown as NotifierKind;

/** An address that a notifier posts to. */
export const Url = z.url({ protocol: /^https?$/, error: 'expected an address, such as https://ntfy.sh' });

const TIMEOUT_MS = 15_000;

/** Posts and wants a 2xx. @throws BACKEND_TIMEOUT, BACKEND_AUTH, BACKEND_REJECTED, BACKEND_OFFLINE */
export async function post(
  ports: NotifierPorts,
  url: string,
  request: { method?: string; headers?: Record<string, string>; body: string },
): Promise<void> {
  const given = new AbortController();
  const timer = new AbortController();
  sleep(ports.clock, TIMEOUT_MS, timer.signal).then(
    () => given.abort(),
    () => {},
  );
  const host = new URL(url).host;
  try {
    const { fetch } = ports;
    const response = await fetch(url, { method: 'POST', ...request, signal: given.signal, redirect: 'error' });
    await response.body?.cancel();
    if (response.ok) return;
    const isRefused = response.status === 401 || response.status === 403;
    throw new CausewayError(isRefused ? 'BACKEND_AUTH' : 'BACKEND_REJECTED', `${host} answered ${response.status}`, {
      hint: isRefused ? 'check the token of the notifier in house.yaml' : 'check the notifier in house.yaml',
    });
  } catch (error) {
    if (error instanceof CausewayError) throw error;
    if (given.signal.aborted) {
      throw new CausewayError('BACKEND_TIMEOUT', `${host} did not answer within ${TIMEOUT_MS / 1_000} s`, {
        cause: error,
      });
    }
    throw new CausewayError('BACKEND_OFFLINE', `${host} cannot be reached`, {
      cause: error,
      hint: 'check the address of the notifier in house.yaml and the network',
    });
  } finally {
    timer.abort();
  }
}
