// Fields that several sections of config.yaml have.
import { z } from 'zod';
import { Duration, durationMs, formatDuration } from '../lib/duration.ts';
import { Secret } from './secret.ts';

/** An on-or-off setting. */
export const flag = (on: boolean, description: string) => z.boolean().meta({ description }).default(on);

/** A whole number within a range. */
export const count = (min: number, max: number, preset: number, description: string) =>
  z.int().min(min).max(max).meta({ description }).default(preset);

/** A number within a range, without a default. */
export const degrees = (limit: number, description: string, example: number) =>
  z
    .number()
    .min(-limit)
    .max(limit)
    .meta({ description, examples: [example] })
    .optional();

/** A TCP port; 0 takes a free one. */
export const port = (preset: number, description: string) => count(0, 65_535, preset, description);

/** A duration within a range, kept in its stored form (`1m`). */
export const duration = (min: string, max: string, preset: string, description: string) =>
  Duration.refine(text => within(text, min, max), { error: `expected a duration from ${min} to ${max}` })
    .meta({ description, kind: 'duration', range: `${min}–${max}` })
    .default(formatDuration(durationMs(preset)));

// A text that is no duration was reported by Duration itself.
const within = (text: string, min: string, max: string): boolean =>
  durationMs(text) >= durationMs(min) && durationMs(text) <= durationMs(max);

/** Text that is kept from logs, JSON and messages. */
export const secret = (description: string, example: string) =>
  z
    .string()
    .min(1)
    .transform(text => new Secret(text))
    .meta({ description, kind: 'secret', examples: [example] })
    .optional();

/** A file or folder; a relative one is meant from the folder of config.yaml. */
export const path = (description: string, example: string) =>
  z
    .string()
    .min(1)
    .meta({ description, kind: 'path', examples: [example] });

/** An address to listen on. */
export const host = (description: string) => z.string().min(1).max(255).meta({ description }).default('127.0.0.1');

/** A time zone of the IANA database. */
export const timezone = (description: string) =>
  z
    .string()
    .refine(isTimezone, { error: 'expected a time zone of the IANA database, such as Europe/Berlin' })
    .meta({ description, kind: 'time zone', examples: ['Europe/Berlin'] })
    .optional();

function isTimezone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
