// The device registry: declarations, rooms, aliases, availability, and the live members of a target.
import { Subject } from 'rxjs';
import { CausewayError } from '../lib/errors.ts';
import { didYouMean, nearest } from '../lib/text.ts';
import { type Availability, backendOf, type Device } from '../model/device.ts';
import type { Target } from '../model/target.ts';

/** How a backend stands. */
export interface BackendStatus {
  /** degraded: connected again after it was away, and what its devices are is still being read. */
  state: 'online' | 'offline' | 'degraded';
  /** Its snapshot is complete: its reports are news now. */
  ready: boolean;
  /** Rises with each "ready"; readings of an older epoch were not confirmed since. */
  epoch: number;
  since: number;
  reason?: string;
}

/** What house.yaml says about names. */
export interface HouseNames {
  aliases: Readonly<Record<string, string>>;
  rooms: Readonly<Record<string, { names: readonly string[]; devices: readonly string[] }>>;
}

/** All devices that backends have declared. */
export class Devices {
  private readonly byId = new Map<string, Device>();
  private readonly unavailable = new Map<string, Availability>();
  private readonly backends = new Map<string, BackendStatus>();
  private names: HouseNames = { aliases: {}, rooms: {} };
  /** Emits when devices, names or rooms change: selectors find their members anew. */
  readonly changed$ = new Subject<string>();

  setNames(names: HouseNames): void {
    this.names = names;
    this.changed$.next('*');
  }

  aliases(): Readonly<Record<string, string>> {
    return this.names.aliases;
  }

  /** The id that an alias stands for; an id stands for itself. */
  resolve(ref: string): string {
    return Object.hasOwn(this.names.aliases, ref) ? (this.names.aliases[ref] as string) : ref;
  }

  /** The alias of an id, if it has one. */
  aliasOf(id: string): string | undefined {
    return Object.entries(this.names.aliases).find(([, target]) => target === id)?.[0];
  }

  get(ref: string): Device | undefined {
    return this.byId.get(this.resolve(ref));
  }

  /** @throws DEVICE_NOT_FOUND with the nearest ids, names and aliases; never a guess */
  require(ref: string): Device {
    const device = this.get(ref);
    if (device) return device;
    const byName = [...this.byId.values()].filter(d => d.name.toLowerCase() === ref.toLowerCase());
    const hint = byName.length
      ? `a device of this name has the id ${byName.map(d => d.id).join(' or ')}; use the id or an alias`
      : this.nearTo(ref);
    throw new CausewayError('DEVICE_NOT_FOUND', `there is no device "${ref}"`, {
      hint,
      details: { candidates: byName.map(d => ({ id: d.id, name: d.name })) },
    });
  }

  /** What a name that is nobody's may have meant; of somebody's name the id, which is taken everywhere. */
  private nearTo(ref: string): string {
    const ids = [...this.byId.keys()];
    const near = nearest(ref, [...ids, ...Object.keys(this.names.aliases), ...this.all().map(({ name }) => name)]);
    const named = this.all().find(({ id, name }) => name === near && id !== near);
    return named ? `did you mean "${named.id}" (${named.name})?` : didYouMean(ref, near === undefined ? ids : [near]);
  }

  all(): Device[] {
    return [...this.byId.values()];
  }

  put(device: Device): void {
    this.byId.set(device.id, device);
    this.changed$.next(device.id);
  }

  /** Takes an equal declaration in the place of the one that is here: nothing has changed. */
  putEqual(device: Device): void {
    this.byId.set(device.id, device);
  }

  remove(id: string): void {
    if (!this.byId.delete(id)) return;
    this.unavailable.delete(id);
    this.changed$.next(id);
  }

  /** The device's room: house.yaml first, then what its backend says (by any of the room's names). */
  roomOf(device: Device): string | undefined {
    for (const [room, { names, devices }] of Object.entries(this.names.rooms)) {
      if (devices.some(ref => this.resolve(ref) === device.id)) return room;
      if (device.room !== undefined && (room === device.room || names.includes(device.room))) return room;
    }
    return device.room;
  }

  backend(id: string): BackendStatus | undefined {
    return this.backends.get(id);
  }

  allBackends(): ReadonlyMap<string, BackendStatus> {
    return this.backends;
  }

  setBackend(id: string, status: BackendStatus): void {
    this.backends.set(id, status);
  }

  setAvailability(id: string, state: Availability): void {
    if (state === 'online') this.unavailable.delete(id);
    else this.unavailable.set(id, state);
  }

  /** Whether what is known of a backend's devices may have become something else meanwhile. */
  isAway(backend: string): boolean {
    const state = this.backends.get(backend)?.state;
    return state === 'offline' || state === 'degraded';
  }

  /** Offline with its backend until that has told its snapshot, unknown while nobody has declared it. */
  availability(id: string): Availability {
    if (!this.byId.has(id)) return 'unknown';
    if (this.isAway(backendOf(id))) return 'offline';
    return this.unavailable.get(id) ?? 'online';
  }

  /** The ids that a target means now. Ids that no backend has declared are kept: they may appear. */
  members(target: Target, bears: (device: Device) => boolean = () => true): string[] {
    if (typeof target === 'string') return [this.resolve(target)];
    if (Array.isArray(target)) return [...new Set(target.map(ref => this.resolve(ref)))];
    const except = new Set((target.except ?? []).map(ref => this.resolve(ref)));
    const label = target.label === undefined ? undefined : labelTest(target.label);
    return this.all()
      .filter(device => {
        if (except.has(device.id) || !bears(device)) return false;
        if (target.backend !== undefined && backendOf(device.id) !== target.backend) return false;
        if (target.capability !== undefined && ![target.capability].flat().some(c => device.capabilities.includes(c)))
          return false;
        if (target.room !== undefined && ![target.room].flat().some(r => this.isRoom(device, r))) return false;
        return label === undefined || label(device.name);
      })
      .map(device => device.id)
      .sort();
  }

  private isRoom(device: Device, wanted: string): boolean {
    const room = this.roomOf(device);
    return room !== undefined && (room === wanted || (this.names.rooms[room]?.names.includes(wanted) ?? false));
  }
}

// `*` and `?` by a walk that cannot run away; a plain label is a part of the name.
function labelTest(label: string): (name: string) => boolean {
  const pattern = label.toLowerCase();
  if (!/[*?]/.test(pattern)) return name => name.toLowerCase().includes(pattern);
  return name => wildcard(pattern, name.toLowerCase());
}

function wildcard(pattern: string, text: string): boolean {
  let p = 0;
  let t = 0;
  let star = -1;
  let mark = 0;
  while (t < text.length) {
    if (p < pattern.length && (pattern[p] === '?' || pattern[p] === text[t])) {
      p++;
      t++;
    } else if (p < pattern.length && pattern[p] === '*') {
      star = p++;
      mark = t;
    } else if (star >= 0) {
      p = star + 1;
      t = ++mark;
    } else return false;
  }
  while (pattern[p] === '*') p++;
  return p === pattern.length;
}
