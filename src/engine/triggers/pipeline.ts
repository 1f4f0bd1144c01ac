// From the edges of a trigger to its firing: `by` → hold (`for`) → debounce → throttle. Holds and debounces are durable
// records; the timers are armed from them.
import { Observable, type Subscriber } from 'rxjs';
import { durationMs, parseDuration } from '../../lib/duration.ts';
import type { Cause } from '../../model/cause.ts';
import type { LetGo } from '../../model/run.ts';
import type { Json } from '../../model/value.ts';
import { SLOW_MS, slowed } from '../guard.ts';
import type { Attached, Edge, TriggerConfig, TriggerContext, TriggerData, TriggerKind, Upcoming } from '../kind.ts';
import type { Timeline, Timer } from '../timeline.ts';

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
  readonly timeline: Timeline;
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
export const pipelineOf = (parts: PipelineParts): Pipeline => new TriggerPipeline(parts);

type Enter = Extract<Edge, { do: 'enter' }>;

// A class: a house has thousands of them, and twenty functions for each would be most of what a rule weighs.
class TriggerPipeline implements Pipeline {
  readonly fired$: Observable<Fired>;
  private readonly parts: PipelineParts;
  private subscriber: Subscriber<Fired> | undefined;
  private attached: Attached | undefined;
  private timers: Map<string, Timer> | undefined;
  /** What was told before readiness, to be compared then. */
  private compared: Map<string, Enter> | undefined;

  constructor(parts: PipelineParts) {
    this.parts = parts;
    this.fired$ = new Observable(subscriber => this.attach(subscriber));
  }

  private attach(subscriber: Subscriber<Fired>): () => void {
    const { kind, config, context } = this.parts;
    this.subscriber = subscriber;
    this.attached = kind.attach(config, context);
    for (const name of context.memory.names()) {
      const hold = name.startsWith(HOLD) ? this.read<Hold>(name) : undefined;
      if (hold) this.armHold(name.slice(HOLD.length), hold.due, hold.since);
    }
    const quiet = this.read<{ due: number }>('debounce');
    if (quiet) this.arm('debounce', quiet.due, () => this.settle(), quiet.due - (this.debounceMs() ?? 0));
    const subscription = this.attached.edges$.subscribe({
      next: edge => this.onEdge(edge),
      error: error => subscriber.error(error),
    });
    return () => {
      subscription.unsubscribe();
      for (const timer of this.timers?.values() ?? []) timer.cancel();
      this.timers = undefined;
      this.subscriber = undefined;
    };
  }

  private read<T>(name: string): T | undefined {
    return this.parts.context.memory.get<Json>(name) as T | undefined;
  }

  private write(name: string, value: unknown): void {
    this.parts.context.memory.set(name, value as Json | undefined);
  }

  private arm(name: string, due: number, call: () => void, since?: number): void {
    this.timers ??= new Map();
    this.timers.get(name)?.cancel();
    this.timers.set(name, this.parts.timeline.at(due, call, since));
  }

  private armHold(member: string, due: number, since?: number): void {
    this.arm(HOLD + member, due, () => this.due(member), since);
  }

  private disarm(name: string): void {
    this.timers?.get(name)?.cancel();
    this.timers?.delete(name);
  }

  // --- throttle and debounce -------------------------------------------------------------------------------------

  private debounceMs(): number | undefined {
    const { debounce } = this.parts.config;
    return debounce === undefined ? undefined : durationMs(debounce);
  }

  private pass(fired: Fired): void {
    const { config, context } = this.parts;
    if (config.throttle !== undefined) {
      const now = context.view.now();
      const last = this.read<number>('throttle');
      if (last !== undefined && now - last < durationMs(config.throttle)) return;
      this.write('throttle', now);
    }
    this.subscriber?.next(fired);
  }

  private settle(): void {
    const quiet = this.read<{ due: number; fired: Fired }>('debounce');
    this.write('debounce', undefined);
    this.disarm('debounce');
    if (!quiet) return;
    const { data, cause, lateMs } = quiet.fired;
    const late = Math.max(lateMs, this.parts.context.view.now() - quiet.due);
    this.pass({ data, cause: after(this.debounceMs() ?? 0, cause), lateMs: late });
  }

  private fire(fired: Fired): void {
    const debounce = this.debounceMs();
    if (debounce === undefined) {
      this.pass(fired);
      return;
    }
    const due = this.parts.context.view.now() + debounce;
    this.write('debounce', { due, fired });
    this.arm('debounce', due, () => this.settle());
  }

  // --- holds -----------------------------------------------------------------------------------------------------

  private holdMs(data: Partial<TriggerData>): number | null {
    const { config, context } = this.parts;
    // Kinds without a level have a `for` of their own meaning.
    if (config.for === undefined || !this.attached?.level) return 0;
    const value = context.value(config.for, data);
    const ms = typeof value === 'number' ? value : typeof value === 'string' ? parseDuration(value) : undefined;
    return ms === undefined || !(ms >= 0) ? null : ms;
  }

  private enter(edge: Enter): void {
    const { context, letGo } = this.parts;
    if (edge.cause && !context.by(edge.cause)) return;
    const ms = this.holdMs(edge.data);
    if (ms === null) {
      letGo('left_state', edge.data, { note: 'for cannot be told' });
      return;
    }
    if (ms === 0) {
      this.fire({ data: edge.data, cause: edge.cause, lateMs: edge.lateMs ?? 0 });
      return;
    }
    const name = HOLD + edge.member;
    if (this.read<Hold>(name) && edge.restart !== true) return;
    const now = context.view.now();
    const hold: Hold = { since: now, due: now + ms, data: edge.data, ...(edge.cause && { cause: edge.cause }) };
    this.write(name, hold);
    this.armHold(edge.member, hold.due);
  }

