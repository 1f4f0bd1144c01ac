// One connection to ioBroker, from its start to the first trouble. ioBroker never repeats what was missed, so each begins
// the same way: subscribe, wait for the answer, then read everything, and let what came meanwhile stand where it is newer.
import { setMaxListeners } from 'node:events';
import type { Cancel, Clock } from '../../lib/clock.ts';
import { durationMs } from '../../lib/duration.ts';
import { asCausewayError, CausewayError, reasonOf } from '../../lib/errors.ts';
import type { Json } from '../../lib/json.ts';
import type { Log } from '../../lib/log.ts';
import type { BackendSink } from '../../model/command.ts';
import { deviceIdOf } from './blueprint.ts';
import { Catalogue } from './catalogue.ts';
import type { Counters } from './counters.ts';
import { Held } from './held.ts';
import { Known } from './known.ts';
import { idAt } from './map.ts';
import { selection, unownedOf } from './patterns.ts';
import { Reachability } from './reachability.ts';
import type { IobrokerConfig } from './schema.ts';
import { openSession } from './session.ts';
import {
  askObjects,
  askStates,
  eachObject,
  eachState,
  inPieces,
  objectPatterns,
  readSystem,
  type SnapshotParts,
  statePatterns,
  view,
} from './snapshot.ts';
import type { IobSocket } from './socket.ts';
import type { Watches } from './watches.ts';
import { type IobState, instance, readObject, readState, type SystemConfig } from './wire.ts';
import { Writes } from './writes.ts';

/** What the backend needs. */
export interface IobrokerParts {
  /** The first part of its devices' ids. */
  readonly id: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** What a connection needs. */
export interface ConnectionParts extends IobrokerParts {
  readonly config: IobrokerConfig;
  readonly counters: Counters;
  readonly sink: BackendSink;
  readonly watches: Watches;
  /** What was said once. */
  readonly said: Set<string>;
}

/** Objects come in bursts: a new device is dozens. */
const REMAKE_MS = 50;
/** How often it is seen whether the databases behind the adapter answer still: its pings say nothing of them. */
const PROBE_MS = 60_000;

/** Opened once, closed once. */
export class Connection {
  readonly catalogue: Catalogue;
  readonly known: Known;
  readonly reachability: Reachability;
  isReady = false;
  /** `ws` or `admin`. */
  adapter = '';
  private system: SystemConfig = { language: 'en', place: undefined };
  private readonly parts: ConnectionParts;
  private readonly ending = new AbortController();
  private readonly held = new Held();
  private readonly isSelected: (id: string) => boolean;
  private session: IobSocket | undefined;
  private sending: Writes | undefined;
  private cancelRemake: Cancel | undefined;
  private cancelProbe: Cancel = () => {};
  /** What is told of devices follows each other. */
  private work: Promise<void> = Promise.resolve();

  constructor(parts: ConnectionParts) {
    const { config, id: backend, counters, sink, clock } = parts;
    this.parts = parts;
    this.isSelected = selection(config);
    setMaxListeners(0, this.ending.signal);
    const of = { backend, selects: this.isSelected, functional: config.functional, counters };
    this.catalogue = new Catalogue({ ...of, languageOf: () => this.names });
    const { catalogue } = this;
    this.known = new Known({ catalogue, sink, counters, isUnowned: unownedOf(config), now: () => clock.now() });
    const { known } = this;
    this.reachability = new Reachability({ catalogue, sink, valueOf: known.valueOf, qualityOf: known.qualityOf });
  }

  get backend(): string {
    return this.parts.id;
  }

  get counters(): Counters {
    return this.parts.counters;
  }

  /** The language of names. */
  get names(): string {
    const { language } = this.parts.config;
    return language === 'auto' ? this.system.language : language;
  }

  get snapshotParts(): SnapshotParts {
    return { socket: this.socket, config: this.parts.config, counters: this.parts.counters };
  }

  /** The id of the device that has a state. */
  deviceOf(stateId: string): string {
    return `${this.parts.id}:${deviceIdOf(stateId)}`;
  }

  /** @throws BACKEND_OFFLINE while it is not open */
  get socket(): IobSocket {
    if (this.session) return this.session;
    throw new CausewayError('BACKEND_OFFLINE', `ioBroker ${this.parts.id} cannot be reached now`);
  }

