// Virtual devices: made by users and AI clients, by the demo house, and by simulations, which run this very class on a
// clock of their own. All its time is the clock's.
import type { Cancel, Clock } from '../../lib/clock.ts';
import { sleep } from '../../lib/clock.ts';
import { CausewayError, type ErrorCode } from '../../lib/errors.ts';
import { type Log, silentLog } from '../../lib/log.ts';
import { didYouMean } from '../../lib/text.ts';
import type { Backend, BackendSink, Command } from '../../model/command.ts';
import type { Device } from '../../model/device.ts';
import type { Report } from '../../model/event.ts';
import { coerce, type Json, valuesEqual } from '../../model/value.ts';
import { type Change, changesOf } from './effects.ts';
import { deviceFrom, echoMs, noRows, type ParsedSpec, slugOf, type VirtualRows, VirtualSpec } from './spec.ts';

export type { VirtualRows } from './spec.ts';

/** How commands to a device go wrong. `until`: elapsed ms of the clock from which on they go well again. */
export type Failure = (
  | { readonly error: ErrorCode }
  | { readonly hang: true }
  /** Acts at once and answers that many ms later. */
  | { readonly answerAfter: number }
) & { readonly until?: number | undefined };

/** What the backend needs. */
export interface VirtualParts {
  readonly clock: Clock;
  readonly rows?: VirtualRows;
  readonly log?: Log;
  /** Another id, for stand-ins of another system's devices. */
  readonly id?: string;
}

/** A command's effects on their way. */
interface Pending {
  readonly command: Command;
  readonly cancel: Cancel;
}

interface Entry {
  device: Device;
  /** What the store keeps of it; absent for adopted ones. */
  spec: ParsedSpec | undefined;
  readonly echo: number | undefined;
  /** What the device is, whether somebody was told or not. */
  readonly values: Map<string, Json>;
  /** What was told since the start. */
  readonly told: Map<string, Json>;
  /** Source time and seq of the last raw report that counted. */
  readonly latest: Map<string, { sourceTime: number; seq: number }>;
  readonly pending: Set<Pending>;
  isAvailable: boolean;
  failure: Failure | undefined;
}

/** The backend `virtual`. Devices live as long as the object, through any number of starts and stops. */
export class VirtualBackend implements Backend {
  readonly id: string;
  readonly kind = 'virtual';
  /** How long after a start its snapshot is complete, in ms. */
  readyAfterMs = 0;
  private readonly clock: Clock;
  private readonly rows: VirtualRows;
  private readonly log: Log;
  private readonly entries = new Map<string, Entry>();
  private sink: BackendSink | undefined;
  private cancelReady: Cancel = () => {};

  constructor({ clock, rows = noRows, log = silentLog, id = 'virtual' }: VirtualParts) {
    this.id = id;
    this.clock = clock;
    this.rows = rows;
    this.log = log;
    for (const [key, row] of rows.load()) this.restore(key, row);
  }

  private restore(id: string, row: Json): void {
    const parsed = VirtualSpec.safeParse(row);
    if (!parsed.success) {
      this.log.warn({ device: id }, 'a stored virtual device cannot be read and is left out');
      return;
    }
    const device = deviceFrom(id, parsed.data);
    // A table of capabilities that has changed since must not cost the device, only the value.
    const fitting = Object.entries(parsed.data.values).filter(([attribute, value]) => {
      const type = device.attributes[attribute];
      return type !== undefined && coerce(value, type).ok;
    });
    this.add(id, device, Object.fromEntries(fitting), parsed.data.echo, parsed.data);
  }

  // --- the port ----------------------------------------------------------------------------------------------------

  async start(sink: BackendSink): Promise<void> {
    this.sink = sink;
    sink.online();
    sink.devices(this.list());
    for (const entry of this.entries.values()) this.introduce(entry);
    if (this.readyAfterMs > 0) this.cancelReady = this.clock.after(this.readyAfterMs, () => sink.ready());
    else sink.ready();
  }

  async stop(): Promise<void> {
    this.sink = undefined;
    this.cancelReady();
    // What was accepted is done, so that no timer outlives the stop; the next start tells it.
    for (const entry of this.entries.values()) for (const pending of [...entry.pending]) this.act(entry, pending);
  }

  async execute(command: Command, signal: AbortSignal): Promise<void> {
    const entry = this.require(command.device);
    const declared = entry.device.commands[command.command];
    if (!declared) {
      throw new CausewayError('COMMAND_UNKNOWN', `${command.device} has no command "${command.command}"`, {
        hint: didYouMean(command.command, Object.keys(entry.device.commands)),
      });
    }
    if (!this.sink || !entry.isAvailable) {
      throw new CausewayError('BACKEND_OFFLINE', `${command.device} cannot be reached now`);
    }
    const failure = this.failureOf(entry);
    if (failure && 'error' in failure) throw new CausewayError(failure.error, `${command.device} was made to fail`);
    if (failure && 'hang' in failure) return aborted(signal);
    this.expect(entry, command);
    if (failure) await sleep(this.clock, failure.answerAfter, signal);
  }

