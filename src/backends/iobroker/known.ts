// What the sink was told of ioBroker's states. Only what is confirmed (`ack: true`) is a value; what is written without is
// a command that was seen, an event `command:<attribute>`: so a command that is carried out is one change, not two.
import { jsonEqual } from '../../lib/json.ts';
import type { BackendSink } from '../../model/command.ts';
import type { Json, Quality } from '../../model/value.ts';
import { deviceIdOf } from './blueprint.ts';
import type { Catalogue } from './catalogue.ts';
import type { Counters } from './counters.ts';
import type { Derived, ValueOf } from './functional/index.ts';
import { attributeFor, idAt, type Mapped, valuesAt } from './map.ts';
import type { Matcher } from './patterns.ts';
import { qualityOf, readValue } from './values.ts';
import type { IobState } from './wire.ts';

/** A confirmed value. */
interface Confirmed {
  readonly value: Json;
  readonly quality: Quality;
  readonly ts: number;
  /** It has expired, or was deleted. */
  readonly isGone?: boolean;
}

/** What telling needs. */
export interface KnownParts {
  readonly catalogue: Catalogue;
  readonly sink: BackendSink;
  readonly counters: Counters;
  readonly isUnowned: Matcher;
  now(): number;
}

/** A command of somebody else is what a confirmation within this time answers. */
const ANSWERS_MS = 10_000;
/** Adapters through which people act: the pages, apps and voices of ioBroker. */
const PEOPLE =
  /^system\.adapter\.(admin|web|ws|socketio|vis(-2)?|jarvis|lovelace|habpanel|material|iqontrol|mobile|cloud|iot|alexa2|telegram(-menu)?|simple-api|rest-api|yahka|matter|node-red-contrib-ui)\.\d+$/;

/** What is known of the states. */
export class Known {
  private readonly parts: KnownParts;
  private readonly values = new Map<string, Confirmed>();
  /** Commands of people that are not confirmed yet, by state. */
  private readonly wishes = new Map<string, { at: number; value: Json }>();

  constructor(parts: KnownParts) {
    this.parts = parts;
  }

  readonly valueOf: ValueOf = id => this.values.get(id)?.value;

  readonly qualityOf = (id: string): Quality | undefined => this.values.get(id)?.quality;

  /** Takes the states of a snapshot, without telling them. */
  load(id: string, state: IobState): void {
    this.keep(id, state);
  }

  /** Tells all that a device has; between `online` and `ready`, or after the device was declared anew. */
  tellDevice(mapped: Mapped): void {
    const { native, derived } = mapped.blueprint;
    for (const [place, attribute] of native) this.tell(mapped, attribute, this.values.get(idAt(mapped, place)));
    for (const one of derived) this.tellDerived(mapped, one, undefined);
  }

  /** True when this very state is what is known. */
  shows(id: string, state: IobState): boolean {
    const known = this.values.get(id);
    const confirmed = known && this.read(id, state);
    return confirmed?.ts === known?.ts && confirmed !== undefined && jsonEqual(confirmed.value, known?.value);
  }

  /** True when a later state is known. */
  isNewer(id: string, state: IobState): boolean {
    return (this.values.get(id)?.ts ?? Number.NEGATIVE_INFINITY) > state.ts;
  }

  /** A state was written, or is gone (expired, deleted). @param isOurs it is a command that we have just sent */
  take(id: string, state: IobState | undefined, isOurs: boolean): void {
    const { catalogue, counters, now } = this.parts;
    if (!catalogue.states.has(id)) return;
    counters.events++;
    if (!state) {
      // Nobody tells when that was.
      this.values.set(id, { value: null, quality: 'unknown', ts: this.values.get(id)?.ts ?? 0, isGone: true });
      this.tellHearers(id, undefined);
      return;
    }
    if (!state.ack && !this.parts.isUnowned(id)) {
      if (!isOurs) this.seen(id, state);
      return;
    }
    const wish = this.wishes.get(id);
    this.wishes.delete(id);
    const byUser = wish !== undefined && now() - wish.at < ANSWERS_MS;
    const isByUser = byUser || (!state.ack && PEOPLE.test(state.from));
    // Events may lag behind the snapshot (seen of the ws adapter): they are told as they are, and the newer value stands.
    if (this.isNewer(id, state)) this.tellLate(id, state);
    else if (this.keep(id, state)) this.tellHearers(id, isByUser);
  }

