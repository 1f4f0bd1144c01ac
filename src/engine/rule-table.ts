// The engine's rules: putting, removing, enabling, suspending. All of it happens inside a turn.
import type { Subject } from 'rxjs';
import { durationMs } from '../lib/duration.ts';
import { CausewayError } from '../lib/errors.ts';
import { didYouMean } from '../lib/text.ts';
import type { LetGo } from '../model/run.ts';
import type { Json } from '../model/value.ts';
import { referencesOf } from './analysis/references.ts';
import { type Authority, type Core, isEnabled, keepRuntime, type LiveRule, type RuleRuntime } from './core.ts';
import { type GuardNotice, guardWindow, type Suspension } from './guard.ts';
import type { TriggerConfig, TriggerData } from './kind.ts';
import { attach, declareOwn, forget, letGoTrace, liveRule, replaceRule } from './live-rule.ts';
import type { Rule } from './rules/schema.ts';
import type { Runs } from './run/runs.ts';
import type { Memories } from './trigger-context.ts';

/** A fresh runtime side. */
const freshRuntime = (): RuleRuntime => ({ runs: 0, refused: 0, failed: 0 });

/** When it resumes by itself, in engine time; an earlier form of the record has the wall's stamp alone. */
const dueOf = ({ timeline }: Core, { resumeDue, resumeAt }: Suspension): number | undefined =>
  resumeDue ?? (resumeAt === undefined ? undefined : timeline.fromWall(Date.parse(resumeAt)));

/** Topics whose payload a trigger compares with the one before, or watches for a while. */
const comparedTopics = (triggers: readonly TriggerConfig[]): string[] =>
  triggers.flatMap(config => {
    const {
      type,
      topic,
      from,
      to,
      above,
      below,
      for: held,
      ...rest
    } = config as typeof config & Record<string, unknown>;
    const inner = [rest.of, rest.without, rest.steps].flat().filter(one => one !== undefined) as TriggerConfig[];
    if (inner.length > 0) return comparedTopics(inner);
    const compares = [from, to, above, below, held].some(field => field !== undefined);
    return type === 'mqtt' && typeof topic === 'string' && compares ? [topic] : [];
  });

/** The table of live rules. */
export class RuleTable {
  private readonly core: Core;
  private readonly runs: Runs;
  private readonly reschedule$: Subject<{ stepMs: number }>;
  private readonly memories = new Map<string, Memories>();
  private readonly resumeTimers = new Map<string, { cancel(): void }>();
  /** Rule → topic filters whose last payloads it looks at. */
  private readonly topics = new Map<string, readonly string[]>();
  /** Rule → all topic filters of the outside that it looks at. */
  private readonly listened = new Map<string, string[]>();

  constructor(core: Core, runs: Runs, reschedule$: Subject<{ stepMs: number }>) {
    this.core = core;
    this.runs = runs;
    this.reschedule$ = reschedule$;
  }

  /** @throws RULE_NOT_FOUND */
  require(id: string): LiveRule {
    const live = this.core.rules.get(id);
    if (live) return live;
    throw new CausewayError('RULE_NOT_FOUND', `there is no rule "${id}"`, {
      hint: didYouMean(id, this.core.rules.keys()),
    });
  }

  /** What triggers remembered when the process ended, from rows `<rule>/<trigger>/<hash>/<name>`. */
  loadMemories(rows: ReadonlyMap<string, Json>): void {
    for (const [key, value] of rows) {
      const [rule = '', trigger = '', hash = '', ...name] = key.split('/');
      let mine = this.memories.get(rule);
      if (!mine) this.memories.set(rule, (mine = new Map()));
      const slot = `${trigger}/${hash}`;
      let names = mine.get(slot);
      if (!names) mine.set(slot, (names = new Map()));
      names.set(name.join('/'), value);
    }
  }

  private keepTopics(rule: string, filters: readonly string[]): void {
    this.core.signals.keepTopics(filters, this.topics.get(rule) ?? []);
    if (filters.length > 0) this.topics.set(rule, filters);
    else this.topics.delete(rule);
  }

