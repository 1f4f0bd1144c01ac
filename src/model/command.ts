// Commands, their results, and the port through which a backend carries them out.
import type { ErrorCode, ErrorJson } from '../lib/errors.ts';
import type { Cause } from './cause.ts';
import type { Device } from './device.ts';
import type { Report } from './event.ts';
import type { Json } from './value.ts';

/** A command on its way to a device. */
export interface Command {
  /** ULID. */
  readonly id: string;
  readonly device: string;
  readonly command: string;
  readonly args: Readonly<Record<string, Json>>;
  readonly cause: Cause;
}

/**
 * How a command ended. `unchanged`: left out, it would change nothing. `shadow`: recorded, not sent. `in_doubt`: it was
 * on its way when contact or the process was lost, and sending it twice would not be the same as once.
 */
export type CommandOutcome = 'ok' | 'failed' | 'in_doubt' | 'unchanged' | 'shadow' | 'refused';

/** The end of a command. */
export interface CommandResult {
  readonly id: string;
  readonly outcome: CommandOutcome;
  readonly error?: ErrorJson;
  /** From leaving the gate to the answer. */
  readonly ms: number;
}

/** Where a backend tells what happens. All calls return at once and never throw. */
export interface BackendSink {
  /** The devices that exist now, all of them; those missing are gone. */
  devices(devices: readonly Device[]): void;
  /** Adds or changes one. */
  device(device: Device): void;
  removed(deviceId: string): void;
  report(report: Report): void;
  /**
   * The connection is lost or refused; reports may be missing from now on.
   * @param code BACKEND_AUTH where our credentials were refused: they are not to be offered again soon
   */
  offline(reason: string, code?: ErrorCode): void;
  /** (Re)connected: reports are `resync` until `ready`. */
  online(): void;
  /** The snapshot is complete. */
  ready(): void;
}

/** A backup of its own that a system keeps. */
export interface SystemBackup {
  readonly name: string;
  /** When it was made, epoch ms. */
  readonly at: number;
  readonly bytes?: number;
}

/** A system that we bridge. One contract suite serves all. */
export interface Backend {
  /** The first part of its devices' ids. */
  readonly id: string;
  readonly kind: string;
  /** Connects, and keeps on trying by itself; resolves once it has begun. */
  start(sink: BackendSink): Promise<void>;
  stop(): Promise<void>;
  /** Carries a command out; resolves with the system's answer, rejects with a CausewayError. */
  execute(command: Command, signal: AbortSignal): Promise<void>;
  /** Contacts the system once and says what is wrong with what to do next. */
  test(): Promise<{ ok: boolean; message: string; hint?: string }>;
  /** The backups that the system keeps of itself, newest first. */
  backups?(signal: AbortSignal): Promise<readonly SystemBackup[]>;
  /** Has it make one; resolves when it is there. */
  backup?(signal: AbortSignal): Promise<SystemBackup>;
}
