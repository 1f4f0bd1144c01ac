// Commands that end by themselves (a client is blocked for an hour): the one that ends them is stored with them, in one
// transaction, and leaves at its time, whatever became of the process in between.
import type { Gate } from '../command/gate.ts';
import type { ErrorCode, ErrorJson } from '../lib/errors.ts';
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

/** When an end is to come, and of what. */
interface End {
  /** Engine time. */
  readonly due: number;
  /** The command that is ended, and its cause. */
  readonly of: string;
  readonly cause: Cause;
}

/** A command that will end others, as the table `outbox` holds it. */
interface Ending {
  readonly kind: 'ending';
  readonly device: string;
  readonly command: string;
  readonly args: Args;
  /** What holds at present. */
  readonly end?: End | undefined;
  /** A command is on its way with which another end will hold, or none. */
  readonly next?: { readonly id: string; readonly end?: End | undefined; readonly isEnder: boolean } | undefined;
}

/** What is to end at a device. */
export interface Upcoming {
  readonly command: string;
  readonly args: Args;
  /** Engine time. */
  readonly due: number;
}

interface Held {
  ending: Ending;
  timer: Timer | undefined;
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
/** A week of refusals. */
const MOST_FAILURES = 2_000;
/** Who fails so was not carried out, or cannot ever be. */
const CERTAIN: ReadonlySet<ErrorCode> = new Set([
  'ARGUMENT_INVALID',
  'BACKEND_AUTH',
  'BACKEND_REJECTED',
  'COMMAND_UNKNOWN',
  'DEVICE_NOT_FOUND',
  'FORBIDDEN',
  'NOT_FOUND',
  'UNSUPPORTED',
]);
const HOPELESS: ReadonlySet<ErrorCode> = new Set([
  'ARGUMENT_INVALID',
  'COMMAND_UNKNOWN',
  'FORBIDDEN',
  'NOT_FOUND',
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
  private readonly held = new Map<string, Held>();
  private sending: string | undefined;

  constructor(parts: EndingParts) {
    this.parts = parts;
  }

  /** What is to end at a device, as far as is known. */
  of(device: string): Upcoming[] {
    return [...this.held.values()].flatMap(({ ending: { command, args, end, next, ...ending } }) => {
      const coming = next?.end ?? end;
      return ending.device === device && coming ? [{ command, args, due: coming.due }] : [];
    });
  }

  /** A command has passed the gate. */
  passed({ id, command, args, cause }: Command, { id: device, commands }: Device): void {
    const key = keyOf(device, command, args);
    if (key === this.sending) return;
    if (this.held.has(key)) this.expect(key, { device, command, args }, { id, isEnder: true });
    const declared = commands[command];
    const ender = commands[declared?.ends?.command ?? ''];
    if (!declared?.ends || !ender) return;
    const shared = ender.args.filter(({ name }) => args[name] !== undefined);
    const ending = {
      device,
      command: declared.ends.command,
      args: Object.fromEntries(shared.map(({ name }) => [name, args[name] as Json])),
    };
    const endKey = keyOf(device, ending.command, ending.args);
    const ms = lastsMs(declared, args);
    if (ms === undefined && !this.held.has(endKey)) return;
    const end = ms === undefined ? undefined : { due: this.parts.timeline.now() + ms, of: id, cause };
    this.expect(endKey, ending, { id, end, isEnder: false });
  }

  private expect(key: string, what: Pick<Ending, 'device' | 'command' | 'args'>, next: Ending['next']): void {
    const before = this.held.get(key)?.ending;
    // What is on its way already is taken for done: it has left before.
    const end = before?.next && !before.next.isEnder ? before.next.end : before?.end;
    this.keep(key, { kind: 'ending', ...what, end, next });
  }

  /** A command that was sent has ended. */
  ended({ id, outcome, error }: CommandResult): void {
    for (const [key, one] of this.held) {
      const { ending } = one;
      if (ending.next?.id === id) {
        const { end, isEnder } = ending.next;
        // Where nobody knows, it may have begun, and may not have ended.
        const isDone = outcome === 'ok' || (!isEnder && !(error && CERTAIN.has(error.code)));
        this.keep(key, { ...ending, end: isDone ? end : ending.end, next: undefined });
      } else if (one.sent === id) {
        if (outcome === 'ok') this.forget(key);
        else this.failed(key, one, error);
      }
    }
  }

  /** Goes on with what the store held. */
  restore(rows: ReadonlyMap<string, Json>): void {
    for (const [key, row] of rows) {
      const ending = row as unknown as Ending;
      if (ending.kind !== 'ending') continue;
      const isLost = ending.next && !rows.has(ending.next.id);
      if (isLost) this.keep(key, { ...ending, end: ending.next?.end ?? ending.end, next: undefined });
      else this.hold(key, ending);
    }
  }

  private keep(key: string, ending: Ending): void {
    if (!ending.end && !ending.next) {
      this.forget(key);
      return;
    }
    this.parts.tx.put('outbox', key, ending);
    this.hold(key, ending);
  }

  private hold(key: string, ending: Ending): void {
    this.held.get(key)?.timer?.cancel();
    const timer = ending.end && this.parts.timeline.at(ending.end.due, () => this.send(key));
    this.held.set(key, { ending, timer, sent: undefined, failures: 0 });
  }

  private forget(key: string): void {
    this.held.get(key)?.timer?.cancel();
    if (this.held.delete(key)) this.parts.tx.put('outbox', key, undefined);
  }

  private send(key: string): void {
    const one = this.held.get(key);
    if (!one?.ending.end) return;
    const { devices, gate, tx } = this.parts;
    const { device, command, args, end, next } = one.ending;
    const isAway = devices.get(device) !== undefined && devices.availability(device) !== 'online';
    if (next || isAway) {
      this.later(key, one, next ? FIRST_WAIT_MS : OFFLINE_WAIT_MS);
      return;
    }
    this.sending = key;
    const said = gate.submit(tx, { device, command, args: { ...args }, cause: causedBy(end.cause, end.of) });
    this.sending = undefined;
    one.sent = said.id;
    if (said.error) this.failed(key, one, said.error);
  }

  private failed(key: string, one: Held, error: Pick<ErrorJson, 'code' | 'message'> | undefined): void {
    const { log } = this.parts;
    const { device, command } = one.ending;
    if (one.failures >= MOST_FAILURES || (error && HOPELESS.has(error.code))) {
      log.error(
        { device, command, error: error?.message },
        'what was to end by itself cannot be ended: look at the device',
      );
      this.forget(key);
      return;
    }
    if (one.failures === 0)
      log.warn({ device, command, error: error?.message }, 'it is tried again until it has ended');
    this.later(key, one, Math.min(FIRST_WAIT_MS * 2 ** one.failures++, LONGEST_WAIT_MS));
  }

  private later(key: string, one: Held, ms: number): void {
    one.timer = this.parts.timeline.at(this.parts.timeline.now() + ms, () => this.send(key));
  }
}