  /** All topic filters of the outside that rules look at. */
  listenedTopics(): string[] {
    return [...new Set([...this.listened.values()].flat())];
  }

  /** Memories of rules that are no more. */
  dropOrphans(): void {
    for (const [rule, memories] of this.memories) {
      if (this.core.rules.has(rule)) continue;
      this.core.log.warn({ rule }, 'what the triggers of a rule that is no more remembered is dropped');
      for (const [slot, names] of memories)
        for (const name of names.keys()) this.core.tx.put('memory', `${rule}/${slot}/${name}`, undefined);
      this.memories.delete(rule);
    }
  }

  private memoriesOf(id: string): Memories {
    let mine = this.memories.get(id);
    if (!mine) this.memories.set(id, (mine = new Map()));
    return mine;
  }

  /** Adds a rule or puts a new revision in its place. */
  put(
    rule: Rule,
    revision: number,
    authority: Authority,
    runtime: RuleRuntime = freshRuntime(),
    own?: ReadonlyMap<string, Json>,
  ): LiveRule {
    const { core } = this;
    let live = core.rules.get(rule.id);
    const isNew = live === undefined;
    if (live) {
      const cancels = rule.on_update === 'cancel';
      if (cancels) for (const id of [...live.runs.keys()]) this.runs.stop(id, 'cancelled', 'the rule was updated');
      live.detach();
      replaceRule(core, live, rule, revision, authority);
    } else {
      live = liveRule(core, rule, revision, authority, runtime);
      for (const [name, entry] of own ?? []) live.own.set(name, entry as never);
      core.rules.set(rule.id, live);
    }
    declareOwn(core, live);
    const listened = referencesOf(rule).topics.filter(topic => topic.part !== 'publish');
    this.listened.set(
      rule.id,
      listened.map(topic => topic.topic),
    );
    this.keepTopics(rule.id, [
      ...listened.filter(topic => topic.part === 'condition').map(topic => topic.topic),
      ...comparedTopics(rule.triggers),
    ]);
    if (isEnabled(live)) this.attach(live);
    else this.halt(live, 'disabled', true);
    const resumeDue = runtime.suspended && dueOf(core, runtime.suspended);
    if (resumeDue !== undefined && isNew) this.resumeLater(live, resumeDue);
    return live;
  }

  private attach(live: LiveRule): void {
    attach(this.core, live, { memories: this.memoriesOf(live.id), reschedule$: this.reschedule$, letGo: this.letGo });
  }

  /** Attaches all triggers anew: names, rooms or the zone have changed. What they remember stays. */
  attachAll(): void {
    for (const live of this.core.rules.values()) {
      if (!isEnabled(live)) continue;
      live.detach();
      this.attach(live);
    }
  }

  private readonly letGo = (
    live: LiveRule,
    trigger: string,
    reason: LetGo,
    data: Partial<TriggerData>,
    details?: { at?: number; lateMs?: number; note?: string },
  ): void => {
    const trace = letGoTrace(this.core, live, trigger, reason, data, details);
    this.core.tx.afterCommit(() => this.core.sinks.onTrace(trace));
  };

  /** Stops listening; what was held is let go. */
  private halt(live: LiveRule, reason: LetGo, endRuns: boolean): void {
    forget(this.core, live, this.memoriesOf(live.id), reason);
    if (!endRuns) return;
    for (const id of [...live.runs.keys()])
      this.runs.stop(id, 'cancelled', reason === 'removed' ? 'the rule was deleted' : 'disabled');
  }

  remove(id: string): void {
    const { core } = this;
    const live = this.require(id);
    this.halt(live, 'removed', true);
    core.rules.delete(id);
    this.memories.delete(id);
    this.keepTopics(id, []);
    this.listened.delete(id);
    this.resumeTimers.get(id)?.cancel();
    for (const name of live.own.keys()) core.tx.put('variables', `${id}/${name}`, undefined);
    core.tx.put('rules', id, undefined);
    core.tx.afterCommit(() => core.sinks.onRule(id, 'deleted'));
  }