  /** @throws BACKEND_OFFLINE while it is not open */
  get writes(): Writes {
    if (this.sending) return this.sending;
    throw new CausewayError('BACKEND_OFFLINE', `ioBroker ${this.parts.id} cannot be reached now`);
  }

  /** @throws BACKEND_AUTH, BACKEND_OFFLINE, BACKEND_TIMEOUT, BACKEND_REJECTED */
  async open(): Promise<void> {
    const { config, clock, counters, sink } = this.parts;
    const { signal } = this.ending;
    const socket = await openSession({
      ...sessionOf(config),
      clock,
      counters,
      signal,
      onEvent: (name, args) => this.onEvent(name, args),
      onLost: error => this.lost(error),
    });
    this.session = socket;
    this.sending = new Writes({
      socket,
      clock,
      confirmMs: durationMs(config.confirm),
      isUnowned: unownedOf(config),
    });
    await this.greet(socket);
    await socket.ask('subscribeObjects', objectPatterns(config));
    await socket.ask('subscribe', statePatterns(config));
    this.parts.watches.attach(socket);
    signal.throwIfAborted();
    await this.load();
    signal.throwIfAborted();
    sink.online();
    await this.tellAll();
    signal.throwIfAborted();
    sink.ready();
    this.isReady = true;
    counters.snapshots++;
    // They happened, and are no part of the snapshot: a press of a button must reach the rules.
    this.held.release((id, state) => this.takeState(id, state), this.known);
    this.probeLater();
  }

  /** Ends it; what is on its way is given up. */
  close(): void {
    this.isReady = false;
    this.cancelRemake?.();
    this.cancelProbe();
    this.ending.abort(new CausewayError('BACKEND_OFFLINE', `the connection to ioBroker ${this.parts.id} has ended`));
    this.parts.watches.detach();
    this.session?.close();
    this.session = undefined;
    this.sending = undefined;
  }

  private async greet(socket: IobSocket): Promise<void> {
    const { id, log, said } = this.parts;
    const [, , adapter] = await socket.call('getVersion');
    this.adapter = typeof adapter === 'string' ? adapter : '';
    this.system = await readSystem(socket);
    if (this.adapter !== 'admin' || said.has('admin')) return;
    said.add('admin');
    log.warn(
      { backend: id },
      'connected to the admin adapter: in a flood of over 200 changes a second it leaves out what happens, and its users may do more than need be; install the ws adapter and set url to its port, 8084',
    );
  }

  private async load(): Promise<void> {
    const { counters } = this.parts;
    const parts = this.snapshotParts;
    for (const row of await view(parts, 'instance', 'system.adapter.')) this.putInstance(row);
    const objects = await askObjects(parts);
    // ioBroker reads the states while we look at the objects.
    const states = askStates(parts);
    states.catch(() => {});
    await eachObject(objects, counters, object => void this.catalogue.put(object));
    await this.catalogue.remake();
    await eachState(await states, counters, (id, state) => {
      this.reachability.take(id, state);
      this.known.load(id, state);
    });
  }

  private async tellAll(): Promise<void> {
    const devices = [...this.catalogue.devices.values()];
    const { sink } = this.parts;
    if (this.system.place) sink.report({ type: 'place', ...this.system.place });
    sink.devices(devices.map(({ device }) => device));
    // In pieces, since twenty thousand reports at once would overflow the engine's queue.
    await inPieces(devices, mapped => {
      this.reachability.tellDevice(mapped, 'all');
      this.known.tellDevice(mapped);
    });
  }

  // --- events ----------------------------------------------------------------------------------------------------------

  private onEvent(name: string, args: readonly Json[]): void {
    if (this.ending.signal.aborted) return;
    const [id, body = null] = args;
    this.parts.watches.onEvent(name, args);
    if (name === 'stateChange' && typeof id === 'string') this.onState(id, body);
    else if (name === 'objectChange' && typeof id === 'string') this.onObject(id, body);
    // What happened while admin held its events back is lost.
    else if (name === 'eventsThreshold' && id === false) {
      this.lost(new CausewayError('BACKEND_OFFLINE', 'admin held events back in a flood; all is read anew'));
    }
  }