  async test(): Promise<{ ok: boolean; message: string }> {
    return { ok: true, message: `${this.entries.size} virtual devices; they are always there` };
  }

  private expect(entry: Entry, command: Command): void {
    if (entry.echo === undefined) return;
    const pending: Pending = { command, cancel: this.clock.after(entry.echo, () => this.act(entry, pending)) };
    entry.pending.add(pending);
  }

  /** The device does what it was told. Not before its echo: a toggle takes the value that it then finds. */
  private act(entry: Entry, pending: Pending): void {
    pending.cancel();
    entry.pending.delete(pending);
    const { command, args } = pending.command;
    const declared = entry.device.commands[command];
    if (!declared) return;
    const changes = changesOf(declared, args, entry.device.attributes, attribute => entry.values.get(attribute));
    for (const change of changes) this.change(entry, change);
  }

  // --- devices -----------------------------------------------------------------------------------------------------

  /** All devices, as declared. */
  list(): Device[] {
    return [...this.entries.values()].map(entry => entry.device);
  }

  has(id: string): boolean {
    return this.entries.has(id);
  }

  /** What a device is now, whether it could tell or not. @throws DEVICE_NOT_FOUND */
  present(id: string): Readonly<Record<string, Json>> {
    return Object.fromEntries(this.require(id).values);
  }

