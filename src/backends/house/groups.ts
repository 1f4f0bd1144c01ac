// What a group makes of its members' values. Groups only tell; to command the members, name them, or a selector, in a
// rule's target.
import type { GROUP_FUNCTIONS } from '../../config/house.ts';
import type { AttributeDecl } from '../../model/capability.ts';
import type { Json } from '../../model/value.ts';

/** A function of `house.yaml`. */
export type GroupFunction = (typeof GROUP_FUNCTIONS)[number];

// The two words of what is or is not, the active one first.
const PAIRS = [
  ['on', 'off'],
  ['open', 'closed'],
  ['active', 'inactive'],
  ['present', 'not present'],
  ['unlocked', 'locked'],
  ['wet', 'dry'],
  ['detected', 'clear'],
  ['online', 'offline'],
] as const;

const pairOf = (declared: AttributeDecl | undefined): readonly [string, string] | undefined =>
  PAIRS.find(pair => pair.every(word => declared?.values?.includes(word)));

/** Whether a value counts for any, all and count. */
function isActive(value: Json, declared: AttributeDecl | undefined): boolean {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return value > 0;
  const pair = pairOf(declared);
  // Of more than two words (a siren's, a blind's) all are active but the resting one.
  return pair ? value !== pair[1] : value !== 'off' && value !== null && value !== '';
}

/** The attribute that a group over `declared` has. */
export function groupAttribute(of: GroupFunction, declared: AttributeDecl | undefined): AttributeDecl {
  if (of === 'any' || of === 'all') {
    const pair = pairOf(declared);
    return pair ? { type: 'enum', values: [...pair] } : { type: 'boolean' };
  }
  if (of === 'count') return { type: 'number' };
  if (of === 'integral') return { type: 'number', unit: hourly(declared?.unit), telemetry: true };
  return { type: 'number', ...(declared?.unit !== undefined && { unit: declared.unit }) };
}

const hourly = (unit: string | undefined): string => (unit === undefined ? 'h' : unit === 'W' ? 'Wh' : `${unit}·h`);

/**
 * The group's value, given the known values of its members; undefined when none is known. Not for `integral`, which also
 * needs time: see `integrator`.
 */
export function groupValue(
  of: Exclude<GroupFunction, 'integral'>,
  values: readonly Json[],
  declared: AttributeDecl | undefined,
): Json | undefined {
  if (values.length === 0) return undefined;
  if (of === 'any' || of === 'all') {
    const active = values.filter(value => isActive(value, declared)).length;
    const holds = of === 'any' ? active > 0 : active === values.length;
    const pair = pairOf(declared);
    return pair ? pair[holds ? 0 : 1] : holds;
  }
  if (of === 'count') return values.filter(value => isActive(value, declared)).length;
  const numbers = values.filter(value => typeof value === 'number');
  if (numbers.length === 0) return undefined;
  if (of === 'min') return Math.min(...numbers);
  if (of === 'max') return Math.max(...numbers);
  const sum = sumOf(numbers);
  return rounded(of === 'sum' ? sum : sum / numbers.length);
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, n) => sum + n, 0);

/** Without the noise of binary fractions: 20.15, not 20.150000000000002. */
const rounded = (n: number): number => Number(n.toFixed(6));

/** Adds up the members' sum over time, in unit hours. */
export interface Integrator {
  /** The total at `elapsed` (ms), with the members' values from then on. */
  next(values: readonly Json[], elapsed: number): number;
}

/** @param total what was added up before, from the last run of the process */
export function integrator(total: number): Integrator {
  let rate = 0;
  let at: number | undefined;
  return {
    next(values, elapsed) {
      if (at !== undefined) total += (rate * (elapsed - at)) / 3_600_000;
      at = elapsed;
      // While nothing is known nothing is added.
      rate = sumOf(values.filter(value => typeof value === 'number'));
      return rounded(total);
    },
  };
}
