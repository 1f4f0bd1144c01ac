// The frame of triggers on the wall clock: one durable record of the next and the last occurrence, catching up what was
// missed, and never the same occurrence twice.
import { map, merge, NEVER, Observable, of, Subject, switchMap, tap } from 'rxjs';
import { durationMs } from '../../lib/duration.ts';
import { latestOccurrence, type Occurrence, occurrencesBetween } from '../../lib/time/occurrence.ts';
import type { Json } from '../../model/value.ts';
import type { Attached, Edge, TriggerConfig, TriggerContext } from '../kind.ts';

/** An occurrence this late was missed, and falls under `catch_up`. */
const MISSED_MS = 2_000;
/** How far back a stepped clock may go with the occurrences that were passed already staying passed. */
const STEP_BACK_MS = 26 * 3_600_000;
const WITHIN_DEFAULT = '5m';

interface Slot {
  at: number;
  key: string;
  note?: string;
}
interface Schedule {
  next: Slot | null;
  last: Slot | null;
}

/**
 * A schedule as a trigger.
 * @param next the first occurrence strictly after an instant; wall time, epoch ms
 * @param changed$ emits when the schedule itself has become another (a dynamic time)
 */
export function scheduled(
  config: TriggerConfig,
  context: TriggerContext,
  next: (after: number) => Occurrence | null,
  changed$: Observable<unknown> = NEVER,
): Attached {
  const read = () => (context.memory.get<Json>('schedule') ?? null) as unknown as Schedule | null;
  const write = (schedule: Schedule) => context.memory.set('schedule', schedule as unknown as Json);
  const slot = (occurrence: Occurrence | null): Slot | null =>
    occurrence && {
      at: occurrence.at,
      key: occurrence.key,
      ...(occurrence.note !== undefined && { note: occurrence.note }),
    };

  /** The next one after an instant that has not been handled already. */
  const upcoming = (after: number, last: Slot | null): Slot | null => {
    let found = next(after);
    for (let tries = 0; found && last && tries < 1000; tries++) {
      const passed = found.key === last.key || (found.at <= last.at && last.at - after <= STEP_BACK_MS);
      if (!passed) break;
      found = next(found.at);
    }
    return slot(found);
  };

  const due = (wall: number): Edge | null => {
    const schedule = read();
    const occurrence = schedule?.next;
    if (!schedule || !occurrence || occurrence.at > wall) return null;
    const isMissed = wall - occurrence.at > MISSED_MS;
    const fires = isMissed ? caughtUp(config, context, next, occurrence, wall) : occurrence;
    const last = isMissed ? (slot(latestOccurrence(next, occurrence.at, wall)) ?? occurrence) : occurrence;
    write({ next: upcoming(isMissed ? wall : occurrence.at, last), last });
    if (!fires) return null;
    const lateMs = wall - fires.at;
    return {
      do: 'enter',
      member: '',
      data: fires.note === undefined ? {} : { note: fires.note },
      ...(isMissed && { lateMs }),
    };
  };

  const edges$ = new Observable<Edge>(subscriber => {
    const rearm$ = new Subject<void>();
    if (!read()) write({ next: upcoming(context.view.wall(), null), last: null });
    const recomputed$ = merge(context.reschedule$, changed$.pipe(map(() => ({ stepMs: 0 })))).pipe(
      tap(({ stepMs }) => {
        const schedule = read();
        const wall = context.view.wall();
        // What a step jumped over is missed, not forgotten.
        if (stepMs > 0 && schedule?.next && schedule.next.at <= wall) return;
        write({ next: upcoming(wall, schedule?.last ?? null), last: schedule?.last ?? null });
      }),
    );
    return merge(of(null), rearm$, recomputed$)
      .pipe(
        switchMap(() => {
          const at = read()?.next?.at;
          return at === undefined ? NEVER : context.wallTimer(at);
        }),
      )
      .subscribe(() => {
        const edge = due(context.view.wall());
        rearm$.next();
        if (edge) subscriber.next(edge);
      });
  });
  return { edges$, next: after => (after === undefined ? (read()?.next ?? null) : next(after)) };
}

/** Which of the missed occurrences is made up for, if any. */
function caughtUp(
  config: TriggerConfig,
  context: TriggerContext,
  next: (after: number) => Occurrence | null,
  first: Slot,
  wall: number,
): Slot | null {
  const setting = config.catch_up ?? 'once';
  const type = typeof setting === 'string' ? setting : setting.type;
  const within = durationMs((typeof setting === 'string' ? undefined : setting.within) ?? WITHIN_DEFAULT);
  const missed = () =>
    context.note('late', { at: first.at, note: `missed while the gateway or the clock was elsewhere` });
  if (type === 'none') {
    missed();
    return null;
  }
  const oldest = Math.max(first.at, wall - within);
  const candidates: (Occurrence | Slot | null)[] =
    type === 'latest'
      ? [latestOccurrence(next, oldest - 1, wall) ?? (first.at >= oldest ? first : null)]
      : first.at >= oldest
        ? [first]
        : occurrencesBetween(next, oldest - 1, wall, 1);
  const chosen = candidates[0] ?? null;
  if (!chosen) missed();
  return chosen;
}
