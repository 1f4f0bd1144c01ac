// A number enters an open region: above, below or between bounds, with hysteresis.
import { filter, map, merge, share } from 'rxjs';
import { z } from 'zod';
import type { Ternary } from '../../model/run.ts';
import type { Json } from '../../model/value.ts';
import {
  attributeFields,
  byField,
  DynamicDuration,
  DynamicNumber,
  levelFields,
  nonEmptyInterval,
  someBound,
  triggerFields,
} from '../fields.ts';
import { defineTrigger, type Edge, type TriggerContext } from '../kind.ts';
import { keys } from '../signals.ts';
import { boundWords, forWords, matchWords, targetWords } from '../words.ts';
import { causeOf, type EdgeOf, levelTrigger } from './level.ts';

const schema = z
  .strictObject({
    type: z.literal('numeric'),
    ...triggerFields,
    ...levelFields,
    ...byField,
    ...attributeFields,
    above: DynamicNumber.optional().meta({ description: 'Lower bound of the region, not part of it' }),
    below: DynamicNumber.optional().meta({ description: 'Upper bound of the region, not part of it' }),
    hysteresis: DynamicNumber.optional().meta({
      description: 'How far it must have left the region before it can enter it again',
    }),
    for: DynamicDuration.optional().meta({ description: 'Fires once it has stayed there for this long' }),
  })
  .superRefine(nonEmptyInterval)
  .superRefine(someBound)
  .meta({
    id: 'TriggerNumeric',
    title: 'Numeric',
    description: 'A number enters the open region above and below the bounds. A moved bound counts as entering.',
    examples: [
      { type: 'numeric', device: 'hubitat:17', attribute: 'temperature', above: 25, hysteresis: 1, for: '5m' },
    ],
  });

/** The bounds as they are now; null where an expression cannot be told. */
export interface Bounds {
  above: number;
  below: number;
  hysteresis: number;
}

/** Evaluates dynamic bounds. */
export function boundsOf(
  config: { above?: unknown; below?: unknown; hysteresis?: unknown },
  value: TriggerContext['value'],
): Bounds | null {
  const number = (dynamic: unknown, missing: number): number | null => {
    if (dynamic === undefined) return missing;
    const n = typeof dynamic === 'number' ? dynamic : value(dynamic as { expr: string });
    return typeof n === 'number' && Number.isFinite(n) ? n : null;
  };
  const above = number(config.above, Number.NEGATIVE_INFINITY);
  const below = number(config.below, Number.POSITIVE_INFINITY);
  const hysteresis = number(config.hysteresis, 0);
  return above === null || below === null || hysteresis === null ? null : { above, below, hysteresis };
}

/** Within the open region. */
export const inside = (n: number, bounds: Bounds) => n > bounds.above && n < bounds.below;
/** Far enough outside to be armed again. */
export const clear = (n: number, { above, below, hysteresis }: Bounds) =>
  n <= above - hysteresis || n >= below + hysteresis;

/**
 * Whether a series of numbers enters the region. Armed by a good number outside (by the hysteresis), fires on the next
 * one inside. `memory` is used only with hysteresis: else the previous number says all.
 */
export function crossing(
  n: number,
  previous: number | null,
  bounds: Bounds,
  memory: { get(): boolean | undefined; set(armed: boolean): void } | undefined,
): EdgeOf {
  const isInside = inside(n, bounds);
  if (!memory || bounds.hysteresis === 0) {
    if (!isInside) return 'leave';
    return previous !== null && !inside(previous, bounds) ? 'enter' : 'stay';
  }
  // Where nothing is remembered, the number before tells whether it was inside.
  const wasArmed = memory.get() ?? (previous === null ? undefined : !inside(previous, bounds));
  const isClear = clear(n, bounds);
  const armed = isInside ? false : isClear || wasArmed;
  if (armed !== undefined && armed !== memory.get()) memory.set(armed);
  if (isInside) return wasArmed ? 'enter' : 'stay';
  return armed ? 'leave' : 'stay';
}

/** What a number that is no news (a snapshot) makes of being armed: inside nothing is entered, clear of it all is armed. */
export function observed(n: number, bounds: Bounds, memory: { set(armed: boolean): void }): void {
  if (inside(n, bounds)) memory.set(false);
  else if (clear(n, bounds)) memory.set(true);
}

