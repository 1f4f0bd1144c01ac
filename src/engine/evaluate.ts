// Evaluating: conditions with their traces, expressions in their scope, and levels that are watched.
import { Observable, type Subscription } from 'rxjs';
import { asCausewayError, CausewayError } from '../lib/errors.ts';
import {
  compileExpression,
  compileTemplate,
  type Evaluation as Evaluated,
  type Expected,
  type Expression,
  hasTemplate,
  type Scope,
  type Template,
} from '../lib/expression.ts';
import { memoByObject } from '../lib/memo.ts';
import { HORIZON, sunPosition } from '../lib/time/sun-position.ts';
import type { Cause } from '../model/cause.ts';
import type { Event } from '../model/event.ts';
import type { ConditionTrace } from '../model/run.ts';
import type { Json } from '../model/value.ts';
import { conditions } from './conditions/index.ts';
import type { ConditionConfig, ConditionContext, Dynamic, TriggerData } from './kind.ts';
import { keys, type Signals } from './signals.ts';
import type { Timeline, Timer } from './timeline.ts';
import type { EngineView } from './view.ts';

const MAX_COMPILED = 50_000;

/** Compiled expressions and templates by source: rules that say the same share it. */
export class Expressions {
  private readonly compiled = new Map<string, Expression>();
  private readonly templates = new Map<string, Template>();

  /** @throws EXPRESSION_INVALID */
  get(source: string, expect: Expected = 'any', bindings: readonly string[] = []): Expression {
    const key = `${expect} ${bindings.join(' ')}\n${source}`;
    let expression = this.compiled.get(key);
    if (!expression) {
      expression = compileExpression(source, { expect, bindings: [...bindings] });
      if (this.compiled.size >= MAX_COMPILED) this.compiled.clear();
      this.compiled.set(key, expression);
    }
    return expression;
  }

  /** The value of a source in a scope. One that does not compile (a file that was let in with a finding) has none. */
  evaluate(source: string, names: readonly string[] | undefined, scope: Scope): Evaluated {
    try {
      return this.get(source, 'any', names).evaluate(scope);
    } catch (error) {
      return { ok: false, error: asCausewayError(error).message };
    }
  }

  /** @throws EXPRESSION_INVALID */
  template(source: string, bindings: readonly string[] = []): Template {
    const key = `${bindings.join(' ')}\n${source}`;
    let template = this.templates.get(key);
    if (!template) {
      template = compileTemplate(source, { bindings: [...bindings] });
      if (this.templates.size >= MAX_COMPILED) this.templates.clear();
      this.templates.set(key, template);
    }
    return template;
  }
}

/** What an evaluation inside a run knows beyond the view. */
export interface Local {
  trigger?: TriggerData | undefined;
  args?: Readonly<Record<string, Json>> | undefined;
  repeat?: { index: number; item?: Json } | undefined;
  bindings?: Readonly<Record<string, Json>> | undefined;
  /** All names that the rule binds anywhere: one not bound yet has no value, but is no mistake. */
  names?: readonly string[] | undefined;
  /** The run's own variables, before the rule's and the house's. */
  vars?: Readonly<Record<string, Json>> | undefined;
}

const NOTHING_TOLD = { device: null, attribute: null, value: null, previous: null };

