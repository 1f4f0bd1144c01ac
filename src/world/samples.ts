// What can only be told at its moment: how a rule stands, and what the clock will start next.
import { nextOccurrences } from '../engine/next.ts';
import { type RuleStatus, statusOf } from '../engine/rule-status.ts';
import type { Expect } from './scenario-expect.ts';
import type { World } from './world.ts';

/** What was found at the moment of an expectation. */
export interface Sample {
  readonly status?: RuleStatus;
  /** Elapsed ms. */
  readonly lastTriggered?: number;
  readonly lastRun?: number;
  /** Epoch ms; undefined where there is no such trigger. */
  readonly next?: readonly number[];
}

/** Whether an expectation is about its moment. */
export const needsSample = ({ next, rule }: Expect): boolean => next !== undefined || rule !== undefined;

/** Looks now. */
export function sampleOf(world: World, { next, rule }: Expect): Sample {
  const engine = world.last;
  const id = next?.rule ?? rule ?? '';
  const live = engine?.live.get(id);
  if (!engine || !live) return {};
  if (next) {
    const index = live.rule.triggers.findIndex((one, place) => (one.id ?? `t${place + 1}`) === (next.trigger ?? 't1'));
    if (index < 0) return {};
    const trigger = live.triggers.find(one => one.index === index);
    const wanted = next.is === null ? 1 : [next.is].flat().length;
    return { next: trigger ? nextOccurrences(trigger, wanted).map(({ at }) => at) : [] };
  }
  const { lastTriggered, lastRun } = live.runtime;
  return {
    status: statusOf(engine.core, live),
    ...(lastTriggered !== undefined && { lastTriggered: world.elapsedAt(lastTriggered) }),
    ...(lastRun !== undefined && { lastRun: world.elapsedAt(lastRun) }),
  };
}