  private leave(member: string, reason: LetGo): void {
    const name = HOLD + member;
    const hold = this.read<Hold>(name);
    if (!hold) return;
    this.write(name, undefined);
    this.disarm(name);
    this.parts.letGo(hold.overdue && reason === 'left_state' ? 'left_state_while_unavailable' : reason, hold.data);
  }

  private due(member: string): void {
    const name = HOLD + member;
    const hold = this.read<Hold>(name);
    if (!hold) return;
    const level = this.attached?.level ? this.attached.level(member, hold.data) : true;
    if (level === false) {
      this.leave(member, 'left_state');
      return;
    }
    if (level === null) {
      // It waits: when the level is told again it fires late, or lets go.
      if (!hold.overdue) this.write(name, { ...hold, overdue: true });
      this.disarm(name);
      return;
    }
    this.write(name, undefined);
    this.disarm(name);
    this.fire({
      data: hold.data,
      cause: after(hold.due - hold.since, hold.cause),
      lateMs: Math.max(0, this.parts.context.view.now() - hold.due),
    });
  }

  private lookAt(member: string): void {
    const wanted = this.read<boolean>(WANTED + member);
    const dropped = this.read<Partial<TriggerData>>(DROPPED + member);
    const hold = this.read<Hold>(HOLD + member);
    if (!wanted && !dropped && !hold) return;
    const level = this.attached?.level?.(member, hold?.data ?? dropped ?? {}) ?? null;
    if (level === null) return;
    const { isReady, context } = this.parts;
    if (wanted && isReady()) {
      this.write(WANTED + member, undefined);
      if (level === true && this.isMeant(member)) this.enter({ do: 'enter', member, data: this.presentData(member) });
    }
    if (dropped) {
      this.write(DROPPED + member, undefined);
      if (level === true && !hold) this.enter({ do: 'enter', member, data: dropped });
    }
    // Before the snapshots are told a level may still come back to what it was; at ready all are looked at.
    if (hold && level === false) {
      if (isReady()) this.leave(member, 'left_state');
      return;
    }
    // One whose timer is still to come fires by it, in the order of due times.
    if (hold && context.view.now() >= hold.due && isReady() && !this.timers?.has(HOLD + member)) this.due(member);
  }

  private gone(member: string): void {
    if (this.parts.config.unavailable !== 'cancel') return;
    const hold = this.read<Hold>(HOLD + member);
    if (!hold) return;
    this.write(DROPPED + member, hold.data);
    this.leave(member, 'left_state_while_unavailable');
  }

  private isMeant(member: string): boolean {
    return this.attached?.isMeant?.(member) ?? true;
  }

  private presentData(member: string): Partial<TriggerData> {
    const present = this.attached?.members?.().find(one => one.member === member);
    return present?.data ?? (member ? { device: member } : {});
  }

  private onEdge(edge: Edge): void {
    const { isReady, config } = this.parts;
    if (edge.do === 'look') {
      if (edge.gone) this.gone(edge.member);
      else this.lookAt(edge.member);
    } else if (edge.do === 'leave') {
      if (isReady() || edge.reason === 'removed') this.leave(edge.member, edge.reason ?? 'left_state');
      this.lookAt(edge.member);
    } else if (!isReady()) {
      if (config.on_startup === 'compare') (this.compared ??= new Map()).set(edge.member, edge);
    } else {
      this.write(WANTED + edge.member, undefined);
      this.enter(edge);
    }
  }

  // --- what the rule asks of it ------------------------------------------------------------------------------------

  evaluate(): void {
    const { config, context } = this.parts;
    const members = this.attached?.members?.() ?? [];
    for (const name of context.memory.names()) if (name.startsWith(WANTED)) this.write(name, undefined);
    for (const { member, data } of members) if (this.isMeant(member)) this.enter({ do: 'enter', member, data });
    // Those that cannot be told yet count from their first good value.
    for (const member of unknownMembers(this.attached, config, context)) this.write(WANTED + member, true);
  }

  compare(): void {
    // What was told first may have been left again before all had told.
    for (const edge of this.compared?.values() ?? [])
      if (this.attached?.level?.(edge.member, edge.data) === true) this.enter(edge);
    this.compared = undefined;
  }

  look(): void {
    const { config, context } = this.parts;
    for (const name of context.memory.names()) {
      if (name.startsWith(HOLD)) this.lookAt(name.slice(HOLD.length));
      // Told in a snapshot; at a start `evaluate` itself sees to it.
      if (name.startsWith(WANTED) && config.on_startup !== 'evaluate') this.lookAt(name.slice(WANTED.length));
    }
  }

  next(after?: number): Upcoming | null {
    return this.attached?.next?.(after) ?? null;
  }

  drop(reason: LetGo): void {
    for (const name of this.parts.context.memory.names()) {
      if (name.startsWith(HOLD)) this.leave(name.slice(HOLD.length), reason);
      if (name === 'debounce') {
        this.write('debounce', undefined);
        this.disarm('debounce');
      }
    }
  }
}

function unknownMembers(attached: Attached | undefined, config: TriggerConfig, context: TriggerContext): string[] {
  const target = (config as { device?: never }).device;
  if (!attached?.level || target === undefined) return attached?.level?.('', {}) === null ? [''] : [];
  const members = config.match === undefined || config.match === 'any' ? context.view.members(target) : [''];
  return members.filter(member => attached.level?.(member, {}) === null);
}
