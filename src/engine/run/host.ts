// What the interpreter asks of the engine, for the runs of one rule. Made for each move of a run: hence a class, whose
// methods cost nothing to make.
import { dynamicMs } from '../actions/delay.ts';
import type { Core, LiveRule } from '../core.ts';
import { slowed } from '../guard.ts';
import type { StepConfig, StepContext } from '../kind.ts';
import type { Host } from './interpreter.ts';
import type { Body, RunRecord, Thread } from './record.ts';
import { type RunServices, RunStep } from './step-context.ts';
import type { Waits } from './waits.ts';

const STEPS = 1000;

/** The revision of the rule that a run follows. */
export const formOf = (run: RunRecord, live: LiveRule) => live.older.get(run.revision) ?? live;

/** What a host is made of. */
export interface HostParts {
  readonly core: Core;
  readonly services: RunServices;
  readonly waits: Waits;
}

/** The host of a rule's runs. */
export class RunHost implements Host {
  private readonly parts: HostParts;
  private readonly live: LiveRule;

  constructor(parts: HostParts, live: LiveRule) {
    this.parts = parts;
    this.live = live;
  }

  now(): number {
    return this.parts.core.timeline.now();
  }

  iso(at: number): string {
    return this.parts.core.iso(at);
  }

  context(run: RunRecord, thread: Thread | undefined, path: string, isLast = false): StepContext {
    return new RunStep(this.parts, this.live, run, thread, path, isLast);
  }

  body(run: RunRecord): Body {
    return formOf(run, this.live).body;
  }

  maxSteps(run: RunRecord): number {
    return formOf(run, this.live).rule.limits?.steps ?? STEPS;
  }

  timeoutOf(step: StepConfig, context: StepContext): number | undefined {
    try {
      return step.timeout === undefined ? undefined : dynamicMs(step.timeout, context);
    } catch {
      return undefined;
    }
  }

  waits(run: RunRecord, thread: Thread): void {
    this.parts.waits.begin(run, this.live, thread);
  }

  unwaits(run: RunRecord, thread: Thread): void {
    this.parts.waits.end(run, thread);
  }

  listens(run: RunRecord, thread: Thread): void {
    this.parts.waits.listenWithin(run, this.live, thread);
  }

  limits(run: RunRecord, thread: Thread, depth: number, due: number): void {
    this.parts.waits.limit(run, thread, depth, due);
  }

  slow(run: RunRecord): void {
    run.out = slowed(run.out);
  }
}
