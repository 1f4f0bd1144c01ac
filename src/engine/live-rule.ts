// From a rule to something that listens: its triggers attached, with their durable memory.
import { Subscription } from 'rxjs';
import { digest } from '../lib/json.ts';
import type { LetGo, Trace } from '../model/run.ts';
import type { Json } from '../model/value.ts';
import type { Authority, Core, LiveRule, LiveTrigger, RuleRuntime } from './core.ts';
import { guardWindow } from './guard.ts';
import type { TriggerConfig, TriggerData } from './kind.ts';
import { type Rule, triggerId } from './rules/schema.ts';
import type { Mode } from './run/admit.ts';
import { bindingsOf, bodyOf } from './run/body.ts';
import { type Attaching, LiveContext, type Memories, StoredMemory } from './trigger-context.ts';
import { triggers } from './triggers/index.ts';
import { pipelineOf } from './triggers/pipeline.ts';
import { EngineView } from './view.ts';

/** The mode with its defaults. */
const modeOf = (rule: Rule): Mode => ({
  type: rule.mode?.type ?? 'single',
  max: rule.mode?.max ?? 10,
  overflow: rule.mode?.overflow ?? 'drop_newest',
});

/** What a trigger means: everything but its name, and the zone it reckons in. */
const meaningOf = (rule: Rule, config: TriggerConfig): string => {
  const { id: _id, enabled: _enabled, ...meaning } = config;
  return digest({ ...meaning, timezone: isZoned(config) ? (rule.timezone ?? null) : null });
};

const ZONED = new Set(['time', 'cron', 'sun', 'expression']);

/** Whether a trigger, or one inside it, goes by the rule's zone. */
function isZoned(config: TriggerConfig): boolean {
  const { of, without, steps } = config as TriggerConfig & Record<string, unknown>;
  const inner = [of, without, steps].flat().filter(one => one !== undefined) as TriggerConfig[];
  return ZONED.has(config.type) || inner.some(isZoned);
}

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
    const memory = new StoredMemory(core, live.id, slot, attaching.memories);
    const pipeline = pipelineOf({
      config,
      kind: triggers.get(config.type),
      context: new LiveContext(core, live, id, config, memory, attaching),
      timeline: core.timeline,
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
