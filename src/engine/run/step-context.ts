// What a step may do, bound to its run: reading the present, and effects that belong to the turn.
import { CausewayError } from '../../lib/errors.ts';
import type { ConditionTrace } from '../../model/run.ts';
import type { Json } from '../../model/value.ts';
import type { Core, LiveRule } from '../core.ts';
import { deepValue, dynamicValue, evaluateCondition, type Local, templateText } from '../evaluate.ts';
import { captureScene, changed, fitted, setHouseVariable, setMode, setOwnVariable } from '../house-changes.ts';
import type { ConditionConfig, Dynamic, OutgoingEffect, StepContext, TriggerData } from '../kind.ts';
import type { EngineView } from '../view.ts';
import { setVariable } from './interpreter.ts';
import type { RunRecord, Thread } from './record.ts';

/** What steps ask of the table of runs and of the rules. */
export interface RunServices {
  startRule(rule: string, args: Record<string, Json>, by: RunRecord, wait: boolean): { id?: string; refused?: string };
  controlRule(rule: string, what: 'enable' | 'disable' | 'resume' | 'cancel_runs', by: RunRecord): void;
  cancelNamed(run: RunRecord, name: string | undefined): number;
  /** Sets the mode where a backend owns it; undefined where the house does. */
  modeOwner(): { device: string; command: string } | undefined;
}

/** What an evaluation inside a thread sees beside the present. */
export function localOf(run: RunRecord, thread: Thread | undefined, live: LiveRule): Local {
  // Of the round that has just ended, for the condition after it; else of the list around.
  const frame = thread?.frames.at(-1);
  const repeat = frame?.step?.repeat ?? frame?.repeat;
  return {
    trigger: run.trigger,
    args: run.args,
    bindings: thread?.bindings ? { ...run.bindings, ...thread.bindings } : run.bindings,
    names: (live.older.get(run.revision) ?? live).bindings,
    vars: thread?.vars ?? run.vars,
    ...(repeat && { repeat }),
  };
}

/** The context of a step, bound to its run. `isLast`: a step of `finally`, whose commands panic does not hold back. */
export class RunStep implements StepContext {
  readonly view: EngineView;
  readonly path: string;
  private readonly core: Core;
  private readonly services: RunServices;
  private readonly live: LiveRule;
  private readonly record: RunRecord;
  private readonly thread: Thread | undefined;
  private readonly isLast: boolean;
  private readonly local: Local;

  constructor(
    { core, services }: { core: Core; services: RunServices },
    live: LiveRule,
    run: RunRecord,
    thread: Thread | undefined,
    path: string,
    isLast = false,
  ) {
    this.core = core;
    this.services = services;
    this.live = live;
    this.view = live.view;
    this.record = run;
    this.thread = thread;
    this.path = path;
    this.isLast = isLast;
    this.local = localOf(run, thread, live);
  }

  get rule(): string {
    return this.live.id;
  }

  get run(): string {
    return this.record.id;
  }

  get trigger(): TriggerData {
    return this.record.trigger;
  }

  get shadow(): boolean {
    return this.record.shadow;
  }

  get attempt(): number {
    return this.thread?.frames.at(-1)?.step?.attempt ?? 1;
  }

  value(dynamic: Dynamic): Json | undefined {
    return dynamicValue(dynamic, this.core.expressions, this.view, this.local);
  }

  text(template: string): string {
    return templateText(template, this.core.expressions, this.view, this.local);
  }

  deep(value: Json): Json {
    return deepValue(value, this.core.expressions, this.view, this.local);
  }

  evaluate(condition: ConditionConfig, path: string): ConditionTrace {
    return evaluateCondition(condition, path, this.view, this.core.expressions, this.local);
  }

  command(request: Parameters<StepContext['command']>[0]): ReturnType<StepContext['command']> {
    const { core, live, record: run } = this;
    const submission = core.gate.submit(core.tx, {
      cause: run.out,
      ...request,
      rule: live.id,
      authorised: live.authority.devices,
      shadow: run.shadow,
      last: this.isLast,
    });
    if (submission.error?.code === 'BUDGET') tellBudget(core, live, submission.error.message);
    return {
      id: submission.id,
      outcome: submission.outcome,
      error: submission.error,
      retryable: submission.idempotent !== false,
    };
  }

