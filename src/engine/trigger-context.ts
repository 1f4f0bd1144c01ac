// What a trigger may see and ask for: the streams it listens to, the present, and its durable memory.
import { distinctUntilChanged, EMPTY, filter, map, merge, Observable, Subject, type Subscription } from 'rxjs';
import type { Cause } from '../model/cause.ts';
import type { Event } from '../model/event.ts';
import type { LetGo, Ternary } from '../model/run.ts';
import type { Target } from '../model/target.ts';
import type { Json } from '../model/value.ts';
import type { Core, LiveRule } from './core.ts';
import { dynamicValue, madeBy, nextMinute, scopeOf, watched } from './evaluate.ts';
import type { Dynamic, Memory, TriggerConfig, TriggerContext, TriggerData } from './kind.ts';
import { keys } from './signals.ts';
import { applyLog } from './system-logs.ts';
import { triggers } from './triggers/index.ts';
import { pipelineOf } from './triggers/pipeline.ts';
import type { EngineView } from './view.ts';

/** What triggers of a rule remember, as loaded: `<trigger>/<hash>` → name → value. */
export type Memories = Map<string, Map<string, Json>>;

/** How the rule's triggers attach, and what of their memory goes on. */
export interface Attaching {
  memories: Memories;
  reschedule$: Subject<{ stepMs: number }>;
  /** A trigger let go of what it held. */
  letGo(
    live: LiveRule,
    trigger: string,
    reason: LetGo,
    data: Partial<TriggerData>,
    details?: { at?: number; lateMs?: number; note?: string },
  ): void;
}

const WARN_EVERY_MS = 3_600_000;

/** What a trigger remembers, in the store as `<rule>/<slot>/<name>`. Classes here: a house has thousands of them. */
export class StoredMemory implements Memory {
  private readonly core: Core;
  private readonly rule: string;
  private readonly slot: string;
  private readonly memories: Memories;

  constructor(core: Core, rule: string, slot: string, memories: Memories) {
    this.core = core;
    this.rule = rule;
    this.slot = slot;
    this.memories = memories;
  }

  get<T extends Json>(name: string): T | undefined {
    return this.memories.get(this.slot)?.get(name) as T | undefined;
  }

  set(name: string, value: Json | undefined): void {
    let names = this.memories.get(this.slot);
    if (value === undefined) {
      if (!names?.delete(name)) return;
    } else {
      if (!names) this.memories.set(this.slot, (names = new Map()));
      names.set(name, value);
    }
    this.core.tx.put('memory', `${this.rule}/${this.slot}/${name}`, value);
  }

  names(): string[] {
    return [...(this.memories.get(this.slot)?.keys() ?? [])];
  }
}

const prefixed = (memory: Memory, prefix: string): Memory => ({
  get: <T extends Json>(name: string) => memory.get<T>(prefix + name),
  set: (name, value) => memory.set(prefix + name, value),
  names: () =>
    memory
      .names()
      .filter(name => name.startsWith(prefix))
      .map(name => name.slice(prefix.length)),
});

/** The context of a trigger of a live rule. */
export class LiveContext implements TriggerContext {
  readonly view: EngineView;
  readonly id: string;
  readonly memory: Memory;
  private readonly core: Core;
  private readonly live: LiveRule;
  private readonly config: TriggerConfig;
  private readonly attaching: Attaching;
  private warnedAt = Number.NEGATIVE_INFINITY;

  constructor(core: Core, live: LiveRule, id: string, config: TriggerConfig, memory: Memory, attaching: Attaching) {
    this.core = core;
    this.live = live;
    this.view = live.view;
    this.id = id;
    this.config = config;
    this.memory = memory;
    this.attaching = attaching;
  }

  get reschedule$(): Observable<{ stepMs: number }> {
    return this.attaching.reschedule$;
  }

  signal(key: string): Observable<Event> {
    return this.core.signals.on(key);
  }

  topic(filter: string): Observable<Event> {
    return this.core.signals.topic(filter);
  }

  variable(name: string): Observable<Event> {
    const isOwn = this.live.rule.variables?.[name]?.persist;
    return this.core.signals.on(isOwn ? keys.own(this.live.id, name) : keys.variable(name));
  }

  each<T>(target: Target, of: (device: string) => Observable<T>, left?: (device: string) => T): Observable<T> {
    return eachMember(this.core, target, of, left);
  }

  timer(due: number): Observable<number> {
    return timerOf(call => this.core.timeline.at(due, () => call(due)));
  }

  wallTimer(due: number): Observable<number> {
    return timerOf(call => this.core.timeline.atWall(due, () => call(due)));
  }

  // Handed on as a function by the kinds with bounds.
  readonly value = (dynamic: Dynamic, data?: Partial<TriggerData>): Json | undefined => {
    const { core, config, id } = this;
    const trigger = data && { type: config.type, ...data, id, at: core.iso(core.timeline.now()) };
    return dynamicValue(dynamic, core.expressions, this.view, { trigger });
  };

  changes(dynamic: Dynamic): Observable<Event | undefined> {
    return changesOf(this.core, this.live, dynamic);
  }

