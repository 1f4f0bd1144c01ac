// What every schedule answers with, and the questions that can be put to any of them.
import type { Wall } from './calendar.ts';
import { formatWall } from './calendar.ts';
import { firstInstantOf, type Gap, wallAt } from './zone.ts';

/** One occurrence of a schedule. */
export interface Occurrence {
  /** Epoch ms. */
  readonly at: number;
  /**
   * The scheduled local stamp, or the date of a sun event: the same however often and from wherever it is computed, and
   * unique among the occurrences of one schedule. Store it, and neither a fold nor a clock set back fires it twice.
   */
  readonly key: string;
  /** What the trace should say about it (a fallback was taken). */
  readonly note?: string;
}

/** The first occurrence strictly after an instant; null if there is none. */
export type Next = (afterMs: number) => Occurrence | null;

/** The first `limit` occurrences in (from, to], ascending. */
export function occurrencesBetween(next: Next, from: number, to: number, limit: number): Occurrence[] {
  const found: Occurrence[] = [];
  let after = from;
  while (found.length < limit) {
    const occurrence = next(after);
    if (!occurrence || occurrence.at > to) break;
    found.push(occurrence);
    after = occurrence.at;
  }
  return found;
}

/** The last occurrence in (from, to], by halving: as quick after a year without power as after a minute. */
export function latestOccurrence(next: Next, from: number, to: number): Occurrence | null {
  let latest = next(from);
  if (!latest || latest.at > to) return null;
  let clearAfter = to;
  while (latest.at < clearAfter) {
    const middle: number = Math.floor((latest.at + clearAfter) / 2);
    const later: Occurrence | null = next(middle);
    if (later && later.at <= clearAfter) latest = later;
    else clearAfter = middle;
  }
  return latest;
}

/**
 * The next occurrence of a schedule of wall times, each once: at its first pass in a fold, by `gap` in a gap. `nextWall`
 * gives the first scheduled wall time strictly after another. Several that a gap moves to one instant are one
 * occurrence, that of the first.
 */
export function nextFirstPass(
  nextWall: (after: Wall) => Wall | null,
  zone: string,
  gap: Gap,
  afterMs: number,
): Occurrence | null {
  // First instants never fall as walls rise, so what lies before the wall of `afterMs` is over.
  let wall = nextWall(wallAt(afterMs, zone));
  while (wall !== null) {
    const at = firstInstantOf(wall, zone, gap);
    if (at !== null && at > afterMs) return { at, key: formatWall(wall) };
    wall = nextWall(wall);
  }
  return null;
}
