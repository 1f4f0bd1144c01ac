// From the edges of a trigger to its firing: `by` → hold (`for`) → debounce → throttle. Holds and debounces are durable
// records; the timers are armed from them.
import { Observable } from 'rxjs';
import { durationMs, parseDuration } from '../../lib/duration.ts';
import type { Cause } from '../../model/cause.ts';
import type { LetGo } from '../../model/run.ts';
import type { Json } from '../../model/value.ts';
import { SLOW_MS, slowed } from '../guard.ts';
import type { Attached, Edge, TriggerConfig, TriggerContext, TriggerData, TriggerKind, Upcoming } from '../kind.ts';
import type { Timer } from '../timeline.ts';

/** A trigger has fired. */
export interface Fired {
  readonly data: Partial<TriggerData>;
  /** Of the event that made it fire; none for schedules and moved thresholds. */
  readonly cause: Cause | undefined;
  readonly lateMs: number;
}

/** A hold as it is stored. Instants are engine time. */
interface Hold {
  since: number;
  due: number;
  data: Partial<TriggerData>;
  cause?: Cause;
  /** Its time passed while the level could not be told. */
  overdue?: boolean;
}

/** What the pipeline needs beside the trigger's own context. */
export interface PipelineParts {
  readonly config: TriggerConfig;
  readonly kind: TriggerKind;
  readonly context: TriggerContext;
  timer(due: number, call: () => void, since: number | undefined): Timer;
  letGo(reason: LetGo, data: Partial<TriggerData>, details?: { at?: number; lateMs?: number; note?: string }): void;
  /** False until the backends have told their snapshots: edges are then no news. */
  isReady(): boolean;
}

/** A trigger as the rule holds it. */
export interface Pipeline {
  fired$: Observable<Fired>;
  /** As if the level had just been reached, for members at it now (on_startup, on_enable: evaluate). */
  evaluate(): void;
  /** After the snapshots: what was compared with before the stop fires (on_startup: compare). */
  compare(): void;
  /** Looks at all holds again. */
  look(): void;
  /** Drops what is held. */
  drop(reason: LetGo): void;
  /** The occurrence that it waits for, or the first after an instant (epoch ms). */
  next(after?: number): Upcoming | null;
}

/** The cause of what fires after so long. */
const after = (ms: number, cause: Cause | undefined): Cause | undefined =>
  cause && ms >= SLOW_MS ? slowed(cause) : cause;

const HOLD = 'h:';
const DROPPED = 'u:';
const WANTED = 'w:';