  expression(source: string): ReturnType<TriggerContext['expression']> {
    const { core, live, view } = this;
    const { names } = core.expressions.get(source, 'bool');
    const events$ = merge(
      ...names.states.map(({ device, attribute }) => core.signals.on(keys.attribute(view.resolve(device), attribute))),
      ...names.states.map(({ device }) => core.signals.on(keys.availability(view.resolve(device)))),
      ...names.variables.map(name =>
        merge(core.signals.on(keys.variable(name)), core.signals.on(keys.own(live.id, name))),
      ),
      ...(names.mode ? [core.signals.on(keys.mode)] : []),
    );
    const minutes$: Observable<undefined> = names.now || names.sun ? everyMinute(core) : EMPTY;
    // A value that cannot be relied on makes it unknown, unless the expression itself asks for that.
    const asksForNull = /\bnull\b|\battr\s*\(|\bnum\s*\(/.test(source);
    const isTold = () => asksForNull || names.states.every(({ device, attribute }) => view.good(device, attribute));
    const truth = (): Ternary => {
      if (!isTold()) return null;
      const result = core.expressions.evaluate(source, undefined, scopeOf(view, {}));
      return result.ok && typeof result.value === 'boolean' ? result.value : null;
    };
    return { truth, changes$: merge(events$, minutes$) };
  }

  nested(inner: TriggerConfig, name: string): ReturnType<TriggerContext['nested']> {
    const { core, live, id, memory, attaching } = this;
    const pipeline = pipelineOf({
      config: inner,
      kind: triggers.get(inner.type),
      context: new LiveContext(core, live, id, inner, prefixed(memory, `${name}.`), attaching),
      timeline: core.timeline,
      letGo: () => {},
      isReady: core.isReady,
    });
    return pipeline.fired$.pipe(
      map(({ data, cause }) => ({
        data: { type: inner.type, ...data, id: inner.id ?? name, at: core.iso(core.timeline.now()) },
        cause: cause ?? scheduleCause(core, live.id),
      })),
    );
  }

  by(cause: Cause | null): boolean {
    return this.config.by === undefined || madeBy(this.config.by, cause);
  }

  note(reason: 'late', { at, note }: { at: number; note: string }): void {
    this.attaching.letGo(this.live, this.id, reason, {}, { at: this.core.timeline.fromWall(at), note });
  }

  warn(message: string): void {
    const now = this.view.now();
    if (now - this.warnedAt < WARN_EVERY_MS) return;
    this.warnedAt = now;
    const { id } = this.live;
    applyLog(this.core, 'house', {
      type: 'log',
      device: `rule:${id}`,
      level: 'warn',
      message: `${this.id}: ${message}`,
    });
  }
}

/** A trigger attached for a wait of a run, whose record keeps what it remembers. */
export function waitTrigger(core: Core, live: LiveRule, config: TriggerConfig, name: string, memory: Memory) {
  const attaching: Attaching = { memories: new Map(), reschedule$: new Subject(), letGo: () => {} };
  return new LiveContext(core, live, name, config, memory, attaching).nested(config, name);
}

/** The cause of what the clock starts. */
export function scheduleCause(core: Core, rule: string): Cause {
  const id = core.ids();
  return { root: id, parent: null, depth: 0, path: [], origin: { kind: 'schedule', ref: rule }, by: 'system' };
}

const timerOf = (arm: (call: (due: number) => void) => { cancel(): void }) =>
  new Observable<number>(subscriber => {
    const timer = arm(due => {
      subscriber.next(due);
      subscriber.complete();
    });
    return () => timer.cancel();
  });

const everyMinute = (core: Core): Observable<undefined> =>
  new Observable<undefined>(subscriber => {
    let timer: { cancel(): void };
    const arm = () => {
      timer = core.timeline.atWall(nextMinute(core.timeline.wall()), () => {
        arm();
        subscriber.next(undefined);
      });
    };
    arm();
    return () => timer.cancel();
  });

/** Merges a stream per member, and follows the membership of selectors and aliases. */
function eachMember<T>(
  core: Core,
  target: Target,
  of: (device: string) => Observable<T>,
  left?: (device: string) => T,
): Observable<T> {
  return new Observable<T>(subscriber => {
    const members = new Map<string, Subscription>();
    // An observer of its own: a subscriber that is handed on is the same one, and would end all with one member.
    const each = { next: (value: T) => subscriber.next(value), error: (error: unknown) => subscriber.error(error) };
    const follow = () => {
      const wanted = new Set(core.devices.members(target));
      for (const [device, subscription] of members) {
        if (wanted.has(device)) continue;
        subscription.unsubscribe();
        members.delete(device);
        if (left) subscriber.next(left(device));
      }
      for (const device of wanted) if (!members.has(device)) members.set(device, of(device).subscribe(each));
    };
    follow();
    // Only a selector or an alias can come to mean other devices.
    const isFixed =
      (typeof target === 'string' || Array.isArray(target)) &&
      [target].flat().every(ref => ref.includes(':') && core.devices.resolve(ref) === ref);
    const changes = isFixed ? undefined : core.devices.changed$.subscribe(follow);
    return () => {
      changes?.unsubscribe();
      for (const subscription of members.values()) subscription.unsubscribe();
    };
  });
}

/** Emits when what a dynamic field reads changes, with the event that did it. */
function changesOf(core: Core, live: LiveRule, dynamic: Dynamic): Observable<Event | undefined> {
  const { view } = live;
  return watched(core, (touched, news) => {
    view.touched = touched;
    try {
      return {
        value: { text: JSON.stringify(dynamicValue(dynamic, core.expressions, view, {}) ?? null), news },
        recheck: Number.POSITIVE_INFINITY,
      };
    } finally {
      view.touched = undefined;
    }
  }).pipe(
    distinctUntilChanged((a, b) => a.text === b.text),
    filter((_, index) => index > 0),
    map(({ news }) => news),
  );
}
