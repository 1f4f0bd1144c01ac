// What a step may do, bound to its run: reading the present, and effects that belong to the turn.
import { CausewayError } from '../../lib/errors.ts';
import type { Json } from '../../model/value.ts';
import type { Core, LiveRule } from '../core.ts';
import { deepValue, dynamicValue, evaluateCondition, type Local, templateText } from '../evaluate.ts';
import { captureScene, changed, setHouseVariable, setMode, setOwnVariable } from '../house-changes.ts';
import type { OutgoingEffect, StepContext } from '../kind.ts';
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
    bindings: run.bindings,
    names: (live.older.get(run.revision) ?? live).bindings,
    vars: thread?.vars ?? run.vars,
    ...(repeat && { repeat }),
  };
}

/** Binds the context of a step. `last` is a step of `finally`: panic does not hold its commands back. */
export function stepContext(
  core: Core,
  services: RunServices,
  live: LiveRule,
  run: RunRecord,
  thread: Thread | undefined,
  path: string,
  last = false,
): StepContext {
  const { view } = live;
  const local = localOf(run, thread, live);
  const leave = (effect: OutgoingEffect, durable: boolean): { id: string; outcome: 'sent' | 'shadow' } => {
    const id = core.ids();
    const { root } = core.surroundings;
    if (effect.type === 'publish' && root !== undefined && `${effect.topic}/`.startsWith(`${root}/`)) {
      throw new CausewayError('FORBIDDEN', `${effect.topic} is one of the gateway’s own topics`, {
        hint: 'use command, set_variable, set_mode or control_rule',
      });
    }
    if (run.shadow) return { id, outcome: 'shadow' };
    const once = effect.type !== 'publish';
    if (durable) core.tx.put('outbox', id, { kind: 'effect', effect, cause: run.out, once });
    core.tx.afterCommit(() => core.sinks.onEffect(id, effect, run.out));
    return { id, outcome: 'sent' };
  };
  return {
    view,
    path,
    rule: live.id,
    run: run.id,
    trigger: run.trigger,
    shadow: run.shadow,
    attempt: thread?.frames.at(-1)?.step?.attempt ?? 1,
    value: dynamic => dynamicValue(dynamic, core.expressions, view, local),
    text: template => templateText(template, core.expressions, view, local),
    deep: value => deepValue(value, core.expressions, view, local),
    evaluate: (condition, at) => evaluateCondition(condition, at, view, core.expressions, local),
    command(request) {
      const submission = core.gate.submit(core.tx, {
        cause: run.out,
        ...request,
        rule: live.id,
        authorised: live.authority.devices,
        shadow: run.shadow,
        last,
      });
      if (submission.error?.code === 'BUDGET') tellBudget(core, live, submission.error.message);
      return {
        id: submission.id,
        outcome: submission.outcome,
        error: submission.error,
        retryable: submission.idempotent !== false,
      };
    },
    effect: effect => leave(effect, effect.type !== 'publish' || effect.qos > 0),
    setVariable(name, change) {
      const declared = live.rule.variables?.[name];
      if (declared?.persist) {
        setOwnVariable(core, live, name, change, run.out);
        return 'done';
      }
      if (declared) {
        const old = (thread?.vars ?? run.vars)[name] ?? null;
        setVariable(run, thread, name, changed(name, old, change));
        return 'done';
      }
      if (run.shadow) return 'shadow';
      if (!live.authority.house)
        throw new CausewayError('FORBIDDEN', `whoever saved ${live.id} may not set variables of the house`);
      setHouseVariable(core, name, change, run.out);
      return 'done';
    },
    setMode(mode) {
      core.house.checkMode(mode);
      if (run.shadow) return { id: '', outcome: 'shadow' };
      if (!live.authority.house) throw new CausewayError('FORBIDDEN', `whoever saved ${live.id} may not set the mode`);
      if (core.house.mode.value === mode) return { id: '', outcome: 'unchanged' };
      const owner = services.modeOwner();
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
        last,
      });
      if (submission.error) throw submission.error;
      return { id: submission.id, outcome: submission.outcome === 'sent' ? 'sent' : 'unchanged' };
    },
    captureScene(name, devices) {
      if (!run.shadow) captureScene(core, name, devices);
    },
    scene: (name, from) => (from === 'capture' ? core.scenes.get(name) : core.surroundings.scenes[name]),
    startRule: (rule, args, wait) => (run.shadow ? {} : services.startRule(rule, args, run, wait)),
    controlRule(rule, what) {
      if (run.shadow) return;
      if (!live.authority.rules) throw new CausewayError('FORBIDDEN', `whoever saved ${live.id} may not control rules`);
      services.controlRule(rule, what, run);
    },
    cancel: name => services.cancelNamed(run, name),
    log(level, message) {
      core.tx.afterCommit(() => core.sinks.onLog({ rule: live.id, run: run.id, level, message }));
    },
  };
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
