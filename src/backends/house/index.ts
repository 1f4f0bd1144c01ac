// The backend `house`: people, groups and notifications of house.yaml as devices like any other. It follows the events
// that the engine saw, each by its own value, so that what it tells does not depend on how they fell into turns.
import type { Cancel, Clock } from '../../lib/clock.ts';
import { CausewayError } from '../../lib/errors.ts';
import { causedBy } from '../../model/cause.ts';
import type { Backend, BackendSink, Command } from '../../model/command.ts';
import { type Device, deviceOf } from '../../model/device.ts';
import type { Event, Report } from '../../model/event.ts';
import { type Json, valuesEqual } from '../../model/value.ts';
import type { Devices } from '../../state/devices.ts';
import type { Values } from '../../state/values.ts';
import {
  type Derived,
  groupDevice,
  type HouseConfig,
  keyOf,
  peopleDevice,
  personDevice,
  type Sight,
} from './derived.ts';

export type { HouseConfig } from './derived.ts';

/** What the backend needs. */
export interface HouseParts {
  readonly devices: Devices;
  readonly values: Values;
  readonly clock: Clock;
  /** Engine time, which `lastChanged` of readings is in; the clock's wall time where it is never stepped. */
  readonly now?: () => number;
  /** The number of the newest event that the engine made: `devices` and `values` already show what came of it. */
  readonly seq?: () => number;
  readonly config: HouseConfig;
}

type ValueReport = Extract<Report, { type: 'value' }>;

const ID = 'house';
const GROWTH_MS = 60_000;
const nothing = () => {};
/** Where answers to notifications come in. */
const NOTIFY: Device = deviceOf(
  { id: 'house:notify', name: 'Notifications', capabilities: [] },
  { attributes: { answered: { type: 'json', momentary: true } } },
);

/**
 * Give `onEvent` every event that the engine saw, in order, and call `settle` whenever another backend became ready
 * without one: the house is ready once all others are, or at the engine's startup event.
 */
export class HouseBackend implements Backend {
  readonly id = ID;
  readonly kind = ID;
  private readonly parts: HouseParts;
  private readonly sight: Sight;
  /** Each after those that it derives from, as far as they do so without a circle. */
  private derived: Derived[] = [];
  private keys = new Map<Derived, ReadonlySet<string>>();
  /** Values of members; undefined while they cannot be relied on. */
  private members = new Map<string, Json | undefined>();
  private readonly unreachable = new Set<string>();
  private readonly declared = new Map<string, Device>();
  /** What was told since the start, by key. */
  private readonly told = new Map<string, Json | undefined>();
  private sink: BackendSink | undefined;
  private isSettled = false;
  private isStale = true;
  /** Events up to this one were already part of what was found at readiness. */
  private upTo = 0;
  private cancelRefresh: Cancel = nothing;
  private cancelGrowth: Cancel = nothing;
  private unsubscribe: Cancel = nothing;

  constructor(parts: HouseParts) {
    this.parts = parts;
    const { devices, values, clock, now = () => clock.now() } = parts;
    this.sight = {
      devices,
      clock,
      now,
      value: (device, attribute) => this.seen(device, keyOf(device, attribute)),
      since: (device, attribute) => values.get(device, attribute)?.lastChanged ?? now(),
      last: (id, attribute) => this.told.get(keyOf(id, attribute)) ?? values.get(id, attribute)?.value ?? undefined,
      look: id => this.update([id]),
    };
    this.describe(parts.config);
  }

  // --- the port ----------------------------------------------------------------------------------------------------

  async start(sink: BackendSink): Promise<void> {
    this.sink = sink;
    this.isSettled = false;
    this.told.clear();
    this.members.clear();
    sink.online();
    this.declare();
    const subscription = this.parts.devices.changed$.subscribe(() => this.onRegistry());
    this.unsubscribe = () => subscription.unsubscribe();
    this.grow();
    this.settle();
  }

