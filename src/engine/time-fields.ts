// Fields about days, for triggers and conditions on the clock.
import { z } from 'zod';
import { CausewayError } from '../lib/errors.ts';
import { WEEKDAYS } from '../lib/time/calendar.ts';

/** Weekdays and dates. */
export const dateFields = {
  weekdays: z.array(z.enum(WEEKDAYS)).min(1).optional().meta({ description: 'Only on these days of the week' }),
  dates: z.array(z.string()).min(1).optional().meta({
    description: 'Dates: 2026-12-24, 12-24 (each year), 12-20..01-06 (both ends included)',
  }),
};

/** What becomes of a time that the spring change leaves out. */
export const DstGap = z.enum(['next', 'skip']).meta({
  description: 'A time left out in spring: next (default) is the first instant after it, skip is not at all',
});

/** Reports what a parser of `lib/time` throws as issues at its path. */
export function issuesOf(parse: () => unknown, context: z.RefinementCtx, field?: string): void {
  try {
    parse();
  } catch (error) {
    if (!(error instanceof CausewayError)) throw error;
    const path = field === undefined ? (error.path?.split('/') ?? []) : [field];
    context.addIssue({ code: 'custom', path, message: error.hint ? `${error.message}. ${error.hint}` : error.message });
  }
}