/** Builds the pipeline of one trigger. */
export function pipelineOf(parts: PipelineParts): Pipeline {
  const { config, context } = parts;
  const { memory, view } = context;
  let emit: (fired: Fired) => void = () => {};
  let attached: Attached | undefined;
  const timers = new Map<string, Timer>();
  const compared = new Map<string, Extract<Edge, { do: 'enter' }>>();

  const read = <T>(name: string) => memory.get<Json>(name) as T | undefined;
  const write = (name: string, value: unknown) => memory.set(name, value as Json | undefined);
  const arm = (name: string, due: number, call: () => void, since?: number) => {
    timers.get(name)?.cancel();
    timers.set(name, parts.timer(due, call, since));
  };
  const disarm = (name: string) => {
    timers.get(name)?.cancel();
    timers.delete(name);
  };

  // --- throttle and debounce -------------------------------------------------------------------------------------
  const throttle = config.throttle === undefined ? undefined : durationMs(config.throttle);
  const debounce = config.debounce === undefined ? undefined : durationMs(config.debounce);
  const pass = (fired: Fired) => {
    if (throttle !== undefined) {
      const last = read<number>('throttle');
      if (last !== undefined && view.now() - last < throttle) return;
      write('throttle', view.now());
    }
    emit(fired);
  };
  const settle = () => {
    const quiet = read<{ due: number; fired: Fired }>('debounce');
    write('debounce', undefined);
    disarm('debounce');
    if (!quiet) return;
    const cause = after(debounce ?? 0, quiet.fired.cause);
    pass({ ...quiet.fired, cause, lateMs: Math.max(quiet.fired.lateMs, view.now() - quiet.due) });
  };
  const fire = (fired: Fired) => {
    if (debounce === undefined) return pass(fired);
    const due = view.now() + debounce;
    write('debounce', { due, fired });
    arm('debounce', due, settle);
  };

  // --- holds -----------------------------------------------------------------------------------------------------
  const holdMs = (data: Partial<TriggerData>): number | null => {
    // Kinds without a level have a `for` of their own meaning.
    if (config.for === undefined || !attached?.level) return 0;
    const value = context.value(config.for, data);
    const ms = typeof value === 'number' ? value : typeof value === 'string' ? parseDuration(value) : undefined;
    return ms === undefined || !(ms >= 0) ? null : ms;
  };
  const enter = (edge: Extract<Edge, { do: 'enter' }>) => {
    if (edge.cause && !context.by(edge.cause)) return;
    const ms = holdMs(edge.data);
    if (ms === null) return parts.letGo('left_state', edge.data, { note: 'for cannot be told' });
    if (ms === 0) return fire({ data: edge.data, cause: edge.cause, lateMs: edge.lateMs ?? 0 });
    const name = HOLD + edge.member;
    if (read<Hold>(name) && edge.restart !== true) return;
    const now = view.now();
    const hold: Hold = { since: now, due: now + ms, data: edge.data, ...(edge.cause && { cause: edge.cause }) };
    write(name, hold);
    arm(name, hold.due, () => due(edge.member));
  };
  const leave = (member: string, reason: LetGo) => {
    const name = HOLD + member;
    const hold = read<Hold>(name);
    if (!hold) return;
    write(name, undefined);
    disarm(name);
    parts.letGo(hold.overdue && reason === 'left_state' ? 'left_state_while_unavailable' : reason, hold.data);
  };
  const due = (member: string) => {
    const name = HOLD + member;
    const hold = read<Hold>(name);
    if (!hold) return;
    const level = attached?.level?.(member, hold.data) ?? true;
    if (level === false) return leave(member, 'left_state');
    const unknown = attached?.level !== undefined && attached.level(member, hold.data) === null;
    if (unknown) {
      // It waits: when the level is told again it fires late, or lets go.
      if (!hold.overdue) write(name, { ...hold, overdue: true });
      disarm(name);
      return;
    }
    write(name, undefined);
    disarm(name);
    fire({
      data: hold.data,
      cause: after(hold.due - hold.since, hold.cause),
      lateMs: Math.max(0, view.now() - hold.due),
    });
  };
  const look = (member: string) => {
    const wanted = read<boolean>(WANTED + member);
    const dropped = read<Partial<TriggerData>>(DROPPED + member);
    const hold = read<Hold>(HOLD + member);
    if (!wanted && !dropped && !hold) return;
    const level = attached?.level?.(member, hold?.data ?? dropped ?? {}) ?? null;
    if (level === null) return;
    if (wanted && parts.isReady()) {
      write(WANTED + member, undefined);
      if (level === true) enter({ do: 'enter', member, data: presentData(member) });
    }
    if (dropped) {
      write(DROPPED + member, undefined);
      if (level === true && !hold) enter({ do: 'enter', member, data: dropped });
    }
    // Before the snapshots are told a level may still come back to what it was; at ready all are looked at.
    if (hold && level === false) {
      if (parts.isReady()) leave(member, 'left_state');
      return;
    }
    // One whose timer is still to come fires by it, in the order of due times.
    if (hold && view.now() >= hold.due && parts.isReady() && !timers.has(HOLD + member)) due(member);
  };
  const gone = (member: string) => {
    if (config.unavailable !== 'cancel') return;
    const hold = read<Hold>(HOLD + member);
    if (!hold) return;
    write(DROPPED + member, hold.data);
    leave(member, 'left_state_while_unavailable');
  };
  const presentData = (member: string): Partial<TriggerData> =>
    attached?.members?.().find(one => one.member === member)?.data ?? (member ? { device: member } : {});

  const onEdge = (edge: Edge) => {
    if (edge.do === 'look') {
      if (edge.gone) gone(edge.member);
      else look(edge.member);
    } else if (edge.do === 'leave') {
      if (parts.isReady() || edge.reason === 'removed') leave(edge.member, edge.reason ?? 'left_state');
      look(edge.member);
    } else if (!parts.isReady()) {
      if (config.on_startup === 'compare') compared.set(edge.member, edge);
    } else {
      write(WANTED + edge.member, undefined);
      enter(edge);
    }
  };

  return {
    fired$: new Observable<Fired>(subscriber => {
      emit = fired => subscriber.next(fired);
      attached = parts.kind.attach(config, context);
      for (const name of memory.names()) {
        const hold = name.startsWith(HOLD) ? read<Hold>(name) : undefined;
        if (hold) arm(name, hold.due, () => due(name.slice(HOLD.length)), hold.since);
      }
      const quiet = read<{ due: number }>('debounce');
      if (quiet) arm('debounce', quiet.due, settle, quiet.due - (debounce ?? 0));
      const subscription = attached.edges$.subscribe({ next: onEdge, error: error => subscriber.error(error) });
      return () => {
        subscription.unsubscribe();
        for (const timer of timers.values()) timer.cancel();
        timers.clear();
        emit = () => {};
      };
    }),
    evaluate() {
      const members = attached?.members?.() ?? [];
      for (const name of memory.names()) if (name.startsWith(WANTED)) write(name, undefined);
      for (const { member, data } of members) enter({ do: 'enter', member, data });
      // Those that cannot be told yet count from their first good value.
      for (const member of unknownMembers(attached, config, context)) write(WANTED + member, true);
    },
    compare() {
      // What was told first may have been left again before all had told.
      for (const edge of compared.values()) if (attached?.level?.(edge.member, edge.data) === true) enter(edge);
      compared.clear();
    },
    look() {
      for (const name of memory.names()) {
        if (name.startsWith(HOLD)) look(name.slice(HOLD.length));
        // Told in a snapshot; at a start `evaluate` itself sees to it.
        if (name.startsWith(WANTED) && config.on_startup !== 'evaluate') look(name.slice(WANTED.length));
      }
    },
    next: after => attached?.next?.(after) ?? null,
    drop(reason) {
      for (const name of memory.names()) {
        if (name.startsWith(HOLD)) leave(name.slice(HOLD.length), reason);
        if (name === 'debounce') {
          write('debounce', undefined);
          disarm('debounce');
        }
      }
    },
  };
}

function unknownMembers(attached: Attached | undefined, config: TriggerConfig, context: TriggerContext): string[] {
  const target = (config as { device?: never }).device;
  if (!attached?.level || target === undefined) return attached?.level?.('', {}) === null ? [''] : [];
  const members = config.match === undefined || config.match === 'any' ? context.view.members(target) : [''];
  return members.filter(member => attached.level?.(member, {}) === null);
}
