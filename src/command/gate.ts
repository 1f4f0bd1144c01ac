// The command gate: every command, whoever makes it, passes here. Validate → authority → panic, shadow → no-op → budget →
// outbox → expectation → dispatch → result.
import type { Clock } from '../lib/clock.ts';
import { asCausewayError, CausewayError, type ErrorJson } from '../lib/errors.ts';
import type { IdSource } from '../lib/ids.ts';
import type { CommandDecl } from '../model/capability.ts';
import type { Cause } from '../model/cause.ts';
import type { Backend, Command, CommandResult } from '../model/command.ts';
import { backendOf, type Device } from '../model/device.ts';
import { type Json, valuesEqual } from '../model/value.ts';
import type { Devices } from '../state/devices.ts';
import type { Values } from '../state/values.ts';
import type { Transaction } from '../store/transaction.ts';
import { declarationOf, fitArguments } from './arguments.ts';
import { Expectations, effectValue } from './expectations.ts';

const ANSWER_TIMEOUT_MS = 30_000;
const BUDGET_WINDOW_MS = 60_000;

/** A wish to command a device. */
export interface CommandRequest {
  readonly device: string;
  readonly command: string;
  readonly args: Json | undefined;
  readonly cause: Cause;
  /** Made by a rule: subject to panic, no-op check and budget. */
  readonly rule?: string;
  /** False where the rule's last saver may not control devices. */
  readonly authorised?: boolean;
  /** Part of a `finally`: panic does not hold it back. */
  readonly last?: boolean;
  readonly force?: boolean;
  /** How long its answer may take; 30 s unless told. */
  readonly timeoutMs?: number;
  readonly shadow?: boolean;
  /** Only say what would happen. */
  readonly dryRun?: boolean;
}

/** A command in the outbox. */
interface OutboxRow {
  readonly kind: string;
  readonly command: Command;
  readonly once: boolean;
  readonly timeoutMs?: number;
}

/** What the gate said at once. `sent` ones end with a result later. */
export interface Submission {
  readonly id: string;
  readonly outcome: 'sent' | 'unchanged' | 'shadow' | 'refused';
  readonly error?: CausewayError;
  /** Fitted arguments, where the command is declared. */
  readonly args?: Readonly<Record<string, Json>>;
  readonly idempotent?: boolean;
}

interface GateParts {
  readonly devices: Devices;
  readonly values: Values;
  readonly backends: ReadonlyMap<string, Backend>;
  readonly clock: Clock;
  /** Engine time. */
  readonly now: () => number;
  readonly ids: IdSource;
  /** Commands a minute by rules to one device. */
  readonly budget: number;
  /** A command has passed: the copy for the bus and for `command` triggers. */
  readonly onPassed: (command: Command, device: Device) => void;
  /** A command leaves for its backend; again, where a crash came before the answer. Called outside of a turn. */
  readonly onLeft?: (command: Command) => void;
  /** A sent command has ended. Called outside of a turn. */
  readonly onResult: (result: CommandResult, device: string) => void;
}

/** The gate. Its outbox is the store's table of that name, with rows of kind `command`. */
export class Gate {
  readonly expectations = new Expectations();
  panic = false;
  private readonly parts: GateParts;
  private readonly inFlight = new Map<string, { device: string; once: boolean; abort: AbortController }>();
  private readonly spent = new Map<string, number[]>();

  constructor(parts: GateParts) {
    this.parts = parts;
  }

  /** Takes a command as far as the outbox; it leaves when the turn is committed. Never throws. */
  submit(tx: Transaction, request: CommandRequest): Submission {
    const id = this.parts.ids();
    try {
      return this.pass(tx, id, request);
    } catch (error) {
      return { id, outcome: 'refused', error: asCausewayError(error) };
    }
  }

  private pass(tx: Transaction, id: string, request: CommandRequest): Submission {
    const device = this.parts.devices.require(request.device);
    const declared = declarationOf(device, request.command);
    const args = fitArguments(declared, request.args, request.command);
    const said = { id, args, idempotent: declared.idempotent };
    if (request.authorised === false) {
      throw new CausewayError('FORBIDDEN', `whoever saved the rule ${request.rule} may not control ${device.id}`, {
        hint: 'save it as somebody with the scope devices:control',
      });
    }
    const byRule = request.rule !== undefined;
    if (byRule && this.panic && request.last !== true) {
      throw new CausewayError('PANIC', 'panic is on: rules command nothing', { hint: 'end it with set_panic' });
    }
    if (request.shadow) return { outcome: 'shadow', ...said };
    if (byRule && request.force !== true && this.changesNothing(device, declared, args))
      return { outcome: 'unchanged', ...said };
    if (request.dryRun) return { outcome: 'sent', ...said };
    if (byRule && request.last !== true) this.spend(device.id);
    const command: Command = { id, device: device.id, command: request.command, args, cause: request.cause };
    this.expectations.expect(command, declared, this.parts.now());
    this.inFlight.set(id, { device: device.id, once: !declared.idempotent, abort: new AbortController() });
    const { timeoutMs = ANSWER_TIMEOUT_MS } = request;
    tx.put('outbox', id, { kind: 'command', command, once: !declared.idempotent, timeoutMs });
    this.parts.onPassed(command, device);
    tx.afterCommit(() => this.dispatch(command, timeoutMs));
    return { outcome: 'sent', ...said };
  }

