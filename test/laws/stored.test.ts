// Law: what an earlier Causeway wrote, this one reads and goes on with. `test/fixtures/stored/<house>.N.json` is what lay in
// the store when the house of `<house>.yaml` was killed, as the N-th form of the records wrote it. When a form changes, the
// new ones are added by `STORED_FORM=N npx vitest run test/laws/stored.test.ts`; those that are there are never written again.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseYaml } from '../../src/lib/yaml.ts';
import type { Json } from '../../src/model/value.ts';
import { type MemoryStore, memoryStore } from '../../src/store/memory.ts';
import type { TableName } from '../../src/store/store.ts';
import { readScenario, runScenario } from '../../src/world/run.ts';

type Rows = Partial<Record<TableName, Record<string, Json>>>;

const folder = join(import.meta.dirname, '../fixtures/stored');
/** The house that a form was written of. */
const houseOf = (form: string) => {
  const file = `${form.split('.')[0]}.yaml`;
  return readScenario(parseYaml(readFileSync(join(folder, file), 'utf8'), { file }).value);
};

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

async function failuresWith(form: string, rows: Rows): Promise<readonly string[]> {
  const store = await filledWith(rows);
  return (await runScenario(houseOf(form), { store: replacedBy(() => store) })).failures;
}

/** Writes down what the store of today holds at the kill. */
async function write(form: string): Promise<void> {
  let loading: ReturnType<MemoryStore['load']> | undefined;
  const store = replacedBy(real => {
    loading = real.load();
    return real;
  });
  await runScenario(houseOf(form), { store });
  if (!loading) throw new Error(`the house of ${form} was not killed`);
  const { tables } = await loading;
  const rows = Object.entries(tables).flatMap(([table, map]) =>
    map.size > 0 ? [[table, Object.fromEntries(map)] as const] : [],
  );
  writeFileSync(join(folder, form), `${JSON.stringify(Object.fromEntries(rows), null, 1)}\n`, { flag: 'wx' });
}

const { STORED_FORM } = process.env;
const houses = readdirSync(folder).filter(file => file.endsWith('.yaml'));
const unwritten = STORED_FORM === undefined ? [] : houses.map(file => file.replace('yaml', `${STORED_FORM}.json`));
for (const form of unwritten) if (!existsSync(join(folder, form))) await write(form);
const forms = readdirSync(folder).filter(file => file.endsWith('.json'));
const read = (form: string) => JSON.parse(readFileSync(join(folder, form), 'utf8')) as Rows;

describe('what an earlier form of the records holds', () => {
  it('is there of every house', () => {
    for (const file of houses) expect(forms.some(form => form.startsWith(file.replace('yaml', '')))).toBe(true);
  });

  it.each(forms)('goes on as if nothing had stopped: %s', async form => {
    expect(await failuresWith(form, read(form))).toEqual([]);
  });

  it.each(['memory', 'runs'] as const)('is what makes it go on: not so without its %s', async table => {
    for (const form of forms) {
      const { [table]: without, ...rows } = read(form);
      expect(Object.keys(without ?? {}).length).toBeGreaterThan(4);
      expect((await failuresWith(form, rows)).length).toBeGreaterThan(4);
    }
  });
});
