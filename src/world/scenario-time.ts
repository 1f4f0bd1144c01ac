// Times of a scenario: offsets from its start, or stamps.
import { z } from 'zod';
import { parseDuration } from '../lib/duration.ts';
import { parseStamp } from '../lib/time/clock-time.ts';
import { firstInstantOf } from '../lib/time/zone.ts';

/** An offset in elapsed ms from the start, a local stamp, or an instant. */
export type ScenarioTime = { offset: number } | { wall: number } | { instant: number };

/** A time as it is written: `90s`, `1h30m`, `2026-03-29T03:00:00`, `2026-03-29T01:00:00Z`. */
export const Time = z
  .union([z.literal(0), z.string()])
  .transform((text, context): ScenarioTime => {
    if (text === 0) return { offset: 0 };
    const ms = parseDuration(text);
    if (ms !== undefined && ms >= 0) return { offset: ms };
    const stamp = parseStamp(text);
    if (stamp) return stamp;
    context.addIssue({
      code: 'custom',
      message: `"${text}" is no time; write an offset from the start (90s, 1h30m) or a stamp (2026-03-29T03:00:00)`,
    });
    return z.NEVER;
  })
  .meta({ id: 'ScenarioTime', description: 'An offset from the start, or a local stamp (its first occurrence)' });

/** Epoch ms of a stamp. */
export const instantOf = (stamp: { wall: number } | { instant: number }, zone: string): number =>
  'instant' in stamp ? stamp.instant : firstInstantOf(stamp.wall, zone);

/** Elapsed ms since a start (epoch ms). */
export const elapsedOf = (time: ScenarioTime, start: number, zone: string): number =>
  'offset' in time ? time.offset : instantOf(time, zone) - start;
