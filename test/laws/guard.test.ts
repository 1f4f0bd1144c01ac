// Laws of the guard. Any few rules that start each other, in circles or not, come to rest after what started them, without
// anybody's help: nothing goes round for ever. And rules of which none can lead back to itself are never suspended, however
// quickly things happen outside; at the worst they are throttled. (Waits of 10 s and more are left out: a circle through
// one is reported and goes on, DESIGN §9.)
// Long form: LAW_RUNS=5000 npx vitest run test/laws/guard.test.ts
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LAW_TIMEOUT_MS, live, ms, shown, tried } from './kit.ts';

const DEVICES = 6;

type Act =
  | { do: 'command'; device: number; command: 'on' | 'off' | 'toggle' | 'flip' }
  | { do: 'level'; device: number; by: number }
  | { do: 'variable'; n: number; by: number }
  | { do: 'publish'; topic: number }
  | { do: 'call'; rule: number }
  | { do: 'mode'; name: 'home' | 'away' }
  | { do: 'delay'; forMs: number };

type Start =
  | { on: 'state'; device: number; to: 'on' | 'off' | undefined; forMs: number }
  | { on: 'reported' | 'command'; device: number }
  | { on: 'level'; device: number }
  | { on: 'numeric'; device: number }
  | { on: 'variable'; n: number }
  | { on: 'topic'; topic: number }
  | { on: 'mode' }
  | { on: 'rule'; rule: number };

interface Plan {
  mode: string;
  start: Start;
  acts: Act[];
}

const device = fc.integer({ min: 0, max: 2 });
const small = fc.integer({ min: 0, max: 1 });
const start: fc.Arbitrary<Start> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      on: fc.constant('state' as const),
      device,
      to: fc.constantFrom('on' as const, 'off' as const, undefined),
      forMs: fc.constantFrom(0, 0, 0, 500, 3000),
    }),
  },
  { weight: 1, arbitrary: fc.record({ on: fc.constantFrom('reported' as const, 'command' as const), device }) },
  { weight: 2, arbitrary: fc.record({ on: fc.constantFrom('level' as const, 'numeric' as const), device }) },
  { weight: 2, arbitrary: fc.record({ on: fc.constant('variable' as const), n: small }) },
  { weight: 2, arbitrary: fc.record({ on: fc.constant('topic' as const), topic: small }) },
  { weight: 1, arbitrary: fc.constant({ on: 'mode' as const }) },
  { weight: 1, arbitrary: fc.record({ on: fc.constant('rule' as const), rule: fc.integer({ min: 0, max: 5 }) }) },
) as fc.Arbitrary<Start>;
const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('command' as const),
      device,
      command: fc.constantFrom('on' as const, 'off' as const, 'toggle' as const, 'flip' as const),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('level' as const), device, by: fc.constantFrom(1, 7) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('variable' as const), n: small, by: fc.constantFrom(0, 1) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('publish' as const), topic: small }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('call' as const), rule: fc.integer({ min: 0, max: 5 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('mode' as const), name: fc.constantFrom('home', 'away') }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('delay' as const), forMs: fc.constantFrom(0, 200, 700) }) },
) as fc.Arbitrary<Act>;
const plan: fc.Arbitrary<Plan> = fc.record({
  mode: fc.constantFrom('single', 'restart', 'queued', 'parallel'),
  start,
  acts: fc.array(act, { minLength: 1, maxLength: 3 }),
});

const id = (n: number) => `virtual:d${n}`;

function triggerOf(start: Start): object {
  switch (start.on) {
    case 'state': {
      const { device, to, forMs } = start;
      const more = { ...(to && { to }), ...(forMs > 0 && { for: ms(forMs) }) };
      return { type: 'state', device: id(device), attribute: 'switch', ...more };
    }
    case 'reported':
      return { type: 'reported', device: id(start.device), attribute: 'switch' };
    case 'command':
      return { type: 'command', device: id(start.device) };
    case 'level':
      return { type: 'state', device: id(start.device), attribute: 'level' };
    case 'numeric':
      return { type: 'numeric', device: id(start.device), attribute: 'level', above: 50 };
    case 'variable':
      return { type: 'variable', name: `v${start.n}` };
    case 'topic':
      return { type: 'mqtt', topic: `home/t${start.topic}` };
    case 'mode':
      return { type: 'mode' };
    case 'rule':
      return { type: 'rule', rule: `r${start.rule}` };
  }
}

function stepOf(act: Act): object {
  switch (act.do) {
    case 'command': {
      const state = `state("${id(act.device)}", "switch")`;
      if (act.command !== 'flip') return { type: 'command', device: id(act.device), command: act.command };
      return {
        type: 'if',
        condition: { type: 'expression', expr: `${state} == "on"` },
        then: [{ type: 'command', device: id(act.device), command: 'off' }],
        else: [{ type: 'command', device: id(act.device), command: 'on' }],
      };
    }
    case 'level': {
      const level = { expr: `(int(num(state("${id(act.device)}", "level"), 0)) + ${act.by * 10}) % 100` };
      return { type: 'command', device: id(act.device), command: 'setLevel', args: { level } };
    }
    case 'variable':
      return { type: 'set_variable', name: `v${act.n}`, ...(act.by > 0 ? { add: act.by } : { value: 1 }) };
    case 'publish':
      return { type: 'publish', topic: `home/t${act.topic}`, payload: { expr: 'vars.v0' } };
    case 'call':
      return { type: 'call_rule', rule: `r${act.rule}`, on_error: 'continue' };
    case 'mode':
      return { type: 'set_mode', mode: act.name };
    case 'delay':
      return { type: 'delay', for: ms(act.forMs) };
  }
}

