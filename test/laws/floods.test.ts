// Law: of ten thousand reports in any order, the last value of each attribute is the one that stands, what is told of a device
// is told in its order, and no press of a button is missing, though values between may be left out.
// Long form: LAW_RUNS=1000 npx vitest run test/laws/floods.test.ts
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../src/lib/ids.ts';
import type { Event } from '../../src/model/event.ts';
import { LAW_TIMEOUT_MS, tried, worldOf } from './kit.ts';

const REPORTS = 10_000;
const LEVELS = ['level', 'power'];

interface Flood {
  seed: number;
  devices: number;
  /** How many come at once before the engine has its turn. */
  burst: number;
  /** Of a hundred reports so many are presses. */
  presses: number;
  /** And so many changes of availability. */
  outages: number;
  /** Of a hundred values so many are none. */
  flaws: number;
}

const flood: fc.Arbitrary<Flood> = fc.record({
  seed: fc.integer({ min: 0, max: 2 ** 31 - 1 }),
  devices: fc.integer({ min: 1, max: 40 }),
  burst: fc.constantFrom(1, 700, 3_000, REPORTS),
  presses: fc.constantFrom(0, 1, 20, 95),
  outages: fc.constantFrom(0, 1, 5),
  flaws: fc.constantFrom(0, 0, 10, 60),
});

/** Every report has its number as its value. */
interface Told {
  device: string;
  attribute: string;
  n: number;
}

const idOf = (n: number) => `${n % 2 === 0 ? 'virtual' : 'other'}:d${n}`;

async function drown({ seed, devices, burst, presses, outages, flaws }: Flood) {
  const world = worldOf({
    devices: Object.fromEntries(
      Array.from({ length: devices }, (_, n) => [
        idOf(n),
        {
          attributes: {
            level: { type: 'number' },
            power: { type: 'number' },
            pushed: { type: 'number', momentary: true },
          },
        },
      ]),
    ),
    rules: [
      {
        id: 'counter',
        name: 'Counter',
        mode: { type: 'parallel', max: 1000 },
        limits: { runs: 100_000, per: '1h' },
        triggers: [{ type: 'event', device: Array.from({ length: devices }, (_, n) => idOf(n)), name: 'pushed' }],
        actions: [{ type: 'log', message: '{{ trigger.value }}' }],
      },
    ],
  });
  await world.begin();
  const { engine } = world;
  if (!engine) throw new Error('the engine did not start');
  const seen: Event[] = [];
  const { sinks } = engine.core;
  const onEvent = sinks.onEvent.bind(sinks);
  sinks.onEvent = event => {
    seen.push(event);
    onEvent(event);
  };
  const random = seededRandom(seed);
  const below = (max: number) => Math.floor(random() * max);
  const told: Told[] = [];
  const away = new Set<string>();
  for (let n = 0; n < REPORTS; n++) {
    const device = idOf(below(devices));
    const backend = world.outside.of(device);
    const kind = below(100);
    if (kind < outages) {
      if (away.delete(device)) backend.report({ type: 'availability', device, state: 'online' });
      else backend.report({ type: 'availability', device, state: away.add(device) && 'offline' });
    } else if (kind < outages + presses) {
      // Some backends tell a press as a value.
      if (n % 3 === 0) backend.report({ type: 'value', device, attribute: 'pushed', value: n });
      else backend.report({ type: 'event', device, name: 'pushed', value: n });
      told.push({ device, attribute: 'pushed', n });
    } else {
      const attribute = LEVELS[below(LEVELS.length)] as string;
      const report = { type: 'value' as const, device, attribute, value: n };
      // What is no number, what cannot be read and what comes late must not take the place of what counts.
      const flaw = below(100);
      if (flaw >= flaws) {
        backend.report({ ...report, seq: n });
        told.push({ device, attribute, n });
      } else if (flaw % 3 === 0) backend.report({ ...report, value: 'broken' });
      else if (flaw % 3 === 1) backend.report({ ...report, value: null, quality: 'unavailable' });
      else if (told.some(one => one.device === device && one.attribute === attribute))
        backend.report({ ...report, seq: -1 });
    }
    if (n % burst === burst - 1) await world.settle();
  }
  await world.settle();
  return { world, engine, told, seen: seen.filter(event => event.kind === 'device') };
}

const numbers = (events: readonly Event[]) => events.map(event => Number(event.value));

describe('a flood of reports', () => {
  it(
    'leaves the last values, keeps the order and drops no press',
    async () => {
      await fc.assert(
        fc.asyncProperty(flood, async flood => {
          const { world, engine, told, seen } = await drown(flood);
          const presses = told.filter(one => one.attribute === 'pushed').map(one => one.n);
          expect(numbers(seen.filter(event => event.attribute === 'pushed'))).toEqual(presses);
          expect(world.seen.logs.map(log => Number(log.fields.message))).toEqual(presses);
          for (let d = 0; d < flood.devices; d++) {
            const mine = numbers(seen.filter(event => event.device === idOf(d) && event.quality === 'good'));
            expect(mine, 'in the order in which they were told').toEqual([...mine].sort((a, b) => a - b));
            for (const attribute of LEVELS) {
              const last = told.findLast(one => one.device === idOf(d) && one.attribute === attribute);
              expect(engine.core.values.get(idOf(d), attribute)?.value ?? null).toBe(last?.n ?? null);
            }
          }
          expect(engine.turns.inbox.dropped).toBe(0);
          const good = seen.filter(event => event.quality === 'good');
          if (flood.burst === 1) expect(good.length, 'nothing is left out when there is time').toBe(told.length);
        }),
        tried(12),
      );
    },
    LAW_TIMEOUT_MS,
  );
});
