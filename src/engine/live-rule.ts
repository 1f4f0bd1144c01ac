// From a rule to something that listens: its triggers attached, with their durable memory.
import { distinctUntilChanged, EMPTY, filter, map, merge, Observable, Subject, Subscription } from 'rxjs';
import { digest } from '../lib/json.ts';
import type { Cause } from '../model/cause.ts';
import type { LetGo, Ternary, Trace } from '../model/run.ts';
import type { Target } from '../model/target.ts';
import type { Json } from '../model/value.ts';
import type { Authority, Core, LiveRule, LiveTrigger, RuleRuntime } from './core.ts';
import { dynamicValue, madeBy, nextMinute, scopeOf, watched } from './evaluate.ts';
import { guardWindow } from './guard.ts';
import type { Dynamic, Memory, TriggerConfig, TriggerContext, TriggerData } from './kind.ts';
import { type Rule, triggerId } from './rules/schema.ts';
import type { Mode } from './run/admit.ts';
import { bindingsOf, bodyOf } from './run/body.ts';
import { keys } from './signals.ts';
import { triggers } from './triggers/index.ts';
import { pipelineOf } from './triggers/pipeline.ts';
import { EngineView } from './view.ts';

/** What triggers of a rule remember, as loaded: `<trigger>/<hash>` → name → value. */
export type Memories = Map<string, Map<string, Json>>;

/** The mode with its defaults. */
export const modeOf = (rule: Rule): Mode => ({
  type: rule.mode?.type ?? 'single',
  max: rule.mode?.max ?? 10,
  overflow: rule.mode?.overflow ?? 'drop_newest',
});

/** What a trigger means: everything but its name, and the zone it reckons in. */
const meaningOf = (rule: Rule, config: TriggerConfig): string => {
  const { id: _id, enabled: _enabled, ...meaning } = config;
  return digest({ ...meaning, timezone: rule.timezone ?? null });
};

/** A rule that does not listen yet. */
export function liveRule(
  core: Core,
  rule: Rule,
  revision: number,
  authority: Authority,
  runtime: RuleRuntime,
): LiveRule {
  const own: LiveRule['own'] = new Map();
  const body = bodyOf(rule);
  return {
    id: rule.id,
    rule,
    revision,
    authority,
    body,
    bindings: bindingsOf(body),
    view: new EngineView(core, rule.id, rule.timezone ?? undefined, name => own.get(name)),
    mode: modeOf(rule),
    triggers: [],
    detach: () => {},
    runs: new Map(),
    runtime,
    own,
    window: guardWindow(),
    older: new Map(),
  };
}

/** Puts a new revision in the place of the old one; what it remembers and its runs stay. */
export function replaceRule(core: Core, live: LiveRule, rule: Rule, revision: number, authority: Authority): void {
  if ([...live.runs.values()].some(run => run.revision === live.revision)) {
    live.older.set(live.revision, { rule: live.rule, body: live.body, bindings: live.bindings });
  }
  live.rule = rule;
  live.revision = revision;
  live.authority = authority;
  live.body = bodyOf(rule);
  live.bindings = bindingsOf(live.body);
  live.mode = modeOf(rule);
  live.view = new EngineView(core, rule.id, rule.timezone ?? undefined, name => live.own.get(name));
}

/** Persisted own variables begin with their initial values. */
export function declareOwn(core: Core, live: LiveRule): void {
  for (const [name, { initial, persist }] of Object.entries(live.rule.variables ?? {})) {
    if (persist && !live.own.has(name))
      live.own.set(name, { value: (initial ?? null) as Json, lastChanged: core.timeline.now() });
  }
  for (const name of live.own.keys()) {
    if (live.rule.variables?.[name]?.persist) continue;
    live.own.delete(name);
    core.tx.put('variables', `${live.id}/${name}`, undefined);
  }
}

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

