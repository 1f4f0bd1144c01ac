// Which devices can be reached: their adapter's instance must live and be connected, and they must not say themselves
// that they are gone. ioBroker does not mark the values of an instance that died (js-controller#232).
import type { BackendSink } from '../../model/command.ts';
import type { Json, Quality } from '../../model/value.ts';
import type { Catalogue } from './catalogue.ts';
import type { ValueOf } from './functional/index.ts';
import { idAt, type Mapped } from './map.ts';
import type { Instance, IobState } from './wire.ts';

/** Patterns of the states that say it. */
export const ALIVE_PATTERNS: readonly string[] = ['system.adapter.*.alive', '*.info.connection'];

const ALIVE = /^system\.adapter\.([^.]+\.\d+)\.alive$/;
const CONNECTION = /^([^.]+\.\d+)\.info\.connection$/;

/** Where it comes from. */
export interface ReachabilityParts {
  readonly catalogue: Catalogue;
  readonly sink: BackendSink;
  readonly valueOf: ValueOf;
  /** Of the last confirmed value; undefined where none is known. */
  qualityOf(id: string): Quality | undefined;
}

/** Instances, and what was told of devices. */
export class Reachability {
  readonly instances = new Map<string, Instance>();
  private readonly parts: ReachabilityParts;
  private readonly alive = new Map<string, boolean>();
  private readonly connected = new Map<string, boolean>();
  private readonly told = new Map<string, boolean>();

  constructor(parts: ReachabilityParts) {
    this.parts = parts;
  }

  /** Whether an instance runs, as far as it can be known; undefined where there is none of this name. */
  isAlive(instance: string): boolean | undefined {
    const one = this.instances.get(instance);
    return one && (this.alive.get(instance) ?? false);
  }

  /** Whether an instance has a connection to what it serves; undefined where it does not tell. */
  isConnected(instance: string): boolean | undefined {
    return this.connected.get(instance);
  }

  /** Takes a state of an instance; the instance whose state has changed, if one has. */
  take(id: string, state: IobState | undefined): string | undefined {
    const [, living] = ALIVE.exec(id) ?? [];
    if (living !== undefined) return set(this.alive, living, state?.val === true);
    const [, linked] = CONNECTION.exec(id) ?? [];
    if (linked === undefined) return undefined;
    return set(this.connected, linked, isLink(state?.val ?? null));
  }

  /** Tells all devices anew, or those whose reachability has changed. @param instance only those of it */
  tell(which: 'all' | 'changed', instance?: string): void {
    for (const mapped of this.parts.catalogue.devices.values()) {
      if (instance === undefined || instanceOf(mapped) === instance) this.tellDevice(mapped, which);
    }
  }

  /** Tells one device. */
  tellDevice(mapped: Mapped, which: 'all' | 'changed'): void {
    const { id } = mapped.device;
    const isReachable = this.reaches(mapped);
    // What nothing was ever said of is reachable.
    if (which === 'changed' && (this.told.get(id) ?? true) === isReachable) return;
    this.told.set(id, isReachable);
    this.parts.sink.report({ type: 'availability', device: id, state: isReachable ? 'online' : 'offline' });
  }

  /** Whether a state may have changed what was told of a device. */
  mayHaveChanged({ device, blueprint }: Mapped, state: IobState | undefined): boolean {
    return blueprint.reachability.length > 0 || (state?.q ?? 0) !== 0 || this.told.get(device.id) === false;
  }

  /** Forgets a device. */
  forget(id: string): void {
    this.told.delete(id);
  }

  private reaches(mapped: Mapped): boolean {
    const name = instanceOf(mapped);
    // How an instance is connected is known whether it is or not.
    if (mapped.device.id.endsWith(`:${name}.info`)) return true;
    const instance = this.instances.get(name);
    // Those of other modes run now and then.
    const mustLive = instance?.mode === 'daemon';
    if (mustLive && this.alive.get(name) !== true) return false;
    if (this.connected.get(name) === false) return false;
    const { reachability, hearing } = mapped.blueprint;
    const own = [...hearing.keys()]
      .filter(place => place[0] === '+')
      .map(place => this.parts.qualityOf(idAt(mapped, place)));
    const known = own.filter(quality => quality !== undefined);
    if (known.length > 0 && known.every(quality => quality === 'unavailable')) return false;
    return !reachability.some(({ id, unreachable }) => this.parts.valueOf(idAt(mapped, id)) === unreachable);
  }
}

/** The adapter's instance that serves a device; that of the target, where it is an alias. */
const instanceOf = ({ id, alias = id }: Mapped): string => alias.split('.', 2).join('.');

// A list of what is connected, in some adapters.
const isLink = (val: Json): boolean =>
  typeof val === 'string' ? !/^(|\[\]|false|0)$/.test(val.trim()) : val !== false;

function set(map: Map<string, boolean>, key: string, value: boolean): string | undefined {
  if (map.get(key) === value) return undefined;
  map.set(key, value);
  return key;
}
