// Commands that end by themselves (a client is blocked for an hour): the one that ends them is stored with them, in one
// transaction, and leaves at its time, whatever became of the process in between.
import type { Gate } from '../command/gate.ts';
import type { ErrorCode } from '../lib/errors.ts';
import { canonical } from '../lib/json.ts';
import type { Log } from '../lib/log.ts';
import type { CommandDecl } from '../model/capability.ts';
import { type Cause, causedBy } from '../model/cause.ts';
import type { Command, CommandResult } from '../model/command.ts';
import { backendOf, type Device } from '../model/device.ts';
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
  /** What it is about, where the command says so. */
  readonly about?: string;
  /** Commands on their way that take its place once they are done. */
  readonly heirs?: readonly string[];
}

type End = Pick<Ending, 'device' | 'command' | 'args' | 'about'>;

interface Upcoming {
  ending: Ending;
  timer: Timer;
  /** Its last attempt. */
  sent: string | undefined;
  /** `out`: on its way; `waits`: due, and others of its backend are on their way. */
  stands: 'out' | 'waits' | undefined;
  failures: number;
  /** Of them, the last ones that the system answered with a no. */
  refusals: number;
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
/** A week of them, at the longest wait: of a client that the console has forgotten, say. */
const MOST_REFUSALS = (7 * 24 * 3_600_000) / LONGEST_WAIT_MS;
/** On their way at once to one backend: many that are due together must not let each other, and what people want, time out. */
const MOST_OUT = 3;
/** No further attempt would end otherwise. */
const HOPELESS: ReadonlySet<ErrorCode> = new Set([
  'COMMAND_UNKNOWN',
  'ARGUMENT_INVALID',
  'NOT_FOUND',
  'FORBIDDEN',
  'UNSUPPORTED',
]);

/** What is ended: of the endings of one, one is valid. */
const subjectOf = ({ device, command, args, about }: End): string => about ?? `${device} ${command} ${canonical(args)}`;

/** A command to a device, with what it is about. */
function endOf(device: string, command: string, args: Args, { about }: Pick<CommandDecl, 'about'>): End {
  if (about === undefined) return { device, command, args };
  const text = about.replace(/\{(\w+)\}/g, (_, name: string) => JSON.stringify(String(args[name] ?? '').trim()));
  return { device, command, args, about: `${backendOf(device)} ${text.toLowerCase()}` };
}
const isHeld = ({ heirs = [] }: Ending): boolean => heirs.length > 0;

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
  private isSending = false;

  constructor(parts: EndingParts) {
    this.parts = parts;
  }

  /** What is to end at a device; `due` in engine time. */
  of(device: string): Pick<Ending, 'command' | 'args' | 'due'>[] {
    const endings = [...this.upcoming.values()].map(({ ending }) => ending);
    return endings.filter(ending => ending.device === device && !isHeld(ending));
  }

  /** When a command that was sent ends by itself, engine time; undefined: it lasts. */
  dueOf(command: string): number | undefined {
    return [...this.upcoming.values()].find(({ ending }) => ending.of === command)?.ending.due;
  }

  /** A command has passed the gate. */
  passed(command: Command, { id: device, commands }: Device): void {
    if (this.isSending) return;
    const { id: of, cause } = command;
    const declared = commands[command.command];
    // Somebody is quicker, if it is done.
    this.hold(endOf(device, command.command, command.args, declared ?? {}), of);
    const ender = commands[declared?.ends?.command ?? ''];
    if (!declared?.ends || !ender) return;
    const shared = ender.args.filter(({ name }) => command.args[name] !== undefined);
    const args = Object.fromEntries(shared.map(({ name }) => [name, command.args[name] as Json]));
    const end = endOf(device, declared.ends.command, args, ender);
    this.hold(end, of);
    const ms = lastsMs(declared, command.args);
    if (ms === undefined) return;
    const ending: Ending = { kind: 'ending', ...end, due: this.parts.timeline.now() + ms, of, cause };
    const key = `ending ${of}`;
    this.parts.tx.put('outbox', key, ending);
    this.expect(key, ending);
  }

