// Law: whatever stands in a row of the store instead of what was written there, the engine starts, all that has nothing to
// do with the row goes on, the log tells of it, and tells it once.
// Long form: LAW_RUNS=20000 npx vitest run test/laws/corrupt.test.ts
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Log, silentLog } from '../../src/lib/log.ts';
import { parseYaml } from '../../src/lib/yaml.ts';
import type { Json } from '../../src/model/value.ts';
import { type MemoryStore, memoryStore } from '../../src/store/memory.ts';
import { TABLES, type TableName } from '../../src/store/store.ts';
import { readScenario, runScenario } from '../../src/world/run.ts';
import { LAW_TIMEOUT_MS, tried } from './kit.ts';

type Rows = Partial<Record<TableName, Record<string, Json>>>;
interface Row {
  table: TableName;
  key: string;
  /** undefined: the row is missing. */
  value: Json | undefined;
}

/** A house of the fixtures, with the newest form of its records. */
interface House {
  source: { rules: { id: string; actions: unknown; finally?: unknown }[]; expect: { log?: { message: string } }[] };
  rows: Rows;
  list: Row[];
}

const folder = join(import.meta.dirname, '../fixtures/stored');
const files = readdirSync(folder);

function houseOf(file: string): House {
  const source = parseYaml(readFileSync(join(folder, file), 'utf8'), { file }).value as House['source'];
  const form = files.filter(one => one.startsWith(file.replace('yaml', '')) && one.endsWith('.json')).sort();
  const rows = JSON.parse(readFileSync(join(folder, form.at(-1) as string), 'utf8')) as Rows;
  return { source, rows, list: listOf(rows) };
}

const listOf = (rows: Rows): Row[] =>
  Object.entries(rows).flatMap(([table, byKey]) =>
    Object.entries(byKey).map(([key, value]) => ({ table: table as TableName, key, value })),
  );

const houses = files.filter(file => file.endsWith('.yaml')).map(houseOf);

// --- what may happen to a row ------------------------------------------------------------------------------------------------

const NONSENSE: readonly Json[] = [null, 0, -1, 1e308, '', 'x', true, [], {}, [null], { a: 1 }, ['x', { y: [] }]];

/** Every place inside a value, itself too, as a path. */
function placesOf(value: Json, path: string[] = []): string[][] {
  if (value === null || typeof value !== 'object') return [path];
  return [path, ...Object.entries(value).flatMap(([key, inner]) => placesOf(inner, [...path, key]))];
}

/** The value with something else at a place; undefined leaves the place out. */
function replaced(value: Json, [key, ...rest]: readonly string[], by: Json | undefined): Json | undefined {
  if (key === undefined) return by;
  const copy = structuredClone(value) as Record<string, Json>;
  const inner = replaced(copy[key] as Json, rest, by);
  if (inner === undefined) delete copy[key];
  else copy[key] = inner;
  return copy;
}

const spoiledIn = ({ list }: House): fc.Arbitrary<Row> =>
  fc
    .constantFrom(...list)
    .chain(({ table, key, value = null }) =>
      fc
        .record({ path: fc.constantFrom(...placesOf(value)), by: fc.constantFrom(undefined, ...NONSENSE) })
        .map(({ path, by }) => ({ table, key, value: replaced(value, path, by) })),
    );
/** A row that nobody here has written. */
const foreignIn = ({ list }: House): fc.Arbitrary<Row> =>
  fc.record({
    table: fc.constantFrom(...TABLES),
    key: fc.constantFrom('', '/', 'nobody', 'nobody/t1/0/h:x', 'nobody/x', 'a\nb', 'mode2', '01J', 'virtual:nobody'),
    value: fc.constantFrom(...NONSENSE, ...list.map(row => row.value)),
  });
const spoiled = fc.constantFrom(...houses.keys()).chain(n => {
  const house = houses[n] as House;
  return fc.record({
    n: fc.constant(n),
    row: fc.oneof({ weight: 4, arbitrary: spoiledIn(house) }, { weight: 1, arbitrary: foreignIn(house) }),
  });
});

/** Whether a rule may go on otherwise for what happened to a row: it is the row's own, or named in it or by its key. */
function isConcerned(house: House, row: Row, rule: string): boolean {
  const written = JSON.stringify(house.rows[row.table]?.[row.key] ?? null);
  if (row.table === 'runs' || row.table === 'outbox') {
    // Who waits for a called run is answered by it.
    return written.includes(`"${rule}"`) || written.includes(`rule:${rule}"`);
  }
  if (row.table === 'memory' || row.table === 'rules') return row.key.split('/')[0] === rule;
  const name = row.key.split(/[\n/]/)[0] as string;
  return JSON.stringify(house.source.rules.find(one => one.id === rule)).includes(`"${name}"`) || name === rule;
}

/** The rule that a failure is about. */
function ruleOf(house: House, failure: string): string | undefined {
  const [, index] = /^expect\/(\d+)/.exec(failure) ?? [];
  const expectation = house.source.expect[Number(index)];
  const [word] = (expectation?.log?.message ?? '').split(' ');
  const says = ({ actions, finally: last }: House['source']['rules'][number]) =>
    word !== undefined && word !== '' && JSON.stringify([actions, last]).includes(`"message":"${word}`);
  const named = house.source.rules.find(({ id }) => JSON.stringify(expectation ?? {}).includes(`"rule":"${id}"`));
  return (named ?? house.source.rules.find(says))?.id;
}

