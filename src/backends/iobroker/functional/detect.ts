// ioBroker's own type detector, asked about one device: which controls its states make.
import { createRequire } from 'node:module';
import type * as module from '@iobroker/type-detector';
import type { StateObject } from '../wire.ts';

/** A control that was found. */
export interface Control {
  /** The detector's name: light, dimmer, thermostat … */
  readonly type: string;
  /** By the detector's name of the part: SET, ACTUAL, UNREACH … */
  readonly states: ReadonlyMap<string, StateObject>;
}

/** What the detector may look at. */
export interface Surroundings {
  /** The device's own id. */
  readonly id: string;
  readonly kind: 'channel' | 'device';
  /** Its own states. */
  readonly states: readonly StateObject[];
  /** The device around a channel, with all its states: indicators such as "unreachable" are looked for there. */
  readonly around: { readonly id: string; readonly states: readonly StateObject[] } | undefined;
  /** Functions (`enum.functions.light`) that the device or states of it belong to. */
  readonly functions: readonly { readonly id: string; readonly members: readonly string[] }[];
}

// Its CommonJS default export is another thing under Node's loader than under a bundler's; what `require` gives is not.
const { default: ChannelDetector, Types } = createRequire(import.meta.url)(
  '@iobroker/type-detector',
) as typeof module.default;

type Options = Parameters<InstanceType<typeof ChannelDetector>['detect']>[0];
type Objects = Record<string, object>;

/** They match nearly everything, and have no canonical counterpart. */
const EXCLUDED = [Types.info, Types.chart, Types.image, Types.slider, Types.percentage, Types.button];
/** A lamp is one lamp. */
const ONE_OF: Options['limitTypesToOneOf'] = [
  ['light', 'dimmer', 'ct', 'hue', 'rgb', 'rgbSingle', 'rgbwSingle', 'cie'],
];

const asObject = ({ id, name, type, role, unit, min, max, read, write, labels }: StateObject): object => ({
  _id: id,
  type: 'state',
  common: { name, type, role, unit, min, max, read, write: write ?? false, ...(labels && { states: labels }) },
});

/** A control by where its states lie: `+on` is of the device itself, `-0.UNREACH` of what is around it. */
type Form = readonly { readonly type: string; readonly parts: readonly (readonly [name: string, place: string])[] }[];

/** Forms of devices that were met; a house has dozens of lamps and a few kinds of them. */
const MOST_FORMS = 2_000;

/** Asks the detector, once for all devices that are alike. */
export class Detector {
  private readonly forms = new Map<string, Form>();

  /** All controls, the most telling first. */
  detect(surroundings: Surroundings): Control[] {
    const { id, kind, states, around, functions } = surroundings;
    const byPlace = new Map<string, StateObject>();
    for (const state of around?.states ?? []) byPlace.set(`-${state.id.slice((around?.id.length ?? 0) + 1)}`, state);
    const hidden = new Set(states.map(state => state.id));
    for (const [place, state] of byPlace) if (hidden.has(state.id)) byPlace.delete(place);
    for (const state of states) byPlace.set(`+${state.id.slice(id.length + 1)}`, state);
    const looks = [...byPlace].map(([place, { type, role, unit, min, max, read, write, labels }]) =>
      [place, type, role, unit, typeof min, typeof max, read, write, labels !== undefined].join('\t'),
    );
    const places = new Map([...byPlace].map(([place, state]) => [state.id, place]));
    const belongs = functions.flatMap(one => [one.id, ...one.members.map(member => places.get(member) ?? '')]);
    const key = [kind, ...looks, ...belongs].join('\n');
    let form = this.forms.get(key);
    if (!form) {
      if (this.forms.size >= MOST_FORMS) this.forms.clear();
      form = ask(surroundings, places);
      this.forms.set(key, form);
    }
    return form.map(({ type, parts }) => ({
      type,
      states: new Map(parts.map(([name, place]) => [name, byPlace.get(place) as StateObject])),
    }));
  }
}

function ask({ id, kind, states, around, functions }: Surroundings, places: ReadonlyMap<string, string>): Form {
  const objects: Objects = { [id]: { _id: id, type: kind, common: { name: '' } } };
  if (around) objects[around.id] = { _id: around.id, type: 'device', common: { name: '' } };
  for (const state of [...(around?.states ?? []), ...states]) objects[state.id] = asObject(state);
  for (const { id: enumId, members } of functions) objects[enumId] = { _id: enumId, type: 'enum', common: { members } };
  const found = new ChannelDetector().detect({
    objects: objects as Options['objects'],
    id,
    _keysOptional: Object.keys(objects).sort(),
    _keysOptionalSorted: true,
    excludedTypes: EXCLUDED,
    limitTypesToOneOf: ONE_OF,
  });
  return (found ?? []).map(({ type, states: parts }) => ({
    type,
    parts: parts.flatMap(({ name, id: stateId }) => {
      const place = places.get(stateId);
      return place === undefined ? [] : [[name, place] as const];
    }),
  }));
}
