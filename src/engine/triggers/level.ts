// The frame of triggers that wait on a level of one or several devices: state, numeric, availability.
import { EMPTY, map, merge, type Observable } from 'rxjs';
import { type Cause, causedBy } from '../../model/cause.ts';
import type { Event } from '../../model/event.ts';
import type { Ternary } from '../../model/run.ts';
import type { Match, Target } from '../../model/target.ts';
import { type Json, valuesEqual } from '../../model/value.ts';
import type { Attached, Edge, TriggerContext, TriggerData } from '../kind.ts';
import type { View } from '../reading.ts';
import { keys } from '../signals.ts';

/** What an event means for a member. */
export type EdgeOf = 'enter' | 'restart' | 'leave' | 'stay';

interface LevelTrigger {
  target: Target;
  /** What a member of a selector has to bear; undefined where any device will do. */
  attribute?: string;
  match: Match | undefined;
  /** The signals of a member. */
  watch(device: string): Observable<Event>;
  /** Whether a member is at the level now; `data` is what the hold began with. */
  level(device: string, data?: Partial<TriggerData>): Ternary;
  /** Whether the last good value of a member is at the level, be it reachable or not: what counts it among others. */
  last?(device: string): Ternary;
  /** What `trigger` tells of a member as it stands (evaluate). */
  present?(device: string): Partial<TriggerData>;
  /** What a change means for a member of its own. */
  edge(event: Event): EdgeOf;
  /** Treat events told before readiness as changes (on_startup: compare). */
  resync?: boolean;
  /** What the level is measured by has moved, by what, and how a trace calls that; for members counted together. */
  moved$?: Observable<{ note: string; news: Event | undefined }>;
  /** Told of good values that are no news: what is remembered of a member follows them. */
  observe?(event: Event): void;
}

/** What `trigger` tells of a device event. */
export const eventData = (event: Event): Partial<TriggerData> => ({
  device: event.device,
  attribute: event.attribute,
  value: event.value,
  previous: event.previous,
  event: event as unknown as Json,
});

/** The cause of what follows from an event. */
export const causeOf = (event: Event): Cause => causedBy(event.cause, event.id);

