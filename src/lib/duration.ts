// Durations as people write them. Milliseconds inside, `5m` in files.
import { z } from 'zod';

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;
type Unit = keyof typeof UNITS;

const COMPACT = /^(?:\d+(?:\.\d+)?(?:ms|w|d|h|m|s))+$/;
const PART = /(\d+(?:\.\d+)?)(ms|w|d|h|m|s)/g;
const ISO =
  /^P(?:(\d+(?:\.\d+)?)W)?(?:(\d+(?:\.\d+)?)D)?(?:T(?:(\d+(?:\.\d+)?)H)?(?:(\d+(?:\.\d+)?)M)?(?:(\d+(?:\.\d+)?)S)?)?$/;
const CLOCK = /^(\d+):([0-5]\d)(?::([0-5]\d(?:\.\d{1,3})?))?$/;

/**
 * Milliseconds of `250ms`, `5m`, `1d2h`, `PT5M` (ISO 8601 without years and months), `00:05:00` (hours first), each
 * with an optional sign; undefined when it is none of these. A bare number has no unit and is refused, but for 0.
 */
export function parseDuration(text: string): number | undefined {
  const trimmed = text.trim();
  const sign = trimmed.startsWith('-') ? -1 : 1;
  const body = trimmed.replace(/^[+-]/, '');
  const magnitude = parseMagnitude(body);
  return magnitude === undefined ? undefined : sign * magnitude || 0;
}

function parseMagnitude(body: string): number | undefined {
  if (body === '0') return 0;
  if (COMPACT.test(body)) {
    let total = 0;
    for (const [, amount, unit] of body.matchAll(PART)) total += Number(amount) * UNITS[unit as Unit];
    return Math.round(total);
  }
  const isoMatch = ISO.exec(body.toUpperCase());
  if (isoMatch && /\d/.test(body)) {
    const [, w, d, h, m, s] = isoMatch.map(x => Number(x ?? 0));
    return Math.round(
      (w ?? 0) * UNITS.w + (d ?? 0) * UNITS.d + (h ?? 0) * UNITS.h + (m ?? 0) * UNITS.m + (s ?? 0) * UNITS.s,
    );
  }
  const clock = CLOCK.exec(body);
  if (clock)
    return Math.round(Number(clock[1]) * UNITS.h + Number(clock[2]) * UNITS.m + Number(clock[3] ?? 0) * UNITS.s);
  return undefined;
}

/** The stored form: the fewest parts, largest unit first (`90000` → `1m30s`). */
export function formatDuration(ms: number): string {
  if (ms === 0) return '0s';
  let left = Math.abs(ms);
  let text = ms < 0 ? '-' : '';
  for (const unit of ['d', 'h', 'm', 's', 'ms'] as const) {
    const amount = Math.floor(left / UNITS[unit]);
    if (amount > 0) text += `${amount}${unit}`;
    left -= amount * UNITS[unit];
  }
  return text;
}

function durationSchema(signed: boolean) {
  return z
    .string()
    .transform((text, context) => {
      const ms = parseDuration(text);
      if (ms === undefined || (!signed && ms < 0)) {
        context.addIssue({
          code: 'custom',
          message: `"${text}" is no duration; write 250ms, 5m, 1d2h, PT5M or 00:05:00`,
        });
        return z.NEVER;
      }
      return formatDuration(ms);
    })
    .meta({ description: 'A duration: 250ms, 5m, 1d2h, PT5M, 00:05:00', examples: ['5m'] });
}

/** A duration ≥ 0, normalised to the stored form. */
export const Duration = durationSchema(false);
/** A duration with an optional sign, for offsets. */
export const SignedDuration = durationSchema(true);

/** Milliseconds of a duration that a schema has already accepted. */
export function durationMs(stored: string): number {
  const ms = parseDuration(stored);
  if (ms === undefined) throw new RangeError(`not a duration: ${stored}`);
  return ms;
}
