// The frame of triggers on the wall clock: one durable record of the next and the last occurrence, catching up what was
// missed, and never the same occurrence twice.
import { map, merge, NEVER, Observable, of, Subject, switchMap, tap } from 'rxjs';
import { durationMs } from '../../lib/duration.ts';
import { latestOccurrence, type Occurrence, occurrencesBetween } from '../../lib/time/occurrence.ts';
import type { Json } from '../../model/value.ts';
import type { Attached, Edge, TriggerConfig, TriggerContext } from '../kind.ts';

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

/** Why an occurrence could not be seen at its time. */
type Missed = 'clock_step' | 'the gateway was off';

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
  const { type, within } = catchUpOf(config);
  let missed: Missed | undefined;

  /** The next one after an instant, and after the last that fired. */
  const upcoming = (after: number, last: Slot | null): Slot | null => {
    const isSetBack = last !== null && last.at > after && last.at - after <= STEP_BACK_MS;
    const found = next(isSetBack ? last.at : after);
    return slotOf(found && found.key === last?.key ? next(found.at) : found);
  };

  const due = (wall: number): Edge | null => {
    const schedule = read();
    const occurrence = schedule?.next;
    if (!schedule || !occurrence || occurrence.at > wall) return null;
    // One that waited for the backends' snapshots, or for a busy machine, was not missed; it is only late.
    const reason = missed ?? (wall - occurrence.at > within ? 'the gateway was off' : undefined);
    missed = undefined;
    const chosen = reason === undefined ? occurrence : caughtUp(occurrence, wall);
    // One that did not fire may still come, on a wall that is set back.
    const last = chosen ?? schedule.last;
    write({ next: upcoming(reason === undefined ? occurrence.at : wall, last), last });
    if (!chosen) {
      context.note('late', { at: occurrence.at, note: `missed: ${reason}` });
      return null;
    }
    const notes = [chosen.note, reason === 'clock_step' ? reason : undefined].filter(note => note !== undefined);
    const data = notes.length === 0 ? {} : { note: notes.join('; ') };
    return { do: 'enter', member: '', data, lateMs: wall - chosen.at };
  };

  /** Which of the missed occurrences is made up for, if any. */
  const caughtUp = (first: Slot, wall: number): Slot | null => {
    if (type === 'none') return null;
    const oldest = Math.max(first.at, wall - within);
    if (type === 'latest')
      return slotOf(latestOccurrence(next, oldest - 1, wall)) ?? (first.at >= oldest ? first : null);
    return first.at >= oldest ? first : slotOf(occurrencesBetween(next, oldest - 1, wall, 1)[0] ?? null);
  };

  const edges$ = new Observable<Edge>(subscriber => {
    const rearm$ = new Subject<void>();
    const known = read();
    const wall = context.view.wall();
    if (known?.next && known.next.at < wall) missed = 'the gateway was off';
    // The wall may have been set back meanwhile.
    else if (known?.next?.at !== wall) write({ next: upcoming(wall, known?.last ?? null), last: known?.last ?? null });
    const recomputed$ = merge(context.reschedule$, changed$.pipe(map(() => ({ stepMs: 0 })))).pipe(
      tap(({ stepMs }) => {
        const schedule = read();
        const wall = context.view.wall();
        if (schedule?.next && schedule.next.at <= wall) {
          // What a step jumped over is missed, not forgotten; what it lands on is on time.
          if (stepMs > 0 && schedule.next.at < wall) missed ??= 'clock_step';
          return;
        }
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

const slotOf = (occurrence: Occurrence | null): Slot | null =>
  occurrence && {
    at: occurrence.at,
    key: occurrence.key,
    ...(occurrence.note !== undefined && { note: occurrence.note }),
  };

function catchUpOf(config: TriggerConfig): { type: 'none' | 'once' | 'latest'; within: number } {
  const setting = config.catch_up ?? 'once';
  const { type, within } = typeof setting === 'string' ? { type: setting, within: undefined } : setting;
  return { type, within: durationMs(within ?? WITHIN_DEFAULT) };
}
