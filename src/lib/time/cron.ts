// The cron schedule. croner knows the calendar and is asked in a world without zones; what a clock that is put forward
// or back does to an expression is decided here, as the format of rules promises it.
import { Cron as Croner } from 'croner';
import { CausewayError } from '../errors.ts';
import type { Wall } from './calendar.ts';
import { nextFirstPass, type Occurrence } from './occurrence.ts';
import { nextTransition, offsetAt } from './offsets.ts';
import { formatLocal, type Gap } from './zone.ts';

/** A cron expression that was read. */
export interface Cron {
  readonly text: string;
  /** Hour `*` or `*` with a step: it follows elapsed time through both passes of a fold, and past a gap. */
  readonly everyHour: boolean;
  readonly calendar: Croner;
}

/**
 * Reads an expression of 5 fields, or 6 with seconds first: names, lists, ranges, steps, 7 as Sunday, and croner's `L`,
 * `W` and `#`. With day of month and weekday both set, either is enough. Throws INPUT_INVALID.
 */
export function parseCron(text: string): Cron {
  const hint = 'Write 5 fields (minute hour day month weekday), or 6 with seconds first: 30 7 * * mon-fri';
  const fields = text.trim().split(/\s+/);
  if (fields.length !== 5 && fields.length !== 6) {
    throw new CausewayError('INPUT_INVALID', `The cron expression "${text}" has ${fields.length} fields`, { hint });
  }
  try {
    const calendar = new Croner(fields.join(' '), { utcOffset: 0, mode: '5-or-6-parts', paused: true });
    return { text, everyHour: /[*?]/.test(fields.at(-4) ?? ''), calendar };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.replace(/^CronPattern: /, '') : String(cause);
    throw new CausewayError('INPUT_INVALID', `The cron expression "${text}" does not parse: ${reason}`, {
      hint,
      cause,
    });
  }
}

/** False for an expression that no date ever meets (30 February). */
export const cronHasDate = (cron: Cron): boolean => nextWall(cron, 0) !== null;

/**
 * The first occurrence strictly after `afterMs`. With fixed hours each scheduled wall time happens once (`gap` says what
 * becomes of one that is left out) and the key is its stamp; else the key carries the offset, so that the two passes of
 * a fold differ.
 */
export function nextCron(cron: Cron, zone: string, afterMs: number, gap: Gap = 'next'): Occurrence | null {
  if (cron.everyHour) return nextInEveryHour(cron, zone, afterMs);
  return nextFirstPass(wall => nextWall(cron, wall), zone, gap, afterMs);
}

// Walks the stretches of constant offset. croner gives up after 400 years, so it ends.
function nextInEveryHour(cron: Cron, zone: string, afterMs: number): Occurrence | null {
  let start = Math.floor(afterMs) + 1;
  for (;;) {
    const offset = offsetAt(start, zone);
    const wall = nextWall(cron, start + offset - 1);
    if (wall === null) return null;
    const change = nextTransition(start, wall - offset, zone);
    if (!change) return { at: wall - offset, key: formatLocal(wall - offset, zone) };
    start = change.at;
  }
}

const nextWall = (cron: Cron, after: Wall): Wall | null => cron.calendar.nextRun(new Date(after))?.getTime() ?? null;
