// A device of ioBroker as a device of ours: a blueprint, and where its states lie.
import type { Device } from '../../model/device.ts';
import { attributeOf, type Blueprint, type Place } from './blueprint.ts';
import type { ValueOf, Write } from './functional/index.ts';
import type { StateObject } from './wire.ts';

/** A device with what is needed to read its states and to command it. */
export interface Mapped {
  readonly device: Device;
  /** As ioBroker has it: the states' ids less their last part. */
  readonly id: string;
  /** The device of ioBroker's of which it is a channel. */
  readonly around: string | undefined;
  /** The state that the first of its states stands for, if that is an alias. */
  readonly alias: string | undefined;
  readonly blueprint: Blueprint;
}

/** The id of the state at a place. */
export const idAt = ({ id, around }: Mapped, place: Place): string =>
  `${place[0] === '+' ? id : around}.${place.slice(1)}`;

/** The attribute that a state of the device itself is. */
export const attributeFor = ({ blueprint }: Mapped, stateId: string): string =>
  blueprint.native.get(`+${attributeOf(stateId)}`) ?? attributeOf(stateId);

/** Values by place. */
export const valuesAt =
  (mapped: Mapped, values: ValueOf): ValueOf =>
  place =>
    values(idAt(mapped, place));

/** Writes to places as writes to the states that lie there. */
export const writesTo = (
  mapped: Mapped,
  writes: readonly Write[],
  states: ReadonlyMap<string, StateObject>,
): readonly Write[] =>
  writes.map(write => ({ ...write, state: states.get(idAt(mapped, write.state.id)) ?? write.state }));