/** The scope of CEL over a view. */
export function scopeOf(view: EngineView, local: Local): Scope {
  const { trigger } = local;
  return {
    // What a kind has nothing to say of is null; only what belongs to other kinds is absent (`has(trigger.payload)`).
    ...(trigger && { trigger: { ...NOTHING_TOLD, ...trigger, at: Date.parse(trigger.at) } }),
    ...(local.args && { args: local.args }),
    ...(local.repeat && { repeat: local.repeat }),
    ...(local.bindings && { bindings: local.bindings }),
    vars: name => (local.vars && Object.hasOwn(local.vars, name) ? local.vars[name] : view.variable(name)?.value),
    get mode() {
      const { value } = view.mode();
      return typeof value === 'string' ? value : null;
    },
    get now() {
      return view.wall();
    },
    get sun() {
      if (!view.place) return undefined;
      const position = sunPosition(view.wall(), view.place as never);
      return { ...position, up: position.elevation > HORIZON };
    },
    timezone: view.zone,
    state: (device, attribute) => view.good(device, attribute)?.value ?? null,
    attr(device, attribute) {
      const reading = view.reading(device, attribute);
      const isReachable = view.availability(device) === 'online';
      if (!reading)
        return { value: null, quality: isReachable ? 'unknown' : 'unavailable', lastChanged: null, lastReported: null };
      return {
        value: reading.value,
        quality: isReachable ? reading.quality : 'unavailable',
        lastChanged: view.toWall(reading.lastChanged),
        lastReported: view.toWall(reading.lastReported),
      };
    },
  } as Scope;
}

/** The value of a dynamic field; undefined where it cannot be told. Literals are themselves. */
export function dynamicValue(
  dynamic: Dynamic,
  expressions: Expressions,
  view: EngineView,
  local: Local,
): Json | undefined {
  if (dynamic !== null && typeof dynamic === 'object' && !Array.isArray(dynamic) && typeof dynamic.expr === 'string') {
    const result = expressions.evaluate(dynamic.expr, local.names, scopeOf(view, local));
    return result.ok ? result.value : undefined;
  }
  if (typeof dynamic === 'string' && hasTemplate(dynamic)) return templateText(dynamic, expressions, view, local);
  return dynamic as Json;
}

/** @throws EXPRESSION_INVALID when an expression in it has no result */
export function templateText(text: string, expressions: Expressions, view: EngineView, local: Local): string {
  if (!hasTemplate(text)) return text;
  const result = expressions.template(text, local.names).evaluate(scopeOf(view, local));
  if (result.ok) return result.text;
  throw new CausewayError('EXPRESSION_INVALID', `“${text}”: ${result.error}`);
}

/** Whether a value of a rule is the same at every evaluation. */
const isConstant = memoByObject((value: object): boolean =>
  Object.entries(value).every(([key, item]) => {
    if (typeof item === 'string') return key !== 'expr' && !hasTemplate(item);
    return item === null || typeof item !== 'object' || isConstant(item);
  }),
);

/** All `{ expr }` and `{{ … }}` inside a value. @throws EXPRESSION_INVALID */
export function deepValue(value: Json, expressions: Expressions, view: EngineView, local: Local): Json {
  if (value !== null && typeof value === 'object' && isConstant(value)) return value;
  if (typeof value === 'string') return templateText(value, expressions, view, local);
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(item => deepValue(item, expressions, view, local));
  if (typeof value.expr === 'string' && Object.keys(value).length === 1) {
    const result = expressions.evaluate(value.expr, local.names, scopeOf(view, local));
    if (result.ok) return result.value as Json;
    throw new CausewayError('EXPRESSION_INVALID', `${value.expr}: ${result.error}`);
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, deepValue(item, expressions, view, local)]),
  );
}

/** Whether a maker fits a `by` filter. */
export function madeBy(filter: string, cause: Cause | null): boolean {
  if (filter.startsWith('not:')) return !madeBy(filter.slice(4), cause);
  const by = cause?.by ?? 'device';
  return filter === 'rule' ? by.startsWith('rule:') : by === filter;
}

/** One evaluation of a condition, with when it may become otherwise by time alone. */
class Evaluation implements ConditionContext {
  /** Engine time. */
  recheck = Number.POSITIVE_INFINITY;
  readonly view: EngineView;
  readonly trigger: TriggerData | undefined;
  private readonly expressions: Expressions;
  private readonly local: Local;

  constructor(view: EngineView, expressions: Expressions, local: Local) {
    this.view = view;
    this.expressions = expressions;
    this.local = local;
    this.trigger = local.trigger;
  }

