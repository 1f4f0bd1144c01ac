// What the laws share: how many runs they take, and worlds that live through a scenario made by chance.
import type { Parameters } from 'fast-check';
import { requireRule } from '../../src/engine/rules/schema.ts';
import type { Json } from '../../src/lib/json.ts';
import type { Log } from '../../src/lib/log.ts';
import { blockText } from '../../src/lib/yaml-text.ts';
import { type MemoryStore, memoryStore } from '../../src/store/memory.ts';
import { apply } from '../../src/world/entries.ts';
import { readScenario, runScenario } from '../../src/world/run.ts';
import { World } from '../../src/world/world.ts';

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
export const LAW_TIMEOUT_MS = process.env.LAW_RUNS === undefined ? 120_000 : 24 * 3_600_000;

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

// --- worlds that die ---------------------------------------------------------------------------------------------------

/** A command as it left the gate. One sent again after a crash has the id of the first. */
export interface Sent {
  at: number;
  id: string;
  /** The run that sent it. */
  run: string | null;
  device: string;
  command: string;
  args: unknown;
}

/** A kill in the middle of a turn: at its commit, before the store took it or before its effects were released. */
export interface Death {
  commit: number;
  when: 'before' | 'after';
}

/** What came of a driven world. */
export interface Driven {
  world: World;
  sent: Sent[];
  /** The moment of each full commit, in their order. */
  commits: number[];
}

/** The world of a scenario, not begun. */
export function worldOf(input: object, options: { store?: MemoryStore; log?: Log } = {}): World {
  const scenario = readScenario({ expect: [], ...input });
  const rules = scenario.rules.map(body => ({ body: body as Json, rule: requireRule(body) }));
  return new World(scenario, { rules, ...options });
}

/** Lives through a scenario with a death in the midst of a turn, after which the engine starts again at once. */
export async function drive(input: object, death?: Death): Promise<Driven> {
  const commits: number[] = [];
  const inner = memoryStore();
  let isCounted = false;
  let hasDied = false;
  const store: MemoryStore = {
    ...inner,
    commit(changes, durability) {
      if (!isCounted || durability !== 'full') return inner.commit(changes, durability);
      commits.push(world.clock.elapsed());
      const isLast = death !== undefined && commits.length - 1 === death.commit;
      if (isLast) {
        hasDied = true;
        world.engine?.kill();
      }
      if (isLast && death.when === 'before') return Promise.reject(new Error('killed'));
      const done = inner.commit(changes, durability);
      return isLast ? Promise.reject(new Error('killed')) : done;
    },
  };
  const world = worldOf(input, { store });
  const { scenario } = world;
  const sent: Sent[] = [];
  const { seen } = world;
  const record = seen.command.bind(seen);
  seen.command = (at, command) => {
    const { id, device, command: name, args, cause } = command;
    sent.push({ at, id, run: cause.parent, device, command: name, args });
    record(at, command);
  };
  const follow = async () => {
    await world.settle();
    if (!hasDied) return;
    hasDied = false;
    await world.stopEngine('kill');
    await world.startEngine(0);
  };
  await world.begin();
  isCounted = true;
  const until = scenario.until === undefined ? 60_000 : world.elapsed(scenario.until);
  const runTo = async (time: number) => {
    while (world.clock.runNext(time)) await follow();
    world.clock.moveTo(time);
  };
  for (const entry of scenario.timeline) {
    await runTo(world.elapsed(entry.at));
    await apply(world, entry);
    await follow();
  }
  await runTo(until);
  await world.end();
  return { world, sent, commits };
}