  async stop(): Promise<void> {
    this.sink = undefined;
    this.unsubscribe();
    this.cancelRefresh();
    this.cancelGrowth();
    for (const one of this.derived) one.stop();
  }

  async execute(command: Command): Promise<void> {
    throw new CausewayError('COMMAND_UNKNOWN', `${command.device} takes no commands`, {
      hint: 'groups and people only tell; command their members, by name or by a selector',
    });
  }

  async test(): Promise<{ ok: boolean; message: string }> {
    return { ok: true, message: `${this.derived.length} devices of house.yaml` };
  }

  // --- what comes in -----------------------------------------------------------------------------------------------

  /** Ready, if all other backends are; to be called when one of them became so and its events were handed over. */
  settle(): void {
    if (this.isSettled || !this.sink) return;
    const others = [...this.parts.devices.allBackends()].filter(([id]) => id !== ID);
    if (others.every(([, status]) => status.ready)) this.beReady();
  }

  /** An event that the engine saw. */
  onEvent(event: Event): void {
    if (!this.sink) return;
    const isStartup = event.device === 'house:house' && event.attribute === 'startup';
    if (isStartup) this.beReady();
    if (event.backend === ID) {
      this.settle();
      return;
    }
    if (event.seq <= this.upTo) return;
    if (this.isStale) this.refresh();
    const moved = this.take(event);
    if (!this.isSettled) this.settle();
    else if (moved.length > 0) this.update(moved, event);
  }

  /** Another house.yaml. */
  reconfigure(config: HouseConfig): void {
    for (const one of this.derived) one.stop();
    this.describe(config);
    if (!this.sink) return;
    this.declare();
    this.refresh();
    this.grow();
  }

  /** Somebody answered a notification. */
  answered(value: Json): void {
    this.sink?.report({ type: 'event', device: NOTIFY.id, name: 'answered', value });
  }

  /** Keeps what an event says of a member; the keys whose values it may have moved. */
  private take(event: Event): string[] {
    const { device, attribute, value } = event;
    if (attribute === '$availability') {
      if (value === 'online') this.unreachable.delete(device);
      else this.unreachable.add(device);
      return [...this.members.keys()].filter(key => key.startsWith(`${device}\n`));
    }
    const key = keyOf(device, attribute);
    if (!this.members.has(key)) return [];
    this.members.set(key, event.quality === 'good' && value !== null ? value : undefined);
    return [key];
  }

  private seen(device: string, key: string): Json | undefined {
    if (device.startsWith(`${ID}:`)) return this.told.get(key);
    return this.unreachable.has(device) ? undefined : this.members.get(key);
  }

  /** The registry has changed: selectors, aliases and types are looked at again, soon and once. */
  private onRegistry(): void {
    if (this.isStale || !this.sink) return;
    this.isStale = true;
    this.cancelRefresh = this.parts.clock.after(0, () => this.refresh());
  }

  // --- deriving ----------------------------------------------------------------------------------------------------

  private describe({ people, groups }: HouseConfig): void {
    const { sight } = this;
    const persons = Object.entries(people).map(([name, config]) => personDevice(name, config, sight));
    const ids = persons.map(person => person.id);
    const all = [
      peopleDevice('house:anyone', 'Anyone', 'any', ids, sight),
      peopleDevice('house:everyone', 'Everyone', 'all', ids, sight),
    ];
    const grouped = Object.entries(groups).map(([name, config]) => groupDevice(name, config, sight));
    this.derived = [...persons, ...(ids.length > 0 ? all : []), ...grouped];
    this.isStale = true;
  }

  private declare(): void {
    this.declared.clear();
    for (const one of this.derived) this.declared.set(one.id, one.device());
    this.sink?.devices([...this.declared.values(), NOTIFY]);
  }