  /** A command that was sent has ended. */
  ended({ id, outcome, error }: CommandResult): void {
    const isNotDone = outcome === 'failed' && error?.code !== 'BACKEND_TIMEOUT';
    const hasEnd = !isNotDone && [...this.upcoming.values()].some(({ ending }) => ending.of === id);
    for (const [key, one] of this.upcoming) {
      // What is in doubt may have begun.
      if (one.ending.of === id && isNotDone) this.forget(key);
      if (one.ending.heirs?.includes(id)) {
        if (outcome === 'ok' || hasEnd) this.forget(key);
        else this.release(key, one, id);
      }
      if (one.sent !== id) continue;
      one.stands = undefined;
      if (outcome === 'ok') this.forget(key);
      else this.failed(key, one, error);
    }
    for (const [key, { stands }] of this.upcoming) if (stands === 'waits') this.send(key);
  }

  /** Goes on with what the store held. */
  restore(rows: ReadonlyMap<string, Json>): void {
    for (const [key, row] of rows) {
      const ending = row as unknown as Ending;
      if (ending.kind !== 'ending') continue;
      // Of those that are not on their way any more nothing is heard.
      const heirs = (ending.heirs ?? []).filter(id => rows.has(id));
      this.expect(key, { ...ending, heirs });
    }
  }

  /** What ends the same waits for what becomes of the command. */
  private hold(what: End, heir: string): void {
    if (this.upcoming.size === 0) return;
    const subject = subjectOf(what);
    for (const [key, one] of this.upcoming) {
      if (subjectOf(one.ending) !== subject || one.ending.heirs?.includes(heir)) continue;
      one.timer.cancel();
      one.ending = { ...one.ending, heirs: [...(one.ending.heirs ?? []), heir] };
      this.parts.tx.put('outbox', key, one.ending);
    }
  }

  /** The command has failed, or may have: all is as before. */
  private release(key: string, one: Upcoming, heir: string): void {
    const { tx, timeline } = this.parts;
    one.ending = { ...one.ending, heirs: (one.ending.heirs ?? []).filter(id => id !== heir) };
    tx.put('outbox', key, one.ending);
    one.timer.cancel();
    if (!isHeld(one.ending)) one.timer = timeline.at(Math.max(one.ending.due, timeline.now()), () => this.send(key));
  }

  private expect(key: string, ending: Ending): void {
    const timer = this.parts.timeline.at(ending.due, () => this.send(key));
    this.upcoming.set(key, { ending, timer, sent: undefined, stands: undefined, failures: 0, refusals: 0 });
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
    if (!one || isHeld(one.ending)) return;
    const { devices, gate, tx } = this.parts;
    const { device, command, args, cause, of } = one.ending;
    const mine = [...this.upcoming.values()].filter(({ ending }) => backendOf(ending.device) === backendOf(device));
    if (mine.filter(({ stands }) => stands === 'out').length >= MOST_OUT) {
      one.stands = 'waits';
      return;
    }
    one.stands = undefined;
    if (devices.get(device) && devices.availability(device) !== 'online') {
      this.later(key, one, OFFLINE_WAIT_MS);
      return;
    }
    this.isSending = true;
    const said = gate.submit(tx, { device, command, args: { ...args }, cause: causedBy(cause, of) });
    this.isSending = false;
    one.sent = said.id;
    one.stands = 'out';
    if (said.error) this.failed(key, one, said.error);
  }

  private failed(key: string, one: Upcoming, error: { code: ErrorCode; message: string } | undefined): void {
    const { log } = this.parts;
    const { device, command } = one.ending;
    one.stands = undefined;
    one.refusals = error?.code === 'BACKEND_REJECTED' ? one.refusals + 1 : 0;
    if ((error && HOPELESS.has(error.code)) || one.refusals > MOST_REFUSALS) {
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

  private later(key: string, one: Upcoming, ms: number): void {
    one.timer.cancel();
    one.timer = this.parts.timeline.at(this.parts.timeline.now() + ms, () => this.send(key));
  }
}
