// The objects of ioBroker that matter here, and the devices that they make. When objects change, only the devices that
// they concern are made anew.
import { yieldToIo } from '../../lib/clock.ts';
import { jsonEqual } from '../../lib/json.ts';
import type { Counters } from './counters.ts';
import { type Control, Detector } from './functional/detect.ts';
import { deviceIdOf, type Mapped, mapDevice, type Pool } from './map.ts';
import type { Matcher } from './patterns.ts';
import { type Anything, type Branch, branch, type Enum, enumeration, type StateObject, stateObject } from './wire.ts';

/** An attribute that hears of a state. */
export interface Hearing {
  readonly mapped: Mapped;
  /** The native attribute; or the index of the derived one. */
  readonly attribute: string | number;
}

/** What a catalogue needs to know. */
export interface CatalogueParts {
  readonly backend: string;
  languageOf(): string;
  readonly selects: Matcher;
  readonly functional: boolean;
  readonly pool: Pool;
  readonly counters: Counters;
}

/** What became of the devices. Ids are native ones. */
export interface Remade {
  readonly changed: readonly Mapped[];
  readonly removed: readonly string[];
}

/** Objects of these kinds have states below them. */
const BRANCHES = ['channel', 'device', 'folder'];
/** Devices that are made between two looks at what else there is to do. */
const PIECE = 20;

/** The catalogue. Ids are ioBroker's own. */
export class Catalogue {
  readonly states = new Map<string, StateObject>();
  readonly devices = new Map<string, Mapped>();
  private readonly parts: CatalogueParts;
  private readonly branches = new Map<string, Branch>();
  private readonly enums = new Map<string, Enum>();
  /** Device → ids of its states. */
  private readonly statesOf = new Map<string, Set<string>>();
  /** Device → what it is a part of → its devices. */
  private readonly children = new Map<string, Set<string>>();
  private readonly hearings = new Map<string, Hearing[]>();
  private readonly reached = new Map<string, Set<Mapped>>();
  private readonly dirty = new Set<string>();
  private readonly detector = new Detector();
  private readonly indexes = new Map<string, Map<string, readonly Enum[]>>();

  constructor(parts: CatalogueParts) {
    this.parts = parts;
  }

  /** Rooms, or functions. */
  enumsOf(kind: 'rooms' | 'functions'): Enum[] {
    return [...this.enums.values()].filter(({ id }) => id.startsWith(`enum.${kind}.`));
  }

  /** The attributes that a state is told to. */
  hearingsOf(stateId: string): readonly Hearing[] {
    return this.hearings.get(stateId) ?? [];
  }

  /** The devices of which a state says whether they can be reached. */
  reachedBy(stateId: string): Iterable<Mapped> {
    return this.reached.get(stateId) ?? [];
  }

  /** Takes an object as it is now; true when it is one that matters. */
  put(object: Anything): boolean {
    const { languageOf, selects } = this.parts;
    const language = languageOf();
    const { id, type } = object;
    if (type === 'state') {
      if (!selects(id)) return false;
      // No key of a plain object.
      if (id.endsWith('.__proto__')) {
        this.parts.counters.unreadable++;
        return false;
      }
      const state = stateObject(object, language);
      if (jsonEqual(this.states.get(id), state)) return false;
      this.states.set(id, state);
      const device = deviceIdOf(id);
      addTo(this.statesOf, device, id);
      addTo(this.children, deviceIdOf(device), device);
      this.touch(device);
      return true;
    }
    if (type === 'enum') {
      const one = enumeration(object, language);
      const old = this.enums.get(id);
      if (jsonEqual(old, one)) return false;
      this.enums.set(id, one);
      this.indexes.clear();
      const isRenamed = old?.name !== one.name;
      const members = isRenamed
        ? [...(old?.members ?? []), ...one.members]
        : differing(old?.members ?? [], one.members);
      for (const member of members) this.touchBelow(member);
      return true;
    }
    if (!BRANCHES.includes(type)) return false;
    const one = branch(object, language);
    if (jsonEqual(this.branches.get(id), one)) return false;
    this.branches.set(id, one);
    this.touchBelow(id);
    return true;
  }

  /** Takes that an object is gone; true when it mattered. */
  remove(id: string): boolean {
    if (this.states.delete(id)) {
      const device = deviceIdOf(id);
      this.statesOf.get(device)?.delete(id);
      this.touch(device);
      return true;
    }
    const gone = this.enums.get(id);
    this.indexes.clear();
    for (const member of gone?.members ?? []) this.touchBelow(member);
    if (this.enums.delete(id)) return true;
    if (!this.branches.delete(id)) return false;
    this.touchBelow(id);
    return true;
  }

  /** Makes the devices anew that changes concern. */
  async remake(): Promise<Remade> {
    const changed: Mapped[] = [];
    const removed: string[] = [];
    let made = 0;
    for (const id of this.dirty) {
      this.dirty.delete(id);
      const old = this.devices.get(id);
      const now = this.make(id);
      if (old) this.unlink(old);
      if (now) {
        this.devices.set(id, now);
        this.link(now);
        if (!old || !jsonEqual(old.device, now.device)) changed.push(now);
      } else if (old) {
        this.devices.delete(id);
        removed.push(id);
      }
      if (++made % PIECE === 0) await yieldToIo();
    }
    return { changed, removed };
  }