  /** Finds the members anew, keeping what is known of those that stay. */
  private refresh(): void {
    this.isStale = false;
    this.cancelRefresh();
    this.keys = new Map(this.derived.map(one => [one, new Set(one.keys())]));
    this.derived = inOrder(this.derived, this.keys);
    const members = new Map<string, Json | undefined>();
    this.unreachable.clear();
    for (const key of [...this.keys.values()].flatMap(keys => [...keys])) {
      const [device = '', attribute = ''] = key.split('\n');
      const isKept = this.members.has(key) && this.parts.devices.get(device) !== undefined;
      members.set(key, isKept ? this.members.get(key) : this.readingOf(device, attribute));
      if (this.parts.devices.availability(device) !== 'online') this.unreachable.add(device);
    }
    this.members = members;
    for (const one of this.derived) this.redeclare(one);
    if (this.isSettled) this.update();
  }

  private redeclare(one: Derived): void {
    const device = one.device();
    if (JSON.stringify(device) === JSON.stringify(this.declared.get(one.id))) return;
    this.declared.set(one.id, device);
    this.sink?.device(device);
  }

  private readingOf(device: string, attribute: string): Json | undefined {
    const reading = this.parts.values.get(device, attribute);
    // One of epoch 0 was restored and not confirmed yet.
    return reading?.quality === 'good' && reading.epoch > 0 && reading.value !== null ? reading.value : undefined;
  }

  private beReady(): void {
    if (this.isSettled || !this.sink) return;
    this.upTo = this.parts.seq?.() ?? 0;
    // Events up to there are heard no more: all is read anew.
    this.members.clear();
    this.refresh();
    this.isSettled = true;
    this.update();
    this.sink.ready();
  }

  /**
   * Derives anew what hangs on these keys (or has one of these ids), and what hangs on that; or all.
   * @param because the event that moved them, whose cause the reports inherit
   */
  private update(moved?: readonly string[], because?: Event): void {
    const keys = new Set(moved);
    const reports: Report[] = [];
    for (const one of this.derived) {
      const isMeant = !moved || keys.has(one.id) || [...keys].some(key => this.keys.get(one)?.has(key));
      const report = isMeant ? this.derive(one) : undefined;
      if (!report) continue;
      reports.push(because ? { ...report, cause: causedBy(because.cause, because.id) } : report);
      keys.add(keyOf(one.id, one.attribute));
    }
    if (reports.length === 0) return;
    // What follows from another backend's snapshot is no news either.
    const isNews = because?.change !== 'resync';
    if (!isNews) this.sink?.online();
    for (const report of reports) this.sink?.report(report);
    if (!isNews) this.sink?.ready();
  }

  /** A report, if it derives to another value than was told. */
  private derive({ id: device, attribute, value: valueNow }: Derived): ValueReport | undefined {
    const key = keyOf(device, attribute);
    const value = valueNow();
    const before = this.told.get(key);
    if (value === before || (value !== undefined && before !== undefined && valuesEqual(value, before)))
      return undefined;
    this.told.set(key, value);
    if (value === undefined) return { type: 'value', device, attribute, value: null, quality: 'unknown' };
    return { type: 'value', device, attribute, value };
  }

  /** Integrals grow while nothing happens. */
  private grow(): void {
    const growing = this.derived.filter(one => one.isGrowing).map(one => one.id);
    this.cancelGrowth();
    if (growing.length === 0) return;
    this.cancelGrowth = this.parts.clock.after(GROWTH_MS, () => {
      if (this.isSettled) this.update(growing);
      this.grow();
    });
  }
}

/** Those that others derive from come first; in a circle the order of house.yaml decides. */
function inOrder(all: readonly Derived[], keys: ReadonlyMap<Derived, ReadonlySet<string>>): Derived[] {
  const byKey = new Map(all.map(one => [keyOf(one.id, one.attribute), one]));
  const ordered = new Set<Derived>();
  const visiting = new Set<Derived>();
  const visit = (one: Derived) => {
    if (ordered.has(one) || visiting.has(one)) return;
    visiting.add(one);
    for (const key of keys.get(one) ?? []) {
      const source = byKey.get(key);
      if (source) visit(source);
    }
    ordered.add(one);
  };
  for (const one of all) visit(one);
  return [...ordered];
}
