// Law: what an earlier Causeway wrote, this one reads and goes on with. `test/fixtures/stored/N.json` is what lay in the store
// when the house of `mid-flight.yaml` was killed, as the N-th form of the records wrote it. When a form changes, the new one is
// added by `STORED_FORM=N npx vitest run test/laws/stored.test.ts`; those that are there are never written again.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseYaml } from '../../src/lib/yaml.ts';
import type { Json } from '../../src/model/value.ts';
import { type MemoryStore, memoryStore } from '../../src/store/memory.ts';
import type { TableName } from '../../src/store/store.ts';
import { readScenario, runScenario } from '../../src/world/run.ts';

type Rows = Partial<Record<TableName, Record<string, Json>>>;

const folder = join(import.meta.dirname, '../fixtures/stored');
const house = () =>
  readScenario(parseYaml(readFileSync(join(folder, 'mid-flight.yaml'), 'utf8'), { file: 'mid-flight.yaml' }).value);

/** A store in whose place `next` is found after the kill. */
function replacedBy(next: (real: MemoryStore) => MemoryStore): MemoryStore {
  const inner = memoryStore();
  return { ...inner, snapshot: after => next(inner.snapshot(after)) };
}

async function filledWith(rows: Rows): Promise<MemoryStore> {
  const store = memoryStore();
  const changes = Object.entries(rows).flatMap(([table, byKey]) =>
    Object.entries(byKey).map(([key, value]) => ({ table: table as TableName, key, value })),
  );
  await store.commit(changes, 'full');
  return store;
}

async function failuresWith(rows: Rows): Promise<readonly string[]> {
  const store = await filledWith(rows);
  return (await runScenario(house(), { store: replacedBy(() => store) })).failures;
}

/** Writes down what the store of today holds at the kill. */
async function write(file: string): Promise<void> {
  let loading: ReturnType<MemoryStore['load']> | undefined;
  const store = replacedBy(real => {
    loading = real.load();
    return real;
  });
  await runScenario(house(), { store });
  if (!loading) throw new Error('the house of mid-flight.yaml was not killed');
  const { tables } = await loading;
  const rows = Object.entries(tables).flatMap(([table, map]) =>
    map.size > 0 ? [[table, Object.fromEntries(map)] as const] : [],
  );
  writeFileSync(file, `${JSON.stringify(Object.fromEntries(rows), null, 1)}\n`, { flag: 'wx' });
}

const { STORED_FORM } = process.env;
if (STORED_FORM !== undefined) await write(join(folder, `${STORED_FORM}.json`));
const forms = readdirSync(folder).filter(file => file.endsWith('.json'));
const read = (form: string) => JSON.parse(readFileSync(join(folder, form), 'utf8')) as Rows;

describe('what an earlier form of the records holds', () => {
  it('is there at all', () => expect(forms.length).toBeGreaterThan(0));

  it.each(forms)('goes on as if nothing had stopped: %s', async form => {
    expect(await failuresWith(read(form))).toEqual([]);
  });

  it.each(['memory', 'runs'] as const)('is what makes it go on: not so without its %s', async table => {
    const { [table]: without, ...rows } = read(forms[0] as string);
    expect(Object.keys(without ?? {}).length).toBeGreaterThan(4);
    expect((await failuresWith(rows)).length).toBeGreaterThan(4);
  });
});