  /** Makes a device and keeps it. @throws INPUT_INVALID, VALUE_INVALID, EXISTS */
  createDevice(spec: VirtualSpec): Device {
    const parsed = VirtualSpec.safeParse(spec);
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      throw new CausewayError('INPUT_INVALID', issue?.message ?? 'no virtual device', {
        path: issue?.path.map(String).join('/') ?? '',
      });
    }
    const given = parsed.data.id ?? slugOf(parsed.data.name);
    const id = given.startsWith(`${this.id}:`) ? given : `${this.id}:${given}`;
    const { device } = this.add(id, deviceFrom(id, parsed.data), parsed.data.values, parsed.data.echo, parsed.data);
    this.keep(id, 'full');
    return device;
  }

  /** Takes a ready-made device that is not kept (simulations). @throws VALUE_INVALID, EXISTS */
  adopt(device: Device, options: { echo?: ParsedSpec['echo']; values?: Readonly<Record<string, Json>> } = {}): void {
    this.add(device.id, device, options.values ?? {}, options.echo, undefined);
  }

  private add(
    id: string,
    device: Device,
    values: Readonly<Record<string, Json>>,
    echo: ParsedSpec['echo'],
    spec: ParsedSpec | undefined,
  ): Entry {
    if (this.entries.has(id)) {
      throw new CausewayError('EXISTS', `there is a device ${id} already`, { hint: 'give it another name or id' });
    }
    const entry: Entry = {
      device,
      spec,
      echo: echoMs(echo),
      values: new Map(),
      told: new Map(),
      latest: new Map(),
      pending: new Set(),
      isAvailable: true,
      failure: undefined,
    };
    for (const [attribute, value] of Object.entries(values)) {
      const fitted = this.fit(device, attribute, value).value;
      if (fitted !== null && !device.attributes[attribute]?.momentary) entry.values.set(attribute, fitted);
    }
    this.entries.set(id, entry);
    this.sink?.device(device);
    this.introduce(entry);
    return entry;
  }

  /** Changes the name; the id stays. @throws DEVICE_NOT_FOUND */
  renameDevice(id: string, name: string): Device {
    const entry = this.require(id);
    entry.device = { ...entry.device, name };
    if (entry.spec) entry.spec = { ...entry.spec, name };
    this.sink?.device(entry.device);
    this.keep(id, 'full');
    return entry.device;
  }

  /** @throws DEVICE_NOT_FOUND */
  deleteDevice(id: string): void {
    const entry = this.require(id);
    for (const pending of entry.pending) pending.cancel();
    this.entries.delete(id);
    this.sink?.removed(id);
    if (entry.spec) this.rows.save(id, undefined, 'full');
  }

  /**
   * What a person at the device would do: a value changes and is reported, a button is pressed. While the device is
   * unavailable or the backend stopped, it changes unnoticed.
   * @throws DEVICE_NOT_FOUND, INPUT_INVALID for an attribute that it lacks, VALUE_INVALID
   */
  setValue(id: string, attribute: string, value: unknown): void {
    const entry = this.require(id);
    this.change(entry, this.fit(entry.device, attribute, value));
  }

  // --- for tests and simulations -----------------------------------------------------------------------------------

  /** Makes commands to a device fail, or go well again (undefined). @throws DEVICE_NOT_FOUND */
  fail(id: string, failure: Failure | undefined): void {
    this.require(id).failure = failure;
  }

  private failureOf(entry: Entry): Failure | undefined {
    const { failure } = entry;
    if (failure?.until !== undefined && this.clock.elapsed() >= failure.until) entry.failure = undefined;
    return entry.failure;
  }

  /** A device goes out of reach, or comes back and tells what has changed. @throws DEVICE_NOT_FOUND */
  setAvailable(id: string, isAvailable: boolean): void {
    const entry = this.require(id);
    if (entry.isAvailable === isAvailable) return;
    entry.isAvailable = isAvailable;
    // The values first: a hold that was due meanwhile must not see the old one as the present one.
    if (isAvailable) for (const [attribute, value] of entry.values) this.tellNews(entry, attribute, value);
    this.sink?.report({ type: 'availability', device: id, state: isAvailable ? 'online' : 'offline' });
  }

  /** Passes a report on as it is: late, twice, of a wrong type. The device becomes what it says, unless it is late. */
  report(report: Report): void {
    if (report.type === 'value') this.believe(report);
    this.sink?.report(report);
  }

  private believe(report: Extract<Report, { type: 'value' }>): void {
    const { attribute, value, quality = 'good', sourceTime, seq } = report;
    const entry = this.entries.get(report.device);
    const type = entry?.device.attributes[attribute];
    if (!entry || !type || type.momentary || quality !== 'good' || value === null) return;
    const coerced = coerce(value, type);
    const last = entry.latest.get(attribute) ?? { sourceTime: -Infinity, seq: -Infinity };
    const now = { sourceTime: sourceTime ?? last.sourceTime, seq: seq ?? last.seq };
    if (!coerced.ok || now.sourceTime < last.sourceTime || now.seq < last.seq) return;
    entry.latest.set(attribute, now);
    entry.values.set(attribute, coerced.value);
    if (this.sink) entry.told.set(attribute, coerced.value);
    this.keep(report.device, 'lazy');
  }

  // --- telling -----------------------------------------------------------------------------------------------------

  /** First words after a start: all values, or that it cannot be reached. */
  private introduce(entry: Entry): void {
    entry.told.clear();
    if (!this.sink) return;
    if (!entry.isAvailable) {
      this.sink.report({ type: 'availability', device: entry.device.id, state: 'offline' });
      return;
    }
    for (const [attribute, value] of entry.values) this.tell(entry, { attribute, value });
  }

  private change(entry: Entry, change: Change): void {
    if (entry.device.attributes[change.attribute]?.momentary) {
      const { attribute: name, value } = change;
      if (entry.isAvailable) this.sink?.report({ type: 'event', device: entry.device.id, name, value });
      return;
    }
    if (change.value === null) entry.values.delete(change.attribute);
    else entry.values.set(change.attribute, change.value);
    if (entry.isAvailable) this.tell(entry, change);
    this.keep(entry.device.id, 'lazy');
  }

  private tell(entry: Entry, { attribute, value }: Change): void {
    if (!this.sink) return;
    entry.told.set(attribute, value);
    this.sink.report({ type: 'value', device: entry.device.id, attribute, value });
  }

  private tellNews(entry: Entry, attribute: string, value: Json): void {
    const told = entry.told.get(attribute);
    if (told === undefined || !valuesEqual(told, value)) this.tell(entry, { attribute, value });
  }

  private keep(id: string, durability: 'full' | 'lazy'): void {
    const entry = this.entries.get(id);
    if (!entry?.spec) return;
    this.rows.save(id, { ...entry.spec, values: Object.fromEntries(entry.values) } as unknown as Json, durability);
  }

  private fit(device: Device, attribute: string, value: unknown): Change {
    const type = device.attributes[attribute];
    if (!type) {
      throw new CausewayError('INPUT_INVALID', `${device.id} has no attribute "${attribute}"`, {
        hint: didYouMean(attribute, Object.keys(device.attributes)),
      });
    }
    const coerced = coerce(value, type);
    if (!coerced.ok) throw new CausewayError('VALUE_INVALID', `${attribute} of ${device.id}: ${coerced.reason}`);
    return { attribute, value: coerced.value };
  }

  private require(id: string): Entry {
    const entry = this.entries.get(id);
    if (entry) return entry;
    throw new CausewayError('DEVICE_NOT_FOUND', `there is no virtual device "${id}"`, {
      hint: didYouMean(id, this.entries.keys()),
    });
  }
}

/** Never resolves; rejects when the caller gives up. */
const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const giveUp = () => reject(signal.reason);
    if (signal.aborted) giveUp();
    else signal.addEventListener('abort', giveUp, { once: true });
  });