  evaluate(condition: ConditionConfig, path: string): ConditionTrace {
    const result = conditions.get(condition.type).evaluate(condition, this, path);
    return { path, type: condition.type, ...result };
  }

  expression(source: string): { met: boolean | null; note?: string } {
    if (/\b(now|sun)\b/.test(source)) this.recheckAtWall(nextMinute(this.view.wall()));
    const result = this.expressions.evaluate(source, this.local.names, scopeOf(this.view, this.local));
    if (!result.ok) return { met: null, note: result.error };
    if (typeof result.value === 'boolean') return { met: result.value };
    return { met: null, note: `it is ${JSON.stringify(result.value)}, neither true nor false` };
  }

  // Handed on as a function by the kinds with bounds.
  readonly value = (dynamic: Dynamic): Json | undefined =>
    dynamicValue(dynamic, this.expressions, this.view, this.local);

  recheckAt(at: number): void {
    this.recheck = Math.min(this.recheck, at);
  }

  recheckAtWall(wall: number): void {
    this.recheckAt(this.view.now() + (wall - this.view.wall()));
  }

  by(filter: string, cause: Cause | null): boolean {
    return madeBy(filter, cause);
  }
}

/** The next full minute of the wall, epoch ms. */
export const nextMinute = (wall: number): number => (Math.floor(wall / 60_000) + 1) * 60_000;

/** Evaluates a condition once. */
export const evaluateCondition = (
  condition: ConditionConfig,
  path: string,
  view: EngineView,
  expressions: Expressions,
  local: Local,
): ConditionTrace => new Evaluation(view, expressions, local).evaluate(condition, path);

/** Subscribes to a key as it stands in `View.touched`. */
const signalOf = (signals: Signals, key: string): Observable<Event> =>
  key.startsWith('t|') ? signals.topic(key.slice(2)) : signals.on(key);

/** What a watched level reads with. */
export interface Watching {
  readonly signals: Signals;
  readonly timeline: Timeline;
  readonly expressions: Expressions;
}

/**
 * Looks now, and again whenever something that was read changes or the time comes at which it may be otherwise.
 * `look` gets the set to record keys in, and what made it look again if that is an event, and returns a value and when to look again (engine time).
 */
export function watched<T>(
  watching: Watching,
  look: (touched: Set<string>, news?: Event) => { value: T; recheck: number },
): Observable<T> {
  return new Observable<T>(subscriber => {
    let subscriptions = new Map<string, Subscription>();
    let timer: Timer | undefined;
    let looking: Subscription | undefined;
    const again = (news?: Event) => {
      timer?.cancel();
      const touched = new Set<string>();
      const { value, recheck } = look(touched, news);
      const kept = new Map<string, Subscription>();
      for (const key of touched)
        kept.set(key, subscriptions.get(key) ?? signalOf(watching.signals, key).subscribe(event => again(event)));
      for (const [key, subscription] of subscriptions) if (!touched.has(key)) subscription.unsubscribe();
      subscriptions = kept;
      if (!looking) looking = watching.signals.look$.subscribe(() => again());
      if (Number.isFinite(recheck)) timer = watching.timeline.at(recheck, () => again());
      subscriber.next(value);
    };
    again();
    return () => {
      timer?.cancel();
      looking?.unsubscribe();
      for (const subscription of subscriptions.values()) subscription.unsubscribe();
    };
  });
}

/** The trace of a condition, now and whenever it may have changed. */
export function watchCondition(
  condition: ConditionConfig,
  path: string,
  view: EngineView,
  watching: Watching,
  local: () => Local,
): Observable<ConditionTrace> {
  return watched(watching, touched => {
    const evaluation = new Evaluation(view, watching.expressions, local());
    // A selector's members come and go.
    touched.add(keys.device('*'));
    view.touched = touched;
    try {
      return { value: evaluation.evaluate(condition, path), recheck: evaluation.recheck };
    } finally {
      view.touched = undefined;
    }
  });
}