  /** For every effect the state is good, told since the backend became ready, and equal already; and nothing is pending. */
  private changesNothing(device: Device, declared: CommandDecl, args: Readonly<Record<string, Json>>): boolean {
    // What ends by itself begins anew, or ends from now on.
    if (declared.always || declared.ends || !declared.idempotent || declared.effects.length === 0) return false;
    const epoch = this.parts.devices.backend(backendOf(device.id))?.epoch ?? 0;
    const same = declared.effects.every(effect => {
      if ('fromArg' in effect && args[effect.fromArg] === undefined) return true;
      const wanted = effectValue(effect, args);
      const reading = this.parts.values.get(device.id, effect.attribute);
      if (wanted === undefined || reading?.quality !== 'good' || reading.epoch < epoch || reading.epoch === 0)
        return false;
      return valuesEqual(reading.value, wanted, device.attributes[effect.attribute]?.step);
    });
    return same && this.parts.devices.availability(device.id) === 'online' && !this.isPending(device.id);
  }

  private isPending(device: string): boolean {
    if (this.expectations.isPending(device, this.parts.now())) return true;
    for (const flight of this.inFlight.values()) if (flight.device === device) return true;
    return false;
  }

  private spend(device: string): void {
    const now = this.parts.now();
    const spent = (this.spent.get(device) ?? []).filter(at => now - at < BUDGET_WINDOW_MS);
    if (spent.length >= this.parts.budget) {
      this.spent.set(device, spent);
      throw new CausewayError('BUDGET', `${device} got ${spent.length} commands of rules within a minute`, {
        hint: 'make the rules command it less often, or raise guard.device_commands',
      });
    }
    spent.push(now);
    this.spent.set(device, spent);
  }

  /** Hands a committed command to its backend. */
  private dispatch(command: Command, timeoutMs: number): void {
    const flight = this.inFlight.get(command.id);
    if (!flight) return;
    this.parts.onLeft?.(command);
    const began = this.parts.clock.elapsed();
    const end = (outcome: CommandResult['outcome'], error?: ErrorJson) => {
      // What comes after the timeout is too late: the command has ended.
      if (!this.inFlight.has(command.id)) return;
      cancelTimeout();
      this.inFlight.delete(command.id);
      // What is in doubt, or was not answered, may still show.
      if (outcome === 'failed' && error?.code !== 'BACKEND_TIMEOUT') this.expectations.drop(command.device, command.id);
      const ms = Math.round(this.parts.clock.elapsed() - began);
      this.parts.onResult({ id: command.id, outcome, ms, ...(error && { error }) }, command.device);
    };
    const fail = (error: CausewayError) => {
      const uncertain = error.code === 'BACKEND_UNCONFIRMED' || (flight.once && error.code === 'BACKEND_TIMEOUT');
      end(uncertain ? 'in_doubt' : 'failed', error.toJSON());
    };
    const cancelTimeout = this.parts.clock.after(timeoutMs, () => {
      flight.abort.abort();
      fail(new CausewayError('BACKEND_TIMEOUT', `${command.device} did not answer within ${timeoutMs / 1000} s`));
    });
    const backend = this.parts.backends.get(backendOf(command.device));
    if (!backend || this.parts.devices.availability(command.device) !== 'online') {
      fail(new CausewayError('BACKEND_OFFLINE', `${command.device} cannot be reached now`));
      return;
    }
    backend.execute(command, flight.abort.signal).then(
      () => end('ok'),
      error => fail(asCausewayError(error)),
    );
  }

  /** Goes on with what the outbox held when the process died. `once` commands end in doubt. */
  restore(rows: ReadonlyMap<string, Json>): void {
    for (const [id, row] of rows) {
      const { kind, command, once, timeoutMs = ANSWER_TIMEOUT_MS } = row as unknown as OutboxRow;
      if (kind !== 'command') continue;
      if (once) {
        const error = new CausewayError('BACKEND_TIMEOUT', 'the gateway stopped while the command was on its way');
        this.parts.onResult({ id, outcome: 'in_doubt', ms: 0, error: error.toJSON() }, command.device);
        continue;
      }
      const device = this.parts.devices.get(command.device);
      const declared = device?.commands[command.command];
      if (declared) this.expectations.expect(command, declared, this.parts.now());
      this.inFlight.set(id, { device: command.device, once, abort: new AbortController() });
      this.dispatch(command, timeoutMs);
    }
  }

  /** Stops waiting for answers; what is on its way stays in the outbox. */
  stop(): void {
    for (const flight of this.inFlight.values()) flight.abort.abort();
    this.inFlight.clear();
  }
}