const ruleOf = ({ mode, start, acts }: Plan, n: number) => ({
  id: `r${n}`,
  name: `Rule ${n}`,
  mode: { type: mode },
  triggers: [triggerOf(start)],
  actions: acts.map(stepOf),
});

const houseOf = (echo: readonly number[], rules: object[], timeline: object[], until: string) => ({
  devices: Object.fromEntries(
    Array.from({ length: DEVICES }, (_, n) => [
      id(n),
      { capabilities: ['switch', 'dimmer'], echo: { after: ms(echo[n % echo.length] ?? 50) } },
    ]),
  ),
  given: {
    ...Object.fromEntries(Array.from({ length: DEVICES }, (_, n) => [id(n), { switch: 'off', level: 0 }])),
    mode: 'home',
    variables: { v0: 0, v1: 0 },
  },
  house: { modes: ['home', 'away'] },
  rules,
  timeline,
  until,
});

const echoes = fc.array(fc.constantFrom(0, 50, 50, 400, 3000), { minLength: 1, maxLength: 3 });

describe('the guard', () => {
  const pushes = fc.array(
    fc.record({
      at: fc.integer({ min: 1, max: 10 }),
      what: fc.oneof(
        fc.record({
          device,
          values: fc.constantFrom({ switch: 'on' }, { switch: 'off' }, { level: 60 }, { level: 10 }),
        }),
        fc.constantFrom('home/t0', 'home/t1'),
      ),
    }),
    { minLength: 1, maxLength: 4 },
  );

  it(
    'brings any rules that start each other to rest',
    async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(plan, { minLength: 1, maxLength: 6 }),
          echoes,
          pushes,
          async (plans, echo, pushes) => {
            const timeline = [...pushes]
              .sort((a, b) => a.at - b.at)
              .map(({ at, what }) => ({
                at: ms(at * 1000),
                ...(typeof what === 'string'
                  ? { mqtt: { topic: what, payload: 'go' } }
                  : { set: { [id(what.device)]: what.values } }),
              }));
            const scenario = houseOf(echo, plans.map(ruleOf), timeline, '1h');
            const { seen } = await live(scenario);
            expect(seen.runs.length, shown(scenario)).toBeLessThan(1_000);
            expect(seen.commands.length, shown(scenario)).toBeLessThan(1_000);
            expect(seen.runs.at(-1)?.at ?? 0, `the last run; ${shown(scenario)}`).toBeLessThan(10 * 60_000);
          },
        ),
        tried(150),
      );
    },
    LAW_TIMEOUT_MS,
  );
});

// --- rules without a circle ------------------------------------------------------------------------------------------------------

/** A rule that looks at a device and commands some with higher numbers. */
interface Edge {
  from: number;
  to: { device: number; command: 'on' | 'off' | 'toggle' }[];
  mode: string;
}

const edge: fc.Arbitrary<Edge> = fc.integer({ min: 0, max: DEVICES - 2 }).chain(from =>
  fc.record({
    from: fc.constant(from),
    to: fc.uniqueArray(
      fc.record({
        device: fc.integer({ min: from + 1, max: DEVICES - 1 }),
        command: fc.constantFrom('on' as const, 'off' as const, 'toggle' as const),
      }),
      { minLength: 1, maxLength: 2, selector: one => one.device },
    ),
    mode: fc.constantFrom('single', 'restart', 'queued', 'parallel'),
  }),
);

/** How many runs of each rule one change outside may lead to at the most. */
function fanOut(edges: readonly Edge[], changed: number): number {
  const changes = Array.from({ length: DEVICES }, (_, n): number => (n === changed ? 1 : 0));
  let most = 0;
  for (let n = 0; n < DEVICES; n++) {
    for (const { from, to } of edges.filter(one => one.from === n)) {
      most = Math.max(most, changes[from] ?? 0);
      for (const { device } of to) changes[device] = (changes[device] ?? 0) + (changes[from] ?? 0);
    }
  }
  return most;
}

describe('rules without a circle', () => {
  const trains = fc.array(
    fc.record({
      device: fc.integer({ min: 0, max: DEVICES - 1 }),
      everyMs: fc.constantFrom(200, 700, 1900, 7000),
      times: fc.integer({ min: 1, max: 120 }),
    }),
    { minLength: 1, maxLength: 3 },
  );

  it(
    'are never suspended',
    async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(edge, { minLength: 1, maxLength: 6 }),
          echoes,
          trains,
          async (edges, echo, trains) => {
            fc.pre(trains.every(({ device }) => fanOut(edges, device) <= 12));
            const rules = edges.map(({ from, to, mode }, n) => ({
              id: `r${n}`,
              name: `Rule ${n}`,
              mode: { type: mode },
              triggers: [{ type: 'state', device: id(from), attribute: 'switch' }],
              actions: to.map(({ device, command }) => ({ type: 'command', device: id(device), command })),
            }));
            // At most three minutes: who is flooded for five windows in a row is suspended by design.
            const timeline = trains.flatMap(({ device, everyMs, times }, n) =>
              Array.from({ length: Math.min(times, Math.floor(180_000 / everyMs)) }, (_, k) => ({
                at: 1000 + n * 13 + k * everyMs,
                set: { [id(device)]: { switch: k % 2 === 0 ? 'on' : 'off' } },
              })),
            );
            timeline.sort((a, b) => a.at - b.at);
            const entries = timeline.map(({ at, set }) => ({ at: ms(at), set }));
            const scenario = houseOf(echo, rules, entries, '10m');
            const { seen } = await live(scenario);
            expect(
              seen.guards.filter(guard => guard.fields.suspended).map(guard => guard.fields),
              shown(scenario),
            ).toEqual([]);
          },
        ),
        tried(60),
      );
    },
    LAW_TIMEOUT_MS,
  );
});
