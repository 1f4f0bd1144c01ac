// A command that ends by itself ends: whatever is sent meanwhile, however often the process dies or its system is away or
// refuses, at the end of all troubles the lamps are lit that somebody lit for good, or whose time is not over.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { yieldToIo } from '../../src/lib/clock.ts';
import { CausewayError } from '../../src/lib/errors.ts';
import { VirtualClock } from '../../src/lib/virtual-clock.ts';
import { rootCause } from '../../src/model/cause.ts';
import type { Backend } from '../../src/model/command.ts';
import { deviceOf } from '../../src/model/device.ts';
import { memoryStore } from '../../src/store/memory.ts';
import { bareEngine } from '../kit/bare-engine.ts';
import { LAW_TIMEOUT_MS, tried } from './kit.ts';

const START = Date.UTC(2026, 0, 1);
const MINUTE = 60_000;
const COLOURS = ['red', 'green'] as const;
type Colour = (typeof COLOURS)[number];

const LAMP = deviceOf(
  { id: 'test:lamp', name: 'Lamp', capabilities: [] },
  {
    attributes: {},
    commands: {
      light: {
        args: [
          { name: 'colour', type: 'string' },
          { name: 'minutes', type: 'number', unit: 'min', optional: true },
        ],
        effects: [],
        idempotent: true,
        ends: { after: 'minutes', command: 'quench' },
      },
      quench: { args: [{ name: 'colour', type: 'string' }], effects: [], idempotent: true },
    },
  },
);

/** The lamp's system. `trouble` is what becomes of the next commands. */
class LampSystem implements Backend {
  readonly id = 'test';
  readonly kind = 'test';
  readonly lit = new Set<string>();
  readonly trouble: ('refused' | 'unanswered')[] = [];
  async start() {}
  async stop() {}
  async test() {
    return { ok: true, message: '' };
  }
  async execute({ command, args }: Parameters<Backend['execute']>[0]) {
    const trouble = this.trouble.shift();
    if (trouble === 'refused') throw new CausewayError('BACKEND_REJECTED', 'not now');
    const colour = String(args.colour);
    if (command === 'light') this.lit.add(colour);
    else this.lit.delete(colour);
    if (trouble === 'unanswered') throw new CausewayError('BACKEND_TIMEOUT', 'no answer');
  }
}

type Deed =
  | { do: 'light'; colour: Colour; minutes?: number }
  | { do: 'quench'; colour: Colour }
  | { do: 'wait'; minutes: number }
  | { do: 'die'; minutes: number }
  | { do: 'away'; minutes: number }
  | { do: 'trouble'; what: 'refused' | 'unanswered'; times: number };

const colour = fc.constantFrom(...COLOURS);
const minutes = fc.integer({ min: 1, max: 30 });
const deed: fc.Arbitrary<Deed> = fc.oneof(
  fc.record({ do: fc.constant('light' as const), colour, minutes }),
  fc.record({ do: fc.constant('light' as const), colour }),
  fc.record({ do: fc.constant('quench' as const), colour }),
  fc.record({ do: fc.constant('wait' as const), minutes }),
  fc.record({ do: fc.constant('die' as const), minutes: fc.integer({ min: 0, max: 60 }) }),
  fc.record({ do: fc.constant('away' as const), minutes }),
  fc.record({
    do: fc.constant('trouble' as const),
    what: fc.constantFrom('refused' as const, 'unanswered' as const),
    times: fc.integer({ min: 1, max: 4 }),
  }),
);

async function live(deeds: readonly Deed[]) {
  const system = new LampSystem();
  const store = memoryStore();
  let now = 0;
  const begin = async () => {
    const bare = bareEngine({ store, clock: new VirtualClock(START + now), backends: [system] });
    const sink = bare.engine.sink('test');
    await bare.start([]);
    sink.online();
    sink.devices([LAMP]);
    sink.ready();
    await bare.runTo(0);
    await bare.engine.idle();
    return { ...bare, sink, since: now };
  };
  let house = await begin();
  /** What is answered at once is answered before anything else. */
  const settled = async () => {
    await yieldToIo();
    await house.engine.idle();
  };
  const passTo = async (at: number) => {
    await settled();
    await house.runTo(at - house.since);
    await house.engine.idle();
    now = at;
  };
  /** Of those that are lit, when it ends. */
  const until = new Map<Colour, number>();
  const send = async (command: string, args: object) => {
    const { core } = house.engine;
    const cause = rootCause(core.ids(), { kind: 'user' }, 'user');
    const said = await house.engine.do(() =>
      core.gate.submit(core.tx, { device: LAMP.id, command, args: { ...args }, cause }),
    );
    const result = await house.engine.resultOf(said.id, MINUTE, new AbortController().signal);
    await house.engine.idle();
    return result?.error?.code ?? 'ok';
  };
  for (const one of deeds) {
    if (one.do === 'light' || one.do === 'quench') {
      const { do: command, ...args } = one;
      await settled();
      const coming = house.engine.core.endings.of(LAMP.id).find(end => end.args.colour === one.colour);
      const said = await send(command, args);
      // What was refused has changed nothing.
      if (said === 'BACKEND_REJECTED') continue;
      if (one.do === 'quench') until.delete(one.colour);
      // For good, perhaps: the end that was to come is safer.
      else if (said !== 'ok' && one.minutes === undefined && coming) until.set(one.colour, coming.due - START);
      else until.set(one.colour, now + (one.minutes ?? Number.POSITIVE_INFINITY) * MINUTE);
    } else if (one.do === 'wait') await passTo(now + one.minutes * MINUTE);
    else if (one.do === 'trouble') system.trouble.push(...Array<typeof one.what>(one.times).fill(one.what));
    else if (one.do === 'die') {
      house.engine.kill();
      now += one.minutes * MINUTE;
      house = await begin();
    } else {
      house.sink.offline('gone');
      await passTo(now + one.minutes * MINUTE);
      house.sink.online();
      house.sink.ready();
      await house.engine.idle();
    }
  }
  return { system, until, passTo, now: () => now, store };
}

test(
  'a command that ends by itself is over once its time is, and not before',
  () =>
    fc.assert(
      fc.asyncProperty(fc.array(deed, { maxLength: 14 }), async deeds => {
        const { system, until, passTo, now, store } = await live(deeds);
        system.trouble.length = 0;
        const end = now();
        // Long enough for the longest wait between two attempts.
        await passTo(end + 6 * MINUTE);
        for (const one of COLOURS) {
          const due = until.get(one) ?? 0;
          if (due > now()) expect(system.lit.has(one), `${one} is lit`).toBe(true);
          if (due <= end) expect(system.lit.has(one), `${one} is out`).toBe(false);
        }
        await passTo(end + 60 * MINUTE);
        for (const one of COLOURS)
          expect(system.lit.has(one), `${one} in the end`).toBe(until.get(one) === Number.POSITIVE_INFINITY);
        expect([...(await store.load()).tables.outbox.keys()]).toEqual([]);
      }),
      tried(150),
    ),
  LAW_TIMEOUT_MS,
);
