// An engine in virtual time with nothing around it but a store: no bus, no journal, no views.
import type { Authority, EngineSinks } from '../../src/engine/core.ts';
import { Engine, type StoredRule } from '../../src/engine/engine.ts';
import { GUARD_DEFAULTS } from '../../src/engine/guard.ts';
import { requireRule } from '../../src/engine/rules/schema.ts';
import type { Surroundings } from '../../src/engine/view.ts';
import { yieldToIo } from '../../src/lib/clock.ts';
import { silentLog } from '../../src/lib/log.ts';
import { VirtualClock } from '../../src/lib/virtual-clock.ts';
import type { Backend } from '../../src/model/command.ts';
import { Devices } from '../../src/state/devices.ts';
import { House } from '../../src/state/house.ts';
import { Values } from '../../src/state/values.ts';
import { memoryStore } from '../../src/store/memory.ts';
import type { Store } from '../../src/store/store.ts';

const AUTHORITY: Authority = { name: 'test', devices: true, house: true, rules: true };

/** What of it a test decides. */
export interface BareOptions {
  readonly store?: Store;
  readonly clock?: VirtualClock;
  /** By id alone: one that does as it is told. */
  readonly backends?: readonly (string | Backend)[];
  readonly surroundings?: Partial<Surroundings>;
  readonly sinks?: Partial<EngineSinks>;
}

/** The engine, not started yet, and its clock. */
export function bareEngine(options: BareOptions = {}) {
  const clock = options.clock ?? new VirtualClock(Date.UTC(2026, 0, 1));
  const store = options.store ?? memoryStore();
  const nothing = () => {};
  const standIn = (id: string): Backend => ({
    id,
    kind: 'test',
    start: async () => {},
    stop: async () => {},
    execute: async () => {},
    test: async () => ({ ok: true, message: '' }),
  });
  const engine = new Engine(
    {
      clock,
      log: silentLog,
      store,
      devices: new Devices(),
      values: new Values(),
      house: new House(),
      backends: new Map(
        (options.backends ?? [])
          .map(one => (typeof one === 'string' ? standIn(one) : one))
          .map((one): [string, Backend] => [one.id, one]),
      ),
      surroundings: {
        zone: 'UTC',
        place: undefined,
        periods: {},
        scenes: {},
        isWorkday: () => null,
        ...options.surroundings,
      },
      settings: { guard: GUARD_DEFAULTS, readyTimeoutMs: 1, clockCheckMs: 0, fileAuthority: AUTHORITY },
      sinks: {
        onEvent: nothing,
        onTrace: nothing,
        onGuard: nothing,
        onRule: nothing,
        onEffect: nothing,
        onResult: nothing,
        onLog: nothing,
        ...options.sinks,
      },
      deviceBudget: 60,
    },
    { skew: 0 },
  );
  return {
    engine,
    clock,
    async start(rules: readonly object[]): Promise<void> {
      const stored = rules.map((rule): StoredRule => ({ rule: requireRule(rule), revision: 1, authority: AUTHORITY }));
      await engine.start(stored, (await store.load()).tables);
    },
    /** Lives on to a moment, ms after the start. */
    async runTo(elapsed: number): Promise<void> {
      while (clock.runNext(elapsed)) {
        await engine.idle();
        await yieldToIo();
      }
      clock.moveTo(elapsed);
    },
  };
}
