// The ioBroker backend: states as devices and attributes, over the ws adapter.
import type { Clock } from '../../lib/clock.ts';
import { CausewayError } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import type { BackendSink, Command } from '../../model/command.ts';
import type { Supervised } from '../supervisor.ts';
import type { IobrokerConfig } from './schema.ts';

export { type IobrokerConfig, IobrokerSchema } from './schema.ts';

/** What the backend needs. */
export interface IobrokerParts {
  /** The first part of its devices' ids. */
  readonly id: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** An ioBroker. Each start is one connection, which ends with `offline`; the supervisor starts it anew. */
export class IobrokerBackend implements Supervised {
  readonly id: string;
  readonly kind = 'iobroker';
  readonly restartWhenOffline = true;

  constructor(_config: IobrokerConfig, parts: IobrokerParts) {
    this.id = parts.id;
  }

  async start(_sink: BackendSink): Promise<void> {
    throw new CausewayError('UNSUPPORTED', 'the ioBroker backend is being built');
  }

  async stop(): Promise<void> {}

  async execute(_command: Command, _signal: AbortSignal): Promise<void> {
    throw new CausewayError('BACKEND_OFFLINE', `ioBroker ${this.id} cannot be reached now`);
  }

  async test(): Promise<{ ok: boolean; message: string; hint?: string }> {
    return { ok: false, message: 'the ioBroker backend is being built', hint: 'wait for the next version' };
  }
}