/** Attaches all triggers. What they emit is collected in `core.fires`. A fault in one ends nothing else. */
export function attach(core: Core, live: LiveRule, attaching: Attaching): void {
  const subscription = new Subscription();
  live.triggers = [];
  const wanted = new Set<string>();
  for (const [index, config] of live.rule.triggers.entries()) {
    const id = triggerId(live.rule, index);
    const hash = meaningOf(live.rule, config);
    if (config.enabled === false) continue;
    const slot = `${id}/${hash}`;
    wanted.add(slot);
    const memory = memoryOf(core, live.id, slot, attaching.memories);
    const context = contextOf(core, live, id, config, memory, attaching);
    const pipeline = pipelineOf({
      config,
      kind: triggers.get(config.type),
      context,
      timer: (due, call, since) => core.timeline.at(due, call, since),
      letGo: (reason, data, details) => attaching.letGo(live, id, reason, data, details),
      isReady: core.isReady,
    });
    const trigger: LiveTrigger = { id, index, config, hash, pipeline };
    live.triggers.push(trigger);
    subscription.add(
      pipeline.fired$.subscribe({
        next: fired => core.fires.push({ live, trigger, fired }),
        error: error =>
          core.log.error(
            { rule: live.id, trigger: id, error: String(error) },
            'a trigger failed and is silent until the rule is saved again',
          ),
      }),
    );
  }
  // What was remembered for a meaning that is no more.
  for (const [slot, names] of attaching.memories) {
    if (wanted.has(slot)) continue;
    attaching.memories.delete(slot);
    for (const [name, value] of names) {
      core.tx.put('memory', `${live.id}/${slot}/${name}`, undefined);
      if (name.startsWith('h:'))
        attaching.letGo(
          live,
          slot.slice(0, slot.indexOf('/')),
          'trigger_edited',
          (value as { data: Partial<TriggerData> }).data,
        );
    }
  }
  live.detach = () => {
    subscription.unsubscribe();
    live.detach = () => {};
  };
}

/** Forgets all that the triggers remember, letting go of holds. */
export function forget(core: Core, live: LiveRule, memories: Memories, reason: LetGo): void {
  for (const trigger of live.triggers) trigger.pipeline.drop(reason);
  live.detach();
  live.triggers = [];
  for (const [slot, names] of memories) {
    for (const name of names.keys()) core.tx.put('memory', `${live.id}/${slot}/${name}`, undefined);
  }
  memories.clear();
}