export const numeric = defineTrigger({
  type: 'numeric',
  schema,
  describe: config =>
    `when ${matchWords(config.match)}${targetWords(config.device)} goes ${boundWords(config)} in ${config.attribute}${forWords(config.for)}`,
  attach(config, context) {
    const bounds = () => boundsOf(config, context.value);
    let known = bounds();
    const memoryOf = (device: string) => ({
      get: () => context.memory.get<boolean>(`armed:${device}`),
      set: (armed: boolean) => context.memory.set(`armed:${device}`, armed),
    });
    const numberOf = (device: string): number | null => {
      const value = context.view.good(device, config.attribute)?.value;
      return typeof value === 'number' ? value : null;
    };
    const levelAt = (device: string, n: Json): Ternary => {
      const now = bounds();
      if (now === null || typeof n !== 'number') return null;
      // Within the hysteresis of a region that was entered, a hold goes on.
      if (now.hysteresis > 0 && context.memory.get<boolean>(`armed:${device}`) === false) return !clear(n, now);
      return inside(n, now);
    };
    const dynamics = [config.above, config.below, config.hysteresis].filter(d => typeof d === 'object');
    const moved$ = merge(...dynamics.map(d => context.changes(d as { expr: string }))).pipe(
      map(news => {
        const old = known;
        known = bounds();
        return { old, now: known, news };
      }),
      filter(({ old, now }) => JSON.stringify(old) !== JSON.stringify(now)),
      share(),
    );
    const attached = levelTrigger(context, {
      target: config.device,
      attribute: config.attribute,
      match: config.match,
      resync: config.on_startup === 'compare',
      present: device => ({
        attribute: config.attribute,
        value: context.view.good(device, config.attribute)?.value ?? null,
      }),
      moved$: moved$.pipe(
        map(({ now, news }) => {
          for (const device of context.view.members(config.device, config.attribute)) {
            const n = numberOf(device);
            if (config.hysteresis !== undefined && now !== null && n !== null) observed(n, now, memoryOf(device));
          }
          return { note: MOVED, news };
        }),
      ),
      watch: device => context.signal(keys.attribute(device, config.attribute)),
      level: device => levelAt(device, numberOf(device)),
      last: device => levelAt(device, context.view.reading(device, config.attribute)?.value ?? null),
      observe(event) {
        const now = bounds();
        if (config.hysteresis === undefined || now === null || typeof event.value !== 'number') return;
        if (event.change === 'resync') observed(event.value, now, memoryOf(event.device));
      },
      edge(event) {
        const now = bounds();
        if (now === null || typeof event.value !== 'number') return 'stay';
        const previous = typeof event.previous === 'number' ? event.previous : null;
        return crossing(
          event.value,
          previous,
          now,
          config.hysteresis === undefined ? undefined : memoryOf(event.device),
        );
      },
    });
    if (dynamics.length === 0 || (config.match !== undefined && config.match !== 'any')) return attached;
    const crossed$ = context.each(config.device, device =>
      moved$.pipe(
        map(({ old, now, news }): Edge => {
          const n = numberOf(device);
          if (n === null || now === null || old === null) return { do: 'look', member: device };
          const edge = crossing(
            n,
            inside(n, old) ? n : boundaryOutside(n, now, old),
            now,
            config.hysteresis === undefined ? undefined : memoryOf(device),
          );
          if (edge === 'leave') return { do: 'leave', member: device };
          if (edge !== 'enter' || inside(n, old)) return { do: 'look', member: device };
          const data = { device, attribute: config.attribute, value: n, previous: n, note: MOVED };
          return { do: 'enter', member: device, data, ...(news && { cause: causeOf(news) }) };
        }),
      ),
    );
    return { ...attached, edges$: merge(attached.edges$, crossed$) };
  },
});

const MOVED = 'threshold_changed';

// The number did not move but was outside the old region: any number outside the new one stands for that.
const boundaryOutside = (_n: number, now: Bounds, _old: Bounds): number =>
  Number.isFinite(now.above) ? now.above : now.below;
