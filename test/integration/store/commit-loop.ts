// A process that commits for ever and prints the number of each commit once it is acknowledged; its end is kill -9.
import { sqliteStore } from '../../../src/store/sqlite.ts';

const [path = '', from = '0'] = process.argv.slice(2);
const store = await sqliteStore({ path });
await store.load();
for (let n = Number(from); ; n++) {
  await Promise.all([
    store.commit([{ table: 'outbox', key: `full-${n}`, value: { n, pad: 'x'.repeat(n % 900) } }], 'full'),
    store.commit([{ table: 'state', key: `lazy-${n}`, value: n }], 'lazy'),
    store.putTraces([
      { run: `run-${n}`, rule: 'r', revision: 1, trigger: 't', at: '', outcome: 'completed', steps: [] },
    ]),
  ]);
  process.stdout.write(`${n}\n`);
}
