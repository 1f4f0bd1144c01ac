// How far the clocks of a zone are ahead of UTC, fast: luxon (Intl) is asked once for every few days and zone, all else
// is a look-up. The time zone database is constant while the process runs, so the memo below holds nothing but facts.
import { IANAZone } from 'luxon';
import { CausewayError } from '../errors.ts';
import { DAY_MS } from './calendar.ts';

/** A change of a zone's offset: from the instant `at` (epoch ms) on it is `after`, until then `before` (both ms). */
export interface Transition {
  readonly at: number;
  readonly before: number;
  readonly after: number;
}

// No zone has changed its offset twice within seven days since 1970 (tzdata 2025c: the nearest are Brazil's of 2000).
const SPAN_MS = 4 * DAY_MS;
// 90 years a zone; a bound, not a tuning.
const MAX_SPANS = 8_192;

interface Zone {
  readonly source: IANAZone;
  readonly spans: Map<number, Transition>;
}

const zones = new Map<string, Zone>();

/** True for a name of the IANA time zone database (`Europe/Berlin`, `UTC`). */
export const isZone = (name: string): boolean => IANAZone.isValidZone(name);

/** Milliseconds to add to UTC for the wall time of `zone` at `ms`. Throws INPUT_INVALID for an unknown zone. */
export function offsetAt(ms: number, zone: string): number {
  const span = spanOf(Math.floor(ms / SPAN_MS), zone);
  return ms < span.at ? span.before : span.after;
}

/** The first transition of `zone` after `from` and not after `until`; null if there is none. */
export function nextTransition(from: number, until: number, zone: string): Transition | null {
  const last = Math.floor(until / SPAN_MS);
  for (let index = Math.floor(from / SPAN_MS); index <= last; index++) {
    const span = spanOf(index, zone);
    if (span.at > from && span.at <= until) return span;
  }
  return null;
}

/** One span as a transition; `at` is Infinity where the offset stays the same. */
function spanOf(index: number, name: string): Transition {
  const zone = zones.get(name) ?? openZone(name);
  const known = zone.spans.get(index);
  if (known) return known;
  if (zone.spans.size >= MAX_SPANS) zone.spans.clear();
  const span = measure(index * SPAN_MS, zone.source);
  zone.spans.set(index, span);
  return span;
}

function openZone(name: string): Zone {
  if (!isZone(name)) {
    throw new CausewayError('INPUT_INVALID', `"${name}" is no time zone`, {
      hint: 'Write a name of the IANA time zone database, such as Europe/Berlin.',
    });
  }
  const zone = { source: IANAZone.create(name), spans: new Map() };
  zones.set(name, zone);
  return zone;
}

function measure(start: number, source: IANAZone): Transition {
  const offset = (ms: number) => Math.round(source.offset(ms) * 60_000);
  const before = offset(start);
  let low = start;
  let high = start + SPAN_MS;
  const after = offset(high);
  if (before === after) return { at: Number.POSITIVE_INFINITY, before, after };
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offset(middle) === before) low = middle;
    else high = middle;
  }
  return { at: high, before, after };
}