  /** Forgets states whose objects are gone. */
  forgetAllBut(states: ReadonlyMap<string, unknown>): void {
    for (const id of this.values.keys()) if (!states.has(id)) this.values.delete(id);
    for (const id of this.wishes.keys()) if (!states.has(id)) this.wishes.delete(id);
  }

  /** Keeps a confirmed value; false when there is none. */
  private keep(id: string, state: IobState): boolean {
    const confirmed = this.read(id, state);
    // By the id that is there already: twenty thousand texts need not be kept twice.
    if (confirmed) this.values.set(this.parts.catalogue.states.get(id)?.id ?? id, confirmed);
    return confirmed !== undefined;
  }

  /** A state as a confirmed value; undefined when it is a command, or none of the state's type: the old one stands. */
  private read(id: string, state: IobState): Confirmed | undefined {
    const { catalogue, counters, isUnowned } = this.parts;
    const object = catalogue.states.get(id);
    if (!object || (!state.ack && !isUnowned(id))) return undefined;
    const value = readValue(object, state.val);
    if (value === undefined) {
      counters.misfits++;
      return undefined;
    }
    return { value, quality: value === null ? 'unknown' : qualityOf(state.q), ts: state.ts };
  }

  private tellLate(id: string, state: IobState): void {
    const confirmed = this.read(id, state);
    for (const { mapped, attributes } of this.parts.catalogue.hearersOf(id)) {
      for (const one of attributes) if (typeof one === 'string') this.tell(mapped, one, confirmed, false);
    }
  }

  private seen(id: string, { val, from, ts }: IobState): void {
    const { catalogue, counters, sink, now } = this.parts;
    counters.commands++;
    if (PEOPLE.test(from)) this.wishes.set(id, { at: now(), value: val });
    const mapped = catalogue.devices.get(deviceIdOf(id));
    if (!mapped) return;
    const name = `command:${attributeFor(mapped, id)}`;
    sink.report({ type: 'event', device: mapped.device.id, name, value: val, sourceTime: ts });
  }

  private tellHearers(id: string, byUser: boolean | undefined): void {
    for (const { mapped, attributes } of this.parts.catalogue.hearersOf(id)) {
      for (const one of attributes) {
        if (typeof one === 'string') this.tell(mapped, one, this.values.get(id), byUser ?? false);
        else this.tellDerived(mapped, mapped.blueprint.derived[one], byUser ?? false);
      }
    }
  }

  /** @param byUser undefined: it is told again, and is no press */
  private tell({ device: its }: Mapped, attribute: string, known: Confirmed | undefined, byUser?: boolean): void {
    if (!known) return;
    const { value, quality, ts, isGone } = known;
    const { sink } = this.parts;
    const { id: device } = its;
    if (its.attributes[attribute]?.momentary) {
      if (byUser !== undefined && value !== null && value !== false) {
        sink.report({ type: 'event', device, name: attribute, value, sourceTime: ts });
      }
      return;
    }
    sink.report({
      type: 'value',
      device,
      attribute,
      value,
      ...(!isGone && { sourceTime: ts }),
      ...(quality !== 'good' && { quality }),
      ...(byUser && { by: 'user' }),
    });
  }

  private tellDerived(mapped: Mapped, derived: Derived | undefined, byUser?: boolean): void {
    if (!derived) return;
    const { ids, attribute } = derived;
    const parts = ids.map(place => this.values.get(idAt(mapped, place)));
    const value = derived.read(valuesAt(mapped, this.valueOf));
    if (value === undefined) return;
    const bad = parts.find(part => part && part.quality !== 'good');
    const quality = value === null ? 'unknown' : (bad?.quality ?? 'good');
    const ts = Math.max(0, ...parts.map(part => part?.ts ?? 0));
    const isGone = parts.some(part => part?.isGone);
    this.tell(mapped, attribute, { value, quality, ts, isGone }, byUser);
  }
}
