// From a firing to a run, or to the reason why there is none. The first reason that applies is reported (FORMATS §2.10).
import type { Cause } from '../model/cause.ts';
import type { ConditionTrace, Refusal, Trace } from '../model/run.ts';
import type { Json } from '../model/value.ts';
import { type Core, type FireRequest, isShadow, keepRuntime, type LiveRule, triggerData } from './core.ts';
import { evaluateCondition, scopeOf } from './evaluate.ts';
import { countRun, type GuardNotice, hintsFor, netTest, pathTest, type Roots, type Suspension } from './guard.ts';
import type { TriggerData } from './kind.ts';
import { admit } from './run/admit.ts';
import type { RunRecord } from './run/record.ts';
import { triggerInfo } from './run/run-trace.ts';
import type { Runs } from './run/runs.ts';
import { scheduleCause } from './trigger-context.ts';

/** A firing with what was found out about it while all rules still saw the same snapshot. */
interface Judged {
  live: LiveRule;
  trigger: TriggerData;
  cause: Cause;
  lateMs: number;
  args: Record<string, Json>;
  caller: string | undefined;
  condition: ConditionTrace | undefined;
  refusal: Refusal | undefined;
}

/** What is asked of a rule beside its triggers: run now, call_rule. */
export interface Demand {
  live: LiveRule;
  trigger: TriggerData;
  cause: Cause;
  args: Record<string, Json>;
  caller?: string;
}

/** Judges firings and starts runs. */
export class Judge {
  private readonly core: Core;
  private readonly runs: Runs;
  private readonly roots: Roots;
  private readonly suspend: (live: LiveRule, suspension: Suspension) => void;

  constructor(core: Core, runs: Runs, roots: Roots, suspend: (live: LiveRule, suspension: Suspension) => void) {
    this.core = core;
    this.runs = runs;
    this.roots = roots;
    this.suspend = suspend;
  }

  /** All that one event fired: conditions on one snapshot first, then the runs by priority and id. */
  fired(requests: readonly FireRequest[]): void {
    const judged = requests.map(request =>
      this.lookSafely({
        live: request.live,
        trigger: triggerData(this.core, request),
        cause: request.fired.cause ?? scheduleCause(this.core, request.live.id),
        lateMs: request.fired.lateMs,
        args: {},
        caller: undefined,
        condition: undefined,
        refusal: undefined,
      }),
    );
    if (judged.length > 1) {
      judged.sort(
        (a, b) =>
          (b.live.rule.priority ?? 0) - (a.live.rule.priority ?? 0) ||
          (a.live.id < b.live.id ? -1 : a.live.id > b.live.id ? 1 : 0),
      );
    }
    for (const one of judged) {
      try {
        this.decide(one);
      } catch (error) {
        this.complain(one, error);
      }
    }
  }

  // A fault in one rule must not keep the others from the event.
  private lookSafely(one: Judged): Judged {
    try {
      return this.look(one);
    } catch (error) {
      this.complain(one, error);
      one.condition = undefined;
      one.refusal = 'unknown';
      return one;
    }
  }

  private complain({ live, trigger }: { live: LiveRule; trigger: TriggerData }, error: unknown): void {
    const shown = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.core.log.error({ rule: live.id, trigger: trigger.id, error: shown }, 'a rule could not be judged or started');
  }

  /** A run that somebody asks for. */
  demand(demand: Demand): { run?: RunRecord; refused?: Refusal } {
    const { live, trigger, cause, args, caller } = demand;
    const one: Judged = { live, trigger, cause, lateMs: 0, args, caller, condition: undefined, refusal: undefined };
    return this.decide(this.look(one));
  }

  /** Fills in what the conditions say on the present snapshot. */
  private look(one: Judged): Judged {
    const { core } = this;
    const { live, cause } = one;
    const refuse = (refusal: Refusal, condition?: ConditionTrace) => {
      one.condition = condition;
      one.refusal = refusal;
      return one;
    };
    if (core.gate.panic) return refuse('panic');
    if (live.runtime.suspended) return refuse('suspended');
    if (cause.contradicts && cause.path.some(step => step.rule === live.id)) return refuse('contradicts');
    const local = { trigger: one.trigger, args: one.args, vars: initialVars(live), names: live.bindings };
    if (live.rule.while) {
      const trace = evaluateCondition(live.rule.while, 'while', live.view, core.expressions, local);
      if (trace.met === false) return refuse('while', trace);
    }
    if (!live.rule.condition) return one;
    const condition = evaluateCondition(live.rule.condition, 'condition', live.view, core.expressions, local);
    if (condition.met !== true) return refuse(condition.met === null ? 'unknown' : 'condition', condition);
    one.condition = condition;
    return one;
  }

