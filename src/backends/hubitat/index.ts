// The Hubitat backend: a hub's devices, its mode, HSM and variables, over the Maker API.
import { asCausewayError, CausewayError, hasCode } from '../../lib/errors.ts';
import { didYouMean } from '../../lib/text.ts';
import type { BackendSink, Command } from '../../model/command.ts';
import type { Supervised } from '../supervisor.ts';
import { createClient } from './client.ts';
import { carryOut } from './commands.ts';
import { Connection, type HubitatParts } from './connection.ts';
import { type Counters, newCounters } from './counters.ts';
import { commandLocation } from './location.ts';
import type { HubitatConfig } from './schema.ts';
import { type Learned, nothingLearned } from './snapshot.ts';
import { readDevices } from './wire.ts';

export type { HubitatParts } from './connection.ts';
export { type HubitatConfig, HubitatSchema } from './schema.ts';

/** A hub. Each start is one connection, which ends with `offline`; the supervisor starts it anew. */
export class HubitatBackend implements Supervised {
  readonly id: string;
  readonly kind = 'hubitat';
  readonly restartWhenOffline = true;
  readonly counters: Counters = newCounters();
  private readonly config: HubitatConfig;
  private readonly parts: HubitatParts;
  private readonly learned: Learned = nothingLearned();
  private connection: Connection | undefined;

  constructor(config: HubitatConfig, parts: HubitatParts) {
    this.id = parts.id;
    this.config = config;
    this.parts = parts;
  }

  /** @throws BACKEND_AUTH, BACKEND_OFFLINE, BACKEND_TIMEOUT, BACKEND_REJECTED, PORT_IN_USE */
  async start(sink: BackendSink): Promise<void> {
    const { config, learned, counters } = this;
    await this.stop();
    this.connection = new Connection({ ...this.parts, config, learned, counters, sink });
    await this.connection.open();
  }

  async stop(): Promise<void> {
    const { connection } = this;
    this.connection = undefined;
    await connection?.close();
  }

  /** @throws DEVICE_NOT_FOUND, COMMAND_UNKNOWN, ARGUMENT_INVALID, MODE_UNKNOWN, and as `HubClient.ask` */
  async execute(command: Command, signal: AbortSignal): Promise<void> {
    const { connection, counters } = this;
    if (!connection?.isReady) throw new CausewayError('BACKEND_OFFLINE', `the hub ${this.id} cannot be reached now`);
    const { known, client, runMethod } = connection;
    const { location, state, scale } = known;
    // Only what the Maker API lists is known here: a command never gets beyond the selected devices.
    const mapped = known.device(command.device);
    const device = command.device === location.id ? location : mapped?.device;
    if (!device) {
      throw new CausewayError('DEVICE_NOT_FOUND', `the hub ${this.id} has no device ${command.device}`, {
        hint: 'select it in the Maker API app of the hub',
      });
    }
    if (!Object.hasOwn(device.commands, command.command)) {
      throw new CausewayError('COMMAND_UNKNOWN', `${device.id} has no command "${command.command}"`, {
        hint: didYouMean(command.command, Object.keys(device.commands)),
      });
    }
    try {
      if (mapped) await carryOut({ client, runMethod, scale }, mapped, command, signal);
      else known.tellLocation(await commandLocation(client, state, command, counters, signal));
    } catch (error) {
      // A hub that is gone shows by this first, where it pushes its events.
      if (hasCode(error, 'BACKEND_OFFLINE', 'BACKEND_TIMEOUT', 'BACKEND_AUTH')) connection.lookSoon();
      throw error;
    }
  }

  async test(): Promise<{ ok: boolean; message: string; hint?: string }> {
    const { config, counters } = this;
    const { clock } = this.parts;
    const { signal } = new AbortController();
    try {
      const answer = await createClient({ config, clock, counters, signal }).read('/devices', { tries: 1 });
      const { length } = readDevices(answer, counters);
      if (length > 0) return { ok: true, message: `the hub answers; ${length} devices are selected` };
      return {
        ok: true,
        message: 'the hub answers, but no device is selected',
        hint: 'select devices in its Maker API app',
      };
    } catch (thrown) {
      const { message, hint } = asCausewayError(thrown);
      return { ok: false, message, ...(hint !== undefined && { hint }) };
    }
  }
}
