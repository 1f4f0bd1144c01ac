// The first seconds of the demo, on the engine itself: the example rules, the demo house and a clock of its own.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { HouseBackend } from '../../../src/backends/house/index.ts';
import { isWorkday } from '../../../src/backends/house/workdays.ts';
import { demoHouse, furnish, runDemo } from '../../../src/backends/virtual/demo/index.ts';
import { VirtualBackend } from '../../../src/backends/virtual/index.ts';
import { Engine } from '../../../src/engine/engine.ts';
import type { GuardNotice } from '../../../src/engine/guard.ts';
import { GUARD_DEFAULTS } from '../../../src/engine/guard.ts';
import { requireRule } from '../../../src/engine/rules/schema.ts';
import { seededRandom } from '../../../src/lib/ids.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { dayAt } from '../../../src/lib/time/zone.ts';
import { VirtualClock } from '../../../src/lib/virtual-clock.ts';
import { parseYaml } from '../../../src/lib/yaml.ts';
import type { Backend } from '../../../src/model/command.ts';
import type { Trace } from '../../../src/model/run.ts';
import { Devices } from '../../../src/state/devices.ts';
import { House } from '../../../src/state/house.ts';
import { Values } from '../../../src/state/values.ts';
import { memoryStore } from '../../../src/store/memory.ts';

const ZONE = 'Europe/Berlin';
const PLACE = { latitude: 52.52, longitude: 13.4 };
const EXAMPLES = join(import.meta.dirname, '../../../rules/examples');
const ALL = { name: 'file', devices: true, house: true, rules: true };

function examples() {
  return readdirSync(EXAMPLES).map(file => ({
    rule: requireRule(parseYaml(readFileSync(join(EXAMPLES, file), 'utf8'), { file }).value),
    revision: 1,
    authority: ALL,
  }));
}

/** What an hour of the demo leads to, from its start at an instant. */
async function play(start: number, forMs: number) {
  const clock = new VirtualClock(start);
  const demo = demoHouse({ seed: 20, place: PLACE, zone: ZONE });
  const devices = new Devices();
  const values = new Values();
  const house = new House();
  devices.setNames({ aliases: demo.house.aliases, rooms: demo.house.rooms });
  house.declare(demo.house.modes?.names ?? [], demo.house.variables as never, start);
  const virtual = new VirtualBackend({ clock });
  furnish(virtual, demo, start);
  const people = new HouseBackend({ devices, values, clock, config: demo.house });
  const backends = new Map<string, Backend>([virtual, people].map(backend => [backend.id, backend]));
  const traces = new Map<string, Trace>();
  const notices: GuardNotice[] = [];
  const nothing = () => {};
  const engine = new Engine(
    {
      clock,
      log: silentLog,
      store: memoryStore(),
      devices,
      values,
      house,
      backends,
      surroundings: {
        zone: ZONE,
        place: PLACE,
        periods: demo.house.periods,
        scenes: demo.house.scenes as never,
        isWorkday: wall => isWorkday(dayAt(wall, ZONE), demo.house.workdays),
      },
      settings: { guard: GUARD_DEFAULTS, readyTimeoutMs: 0, clockCheckMs: 0, fileAuthority: ALL },
      sinks: {
        onEvent: event => people.onEvent(event),
        onTrace: trace => traces.set(trace.run, structuredClone(trace)),
        onGuard: notice => notices.push(notice),
        onRule: nothing,
        onEffect: id => engine.answered(id, { outcome: 'ok' }),
        onResult: nothing,
        onLog: nothing,
      },
      deviceBudget: 60,
      random: seededRandom(1),
    },
    { skew: 0 },
  );
  await engine.start(examples(), (await memoryStore().load()).tables);
  for (const backend of backends.values()) await backend.start(engine.sink(backend.id));
  await engine.idle();
  runDemo(virtual, clock, demo);
  while (clock.runNext(forMs)) await engine.idle();
  await engine.stop();
  return { traces: [...traces.values()], notices, engine };
}

describe.each(['2026-03-27T11:00:00Z', '2026-07-04T22:30:00Z', '2026-12-21T05:10:00Z'])(
  'within ten seconds of a demo started at %s',
  start => {
    let seen: Awaited<ReturnType<typeof play>>;
    beforeAll(async () => {
      seen = await play(Date.parse(start), 10_000);
    });
    const of = (rule: string) => seen.traces.filter(trace => trace.rule === rule);

    test('a rule fires and lights the hall', () => {
      // Its run still waits for the hall to be quiet.
      const live = seen.engine.core.rules.get('hall-motion-light');
      expect(live?.runtime.runs).toBe(1);
      expect(live?.runs.size).toBe(1);
      expect(seen.engine.core.values.get('virtual:hall-light', 'switch')).toMatchObject({
        value: 'on',
        cause: { by: 'rule:hall-motion-light' },
      });
    });

    test('a shadow rule runs, as if only', () => {
      const [trace] = of('shadow-welcome');
      expect(trace).toMatchObject({ outcome: 'completed', shadow: true });
      expect(trace?.steps.at(-1)).toMatchObject({ type: 'command', outcome: 'shadow' });
    });

    test('a rule is refused by its condition, and says what it saw', () => {
      expect(of('door-at-night')).toMatchObject([
        { outcome: 'refused', reason: 'condition', condition: { seen: { mode: 'home' } } },
      ]);
    });

    test('one rule of the loop stands suspended with its diagnosis, the other one does not', () => {
      expect(seen.notices).toHaveLength(1);
      const [notice] = seen.notices;
      expect(notice).toMatchObject({ reason: 'loop', suspended: true });
      expect(new Set(notice?.cycle.map(step => step.rule))).toEqual(new Set(['demo-loop-a', 'demo-loop-b']));
      expect(notice?.hints.length).toBeGreaterThan(0);
      const suspended = [...seen.engine.core.rules.values()]
        .filter(live => live.runtime.suspended)
        .map(live => live.id);
      expect(suspended).toEqual([notice?.rule]);
    });
  },
);

test('over a Friday and a Saturday the examples do their work, and nothing else is stopped by the guard', async () => {
  const { traces, notices } = await play(Date.parse('2026-03-26T23:30:00Z'), 48 * 3_600_000);
  const completed = new Set(traces.filter(trace => trace.outcome === 'completed').map(trace => trace.rule));
  expect([...completed]).toEqual(
    expect.arrayContaining([
      'attic-fan',
      'hall-motion-light',
      'lock-again',
      'morning-blinds',
      'presence-mode',
      'window-open-heating',
    ]),
  );
  const failed = traces.filter(trace => ['failed', 'completed_with_errors', 'budget_exceeded'].includes(trace.outcome));
  expect(failed).toEqual([]);
  expect(notices.map(notice => notice.rule).filter(rule => !rule.startsWith('demo-loop'))).toEqual([]);
});