  private make(id: string): Mapped | undefined {
    const ids = this.statesOf.get(id);
    if (!ids?.size) {
      this.statesOf.delete(id);
      this.children.get(deviceIdOf(id))?.delete(id);
      return undefined;
    }
    const states = [...ids].sort().map(one => this.states.get(one) as StateObject);
    const { backend, pool } = this.parts;
    const name = this.branches.get(id)?.name || id.slice(id.lastIndexOf('.') + 1);
    const isBag = id.split('.').length < 3;
    return mapDevice(
      {
        backend,
        id,
        name: isBag ? id : name,
        room: this.roomOf(id, states),
        states,
        controls: isBag ? [] : this.controlsOf(id, states),
      },
      pool,
    );
  }

  /** The room of a device, of what it is a part of, or of one of its states. */
  private roomOf(id: string, states: readonly StateObject[]): string | undefined {
    const rooms = this.memberships('rooms');
    for (const one of [...lineage(id), ...states.map(state => state.id)]) {
      const [room] = rooms.get(one) ?? [];
      if (room) return room.name;
    }
    return undefined;
  }

  /** Member → the rooms, or functions, that it is in. */
  private memberships(kind: 'rooms' | 'functions'): ReadonlyMap<string, readonly Enum[]> {
    let index = this.indexes.get(kind);
    if (!index) {
      index = new Map();
      for (const one of this.enumsOf(kind)) {
        for (const member of one.members) index.set(member, [...(index.get(member) ?? []), one]);
      }
      this.indexes.set(kind, index);
    }
    return index;
  }

  private controlsOf(id: string, states: readonly StateObject[]): Control[] {
    const kind = this.branches.get(id)?.kind ?? 'channel';
    // A folder holds what has nothing to do with each other.
    if (!this.parts.functional || kind === 'folder') return [];
    const parent = deviceIdOf(id);
    const around = this.branches.get(parent)?.kind === 'device' ? this.around(parent) : undefined;
    const memberships = this.memberships('functions');
    const functions = new Map<string, { id: string; members: string[] }>();
    for (const member of [...lineage(id), ...states.map(state => state.id)]) {
      for (const one of memberships.get(member) ?? []) {
        // The detector looks no further up than the channel.
        const known = functions.get(one.id) ?? { id: one.id, members: [id] };
        known.members.push(member);
        functions.set(one.id, known);
      }
    }
    return this.detector.detect({
      id,
      kind: kind === 'device' ? 'device' : 'channel',
      states,
      around,
      functions: [...functions.values()],
    });
  }

  /** A device of ioBroker's with the states of all its channels. */
  private around(id: string): { id: string; states: StateObject[] } {
    const ids = [id, ...(this.children.get(id) ?? [])].flatMap(one => [...(this.statesOf.get(one) ?? [])]);
    return { id, states: ids.map(one => this.states.get(one) as StateObject) };
  }

  private touch(device: string): void {
    this.dirty.add(device);
    const parent = deviceIdOf(device);
    // Its neighbours may have indicators in it.
    if (this.branches.get(parent)?.kind !== 'device') return;
    for (const sibling of this.children.get(parent) ?? []) this.dirty.add(sibling);
  }

  private touchBelow(id: string): void {
    if (this.states.has(id)) this.touch(deviceIdOf(id));
    const stem = `${id}.`;
    for (const device of this.statesOf.keys()) if (device === id || device.startsWith(stem)) this.dirty.add(device);
  }

  private link(mapped: Mapped): void {
    for (const [stateId, { attribute }] of mapped.native) this.hear(stateId, { mapped, attribute });
    for (const [index, { ids }] of mapped.derived.entries()) {
      for (const stateId of ids) this.hear(stateId, { mapped, attribute: index });
    }
    for (const { id } of mapped.reachability) addTo(this.reached, id, mapped);
  }

  private hear(stateId: string, hearing: Hearing): void {
    const all = this.hearings.get(stateId);
    if (all) all.push(hearing);
    else this.hearings.set(stateId, [hearing]);
  }

  private unlink(mapped: Mapped): void {
    const ids = new Set([...mapped.native.keys(), ...mapped.derived.flatMap(({ ids: one }) => one)]);
    for (const stateId of ids) {
      const kept = this.hearingsOf(stateId).filter(hearing => hearing.mapped !== mapped);
      if (kept.length > 0) this.hearings.set(stateId, kept);
      else this.hearings.delete(stateId);
    }
    for (const { id } of mapped.reachability) this.reached.get(id)?.delete(mapped);
  }
}

function addTo<T>(map: Map<string, Set<T>>, key: string, value: T): void {
  const set = map.get(key);
  if (set) set.add(value);
  else map.set(key, new Set([value]));
}

/** An id, and all that it is a part of, the nearest first. */
export function lineage(id: string): string[] {
  const all: string[] = [];
  for (let one = id; one !== ''; one = deviceIdOf(one)) all.push(one);
  return all;
}

const differing = (a: readonly string[], b: readonly string[]): string[] => [
  ...a.filter(one => !b.includes(one)),
  ...b.filter(one => !a.includes(one)),
];