function memoryOf(core: Core, rule: string, slot: string, memories: Memories): Memory {
  return {
    get: <T extends Json>(name: string) => memories.get(slot)?.get(name) as T | undefined,
    set(name, value) {
      let names = memories.get(slot);
      if (value === undefined) {
        if (!names?.delete(name)) return;
      } else {
        if (!names) memories.set(slot, (names = new Map()));
        names.set(name, value);
      }
      core.tx.put('memory', `${rule}/${slot}/${name}`, value);
    },
    names: () => [...(memories.get(slot)?.keys() ?? [])],
  };
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

function contextOf(
  core: Core,
  live: LiveRule,
  id: string,
  config: TriggerConfig,
  memory: Memory,
  attaching: Attaching,
): TriggerContext {
  const { view } = live;
  const local = (data?: Partial<TriggerData>) => ({
    ...(data && { trigger: { type: config.type, ...data, id, at: core.iso(core.timeline.now()) } }),
  });
  const evaluateExpression = (source: string): Ternary => {
    const result = core.expressions.evaluate(source, undefined, scopeOf(view, {}));
    return result.ok && typeof result.value === 'boolean' ? result.value : null;
  };
  return {
    view,
    id,
    memory,
    signal: key => core.signals.on(key),
    topic: filter => core.signals.topic(filter),
    variable: name =>
      core.signals.on(live.rule.variables?.[name]?.persist ? keys.own(live.id, name) : keys.variable(name)),
    each: (target, of) => eachMember(core, target, of),
    timer: due => timerOf(call => core.timeline.at(due, () => call(due))),
    wallTimer: due => timerOf(call => core.timeline.atWall(due, () => call(due))),
    reschedule$: attaching.reschedule$,
    value: (dynamic, data) => dynamicValue(dynamic, core.expressions, view, local(data)),
    changes: dynamic => changesOf(core, live, dynamic),
    expression(source) {
      const { names } = core.expressions.get(source, 'bool');
      const events$ = merge(
        ...names.states.map(({ device, attribute }) =>
          core.signals.on(keys.attribute(view.resolve(device), attribute)),
        ),
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
      return { truth: () => (isTold() ? evaluateExpression(source) : null), changes$: merge(events$, minutes$) };
    },
    nested(inner, name) {
      const context = contextOf(core, live, id, inner, prefixed(memory, `${name}.`), attaching);
      const pipeline = pipelineOf({
        config: inner,
        kind: triggers.get(inner.type),
        context,
        timer: (due, call, since) => core.timeline.at(due, call, since),
        letGo: () => {},
        isReady: core.isReady,
      });
      return pipeline.fired$.pipe(
        map(({ data, cause }) => ({
          data: { type: inner.type, ...data, id: inner.id ?? name, at: core.iso(core.timeline.now()) },
          cause: cause ?? scheduleCause(core, live.id),
        })),
      );
    },
    by: cause => config.by === undefined || madeBy(config.by, cause),
    note: (reason, { at, note }) => attaching.letGo(live, id, reason, {}, { at: core.timeline.fromWall(at), note }),
  };
}

/** A trigger attached for a wait of a run, whose record keeps what it remembers. */
export function waitTrigger(core: Core, live: LiveRule, config: TriggerConfig, name: string, memory: Memory) {
  const attaching: Attaching = { memories: new Map(), reschedule$: new Subject(), letGo: () => {} };
  return contextOf(core, live, name, config, memory, attaching).nested(config, name);
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
function eachMember<T>(core: Core, target: Target, of: (device: string) => Observable<T>): Observable<T> {
  return new Observable<T>(subscriber => {
    const members = new Map<string, Subscription>();
    const follow = () => {
      const wanted = new Set(core.devices.members(target));
      for (const [device, subscription] of members) {
        if (wanted.has(device)) continue;
        subscription.unsubscribe();
        members.delete(device);
      }
      for (const device of wanted) if (!members.has(device)) members.set(device, of(device).subscribe(subscriber));
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

/** Emits when what a dynamic field reads changes. */
function changesOf(core: Core, live: LiveRule, dynamic: Dynamic): Observable<void> {
  const { view } = live;
  return watched(core, touched => {
    view.touched = touched;
    try {
      return {
        value: JSON.stringify(dynamicValue(dynamic, core.expressions, view, {}) ?? null),
        recheck: Number.POSITIVE_INFINITY,
      };
    } finally {
      view.touched = undefined;
    }
  }).pipe(
    distinctUntilChanged(),
    filter((_, index) => index > 0),
    map(() => undefined),
  );
}

/** A trace of a trigger that let go. */
export function letGoTrace(
  core: Core,
  live: LiveRule,
  trigger: string,
  reason: LetGo,
  data: Partial<TriggerData>,
  details: { at?: number; lateMs?: number; note?: string } = {},
): Trace {
  return {
    run: core.ids(),
    rule: live.id,
    revision: live.revision,
    trigger,
    triggerInfo: {
      id: trigger,
      type: data.type ?? '',
      ...(data.device !== undefined && { device: data.device }),
      ...(data.attribute !== undefined && { attribute: data.attribute }),
      ...(data.value !== undefined && { value: data.value }),
    },
    at: core.iso(core.timeline.now()),
    outcome: 'cancelled',
    reason,
    ...(details.lateMs !== undefined && { lateMs: details.lateMs }),
    ...(details.note !== undefined && { note: details.note }),
    steps: [],
  };
}
