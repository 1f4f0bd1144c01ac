// What the clock will start next: the occurrences ahead of one trigger.
import type { LiveTrigger } from './core.ts';
import type { Upcoming } from './kind.ts';

/** The next `limit` occurrences of a trigger that listens, ascending; empty where there is none, or the kind has none. */
export function nextOccurrences(trigger: LiveTrigger, limit: number): Upcoming[] {
  const found: Upcoming[] = [];
  let next = trigger.pipeline.next();
  while (next && found.length < limit) {
    found.push(next);
    next = trigger.pipeline.next(next.at);
  }
  return found;
}
