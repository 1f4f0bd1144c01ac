// The ioBroker backend: states as devices and attributes, over the ws adapter.

import type { Clock } from '../../lib/clock.ts';
import { asCausewayError, CausewayError } from '../../lib/errors.ts';
import { didYouMean } from '../../lib/text.ts';
import type { BackendSink, Command } from '../../model/command.ts';
import { nativeIdOf } from '../../model/device.ts';
import type { Supervised } from '../supervisor.ts';
import { Connection, type IobrokerParts, sessionOf } from './connection.ts';
import { type Counters, newCounters } from './counters.ts';
import { Logs } from './logs.ts';
import { valuesAt, writesTo } from './map.ts';
import type { IobrokerConfig } from './schema.ts';
import { openSession } from './session.ts';
import { objectPatterns, statePatterns } from './snapshot.ts';
import { Watches } from './watches.ts';

export type { IobrokerParts } from './connection.ts';
export { iobrokerOperations } from './operations/index.ts';
export { iobrokerResources } from './resources.ts';
export { type IobrokerConfig, IobrokerSchema } from './schema.ts';

/** An ioBroker. Each start is one connection, which ends with `offline`; the supervisor starts it anew. */
export class IobrokerBackend implements Supervised {
  readonly id: string;
  readonly kind = 'iobroker';
  readonly restartWhenOffline = true;
  readonly counters: Counters = newCounters();
  readonly watches: Watches;
  readonly logs: Logs;
  readonly clock: Clock;
  private readonly config: IobrokerConfig;
  private readonly parts: IobrokerParts;
  private readonly said = new Set<string>();
  private connection: Connection | undefined;

  constructor(config: IobrokerConfig, parts: IobrokerParts) {
    this.id = parts.id;
    this.config = config;
    this.parts = parts;
    this.clock = parts.clock;
    const adminUrl = () => config.admin ?? (this.connection?.adapter === 'admin' ? config.url : undefined);
    this.logs = new Logs({ ...parts, config, counters: this.counters, adminUrl });
    const own = { state: new Set(statePatterns(config)), object: new Set(objectPatterns(config)) };
    this.watches = new Watches((of, pattern) => own[of].has(pattern));
  }

  /** @throws BACKEND_AUTH, BACKEND_OFFLINE, BACKEND_TIMEOUT, BACKEND_REJECTED */
  async start(sink: BackendSink): Promise<void> {
    const { config, counters, watches, said } = this;
    await this.stop();
    const connection = new Connection({ ...this.parts, config, counters, watches, said, sink });
    this.connection = connection;
    await connection.open();
    this.logs.resume(config.logs, ({ level, source, message }) =>
      sink.report({ type: 'log', level, message: `${source}: ${message}` }),
    );
  }

  async stop(): Promise<void> {
    const { connection } = this;
    this.connection = undefined;
    connection?.close();
    this.logs.close();
  }

  now(): number {
    return this.clock.now();
  }

  /** The connection that is up. @throws BACKEND_OFFLINE */
  get live(): Connection {
    if (this.connection?.isReady) return this.connection;
    throw new CausewayError('BACKEND_OFFLINE', `ioBroker ${this.id} cannot be reached now`, {
      hint: 'see the reason that its backend gives',
    });
  }

  /** @throws DEVICE_NOT_FOUND, COMMAND_UNKNOWN, and as `Writes.send` */
  async execute({ device, command, args }: Command, signal: AbortSignal): Promise<void> {
    const { catalogue, known, writes } = this.live;
    const mapped = catalogue.devices.get(nativeIdOf(device));
    if (mapped?.device.id !== device) {
      throw new CausewayError('DEVICE_NOT_FOUND', `ioBroker ${this.id} has no device ${device} among its states`, {
        hint: 'see whether `states` of this backend in config.yaml lets it in',
      });
    }
    const { plans } = mapped.blueprint;
    const plan = plans.get(command);
    if (!plan) {
      throw new CausewayError('COMMAND_UNKNOWN', `${device} has no command "${command}"`, {
        hint: didYouMean(command, plans.keys()),
      });
    }
    const planned = plan(args, valuesAt(mapped, known.valueOf));
    await writes.send(writesTo(mapped, planned, catalogue.states), signal);
  }

  async test(): Promise<{ ok: boolean; message: string; hint?: string }> {
    const { config, counters } = this;
    const { clock } = this.parts;
    const { signal } = new AbortController();
    const nothing = () => {};
    const common = { clock, counters, signal, onEvent: nothing, onLost: nothing };
    try {
      const socket = await openSession({ ...sessionOf(config), ...common });
      try {
        const [, version, adapter] = await socket.call('getVersion');
        await socket.ask('getObject', 'system.config');
        return { ok: true, message: `ioBroker answers, through its adapter ${String(adapter)} ${String(version)}` };
      } finally {
        socket.close();
      }
    } catch (thrown) {
      const { message, hint = 'see the log of ioBroker’s ws adapter' } = asCausewayError(thrown);
      return { ok: false, message, hint };
    }
  }
}