/** Attaches a level to its members, each by itself or counted together. */
export function levelTrigger(context: TriggerContext, trigger: LevelTrigger): Attached {
  const { target, attribute, match } = trigger;
  // Who made it as it is: of several, whoever came last.
  const isMeant = (member: string) => {
    if (attribute === undefined) return true;
    const devices = member === '' ? context.view.members(target, attribute) : [member];
    const readings = devices.map(device => context.view.reading(device, attribute));
    const newest = readings.sort((a, b) => (b?.lastChanged ?? 0) - (a?.lastChanged ?? 0))[0];
    return context.by(newest?.cause ?? null);
  };
  const looks = (device: string) =>
    merge(context.signal(keys.availability(device)), context.signal(keys.device(device))).pipe(
      map((event): Edge => {
        if (match !== undefined && match !== 'any') return { do: 'look', member: '', ...goneOf(event) };
        const isRemoved = event.attribute === '$device' && context.view.device(device) === undefined;
        if (isRemoved) return { do: 'leave', member: device, reason: 'removed' };
        return { do: 'look', member: device, ...goneOf(event) };
      }),
    );
  if (match === undefined || match === 'any') {
    return {
      edges$: context.each<Edge>(
        target,
        device =>
          merge(trigger.watch(device).pipe(map(event => singleEdge(trigger, event, context.view))), looks(device)),
        device => ({ do: 'leave', member: device, reason: 'removed' }),
      ),
      level: (member, data) => trigger.level(member, data),
      isMeant,
      members: () =>
        context.view
          .members(target, attribute)
          .filter(device => trigger.level(device) === true)
          .map(device => ({ member: device, data: { device, ...trigger.present?.(device) } })),
    };
  }
  // Levels before the event: the state has moved on by the time a signal is seen.
  const before = new Map<string, Ternary>();
  const last = (device: string) => (trigger.last ? trigger.last(device) : trigger.level(device));
  for (const device of context.view.members(target, attribute)) before.set(device, last(device));
  const counted = () => {
    const levels = context.view.members(target, attribute).map(device => before.get(device) ?? null);
    return {
      n: levels.length,
      yes: levels.filter(l => l === true).length,
      unknown: levels.filter(l => l === null).length,
    };
  };
  /** Whether the group has just come to where the trigger waits for it. */
  const comesTo = (was: ReturnType<typeof counted>, is: ReturnType<typeof counted>): boolean => {
    if (match === 'none') return is.yes === 0 && was.yes > 0;
    if (match === 'first') return is.yes > 0 && was.yes === 0;
    return is.n > 0 && is.yes === is.n && was.yes < was.n;
  };
  const groupEdge = (event: Event): Edge => {
    const was = counted();
    const isNews = event.change === 'changed' || isCompared(trigger, event);
    // What is remembered of a member follows its values here, too.
    const edge = isNews ? trigger.edge(event) : undefined;
    if (!isNews) trigger.observe?.(event);
    const levelNow = last(event.device);
    if (levelNow !== null || !before.has(event.device)) before.set(event.device, levelNow);
    const is = counted();
    if (!isNews) return { do: 'look', member: '' };
    // A first value, or a change that is not meant, counts but brings nothing about.
    const isMeant = match === 'none' ? edge === 'leave' : edge === 'enter' || edge === 'restart';
    if (isMeant && comesTo(was, is)) return { do: 'enter', member: '', data: eventData(event), cause: causeOf(event) };
    return { do: 'look', member: '' };
  };
  const moved$ = (trigger.moved$ ?? EMPTY).pipe(
    map(({ note, news }): Edge => {
      const was = counted();
      // Those that have come to where the trigger waits; a bound that became known brings nobody there.
      const wanted = match !== 'none';
      const entered = context.view.members(target, attribute).filter(device => {
        const level = last(device);
        const isNew = level === wanted && before.get(device) === !wanted;
        if (level !== null) before.set(device, level);
        return isNew;
      });
      if (entered.length === 0 || !comesTo(was, counted())) return { do: 'look', member: '' };
      const data = { note, ...(entered[0] !== undefined && { device: entered[0] }) };
      return { do: 'enter', member: '', data, ...(news && { cause: causeOf(news) }) };
    }),
  );
  const members$ = context.each<Edge>(
    target,
    device => {
      // One that joins counts as it stands.
      if (!before.has(device)) before.set(device, last(device));
      return merge(trigger.watch(device).pipe(map(groupEdge)), looks(device));
    },
    device => {
      before.delete(device);
      return { do: 'look', member: '' };
    },
  );
  return {
    edges$: merge(members$, moved$),
    isMeant,
    level: () => {
      const levels = context.view.members(target, attribute).map(device => trigger.level(device));
      if (match === 'none') return levels.includes(true) ? false : levels.includes(null) ? null : true;
      if (match === 'first') return levels.includes(true) ? true : levels.includes(null) ? null : false;
      return levels.length === 0 || levels.includes(false) ? false : levels.includes(null) ? null : true;
    },
    members: () => {
      const members = context.view.members(target, attribute);
      const yes = members.filter(device => trigger.level(device) === true);
      const holds =
        match === 'none'
          ? yes.length === 0
          : match === 'first'
            ? yes.length > 0
            : members.length > 0 && yes.length === members.length;
      return holds
        ? [{ member: '', data: yes[0] === undefined ? {} : { device: yes[0], ...trigger.present?.(yes[0]) } }]
        : [];
    },
  };
}

// An unavailable device, for `unavailable: cancel`.
const goneOf = (event: Event): { gone?: true } =>
  event.attribute === '$availability' && event.value !== 'online' ? { gone: true } : {};

// A value of a snapshot that differs from before the stop (on_startup: compare); a snapshot tells what stayed as well.
const isCompared = (trigger: LevelTrigger, event: Event): boolean =>
  trigger.resync === true &&
  event.change === 'resync' &&
  event.quality === 'good' &&
  !valuesEqual(event.value, event.previous);

function singleEdge(trigger: LevelTrigger, event: Event, view: View): Edge {
  const member = event.device;
  if (event.quality !== 'good') return { do: 'look', member };
  if (event.change !== 'changed' && !isCompared(trigger, event)) {
    trigger.observe?.(event);
    return { do: 'look', member };
  }
  const edge = trigger.edge(event);
  if (edge === 'leave') {
    const isAway = event.attribute !== '$availability' && view.availability(member) !== 'online';
    return { do: 'leave', member, ...(isAway && { reason: 'left_state_while_unavailable' as const }) };
  }
  if (edge === 'stay') return { do: 'look', member };
  return {
    do: 'enter',
    member,
    data: eventData(event),
    cause: causeOf(event),
    ...(edge === 'restart' && { restart: true }),
  };
}

/** True when `value` is among the wanted ones; undefined wants anything. */
export const among = (
  value: Json,
  wanted: Json | readonly Json[] | undefined,
  equal: (a: Json, b: Json) => boolean,
): boolean => wanted === undefined || (Array.isArray(wanted) ? wanted : [wanted as Json]).some(w => equal(value, w));
