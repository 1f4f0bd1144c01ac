// Running scenarios: the function behind `causeway simulate`, the tests of rules, and the test suite.
import { readFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { type ParsedRule, parseRule, type Rule, requireRule } from '../engine/rules/schema.ts';
import { asCausewayError, CausewayError } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import { check, type Problem, pathText, problemsError } from '../lib/problems.ts';
import { type ParsedYaml, parseYaml } from '../lib/yaml.ts';
import type { Json } from '../model/value.ts';
import type { MemoryStore } from '../store/memory.ts';
import { apply, troubleOf } from './entries.ts';
import { judge } from './expect.ts';
import { needsSample, type Sample, sampleOf } from './samples.ts';
import { type Entry, RuleTest, Scenario } from './scenario.ts';
import type { Expect } from './scenario-expect.ts';
import type { ScenarioTime } from './scenario-time.ts';
import { World, type WorldOptions } from './world.ts';

/** What came of a scenario. */
export interface ScenarioResult {
  readonly ok: boolean;
  readonly name: string;
  /** One line for each expectation that does not hold, and for each entry that could not be done. */
  readonly failures: readonly string[];
  /** The world as it ended, for those who want to look closer. */
  readonly world?: World;
}

/** How scenarios are run. */
export interface RunOptions {
  /** Where the scenario comes from: `files:` are looked for beside it. */
  readonly file?: string;
  /** Where the house stands when the scenario does not say. */
  readonly location?: WorldOptions['location'];
  readonly log?: Log;
  /** What it lies in; an empty store of its own unless given. */
  readonly store?: MemoryStore;
}

const MINUTE = 60_000;

/** A scenario from its JSON form. @throws INPUT_INVALID with all that is wrong, in `details.problems` */
export function readScenario(
  input: unknown,
  source = 'scenario',
  yaml?: ParsedYaml,
  schema: typeof Scenario = Scenario,
): Scenario {
  const read = check(schema, input);
  if (read.ok) return read.value;
  const problems = read.issues.map(
    ({ path, at, message, hint }): Problem => ({
      source,
      ...yaml?.lineOf(path, at),
      path: pathText(path),
      message,
      hint,
    }),
  );
  throw problemsError('INPUT_INVALID', problems);
}

/** Runs a scenario. Never rejects for what the scenario does; only for a fault of ours. */
export async function runScenario(scenario: Scenario, options: RunOptions = {}): Promise<ScenarioResult> {
  const name = scenario.name ?? (options.file === undefined ? 'scenario' : basename(options.file));
  const { rules, faults } = rulesOf(scenario, options.file);
  const failures: string[] = [];
  let world: World;
  try {
    world = new World(scenario, {
      rules,
      ...(options.location && { location: options.location }),
      ...(options.log && { log: options.log }),
      ...(options.store && { store: options.store }),
    });
    await world.begin();
  } catch (error) {
    return { ok: false, name, failures: [lineOf(error)] };
  }
  const samples = new Map<Expect, Sample>();
  const expected = new Map(scenario.expect.map((expectation, index) => [expectation, index]));
  for (const stop of stopsOf(scenario, world)) {
    await world.runTo(stop.at);
    if (stop.entry) await enter(world, stop.entry, stop.index, failures);
    else if (stop.expectation) samples.set(stop.expectation, sampleOf(world, stop.expectation));
  }
  await world.end();
  for (const [expectation, index] of expected) {
    if (needsSample(expectation) && !samples.has(expectation)) samples.set(expectation, sampleOf(world, expectation));
    failures.push(...judge(world, expectation, samples.get(expectation)).map(line => `expect/${index}: ${line}`));
  }
  const unexpected = faults.filter(
    fault => !scenario.expect.some(one => one.rule === fault.id && one.status === 'unavailable'),
  );
  const lines = [...unexpected.map(fault => fault.line), ...failures];
  if (lines.length > 0) lines.push(...world.seen.notes.map(note => `note: ${note}`));
  return { ok: lines.length === 0, name, failures: lines, world };
}

async function enter(world: World, entry: Entry, index: number, failures: string[]): Promise<void> {
  try {
    await apply(world, entry);
  } catch (error) {
    failures.push(troubleOf(index, entry, error));
  }
  await world.settle();
}

function lineOf(error: unknown): string {
  const { message, hint, path } = asCausewayError(error);
  return `${path && !message.includes(path) ? `${path}: ` : ''}${message}${hint ? `; ${hint}` : ''}`;
}

// --- the order of things -----------------------------------------------------------------------------------------------

interface Stop {
  readonly at: number;
  readonly index: number;
  readonly entry?: Entry;
  readonly expectation?: Expect;
}

/** Entries with their repetitions, then what is sampled, by their moments; the end comes last. */
function stopsOf(scenario: Scenario, world: World): Stop[] {
  const entries = scenario.timeline.flatMap((entry, index) => {
    const at = world.elapsed(entry.at);
    return Array.from(
      { length: entry.times ?? 1 },
      (_, n): Stop => ({ at: at + n * (entry.every ?? 0), index, entry }),
    );
  });
  const sampled = scenario.expect.flatMap((expectation, index): Stop[] =>
    expectation.at !== undefined && needsSample(expectation)
      ? [{ at: world.elapsed(expectation.at), index, expectation }]
      : [],
  );
  const until =
    scenario.until === undefined ? lastNamed(scenario, world, entries) + MINUTE : world.elapsed(scenario.until);
  const rank = (stop: Stop) => (stop.entry ? 0 : stop.expectation ? 1 : 2);
  return [...entries, ...sampled, { at: until, index: 0 }]
    .filter(stop => stop.at <= until)
    .sort((a, b) => a.at - b.at || rank(a) - rank(b) || a.index - b.index);
}

function lastNamed(scenario: Scenario, world: World, entries: readonly Stop[]): number {
  const times: (ScenarioTime | null | undefined)[] = [
    ...scenario.timeline.map(entry => entry.fail?.until),
    ...scenario.expect.flatMap(({ at, within, lastRun, lastTriggered, trace }) => [
      at,
      ...(within ?? []),
      lastRun,
      lastTriggered,
      trace?.at,
    ]),
  ];
  const named = times.filter(time => time !== undefined && time !== null).map(time => world.elapsed(time));
  return Math.max(0, ...entries.map(entry => entry.at), ...named);
}

// --- rules ---------------------------------------------------------------------------------------------------------------

interface RuleFault {
  readonly id: string;
  readonly line: string;
}

/** Rules as written and parsed; those that do not parse are told and stand still. */
function rulesOf(
  scenario: Scenario,
  file: string | undefined,
): { rules: { body: Json; rule: Rule }[]; faults: RuleFault[] } {
  const rules: { body: Json; rule: Rule }[] = [];
  const faults: RuleFault[] = [];
  const take = (where: string, body: unknown) => {
    const parsed: ParsedRule = parseRule(body);
    if ('rule' in parsed) {
      rules.push({ body: body as Json, rule: parsed.rule });
      return;
    }
    const id = String((body as { id?: unknown } | null)?.id ?? where);
    for (const { path, message, hint } of parsed.issues)
      faults.push({ id, line: `${where}${path ? `/${path}` : ''}: ${message}${hint ? `; ${hint}` : ''}` });
  };
  for (const [index, body] of scenario.rules.entries()) take(`rules/${index}`, body);
  for (const [index, name] of scenario.files.entries()) {
    const where = file === undefined ? resolve(name) : resolve(dirname(file), name);
    try {
      take(`files/${index}`, parseYaml(readFileSync(where, 'utf8'), { file: where, code: 'RULE_INVALID' }).value);
    } catch (error) {
      faults.push({
        id: name,
        line: `files/${index}: ${error instanceof CausewayError ? error.message : `${where} cannot be read`}`,
      });
    }
  }
  return { rules, faults };
}

// --- files ---------------------------------------------------------------------------------------------------------------

/** What came of files. */
export interface SimulateResult {
  readonly ok: boolean;
  readonly scenarios: readonly { file: string; name: string; ok: boolean; failures: readonly string[] }[];
}

/** Runs scenario files, and the `tests:` of rule files. A file that cannot be read is a failure like any other. */
export async function simulateFiles(
  files: readonly string[],
  options: Omit<RunOptions, 'file'> & { house?: unknown } = {},
): Promise<SimulateResult> {
  const scenarios: SimulateResult['scenarios'][number][] = [];
  for (const file of files) {
    try {
      const yaml = parseYaml(readFileSync(file, 'utf8'), { file });
      for (const { name, scenario } of scenariosIn(yaml, file, options.house)) {
        const { ok, failures } = await runScenario(scenario, { ...options, file });
        scenarios.push({ file, name: name ?? basename(file), ok, failures });
      }
    } catch (error) {
      const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
      scenarios.push({
        file,
        name: basename(file),
        ok: false,
        failures: [isMissing ? `there is no file ${file}` : lineOf(error)],
      });
    }
  }
  return { ok: scenarios.every(scenario => scenario.ok), scenarios };
}

/** The scenario of a file; of a rule's file its tests. */
function scenariosIn(
  yaml: ParsedYaml,
  file: string,
  house: unknown,
): { name: string | undefined; scenario: Scenario }[] {
  const value = yaml.value as { tests?: unknown[]; triggers?: unknown; actions?: unknown } | null;
  if (value?.triggers === undefined || value.actions === undefined) {
    const scenario = readScenario(value, file, yaml);
    return [{ name: scenario.name, scenario }];
  }
  const { tests = [], ...rule } = value;
  // One without tests must not pass for being none at all.
  requireRule(rule as Json);
  return tests.map((test, index) => {
    const scenario = testOf(rule, test, { house, source: `${file} tests/${index}` });
    return { name: scenario.name ?? `tests/${index}`, scenario };
  });
}

/** A test of a rule as a scenario of its own, in the house that it belongs to. @throws INPUT_INVALID */
export function testOf(
  rule: unknown,
  test: unknown,
  { house, source = 'tests' }: { house?: unknown; source?: string } = {},
): Scenario {
  const own = readScenario(test, source, undefined, RuleTest as unknown as typeof Scenario);
  const isOwnHouse = (test as { house?: unknown }).house !== undefined;
  return (
    readScenario(
      { ...(test as object), ...(!isOwnHouse && house !== undefined && { house }), rules: [rule] },
      source,
    ) ?? own
  );
}
