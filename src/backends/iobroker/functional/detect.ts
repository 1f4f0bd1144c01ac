// ioBroker's own type detector, asked about one device: which controls its states make.
import * as detector from '@iobroker/type-detector';
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

type Options = Parameters<typeof detector.default.default.prototype.detect>[0];
type Objects = Record<string, object>;

const { Types } = detector;
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

/** All controls, the most telling first. */
export function detect({ id, kind, states, around, functions }: Surroundings): Control[] {
  const byId = new Map([...(around?.states ?? []), ...states].map(state => [state.id, state]));
  const objects: Objects = { [id]: { _id: id, type: kind, common: { name: '' } } };
  if (around) objects[around.id] = { _id: around.id, type: 'device', common: { name: '' } };
  for (const [stateId, state] of byId) objects[stateId] = asObject(state);
  for (const { id: enumId, members } of functions) objects[enumId] = { _id: enumId, type: 'enum', common: { members } };
  const found = new detector.default.default().detect({
    objects: objects as Options['objects'],
    id,
    _keysOptional: Object.keys(objects).sort(),
    _keysOptionalSorted: true,
    excludedTypes: EXCLUDED,
    limitTypesToOneOf: ONE_OF,
  });
  return (found ?? []).map(({ type, states: parts }) => ({
    type,
    states: new Map(
      parts.flatMap(({ name, id: partId }) => {
        const state = byId.get(partId);
        return state ? [[name, state] as const] : [];
      }),
    ),
  }));
}
