// What the sink was told of the hub: its devices and their values. Events and snapshots become reports here.
import { jsonEqual } from '../../lib/json.ts';
import type { BackendSink } from '../../model/command.ts';
import type { Device } from '../../model/device.ts';
import { type Json, valuesEqual } from '../../model/value.ts';
import { type Additions, newWord, noAdditions, withAdditions, withAttribute, withWord } from './additions.ts';
import type { Counters } from './counters.ts';
import {
  type HubState,
  locationAttribute,
  locationDevice,
  locationReader,
  locationValues,
  type Told,
} from './location.ts';
import type { Mapped } from './map.ts';
import { type Found, inPieces, type Snapshot } from './snapshot.ts';
import { readValue, type Scale, scaleOf } from './values.ts';
import type { HubEvent } from './wire.ts';

/**
 * What became of an event. `restarted`: the hub was, all may be different. `rescaled`: the hub's temperatures are in
 * another scale than they were read in. `unknown`: of a device or variable that is not known yet.
 */
export type Taken = 'told' | 'ignored' | 'restarted' | 'rescaled' | 'unknown';

/** What is known of the hub. */
export interface Known {
  device(id: string): Mapped | undefined;
  readonly location: Device;
  readonly state: HubState;
  readonly scale: Scale;
  /** To be taken before a snapshot is asked for: what events tell from then on is newer than it. */
  mark(): number;
  /** Tells everything; to be called between `online` and `ready`, and no event meanwhile. */
  tellAll(snapshot: Snapshot, mark: number): Promise<void>;
  /** Tells what differs, as news. @returns how many values did */
  tellNews(snapshot: Snapshot, mark: number): Promise<number>;
  /** Tells an event. */
  take(event: HubEvent): Taken;
  /** Tells values of the location that the hub has answered with. */
  tellLocation(told: readonly Told[]): void;
}

/** The last values that were told, by attribute; `at` counts what was told. */
type Values = Map<string, { readonly value: Json; readonly at: number }>;

interface Entry {
  mapped: Mapped;
  additions: Additions;
  readonly values: Values;
  /** Of temperatures, as the last event told them: the hub's list of devices may tell none. */
  readonly units: Map<string, string>;
}

/** Attributes that say nothing but that there was an event, in a form of their own. */
const NOISE = new Set(['lastActivity']);

/**
 * What is known, for one connection.
 * @param scaleAfter the scale of the hub now that an event has told the unit of a temperature
 */
