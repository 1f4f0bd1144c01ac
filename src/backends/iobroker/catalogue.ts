// The objects of ioBroker that matter here, and the devices that they make. When objects change, only the devices that
// they concern are made anew.
import { createHash } from 'node:crypto';
import { yieldToIo } from '../../lib/clock.ts';
import { jsonEqual } from '../../lib/json.ts';
import { attributeOf, type Blueprint, blueprintOf, deviceIdOf } from './blueprint.ts';
import type { Counters } from './counters.ts';
import { detect, type Surroundings } from './functional/detect.ts';
import { idAt, type Mapped } from './map.ts';
import type { Matcher } from './patterns.ts';
import { type Anything, type Branch, branch, type Enum, enumeration, type StateObject, stateObject } from './wire.ts';

/** A device that hears of a state. */
export interface Hearer {
  readonly mapped: Mapped;
  /** Native attributes, and indexes of derived ones. */
  readonly attributes: readonly (string | number)[];
}

/** What a catalogue needs to know. */
export interface CatalogueParts {
  readonly backend: string;
  languageOf(): string;
  readonly selects: Matcher;
  readonly functional: boolean;
  readonly counters: Counters;
}

/** What became of the devices. Ids are native ones. */
export interface Remade {
  readonly changed: readonly Mapped[];
  readonly removed: readonly string[];
}

/** Objects of these kinds have states below them. */
const BRANCHES = ['channel', 'device', 'folder'];
/** Kinds of devices that are kept; a house has a few dozen. */
const MOST_BLUEPRINTS = 500;
/** What has more states has no like. */
const MOST_SHARED = 100;
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
  /** States of what is around a device, and the devices that look at them. */
  private readonly outside = new Map<string, Set<Mapped>>();
  private readonly dirty = new Set<string>();
  private readonly blueprints = new Map<string, Blueprint>();
  private readonly indexes = new Map<string, Map<string, readonly Enum[]>>();

  constructor(parts: CatalogueParts) {
    this.parts = parts;
  }

  /** Rooms, or functions. */
  enumsOf(kind: 'rooms' | 'functions'): Enum[] {
    return [...this.enums.values()].filter(({ id }) => id.startsWith(`enum.${kind}.`));
  }

  /** The devices that a state is told to. */
  hearersOf(stateId: string): Hearer[] {
    const own = this.devices.get(deviceIdOf(stateId));
    const hearers = own
      ? [{ mapped: own, attributes: own.blueprint.hearing.get(`+${attributeOf(stateId)}`) ?? [] }]
      : [];
    for (const mapped of this.outside.get(stateId) ?? []) {
      const place = `-${stateId.slice((mapped.around?.length ?? 0) + 1)}`;
      hearers.push({ mapped, attributes: mapped.blueprint.hearing.get(place) ?? [] });
    }
    return hearers;
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
    const name = this.branches.get(id)?.name || id.slice(id.lastIndexOf('.') + 1);
    const isBag = id.split('.').length < 3;
    const room = this.roomOf(id, states);
    const own = states.map(state => placed(state, `+${attributeOf(state.id)}`));
    const blueprint = this.blueprint(this.surroundings(id, own), own);
    return {
      device: {
        id: `${this.parts.backend}:${id}`,
        name: isBag ? id : name,
        ...(room !== undefined && { room }),
        ...blueprint.look,
      },
      id,
      around: this.aroundOf(id),
      alias: states[0]?.alias,
      blueprint,
    };
  }

  /** The blueprint of a device that looks so: made once. */
  private blueprint(surroundings: Surroundings | undefined, states: readonly StateObject[]): Blueprint {
    const make = () => blueprintOf(states, surroundings ? detect(surroundings) : []);
    if (states.length > MOST_SHARED) return make();
    const { kind, functions, around } = surroundings ?? {};
    const look = JSON.stringify([kind, functions && [...functions], around, states]);
    const key = createHash('sha256').update(look).digest('base64');
    let known = this.blueprints.get(key);
    if (!known) {
      if (this.blueprints.size >= MOST_BLUEPRINTS) this.blueprints.clear();
      known = make();
      this.blueprints.set(key, known);
    }
    return known;
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

  /** What the detector may look at; undefined where it is not to be asked. */
  private surroundings(id: string, states: readonly StateObject[]): Surroundings | undefined {
    const kind = this.branches.get(id)?.kind ?? 'channel';
    // Bags of states and folders hold what has nothing to do with each other.
    if (!this.parts.functional || kind === 'folder' || id.split('.').length < 3) return undefined;
    const memberships = this.memberships('functions');
    const functions = new Map<string, string[]>();
    const places = [
      ...lineage(id).map(one => [one, '']),
      ...states.map(state => [`${id}.${state.id.slice(1)}`, state.id]),
    ];
    for (const [member = '', place = ''] of places) {
      for (const one of memberships.get(member) ?? []) {
        // The detector looks no further up than the device itself.
        functions.set(one.id, [...(functions.get(one.id) ?? ['']), place]);
      }
    }
    const parent = this.aroundOf(id);
    const around = parent === undefined ? [] : this.around(parent, id);
    return { kind: kind === 'device' ? 'device' : 'channel', states, around, functions };
  }

  /** The device of ioBroker's that a channel is of. */
  private aroundOf(id: string): string | undefined {
    const parent = deviceIdOf(id);
    return this.branches.get(parent)?.kind === 'device' ? parent : undefined;
  }

  /** The states of a device of ioBroker's and of its channels but one, by place. */
  private around(id: string, but: string): StateObject[] {
    const devices = [id, ...(this.children.get(id) ?? [])].filter(one => one !== but);
    const ids = devices.flatMap(one => [...(this.statesOf.get(one) ?? [])]).sort();
    return ids.map(one => placed(this.states.get(one) as StateObject, `-${one.slice(id.length + 1)}`));
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
    for (const stateId of outsideOf(mapped)) addTo(this.outside, stateId, mapped);
  }

  private unlink(mapped: Mapped): void {
    for (const stateId of outsideOf(mapped)) {
      const all = this.outside.get(stateId);
      all?.delete(mapped);
      if (all?.size === 0) this.outside.delete(stateId);
    }
  }
}

/** States of what is around a device that it looks at. */
function outsideOf(mapped: Mapped): string[] {
  const { hearing, reachability } = mapped.blueprint;
  const places = new Set([...hearing.keys(), ...reachability.map(({ id }) => id)]);
  return [...places].filter(place => place[0] === '-').map(place => idAt(mapped, place));
}

/** A state as a blueprint knows it: at a place, without what is its own. */
const placed = ({ name: _name, alias: _alias, ...state }: StateObject, place: string): StateObject => ({
  ...state,
  name: '',
  id: place,
});

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