  effect(effect: OutgoingEffect): { id: string; outcome: 'sent' | 'shadow' } {
    const { core, record: run } = this;
    const id = core.ids();
    const { root } = core.surroundings;
    if (effect.type === 'publish' && root !== undefined && `${effect.topic}/`.startsWith(`${root}/`)) {
      throw new CausewayError('FORBIDDEN', `${effect.topic} is one of the gateway’s own topics`, {
        hint: 'use command, set_variable, set_mode or control_rule',
      });
    }
    if (run.shadow) return { id, outcome: 'shadow' };
    const once = effect.type !== 'publish';
    if (once || effect.qos > 0) core.tx.put('outbox', id, { kind: 'effect', effect, cause: run.out, once });
    core.tx.afterCommit(() => core.sinks.onEffect(id, effect, run.out));
    return { id, outcome: 'sent' };
  }

  setVariable(name: string, change: Parameters<StepContext['setVariable']>[1]): 'done' | 'shadow' {
    const { core, live, record: run, thread } = this;
    const declared = (live.older.get(run.revision) ?? live).rule.variables?.[name];
    if (declared?.persist) {
      setOwnVariable(core, live, name, change, run.out, declared.type);
      return 'done';
    }
    if (declared) {
      const old = (thread?.vars ?? run.vars)[name] ?? null;
      setVariable(run, thread, name, fitted(name, changed(name, old, change), declared.type));
      return 'done';
    }
    if (run.shadow) return 'shadow';
    if (!live.authority.house)
      throw new CausewayError('FORBIDDEN', `whoever saved ${live.id} may not set variables of the house`);
    setHouseVariable(core, name, change, run.out);
    return 'done';
  }

  setMode(mode: string): ReturnType<StepContext['setMode']> {
    const { core, live, record: run } = this;
    core.house.checkMode(mode);
    if (run.shadow) return { id: '', outcome: 'shadow' };
    if (!live.authority.house) throw new CausewayError('FORBIDDEN', `whoever saved ${live.id} may not set the mode`);
    if (core.house.mode.value === mode) return { id: '', outcome: 'unchanged' };
    const owner = this.services.modeOwner();
    if (!owner) {
      setMode(core, mode, run.out);
      return { id: '', outcome: 'done' };
    }
    const submission = core.gate.submit(core.tx, {
      ...owner,
      args: { mode },
      cause: run.out,
      rule: live.id,
      authorised: live.authority.devices,
      last: this.isLast,
    });
    if (submission.error) throw submission.error;
    return { id: submission.id, outcome: submission.outcome === 'sent' ? 'sent' : 'unchanged' };
  }

  captureScene(name: string, devices: readonly string[]): void {
    if (!this.record.shadow) captureScene(this.core, name, devices);
  }

  scene(name: string, from: 'capture' | 'house'): ReturnType<StepContext['scene']> {
    return from === 'capture' ? this.core.scenes.get(name) : this.core.surroundings.scenes[name];
  }

  startRule(rule: string, args: Record<string, Json>, wait: boolean): ReturnType<StepContext['startRule']> {
    return this.record.shadow ? {} : this.services.startRule(rule, args, this.record, wait);
  }

  controlRule(rule: string, what: Parameters<StepContext['controlRule']>[1]): void {
    const { live, record: run } = this;
    if (run.shadow) return;
    if (!live.authority.rules) throw new CausewayError('FORBIDDEN', `whoever saved ${live.id} may not control rules`);
    this.services.controlRule(rule, what, run);
  }

  cancel(name: string | undefined): number {
    return this.services.cancelNamed(this.record, name);
  }

  log(level: Parameters<StepContext['log']>[0], message: string): void {
    const { core, live, record: run } = this;
    core.tx.afterCommit(() => core.sinks.onLog({ rule: live.id, run: run.id, level, message }));
  }
}

const BUDGET_MS = 60_000;

/** A device gets no more commands of rules for now: the rule is throttled, and that is told once in a stretch. */
function tellBudget(core: Core, live: LiveRule, message: string): void {
  const now = core.timeline.now();
  const isTold = now < live.window.budgetUntil;
  live.window.budgetUntil = now + BUDGET_MS;
  if (isTold) return;
  const hints = ['command the device less often', 'or raise guard.device_commands'];
  const notice = {
    rule: live.id,
    reason: 'budget',
    suspended: false,
    at: core.iso(now),
    message,
    cycle: [],
    hints,
  } as const;
  core.tx.afterCommit(() => {
    core.sinks.onGuard(notice);
    core.sinks.onRule(live.id, 'throttled', message);
  });
}
