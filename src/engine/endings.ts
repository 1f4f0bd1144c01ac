// Commands that end by themselves (a client is blocked for an hour): the one that ends them is stored with them, in one
// transaction, and leaves at its time, whatever became of the process in between.
import type { Gate } from '../command/gate.ts';
import type { ErrorCode } from '../lib/errors.ts';
import { canonical } from '../lib/json.ts';
import type { Log } from '../lib/log.ts';
import type { CommandDecl } from '../model/capability.ts';
import { type Cause, causedBy } from '../model/cause.ts';
import type { Command, CommandResult } from '../model/command.ts';
import type { Device } from '../model/device.ts';
import type { Json } from '../model/value.ts';
import type { Devices } from '../state/devices.ts';
import type { TurnTransaction } from '../store/transaction.ts';
import type { Timeline, Timer } from './timeline.ts';

type Args = Readonly<Record<string, Json>>;

/** A command that will end another, as the table `outbox` holds it. */
interface Ending {
  readonly kind: 'ending';
  readonly device: string;
  readonly command: string;
  readonly args: Args;
  /** Engine time. */
  readonly due: number;
  /** The command that it ends, and the cause of that. */
  readonly of: string;
  readonly cause: Cause;
}

interface Upcoming {
  readonly ending: Ending;
  timer: Timer;
  /** Its last attempt. */
  sent: string | undefined;
  failures: number;
}

interface EndingParts {
  readonly timeline: Timeline;
  readonly tx: TurnTransaction;
  readonly devices: Devices;
  readonly gate: Gate;
  readonly log: Log;
}

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, min: 60_000, h: 3_600_000 };
const OFFLINE_WAIT_MS = 10_000;
const FIRST_WAIT_MS = 5_000;
const LONGEST_WAIT_MS = 300_000;
/** No further attempt would end otherwise. */
const HOPELESS: ReadonlySet<ErrorCode> = new Set([
  'COMMAND_UNKNOWN',
  'ARGUMENT_INVALID',
  'NOT_FOUND',
  'FORBIDDEN',
  'UNSUPPORTED',
]);

const keyOf = (device: string, command: string, args: Args): string => `ending ${device} ${command} ${canonical(args)}`;

/** How long a command lasts, ms; undefined: for good. */
function lastsMs({ args, ends }: CommandDecl, given: Args): number | undefined {
  const declared = args.find(({ name }) => name === ends?.after);
  const lasts = given[ends?.after ?? ''] ?? ends?.otherwise;
  return typeof lasts === 'number' ? lasts * (UNIT_MS[declared?.unit ?? 's'] ?? 1_000) : undefined;
}

/** What is to end, and when. All of it inside turns. */
export class Endings {
  private readonly parts: EndingParts;
  private readonly upcoming = new Map<string, Upcoming>();
  private sending: string | undefined;

  constructor(parts: EndingParts) {
    this.parts = parts;
  }

  /** What is to end at a device; `due` in engine time. */
  of(device: string): Pick<Ending, 'command' | 'args' | 'due'>[] {
    return [...this.upcoming.values()].map(({ ending }) => ending).filter(ending => ending.device === device);
  }

  /** A command has passed the gate. */
  passed(command: Command, { id: device, commands }: Device): void {
    const key = keyOf(device, command.command, command.args);
    if (key === this.sending) return;
    // Somebody was quicker.
    this.forget(key);
    const declared = commands[command.command];
    const ender = commands[declared?.ends?.command ?? ''];
    if (!declared?.ends || !ender) return;
    const shared = ender.args.filter(({ name }) => command.args[name] !== undefined);
    const args = Object.fromEntries(shared.map(({ name }) => [name, command.args[name] as Json]));
    const endKey = keyOf(device, declared.ends.command, args);
    this.forget(endKey);
    const ms = lastsMs(declared, command.args);
    if (ms === undefined) return;
    const { id: of, cause } = command;
    const due = this.parts.timeline.now() + ms;
    const ending: Ending = { kind: 'ending', device, command: declared.ends.command, args, due, of, cause };
    this.parts.tx.put('outbox', endKey, ending);
    this.expect(endKey, ending);
  }

  /** A command that was sent has ended. */
  ended({ id, outcome, error }: CommandResult): void {
    for (const [key, one] of this.upcoming) {
      // What is in doubt may have begun.
      if (one.ending.of === id && outcome === 'failed') this.forget(key);
      if (one.sent !== id) continue;
      if (outcome === 'ok') this.forget(key);
      else this.failed(key, one, error);
    }
  }

  /** Goes on with what the store held. */
  restore(rows: ReadonlyMap<string, Json>): void {
    for (const [key, row] of rows) {
      const ending = row as unknown as Ending;
      if (ending.kind === 'ending') this.expect(key, ending);
    }
  }

  private expect(key: string, ending: Ending): void {
    const timer = this.parts.timeline.at(ending.due, () => this.send(key));
    this.upcoming.set(key, { ending, timer, sent: undefined, failures: 0 });
  }

  private forget(key: string): void {
    const one = this.upcoming.get(key);
    if (!one) return;
    one.timer.cancel();
    this.upcoming.delete(key);
    this.parts.tx.put('outbox', key, undefined);
  }

  private send(key: string): void {
    const one = this.upcoming.get(key);
    if (!one) return;
    const { devices, gate, tx } = this.parts;
    const { device, command, args, cause, of } = one.ending;
    if (devices.get(device) && devices.availability(device) !== 'online') {
      this.later(key, one, OFFLINE_WAIT_MS);
      return;
    }
    this.sending = key;
    const said = gate.submit(tx, { device, command, args: { ...args }, cause: causedBy(cause, of) });
    this.sending = undefined;
    one.sent = said.id;
    if (said.error) this.failed(key, one, said.error);
  }

  private failed(key: string, one: Upcoming, error: { code: ErrorCode; message: string } | undefined): void {
    const { log } = this.parts;
    const { device, command } = one.ending;
    if (error && HOPELESS.has(error.code)) {
      log.error(
        { device, command, error: error.message },
        'what was to end by itself cannot be ended: look at the device',
      );
      this.forget(key);
      return;
    }
    if (one.failures === 0)
      log.warn({ device, command, error: error?.message }, 'it is tried again until it has ended');
    this.later(key, one, Math.min(FIRST_WAIT_MS * 2 ** one.failures++, LONGEST_WAIT_MS));
  }

  private later(key: string, one: Upcoming, ms: number): void {
    one.timer = this.parts.timeline.at(this.parts.timeline.now() + ms, () => this.send(key));
  }
}