  private decide(one: Judged): { run?: RunRecord; refused?: Refusal } {
    const { core } = this;
    const { live, cause, trigger } = one;
    const now = core.timeline.now();
    live.runtime.lastTriggered = core.iso(now);
    if (one.refusal) return this.refuse(one, one.refusal);
    // One fired before it in this batch may have suspended it.
    if (live.runtime.suspended) return this.refuse(one, 'suspended');
    const on = ranUpon(trigger);
    const path = pathTest(
      live.id,
      on,
      cause,
      cause.path.length === 0 ? 0 : this.roots.add(cause.root, now),
      core.settings.guard,
    );
    if (!path.ok && path.reason === 'guard') {
      this.trip(live, path.cycle, path.message);
      return this.refuse(one, 'guard', path.message);
    }
    const net = netTest(live.window, live.rule, cause, now, core.settings.guard);
    if (!net.ok) {
      if (net.reason === 'guard') {
        this.trip(live, net.cycle, net.message);
        return this.refuse(one, 'guard', net.message);
      }
      this.throttle(live, net);
      return this.refuse(one, 'throttled', net.message);
    }
    const key = this.keyOf(live, one);
    const admission = admit([...live.runs.values()], key, live.mode);
    if (admission.do === 'refuse') return this.refuse(one, admission.reason);
    if (admission.do === 'replace')
      for (const id of admission.runs) this.runs.stop(id, 'replaced', 'a newer run took its place');
    if (admission.do === 'queue' && admission.drop !== undefined) this.dropWaiting(live, admission.drop);
    countRun(live.window, cause, now);
    const run = this.runs.start(
      live,
      {
        trigger,
        cause,
        on,
        key,
        args: one.args,
        lateMs: one.lateMs,
        condition: one.condition,
        caller: one.caller,
      },
      admission.do === 'queue',
    );
    core.tx.afterCommit(() => core.sinks.onRule(live.id, 'triggered', run.id));
    return { run };
  }

  private keyOf(live: LiveRule, one: Judged): string {
    const source = live.rule.mode?.key;
    if (source === undefined) return '';
    const result = this.core.expressions.evaluate(
      source,
      undefined,
      scopeOf(live.view, { trigger: one.trigger, args: one.args }),
    );
    return result.ok ? JSON.stringify(result.value) : '';
  }

  private dropWaiting(live: LiveRule, id: string): void {
    const { core } = this;
    const dropped = this.runs.unqueue(id);
    if (!dropped) return;
    live.runtime.refused++;
    const trace: Trace = { ...this.runs.traceOf(dropped), outcome: 'refused', reason: 'overflow' };
    core.tx.afterCommit(() => core.sinks.onTrace(trace));
  }

  private refuse(one: Judged, reason: Refusal, note?: string): { refused: Refusal } {
    const { core } = this;
    const { live, trigger, condition } = one;
    live.runtime.refused++;
    keepRuntime(core, live, false);
    const trace: Trace = {
      run: core.ids(),
      rule: live.id,
      revision: live.revision,
      trigger: trigger.id,
      triggerInfo: triggerInfo(trigger),
      at: core.iso(core.timeline.now()),
      outcome: 'refused',
      reason,
      lateMs: one.lateMs,
      ...(condition && { condition }),
      by: one.cause.by,
      cause: one.cause,
      ...(note !== undefined && { note }),
      ...(isShadow(live) && { shadow: true }),
      steps: [],
    };
    core.tx.afterCommit(() => core.sinks.onTrace(trace));
    this.runs.tellRule(live, 'refused', reason, one.cause);
    return { refused: reason };
  }

  private trip(live: LiveRule, cycle: GuardNotice['cycle'], message: string): void {
    const { core } = this;
    this.suspend(live, {
      reason: 'loop',
      at: core.iso(core.timeline.now()),
      message,
      cycle,
      hints: hintsFor(cycle),
    });
  }

  private throttle(live: LiveRule, net: { notice: boolean; suspend: boolean; message: string }): void {
    const { core } = this;
    const at = core.iso(core.timeline.now());
    const hints = [
      'if the rule is meant to be busy, set its limits: { runs, per }',
      'else let it wait for quiet with debounce, or pass less with throttle',
    ];
    if (net.suspend) {
      this.suspend(live, {
        reason: live.rule.limits?.on_exceed === 'suspend' ? 'limits' : 'storm',
        at,
        message: net.message,
        cycle: [],
        hints,
      });
      return;
    }
    if (!net.notice) return;
    const notice: GuardNotice = {
      rule: live.id,
      reason: 'storm',
      suspended: false,
      at,
      message: net.message,
      cycle: [],
      hints,
    };
    core.tx.afterCommit(() => {
      core.sinks.onGuard(notice);
      core.sinks.onRule(live.id, 'throttled', net.message);
    });
  }
}

/** What a run ran upon, as the path of causes names it. */
function ranUpon(trigger: TriggerData): string {
  if (trigger.topic !== undefined) return `topic ${trigger.topic}=${JSON.stringify(trigger.payload ?? null)}`;
  if (trigger.device !== undefined)
    return `${trigger.device}/${trigger.attribute ?? trigger.command ?? ''}=${JSON.stringify(trigger.value ?? trigger.args ?? null)}`;
  if (trigger.rule !== undefined) return `rule ${trigger.rule}=${trigger.outcome ?? ''}`;
  if (trigger.type === 'call_rule') return `call ${JSON.stringify(trigger.args ?? null)}`;
  return `${trigger.type}${trigger.attribute === undefined ? '' : ` ${trigger.attribute}`}=${JSON.stringify(trigger.value ?? null)}`;
}

function initialVars(live: LiveRule): Record<string, Json> {
  const vars: Record<string, Json> = {};
  for (const [name, { initial, persist }] of Object.entries(live.rule.variables ?? {})) {
    if (!persist) vars[name] = (initial ?? null) as Json;
  }
  return vars;
}
