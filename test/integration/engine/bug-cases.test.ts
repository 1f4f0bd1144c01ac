// The three public bugs that no scenario can show: they are about the disk, memory, and what an event looks at.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import Sqlite from 'better-sqlite3';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { requireRule } from '../../../src/engine/rules/schema.ts';
import { yieldToIo } from '../../../src/lib/clock.ts';
import type { Trace } from '../../../src/model/run.ts';
import { readScenario } from '../../../src/world/run.ts';
import { World } from '../../../src/world/world.ts';
import { bareEngine } from '../../kit/bare-engine.ts';
import { gatewayKit } from '../../kit/gateway-process.ts';
import { openStore, tempDir } from '../store/support.ts';

const kit = gatewayKit();
afterEach(() => kit.end());

describe('BC-22: an empty row of a value', () => {
  it.each([
    ['is NULL in the database', 'null'],
    ['has no value', '{"value":null}'],
  ])('that %s does not keep the gateway from starting; the value is unknown, and the log says so', async (_, row) => {
    const home = kit.home();
    const first = await kit.start(home);
    await first.call('create_device', { name: 'x', capabilities: ['switch'], values: { switch: 'on' } });
    await first.call('create_device', { name: 'y', capabilities: ['switch'], values: { switch: 'on' } });
    await first.stop();

    const db = new Sqlite(join(home.data, 'causeway.db'));
    const { changes } = db.prepare(`UPDATE state SET value = ? WHERE key LIKE 'virtual:x%'`).run(row);
    // What the virtual device remembers of itself would tell it anew.
    db.prepare(`DELETE FROM virtual WHERE key LIKE '%x%' AND key LIKE '%switch%'`).run();
    db.close();
    expect(changes).toBeGreaterThan(0);

    const second = await kit.start(home);
    const told = second.log().filter(line => JSON.stringify(line).includes('virtual:x'));
    expect(told).toContainEqual(expect.objectContaining({ msg: expect.stringContaining('cannot be understood') }));
    expect(JSON.stringify(told)).not.toContain('virtual:y');
  });
});

describe('BC-104: two hundred rules that run each quarter of an hour, fifty steps each', () => {
  // The long form: SOAK_HOURS=720 npx vitest run test/integration/engine/bug-cases.test.ts
  const hours = Number(process.env.SOAK_HOURS ?? 8);
  const RULES = 200;
  const LIMITS = { perRule: 10, total: 1_000 };

  it(
    'keep a bounded number of traces, in a file and on a heap that do not grow with time',
    async () => {
      setFlagsFromString('--expose-gc');
      const collect = runInNewContext('gc') as () => void;
      const path = join(tempDir(), 'causeway.db');
      const store = await openStore(path, { traces: LIMITS });
      const traces: Trace[] = [];
      let runs = 0;
      const onTrace = (trace: Trace) => {
        if (trace.outcome === 'completed') runs++;
        traces.push(trace);
      };
      const { engine, clock, start } = bareEngine({ store, sinks: { onTrace } });
      const rules = Array.from({ length: RULES }, (_, n) => ({
        id: `r${n}`,
        name: `Rule ${n}`,
        triggers: [{ type: 'interval', every: '15m' }],
        actions: Array.from({ length: 50 }, (_, i) => ({ type: 'log', message: `step ${i} of {{ trigger.at }}` })),
      }));
      await start(rules);
      /** Lives on to an hour; bytes on the heap and in the file then. */
      const liveTo = async (hour: number) => {
        while (clock.runNext(hour * 3_600_000)) {
          await engine.idle();
          await yieldToIo();
          await store.putTraces(traces.splice(0));
        }
        collect();
        return { heap: process.memoryUsage().heapUsed, file: statSync(path).size };
      };
      const early = await liveTo(hours / 2);
      const late = await liveTo(hours);
      engine.kill();

      expect(runs).toBeGreaterThan(RULES * (4 * hours - 2));
      expect((await store.traces({ rule: 'r7', limit: 1_000 })).length).toBe(5);
      expect((await store.traces({ limit: 10_000 })).length).toBe(LIMITS.total);
      expect(late.file).toBeLessThan(early.file * 1.2);
      expect(late.heap - early.heap).toBeLessThan(8_000_000);
    },
    process.env.SOAK_HOURS === undefined ? 120_000 : 24 * 3_600_000,
  );
});

describe('BC-106: a hundred and fifty rules with expressions over all devices', () => {
  it('are asked only for the device and attribute that an event is about', async () => {
    const ids = Array.from({ length: 150 }, (_, n) => `virtual:d${n}`);
    const rules = ids.map((id, n) => {
      const next = ids[(n + 1) % ids.length];
      const body = {
        id: `r${n}`,
        name: `Rule ${n}`,
        triggers: [
          {
            type: 'expression',
            expr: `state("${id}", "temperature") > 25 && state("${next}", "humidity") > 50`,
          },
        ],
        actions: [{ type: 'log', message: 'x' }],
      };
      return { body, rule: requireRule(body) };
    });
    const devices = Object.fromEntries(ids.map(id => [id, { capabilities: ['temperature', 'humidity'] }]));
    const world = new World(readScenario({ devices, rules: [], timeline: [], until: '1s', expect: [] }), { rules });
    await world.begin();
    const sink = world.require().sink('virtual');
    const report = async (device: string, attribute: string, value: number) => {
      sink.report({ type: 'value', device, attribute, value });
      await world.settle();
    };
    for (const id of ids) for (const attribute of ['temperature', 'humidity']) await report(id, attribute, 20);

    const looked = vi.spyOn(world.require().core.values, 'get');
    await report('virtual:d70', 'temperature', 30);
    const others = looked.mock.calls.filter(([device]) => device !== 'virtual:d70' && device !== 'virtual:d71');
    expect(looked.mock.calls).toContainEqual(['virtual:d70', 'temperature']);
    expect(others).toEqual([]);

    await report('virtual:d71', 'humidity', 60);
    expect(world.seen.runs.map(run => run.fields.rule)).toEqual(['r70']);
    await world.end();
  });
});
