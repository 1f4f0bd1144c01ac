// Two-way transforms between a state's own values and canonical ones.
import { type Json, valuesEqual } from '../../../model/value.ts';
import type { StateObject } from '../wire.ts';

/** A transform. Both ways take null for "no value"; reading undefined means that the value is none of these. */
export interface Scale {
  read(native: Json): Json | undefined;
  write(ours: Json): Json;
  /** Both are the same: one attribute serves for both. */
  readonly isPlain?: boolean;
  /** How far two canonical values may be apart and be the same natively: what is written is told back rounded. */
  readonly step?: number;
  /** The canonical values that the state can hold. */
  readonly range?: { readonly min?: number; readonly max?: number };
}

/** No transform. */
export const plain: Scale = { read: native => native, write: ours => ours, isPlain: true };

/** No transform, within the state's own range. */
const within = ({ min, max }: StateObject): Scale => ({
  ...plain,
  range: { ...(min !== undefined && { min }), ...(max !== undefined && { max }) },
});

const rounded = (n: number, digits: number): number => Math.round(n * 10 ** digits) / 10 ** digits;

/** A number as a state can hold it: in its steps, whole where its range is one of whole numbers, within its range. */
function fitted(n: number, state: StateObject): number {
  const { min, max } = state;
  const base = min ?? 0;
  const unit = grain(state);
  const stepped = unit === undefined ? rounded(n, 4) : rounded(base + Math.round((n - base) / unit) * unit, 6);
  return Math.min(max ?? stepped, Math.max(min ?? stepped, stepped));
}

const numeric = (read: (n: number) => number, write: (n: number) => number, more: Partial<Scale> = {}): Scale => ({
  read: native => (typeof native === 'number' ? read(native) : native === null ? null : undefined),
  write: ours => write(Number(ours)),
  ...more,
});

/** The smallest difference of a state's own values; undefined where it has none. */
function grain({ min = 0, max, step }: StateObject): number | undefined {
  const isWhole = max !== undefined && Number.isInteger(max) && max - min >= 50;
  return step ?? (isWhole ? 1 : undefined);
}

/** The state's range ↔ 0–100. @param top its end where the object tells none */
export function percent(state: StateObject, top = 100): Scale {
  const low = state.min ?? 0;
  const high = state.max ?? top;
  if ((low === 0 && high === 100) || high <= low) return plain;
  const span = high - low;
  const isRounded = span >= 50;
  const step = ((grain(state) ?? 0) / span) * 100;
  return numeric(
    n => rounded(((n - low) / span) * 100, isRounded ? 0 : 2),
    level => fitted(low + (level / 100) * span, state),
    { step: rounded(Math.max(step, isRounded ? 1 : 0.02), 2) },
  );
}

/** What is measured of what was set, if it is: a plain `value` may be anything, and is believed where its range is the same. */
export function measureOf(set: StateObject | undefined, actual: StateObject | undefined): StateObject | undefined {
  const isOfAnything = actual?.role === 'value' && set !== undefined;
  return isOfAnything && (actual.max !== set.max || actual.min !== set.min) ? undefined : actual;
}

/** °F or K, by the state's unit, ↔ °C to a hundredth. */
export function celsius(state: StateObject): Scale {
  const unit = state.unit?.trim() ?? '';
  const { min, max, step = 0.02 } = state;
  const scaled = (factor: number, read: (n: number) => number, write: (n: number) => number): Scale =>
    numeric(read, n => fitted(write(n), state), {
      // A little more than the half step to which is rounded.
      step: rounded(step * factor * 1.01, 4),
      range: { ...(min !== undefined && { min: read(min) }), ...(max !== undefined && { max: read(max) }) },
    });
  if (/^°?\s*F$/i.test(unit)) {
    return scaled(
      5 / 9,
      n => rounded(((n - 32) * 5) / 9, 2),
      n => (n * 9) / 5 + 32,
    );
  }
  if (/^°?\s*K(elvin)?$/i.test(unit)) {
    return scaled(
      1,
      n => rounded(n - 273.15, 2),
      n => n + 273.15,
    );
  }
  return within(state);
}

/** Mired, by the state's unit or range, ↔ K. */
export function kelvin(state: StateObject): Scale {
  const { unit = '', min, max } = state;
  const isMired = /mired/i.test(unit) || (max !== undefined && max <= 1_000 && max > 100);
  if (!isMired) return within(state);
  const kelvinOf = (mired: number): number => (mired > 0 ? Math.round(1_000_000 / mired) : 0);
  const coolest = min !== undefined && min > 0 ? min : 140;
  return numeric(kelvinOf, n => fitted(1_000_000 / Math.max(1, n), state), {
    // Where it is coolest a mired is the most kelvin.
    step: Math.ceil(1_000_000 / coolest ** 2),
    range: {
      ...(max !== undefined && max > 0 && { min: kelvinOf(max) }),
      ...(min !== undefined && min > 0 && { max: kelvinOf(min) }),
    },
  });
}

/** A multiple of the state's own unit: kW ↔ W with 1000. */
export const times = (factor: number): Scale =>
  factor === 1
    ? plain
    : numeric(
        n => rounded(n * factor, 6),
        n => rounded(n / factor, 6),
      );

const TRUE = /^(true|1|on|yes|open(ed)?|active)$/i;

/** Two words for true and false, or for a number that is above its least and one that is not. */
export function words(state: StateObject, active: string, inactive: string): Scale {
  const { type, min = 0, max = 1, labels } = state;
  const texts = Object.keys(labels ?? {});
  const text = (isActive: boolean): string =>
    texts.find(one => TRUE.test(one) === isActive) ?? (isActive ? 'true' : 'false');
  return {
    read(native) {
      if (native === null) return null;
      const isActive =
        typeof native === 'number' ? native > min : typeof native === 'string' ? TRUE.test(native) : native;
      return isActive ? active : inactive;
    },
    write(ours) {
      const isActive = ours === active;
      if (type === 'number') return isActive ? max : min;
      return type === 'string' ? text(isActive) : isActive;
    },
  };
}

/** The words that labels of a state mean, by a table of patterns; a label that no pattern knows becomes a word itself. */
export function vocabulary(
  { labels = {}, type }: StateObject,
  known: readonly (readonly [RegExp, string])[],
): { scale: Scale; values: readonly string[] } | undefined {
  const pairs = Object.entries(labels).map(([value, label]): [Json, string] => {
    const word = known.find(([pattern]) => pattern.test(label))?.[1] ?? label.trim().toLowerCase();
    return [type === 'number' ? Number(value) : value, word];
  });
  if (pairs.length === 0) return undefined;
  return {
    values: [...new Set(pairs.map(([, word]) => word))],
    scale: {
      read: native => (native === null ? null : pairs.find(([value]) => valuesEqual(value, native))?.[1]),
      write: ours => pairs.find(([, word]) => word === ours)?.[0] ?? null,
    },
  };
}
