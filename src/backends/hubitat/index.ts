// The Hubitat backend: a hub's devices, its mode, HSM and variables, over the Maker API.
import type { Clock } from '../../lib/clock.ts';
import { asCausewayError, CausewayError, type ErrorCode } from '../../lib/errors.ts';
import { createLanes } from '../../lib/lanes.ts';
import { didYouMean } from '../../lib/text.ts';
import type { BackendSink, Command, SystemBackup } from '../../model/command.ts';
import type { Json } from '../../model/value.ts';
import type { Supervised } from '../supervisor.ts';
import { type BackupParts, listBackups, makeBackup } from './backups.ts';
import { type ClientParts, createClient, IN_FLIGHT } from './client.ts';
import { carryOut } from './commands.ts';
import { Connection, type HubitatParts } from './connection.ts';
import { type Counters, newCounters } from './counters.ts';
import { commandLocation } from './location.ts';
import { createPages, type Pages } from './pages.ts';
import { createRefusal } from './refusal.ts';
import type { HubitatConfig } from './schema.ts';
import { type Learned, nothingLearned } from './snapshot.ts';
import { deviceRows, readDevices } from './wire.ts';

export type { HubitatParts } from './connection.ts';
export { type HubitatConfig, HubitatSchema } from './schema.ts';

/** Answers to a command that may mean more than the command. */
const SUSPICIOUS: readonly ErrorCode[] = ['BACKEND_OFFLINE', 'BACKEND_TIMEOUT', 'BACKEND_AUTH', 'DEVICE_NOT_FOUND'];

/** A hub. Each start is one connection, which ends with `offline`; the supervisor starts it anew. */
export class HubitatBackend implements Supervised {
  readonly id: string;
  readonly kind = 'hubitat';
  readonly restartWhenOffline = true;
  readonly counters: Counters = newCounters();
  readonly clock: Clock;
  /** What the hub's own interface asks, for operations. */
  readonly pages: Pages;
  private readonly parts: HubitatParts;
  private readonly line: Pick<ClientParts, 'config' | 'clock' | 'counters' | 'lanes' | 'refusal'>;
  private readonly learned: Learned = nothingLearned();
  private connection: Connection | undefined;

  constructor(config: HubitatConfig, parts: HubitatParts) {
    const { id, clock } = parts;
    this.id = id;
    this.parts = parts;
    this.clock = clock;
    const lanes = createLanes(IN_FLIGHT);
    this.line = { config, clock, counters: this.counters, lanes, refusal: createRefusal(clock) };
    this.pages = createPages({ config, clock, counters: this.counters, lanes });
  }

  /** @throws BACKEND_AUTH, BACKEND_OFFLINE, BACKEND_TIMEOUT, BACKEND_REJECTED, PORT_IN_USE */
  async start(sink: BackendSink): Promise<void> {
    const { learned, pages } = this;
    await this.stop();
    this.connection = new Connection({ ...this.parts, ...this.line, learned, pages, sink });
    await this.connection.open();
  }

  async stop(): Promise<void> {
    const { connection } = this;
    this.connection = undefined;
    await connection?.close();
  }

  /** @throws DEVICE_NOT_FOUND, COMMAND_UNKNOWN, ARGUMENT_INVALID, MODE_UNKNOWN, and as `HubClient.ask` */
  async execute(command: Command, signal: AbortSignal): Promise<void> {
    const { counters } = this;
    const connection = this.connected();
    const { known, client, runMethod } = connection;
    const { location, state, scale } = known;
    // Only what the Maker API lists is known here: a command never gets beyond the selected devices.
    const mapped = known.device(command.device);
    const device = command.device === location.id ? location : mapped?.device;
    if (!device) throw this.unknown(command.device);
    if (!Object.hasOwn(device.commands, command.command)) {
      throw new CausewayError('COMMAND_UNKNOWN', `${device.id} has no command "${command.command}"`, {
        hint: didYouMean(command.command, Object.keys(device.commands)),
      });
    }
    try {
      if (mapped) await carryOut({ client, runMethod, scale }, mapped, command, signal);
      else known.tellLocation(await commandLocation(client, state, command, counters, signal));
    } catch (error) {
      const { code } = asCausewayError(error);
      if (SUSPICIOUS.includes(code)) connection.suspect(asCausewayError(error));
      throw error;
    }
  }

  /** What the Maker API tells below its address; paths are percent-encoded. @throws as `HubClient.read` */
  read(path: string, signal: AbortSignal): Promise<Json> {
    return this.connected().client.read(path, { signal });
  }

  /**
   * The hub's own id of a device, which must be selected in the Maker API: operations reach no further than rules.
   * @throws DEVICE_NOT_FOUND, BACKEND_OFFLINE
   */
  nativeId(device: string): string {
    if (!this.connected().known.device(device)) throw this.unknown(device);
    return device.slice(this.id.length + 1);
  }

  /** The backups that the hub keeps of itself. @throws as `Pages.json` */
  backups(signal: AbortSignal): Promise<readonly SystemBackup[]> {
    return listBackups(this.backupParts(signal));
  }

  /** @throws as `Pages.json`; BACKEND_TIMEOUT when it did not appear in the hub's list */
  backup(signal: AbortSignal): Promise<SystemBackup> {
    return makeBackup(this.backupParts(signal));
  }

  private backupParts(signal: AbortSignal): BackupParts {
    const { pages, clock, counters } = this;
    return { pages, clock, counters, signal };
  }

  private connected(): Connection {
    const { connection } = this;
    if (connection?.isReady) return connection;
    throw new CausewayError('BACKEND_OFFLINE', `the hub ${this.id} cannot be reached now`, {
      hint: 'see why: its state and the reason are in get_system',
    });
  }

  private unknown(device: string): CausewayError {
    return new CausewayError('DEVICE_NOT_FOUND', `the hub ${this.id} has no device ${device}`, {
      hint: 'select it in the Maker API app of the hub',
    });
  }

  async test(): Promise<{ ok: boolean; message: string; hint?: string }> {
    const { counters } = this;
    const { signal } = new AbortController();
    try {
      const answer = await createClient({ ...this.line, signal }).read('/devices', { tries: 1 });
      const { length } = readDevices(deviceRows(answer), counters);
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
