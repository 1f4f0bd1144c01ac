// What the laws share: how many runs they take, and worlds that live through a scenario made by chance.
import type { Parameters } from 'fast-check';
import type { Json } from '../../src/lib/json.ts';
import { blockText } from '../../src/lib/yaml-text.ts';
import { readScenario, runScenario } from '../../src/world/run.ts';
import type { World } from '../../src/world/world.ts';

/**
 * How a law is tried. The short form of the suite always takes the same examples; with `LAW_RUNS=5000` so many, others
 * each time; `LAW_SEED` repeats those of a failure.
 */
export function tried(shortRuns: number): Parameters<unknown> {
  const { LAW_RUNS, LAW_SEED } = process.env;
  const seed = LAW_SEED ?? (LAW_RUNS === undefined ? '1' : undefined);
  return { numRuns: Number(LAW_RUNS ?? shortRuns), ...(seed !== undefined && { seed: Number(seed) }) };
}

/** A law of the long form may take its time. */
export const LAW_TIMEOUT_MS = process.env.LAW_RUNS === undefined ? 30_000 : 24 * 3_600_000;

/** A time of the timeline. */
export const ms = (time: number): string => `${time}ms`;

/** Lives through a scenario; whatever it could not do is an error of the law. */
export async function live(scenario: object): Promise<World> {
  const { failures, world } = await runScenario(readScenario({ expect: [], ...scenario }));
  if (!world || failures.length > 0) throw new Error(`${failures.join('\n')}\n${shown(scenario)}`);
  return world;
}

/** A scenario as its file would stand, for the report of a failure. */
export const shown = (scenario: object): string => `\n${blockText(scenario as Json, true)}`;

/** When runs of a rule started (elapsed ms), in their order. */
export const runsOf = (world: World, rule: string): number[] =>
  world.seen.runs.filter(run => run.fields.rule === rule).map(run => run.at);