export function createKnown(
  backend: string,
  sink: BackendSink,
  counters: Counters,
  scaleAfter: (told: Scale) => Scale,
): Known {
  const entries = new Map<string, Entry>();
  const locationId = `${backend}:location`;
  const locationTold: Values = new Map();
  let state: HubState = { modes: undefined, hsm: undefined, variables: undefined };
  let location = locationDevice(backend, state, counters);
  let scale: Scale = 'C';
  let ticks = 0;

  const tell = (device: string, values: Values, attribute: string, value: Json): void => {
    values.set(attribute, { value, at: ++ticks });
    sink.report({ type: 'value', device, attribute, value, ...(value === null && { quality: 'unknown' }) });
    if (device === locationId && attribute === 'mode' && typeof value === 'string') {
      sink.report({ type: 'mode', mode: value });
    }
  };

  /** Takes over what a snapshot declares; its values are yet to be told. */
  const adopt = (snapshot: Snapshot): void => {
    scale = snapshot.scale;
    // A part that was there and is refused once is not gone; one that was switched off stays until the next connection.
    const { modes = state.modes, hsm = state.hsm, variables = state.variables } = snapshot.state;
    state = { modes, hsm, variables };
    location = locationDevice(backend, state, counters);
    const ids = new Set(snapshot.devices.map(({ mapped }) => mapped.device.id));
    for (const id of entries.keys()) if (!ids.has(id)) entries.delete(id);
    for (const { mapped } of snapshot.devices) {
      const entry = entries.get(mapped.device.id);
      if (!entry) {
        entries.set(mapped.device.id, { mapped, additions: noAdditions(), values: new Map(), units: new Map() });
        continue;
      }
      if (entry.mapped.driver !== mapped.driver) entry.additions = noAdditions();
      entry.mapped = withAdditions(mapped, entry.additions);
    }
  };

  /** A value of an attribute, which may be one more word of an enum; undefined for what has no state. */
  const readState = (entry: Entry, name: string, raw: unknown, unit: string | undefined): Json | undefined => {
    const reader = entry.mapped.readers.get(name);
    if (!reader || reader.declared.momentary || NOISE.has(name)) return undefined;
    const word = newWord(reader, raw);
    if (word !== undefined) entry.mapped = withWord(entry.mapped, entry.additions, name, word);
    return readValue(entry.mapped.readers.get(name) ?? reader, raw, unit ?? entry.units.get(name), scale, counters);
  };

  /** All values of a device of a snapshot that was adopted. */
  const valuesOf = ({ raw, mapped }: Found): Told[] => {
    const entry = entries.get(mapped.device.id);
    if (!entry) return [];
    return raw.attributes.flatMap(({ name, value, unit }): Told[] => {
      const ours = readState(entry, name, value, unit);
      return ours === undefined ? [] : [[name, ours]];
    });
  };

  const toldOf = (id: string): Values => (id === locationId ? locationTold : (entries.get(id)?.values ?? new Map()));

  const fromDevice = ({ device: nativeId, name, value, unit }: HubEvent): Taken => {
    const entry = entries.get(`${backend}:${nativeId}`);
    if (!entry) {
      counters.unknownDevices++;
      return 'unknown';
    }
    if (NOISE.has(name)) return 'ignored';
    const declared = entry.mapped;
    const { id } = declared.device;
    if (!declared.readers.has(name)) {
      counters.undeclared++;
      entry.mapped = withAttribute(declared, entry.additions, name);
    }
    const reader = entry.mapped.readers.get(name);
    if (!reader) return 'ignored';
    const toldScale = reader.form === 'temperature' ? scaleOf(unit) : undefined;
    const before = scale;
    if (unit !== undefined && toldScale) {
      entry.units.set(name, unit);
      // From this moment on, for the commands too: 21 °F is no setpoint of a heating.
      scale = scaleAfter(toldScale);
    }
    const ours = readState(entry, name, value, unit);
    if (entry.mapped !== declared) sink.device(entry.mapped.device);
    if (ours !== undefined) tell(id, entry.values, name, ours);
    else sink.report({ type: 'event', device: id, name, value: readValue(reader, value, unit, scale, counters) });
    return scale === before ? 'told' : 'rescaled';
  };

  const fromLocation = ({ name, value }: HubEvent): Taken => {
    const attribute = locationAttribute(name, location);
    if (attribute === undefined) {
      counters.otherEvents++;
      return name.startsWith('variable:') ? 'unknown' : 'ignored';
    }
    // One that was made since the last snapshot.
    if (attribute === 'mode' && !state.modes?.some(mode => mode.name === value)) return 'unknown';
    const reader = locationReader(attribute, location, state, counters);
    const ours = readValue(reader, value, undefined, 'C', counters);
    if (!reader.declared.momentary) {
      tell(locationId, locationTold, attribute, ours);
      return 'told';
    }
    sink.report({ type: 'event', device: locationId, name: attribute, value: ours });
    return attribute === 'systemStart' ? 'restarted' : 'told';
  };

  return {
    device: id => entries.get(id)?.mapped,
    get location() {
      return location;
    },
    get state() {
      return state;
    },
    get scale() {
      return scale;
    },
    mark: () => ticks,

    async tellAll(snapshot, mark) {
      adopt(snapshot);
      const found = await inPieces(snapshot.devices, one => [one.mapped.device.id, valuesOf(one)] as const);
      sink.devices([...[...entries.values()].map(({ mapped }) => mapped.device), location]);
      // In pieces, too, since twenty thousand reports at once would overflow the engine's queue.
      await inPieces([...found, [locationId, locationValues(state, counters)] as const], ([id, told]) => {
        const before = toldOf(id);
        for (const [attribute, value] of told) {
          const last = before.get(attribute);
          // What never had a value is nothing to tell.
          if (value !== null || last) tell(id, before, attribute, last && last.at > mark ? last.value : value);
        }
      });
    },

    async tellNews(snapshot, mark) {
      const before = new Map([...entries].map(([id, { mapped }]) => [id, mapped.device]));
      const locationBefore = location;
      adopt(snapshot);
      for (const id of before.keys()) if (!entries.has(id)) sink.removed(id);
      if (!jsonEqual(location, locationBefore)) sink.device(location);
      let differing = 0;
      const compare = (id: string, told: readonly Told[]) => {
        const known = toldOf(id);
        for (const [attribute, value] of told) {
          const last = known.get(attribute);
          const isKnown = last ? last.at > mark || valuesEqual(last.value, value) : value === null;
          if (isKnown) continue;
          if (last) differing++;
          tell(id, known, attribute, value);
        }
      };
      compare(locationId, locationValues(state, counters));
      await inPieces(snapshot.devices, one => {
        const { id } = one.mapped.device;
        const told = valuesOf(one);
        const device = entries.get(id)?.mapped.device;
        if (device && !jsonEqual(device, before.get(id))) sink.device(device);
        compare(id, told);
      });
      counters.missed += differing;
      return differing;
    },

    take(event) {
      counters.events++;
      if (event.of === 'device') return fromDevice(event);
      if (event.of === 'location') return fromLocation(event);
      counters.otherEvents++;
      return 'ignored';
    },

    tellLocation(told) {
      for (const [attribute, value] of told) tell(locationId, locationTold, attribute, value);
    },
  };
}