  /** A run-time override of `enabled`; undefined gives the word back to the file. */
  override(id: string, value: boolean | 'shadow' | undefined): void {
    const live = this.require(id);
    const was = isEnabled(live);
    if (value === undefined || value === (live.rule.enabled ?? true)) delete live.runtime.override;
    else live.runtime.override = value;
    keepRuntime(this.core, live, true);
    this.follow(live, was);
  }

  /** After `enabled` may have changed: begins or ends to listen. */
  private follow(live: LiveRule, was: boolean): void {
    const { core } = this;
    const is = isEnabled(live);
    if (was && !is) this.halt(live, 'disabled', live.rule.on_disable !== 'finish');
    if (!was && is) {
      this.attach(live);
      if (live.rule.on_enable === 'evaluate') for (const trigger of live.triggers) trigger.pipeline.evaluate();
    }
    core.tx.afterCommit(() => core.sinks.onRule(live.id, is ? 'enabled' : 'disabled'));
  }

  /** Puts a new revision of a rule whose `enabled` may differ. */
  update(rule: Rule, revision: number, authority: Authority): LiveRule {
    const known = this.core.rules.get(rule.id);
    const was = known ? isEnabled(known) : undefined;
    // Who saves `enabled` means it: an override of before ends.
    if (known && (known.rule.enabled ?? true) !== (rule.enabled ?? true)) {
      delete known.runtime.override;
      keepRuntime(this.core, known, true);
    }
    if (known && was === true && (known.runtime.override ?? rule.enabled ?? true) === false) {
      const runsFinish = rule.on_disable === 'finish';
      if (!runsFinish) for (const id of [...known.runs.keys()]) this.runs.stop(id, 'cancelled', 'disabled');
      forget(this.core, known, this.memoriesOf(rule.id), 'disabled');
    }
    const live = this.put(rule, revision, authority);
    if (was === false && isEnabled(live) && rule.on_enable === 'evaluate')
      for (const trigger of live.triggers) trigger.pipeline.evaluate();
    this.core.tx.afterCommit(() => this.core.sinks.onRule(rule.id, was === undefined ? 'created' : 'updated'));
    return live;
  }

  suspend(live: LiveRule, suspension: Suspension): void {
    const { core } = this;
    const after = live.rule.limits?.resume_after;
    const resumeAt = after === undefined ? undefined : core.timeline.now() + durationMs(after);
    live.runtime.suspended = {
      ...suspension,
      ...(resumeAt !== undefined && { resumeAt: core.iso(resumeAt), resumeDue: resumeAt }),
    };
    keepRuntime(core, live, true);
    for (const id of [...live.runs.keys()]) this.runs.stop(id, 'cancelled', 'suspended');
    if (resumeAt !== undefined) this.resumeLater(live, resumeAt);
    const notice: GuardNotice = {
      rule: live.id,
      reason: suspension.reason === 'loop' ? 'loop' : 'storm',
      suspended: true,
      at: suspension.at,
      message: suspension.message,
      cycle: suspension.cycle,
      hints: suspension.hints,
    };
    core.tx.afterCommit(() => core.sinks.onGuard(notice));
    this.runs.tellRule(live, 'suspended', suspension.reason, {
      root: core.ids(),
      parent: null,
      depth: 0,
      path: [],
      origin: { kind: 'system' },
      by: 'system',
    });
  }

  private resumeLater(live: LiveRule, due: number): void {
    this.resumeTimers.get(live.id)?.cancel();
    this.resumeTimers.set(
      live.id,
      this.core.timeline.at(due, () => {
        if (this.core.rules.get(live.id) === live && live.runtime.suspended) this.resume(live.id);
      }),
    );
  }

  /** A suspended rule runs again. */
  resume(id: string): void {
    const { core } = this;
    const live = this.require(id);
    if (!live.runtime.suspended) return;
    delete live.runtime.suspended;
    Object.assign(live.window, guardWindow());
    keepRuntime(core, live, true);
    this.resumeTimers.get(id)?.cancel();
    core.tx.afterCommit(() => core.sinks.onRule(id, 'resumed'));
  }
}