  private onState(id: string, raw: Json): void {
    const state = readState(raw, this.parts.counters);
    if (raw !== null && !state) return;
    const instance = this.reachability.take(id, state);
    if (!this.isSelected(id)) {
      if (instance !== undefined && this.isReady) this.reachability.tell('changed', instance);
      return;
    }
    if (this.isReady) this.takeState(id, state);
    else this.held.add(id, state);
    if (instance !== undefined && this.isReady) this.reachability.tell('changed', instance);
  }

  private takeState(id: string, state: IobState | undefined): void {
    const isOurs = this.sending?.take(id, state) ?? false;
    this.known.take(id, state, isOurs);
    for (const { mapped } of this.catalogue.hearersOf(id)) {
      if (this.reachability.mayHaveChanged(mapped, state)) this.reachability.tellDevice(mapped, 'changed');
    }
  }

  private onObject(id: string, raw: Json): void {
    if (/^system\.adapter\.[^.]+\.\d+$/.test(id)) {
      if (raw === null) this.reachability.instances.delete(id.slice('system.adapter.'.length));
      else this.putInstance(raw);
      if (this.isReady) this.reachability.tell('changed', id.slice('system.adapter.'.length));
      return;
    }
    const object = raw === null ? undefined : readObject(raw, this.parts.counters);
    if (raw !== null && !object) return;
    const matters = object ? this.catalogue.put(object) : this.catalogue.remove(id);
    if (matters) this.remakeSoon();
  }

  private putInstance(raw: unknown): void {
    const object = readObject(raw, this.parts.counters);
    if (!object) return;
    const one = instance(object, this.names);
    this.reachability.instances.set(one.id, one);
  }

  // --- devices that change -------------------------------------------------------------------------------------------

  private remakeSoon(): void {
    this.cancelRemake ??= this.parts.clock.after(REMAKE_MS, () => {
      this.cancelRemake = undefined;
      this.inTurn(() => this.remake());
    });
  }

  private async remake(): Promise<void> {
    // Those of a snapshot on its way are told with it.
    if (!this.isReady) return this.remakeSoon();
    const { sink, id: backend } = this.parts;
    const { changed, removed } = await this.catalogue.remake();
    for (const id of removed) {
      this.reachability.forget(`${backend}:${id}`);
      sink.removed(`${backend}:${id}`);
    }
    this.known.forgetAllBut(this.catalogue.states);
    const fresh = changed.flatMap(mapped => {
      const { native, derived } = mapped.blueprint;
      const places = [...native.keys(), ...derived.flatMap(({ ids }) => ids)];
      return places.map(place => idAt(mapped, place)).filter(id => this.known.valueOf(id) === undefined);
    });
    await this.readStates(fresh);
    for (const mapped of changed) {
      sink.device(mapped.device);
      this.reachability.tellDevice(mapped, 'all');
      this.known.tellDevice(mapped);
    }
  }

  private async readStates(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    const answer = await this.socket.ask('getStates', [...ids]);
    for (const [id, raw] of Object.entries((answer ?? {}) as Record<string, Json>)) {
      const state = readState(raw, this.parts.counters);
      if (state && !this.known.isNewer(id, state)) this.known.load(id, state);
    }
  }

  private inTurn(task: () => Promise<void> | void): void {
    this.work = this.work.then(async () => {
      if (this.ending.signal.aborted) return;
      try {
        await task();
      } catch (error) {
        this.lost(asCausewayError(error));
      }
    });
  }

  private probeLater(): void {
    this.cancelProbe = this.parts.clock.after(PROBE_MS, () => {
      this.inTurn(async () => {
        await this.socket.ask('getObject', 'system.config');
        this.probeLater();
      });
    });
  }

  private lost(error: CausewayError): void {
    if (this.ending.signal.aborted) return;
    const wasReady = this.isReady;
    this.isReady = false;
    // While it is being opened, `open` rejects with it.
    if (wasReady) this.parts.sink.offline(reasonOf(error));
    else this.ending.abort(error);
  }
}

/** Where a session goes, and who logs in. */
export function sessionOf({ url, user, password, timeout }: IobrokerConfig) {
  const credentials = user !== undefined && password ? { user, password: password.reveal() } : undefined;
  return { url, credentials, timeoutMs: durationMs(timeout) };
}