// --- the house, with other rows ------------------------------------------------------------------------------------------------

/** So long before its end the house is killed and started once more. */
const AGAIN_MS = 60_000;

/** Starts the killed house with the rows given, and at its end again. What failed, and what the log told. */
async function liveWith(house: House, rows: Rows): Promise<{ failures: readonly string[]; told: string[] }> {
  const filled = memoryStore();
  await filled.commit(listOf(rows), 'full');
  const store: MemoryStore = { ...memoryStore(), snapshot: () => filled };
  const told: string[] = [];
  const tell = (details: object, message: string) => told.push(`${message} ${JSON.stringify(details)}`);
  const log: Log = { ...silentLog, warn: tell, error: tell, child: () => log };
  const scenario = readScenario(house.source);
  const { offset } = scenario.until as { offset: number };
  const at = { offset: offset - AGAIN_MS };
  const timeline = [...scenario.timeline, { at, stop: true as const }, { at, start: true as const }];
  const { failures } = await runScenario({ ...scenario, timeline }, { store, log });
  return { failures, told };
}

describe('a row that is not what was written', () => {
  it.each(houses)('is none in the fixtures', async house => {
    expect(await liveWith(house, house.rows)).toEqual({ failures: [], told: [] });
  });

  it(
    'stops nothing else, whatever it is, and is told once',
    async () => {
      await fc.assert(
        fc.asyncProperty(spoiled, async ({ n, row }) => {
          const house = houses[n] as House;
          const { [row.key]: _, ...others } = house.rows[row.table] ?? {};
          const mine = { ...others, ...(row.value !== undefined && { [row.key]: row.value }) };
          const { failures, told } = await liveWith(house, { ...house.rows, [row.table]: mine });
          const innocent = failures.filter(failure => {
            const rule = ruleOf(house, failure);
            return rule === undefined || !isConcerned(house, row, rule);
          });
          expect(innocent, JSON.stringify(row)).toEqual([]);
          expect(told.length, `${JSON.stringify(row)}\n${told.join('\n')}`).toBeLessThanOrEqual(1);
        }),
        tried(250),
      );
    },
    LAW_TIMEOUT_MS,
  );

  it('is told, with what is wrong', async () => {
    for (const house of houses) {
      for (const { table, key } of house.list) {
        if (table === 'virtual' || table === 'principals' || table === 'meta') continue;
        const { told } = await liveWith(house, { ...house.rows, [table]: { ...house.rows[table], [key]: 'nonsense' } });
        expect(told, `${table} ${key}`).toEqual([expect.stringContaining('cannot be understood')]);
      }
    }
  });

  const strangers: [string, (run: Record<string, Json>) => Record<string, Json>, string][] = [
    ['a rule that is no more', run => ({ ...run, rule: 'nobody' }), 'belongs to no rule any more'],
    ['a revision that nobody knows', run => ({ ...run, revision: 77 }), 'its revision of the rule is not known'],
    ['a step that is not there', run => movedTo(run, 'actions/7/do'), 'where its rule has no step'],
    ['nothing that could come', run => ({ ...run, threads: without(run, 'due') }), 'waits for nothing'],
  ];
  it.each(strangers)('is told where a run belongs to %s, and nothing waits for it', async (_, change, text) => {
    const house = houses.find(one => one.source.rules.some(rule => rule.id === 'hold')) as House;
    const found = Object.entries(house.rows.runs ?? {}).find(([, run]) => (run as { rule: string }).rule === 'delay');
    const [key, run] = found as [string, Record<string, Json>];
    const { failures, told } = await liveWith(house, {
      ...house.rows,
      runs: { ...house.rows.runs, [key]: change(run) },
    });
    expect(told).toEqual([expect.stringContaining(text)]);
    // The one that was queued behind it starts at once.
    expect(failures.map(failure => ruleOf(house, failure))).toEqual(
      ['delay', 'delay', 'delay'].slice(0, failures.length),
    );
    expect(failures.length).toBeGreaterThan(0);
  });

  it('is told where a rule that is no more remembered something', async () => {
    const house = houses[0] as House;
    const memory = { ...house.rows.memory, 'nobody/t1/0/h:virtual:a': null, 'nobody/t1/0/phase': 0 };
    const { failures, told } = await liveWith(house, { ...house.rows, memory });
    expect(failures).toEqual([]);
    expect(told).toEqual([
      expect.stringContaining('cannot be understood'),
      expect.stringContaining('a rule that is no more remembered'),
    ]);
  });
});

type Threads = { frames: Record<string, Json>[]; wait: Record<string, Json> }[];

/** The run with its first thread somewhere else. */
const movedTo = (run: Record<string, Json>, list: string): Record<string, Json> => {
  const threads = structuredClone(run.threads) as unknown as Threads;
  for (const frame of threads[0]?.frames ?? []) frame.list = list;
  return { ...run, threads: threads as unknown as Json };
};

/** Its threads, all without a part of their wait. */
function without(run: Record<string, Json>, part: string): Json {
  const threads = structuredClone(run.threads) as unknown as Threads;
  for (const thread of threads) delete thread.wait[part];
  return threads as unknown as Json;
}
