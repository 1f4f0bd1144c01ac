// ioBroker's own type detector, asked about one kind of device: which controls its states make.
import { createRequire } from 'node:module';
import type * as module from '@iobroker/type-detector';
import type { StateObject } from '../wire.ts';

// Its CommonJS default export is another thing under Node's loader than under a bundler's; what `require` gives is not.
const { default: ChannelDetector, Types } = createRequire(import.meta.url)(
  '@iobroker/type-detector',
) as typeof module.default;

/** A control that was found. */
export interface Control {
  /** The detector's name: light, dimmer, thermostat … */
  readonly type: string;
  /** By the detector's name of the part: SET, ACTUAL, UNREACH … */
  readonly states: ReadonlyMap<string, StateObject>;
}

/** What the detector may look at. Ids of states are places: see `blueprint.ts`. */
export interface Surroundings {
  readonly kind: 'channel' | 'device';
  /** The device's own states. */
  readonly states: readonly StateObject[];
  /** Those of ioBroker's device around it: indicators such as "unreachable" are looked for there. */
  readonly around: readonly StateObject[];
  /** Functions (`enum.functions.light`), and the places that are in them; `` is the device itself. */
  readonly functions: ReadonlyMap<string, readonly string[]>;
}

type Options = Parameters<InstanceType<typeof ChannelDetector>['detect']>[0];

/** They match nearly everything, and have no canonical counterpart. */
const EXCLUDED = [Types.info, Types.chart, Types.image, Types.slider, Types.percentage, Types.button];
/** A lamp is one lamp. */
const ONE_OF: Options['limitTypesToOneOf'] = [
  ['light', 'dimmer', 'ct', 'hue', 'rgb', 'rgbSingle', 'rgbwSingle', 'cie'],
];

// The detector wants ids. It looks at how they lie to each other, and at the roles.
const AROUND = 'x.0.around';
const DEVICE = `${AROUND}.device`;
const idOf = (place: string): string =>
  place === '' ? DEVICE : `${place[0] === '+' ? DEVICE : AROUND}.${place.slice(1)}`;

const asObject = ({ id, type, role, unit, min, max, read, write, labels }: StateObject): object => ({
  _id: idOf(id),
  type: 'state',
  common: { name: '', type, role, unit, min, max, read, write: write ?? false, ...(labels && { states: labels }) },
});

/** All controls, the most telling first. */
export function detect({ kind, states, around, functions }: Surroundings): Control[] {
  const objects: Record<string, object> = { [DEVICE]: { _id: DEVICE, type: kind, common: { name: '' } } };
  if (around.length > 0) objects[AROUND] = { _id: AROUND, type: 'device', common: { name: '' } };
  const byId = new Map([...around, ...states].map(state => [idOf(state.id), state]));
  for (const [id, state] of byId) objects[id] = asObject(state);
  for (const [id, places] of functions) {
    objects[id] = { _id: id, type: 'enum', common: { name: '', members: places.map(idOf) } };
  }
  const found = new ChannelDetector().detect({
    objects: objects as Options['objects'],
    id: DEVICE,
    _keysOptional: Object.keys(objects).sort(),
    _keysOptionalSorted: true,
    excludedTypes: EXCLUDED,
    limitTypesToOneOf: ONE_OF,
  });
  return (found ?? []).map(({ type, states: parts }) => ({
    type,
    states: new Map(
      parts.flatMap(({ name, id }) => {
        const state = byId.get(id);
        return state ? [[name, state] as const] : [];
      }),
    ),
  }));
}
