// Law: a run that is killed at any moment, and goes on in the next life at once, does what one that was not killed does:
// the same commands with the same arguments, in the same order, at the same moments. (In the same order along each strand:
// what runs, or branches of a `parallel`, do at one and the same instant has no order that could be kept.) A command that is sent again after
// the crash, because its answer had not come, is the same row of the outbox (the same id) and counts once, where it left
// first. An effect that is not idempotent is never sent twice; it may end `in_doubt` without having been sent.
// Long form: LAW_RUNS=2000 npx vitest run test/laws/kills.test.ts
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Death, type Driven, drive, LAW_TIMEOUT_MS, ms, type Sent, shown, tried } from './kit.ts';

// --- trees of actions ------------------------------------------------------------------------------------------------------

const SENSOR = 'virtual:sensor';
const BUTTON = 'virtual:button';
const TRUTHS = [
  { type: 'state', device: SENSOR, attribute: 'switch', is: 'on' },
  { type: 'state', device: SENSOR, attribute: 'switch', is: 'off', for: '2s' },
  { type: 'numeric', device: SENSOR, attribute: 'temperature', above: 20 },
  { type: 'expression', expr: 'vars.n > 1' },
  { type: 'expression', expr: 'vars.kept % 2 == 0' },
  { type: 'variable', name: 'shared', above: 1 },
  { type: 'not', condition: { type: 'state', device: SENSOR, attribute: 'switch', is: 'on' } },
];
// Not among them: `missing` (a snapshot is a report) and `interval` (its beats in an outage are not made up for).
const EVENTS = [
  { type: 'event', device: BUTTON, name: 'pushed', value: 9 },
  { type: 'state', device: SENSOR, attribute: 'switch', to: 'on' },
  { type: 'state', device: SENSOR, attribute: 'switch', to: 'on', for: '2s' },
  { type: 'numeric', device: SENSOR, attribute: 'temperature', above: 20, hysteresis: 3 },
  { type: 'count', of: { type: 'event', device: BUTTON, name: 'pushed', value: 9 }, count: 2, within: '10s' },
  {
    type: 'sequence',
    steps: [
      { type: 'event', device: BUTTON, name: 'pushed', value: 9 },
      { type: 'state', device: SENSOR, attribute: 'switch', to: 'off' },
    ],
    within: '10s',
  },
  { type: 'state', device: SENSOR, attribute: 'switch', debounce: '2s' },
];

type Tree =
  | { do: 'mark' | 'poke' | 'notify'; device: number }
  | { do: 'flaky'; times: number }
  | { do: 'delay'; s: number }
  | { do: 'add'; name: 'n' | 'kept' | 'shared' }
  | { do: 'wait'; until: object; s: number; then: 'continue' | 'fail' | Tree[]; first: Tree[] }
  | { do: 'if'; condition: object; then: Tree[]; else: Tree[] }
  | { do: 'choose'; conditions: object[]; then: Tree[] }
  | { do: 'repeat'; how: 'count' | 'for_each' | 'until' | 'while'; condition: object; body: Tree[] }
  | { do: 'parallel'; branches: Tree[][] }
  | { do: 'sequence'; body: Tree[]; timeout: number | undefined; onError: 'fail' | 'continue' | Tree[] }
  | { do: 'call'; waits: boolean };

const truth = fc.constantFrom(...TRUTHS);
const seconds = fc.integer({ min: 0, max: 5 });
const { trees } = fc.letrec<{ trees: Tree[]; tree: Tree }>(tie => {
  const trees = fc.array(tie('tree') as fc.Arbitrary<Tree>, { minLength: 1, maxLength: 3, depthIdentifier: 'tree' });
  const few = fc.array(tie('tree') as fc.Arbitrary<Tree>, { maxLength: 2, depthIdentifier: 'tree' });
  const leaf: fc.Arbitrary<Tree> = fc.oneof(
    { weight: 4, arbitrary: fc.record({ do: fc.constant('mark' as const), device: fc.integer({ min: 0, max: 3 }) }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('delay' as const), s: seconds }) },
    {
      weight: 2,
      arbitrary: fc.record({ do: fc.constant('add' as const), name: fc.constantFrom('n', 'kept', 'shared') }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ do: fc.constantFrom('poke' as const, 'notify' as const), device: fc.constant(0) }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('flaky' as const), times: fc.integer({ min: 1, max: 3 }) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('call' as const), waits: fc.boolean() }) },
  ) as fc.Arbitrary<Tree>;
  const inner: fc.Arbitrary<Tree> = fc.oneof(
    fc.record({
      do: fc.constant('wait' as const),
      until: fc.oneof(truth, fc.constantFrom(...EVENTS)),
      s: fc.integer({ min: 0, max: 9 }),
      then: fc.oneof(fc.constantFrom('continue' as const, 'fail' as const), trees),
      first: few,
    }),
    fc.record({ do: fc.constant('if' as const), condition: truth, then: trees, else: few }),
    fc.record({
      do: fc.constant('choose' as const),
      conditions: fc.array(truth, { minLength: 1, maxLength: 2 }),
      then: trees,
    }),
    fc.record({
      do: fc.constant('repeat' as const),
      how: fc.constantFrom('count', 'for_each', 'until', 'while'),
      condition: truth,
      body: trees,
    }),
    fc.record({ do: fc.constant('parallel' as const), branches: fc.array(trees, { minLength: 2, maxLength: 3 }) }),
    fc.record({
      do: fc.constant('sequence' as const),
      body: trees,
      timeout: fc.option(seconds, { nil: undefined }),
      onError: fc.oneof(fc.constantFrom('fail' as const, 'continue' as const), trees),
    }),
  ) as fc.Arbitrary<Tree>;
  return { trees, tree: fc.oneof({ maxDepth: 3, depthIdentifier: 'tree' }, leaf, inner) as fc.Arbitrary<Tree> };
});

/** Where a step stands, and in which round of a repeat; `alone`: no other strand sets the variables that it sets. */
interface Place {
  path: string;
  round: string;
  alone: boolean;
}

/** The steps of a tree. Each command says where it stands, in which round, and what the variables are. */
const stepsOf = (trees: readonly Tree[], place: Place): object[] =>
  trees.map((tree, index) => stepOf(tree, { ...place, path: `${place.path}${index}` }));

function stepOf(tree: Tree, place: Place): object {
  const { path, round } = place;
  const inside = (trees: readonly Tree[], name: string, more: Partial<Place> = {}) =>
    stepsOf(trees, { ...place, path: `${path}${name}`, ...more });
  const some = (trees: readonly Tree[], name: string) =>
    trees.length > 0 ? inside(trees, name) : [{ type: 'log', message: path }];
  // Nor which branch it is that fails first and ends the others.
  const failing = /b\d/.test(path) ? { on_error: 'continue' } : {};
  const text = `${path} ${round} {{ vars.n }} {{ vars.kept }}`;
  switch (tree.do) {
    case 'mark':
      return { type: 'command', device: `virtual:x${tree.device}`, command: 'mark', args: { text } };
    case 'poke':
      return { type: 'command', device: 'virtual:x0', command: 'poke', args: { text }, on_error: 'continue' };
    case 'notify':
      return { type: 'notify', message: text, on_error: 'continue' };
    case 'flaky':
      return {
        type: 'command',
        device: 'virtual:flaky',
        command: 'mark',
        args: { text },
        retry: { times: tree.times, backoff: '1s' },
        ...failing,
      };
    case 'delay':
      return { type: 'delay', for: `${tree.s}s` };
    case 'add':
      // Who is first where two set one variable at one instant is nobody's promise.
      if (!place.alone && (tree.name !== 'n' || /b[1-9]/.test(path))) return { type: 'log', message: path };
      return { type: 'set_variable', name: tree.name, add: 1 };
    case 'wait':
      return {
        type: 'wait_for',
        until: tree.until,
        timeout: `${tree.s}s`,
        on_timeout: Array.isArray(tree.then) ? inside(tree.then, 't') : tree.then,
        ...(tree.first.length > 0 && { do: inside(tree.first, 'd') }),
        ...failing,
      };
    case 'if':
      return { type: 'if', condition: tree.condition, then: inside(tree.then, 'y'), else: inside(tree.else, 'n') };
    case 'choose':
      return {
        type: 'choose',
        choose: tree.conditions.map((condition, index) => ({ condition, then: inside(tree.then, `c${index}`) })),
        else: inside(tree.then, 'e'),
      };
    case 'repeat': {
      const how = {
        count: { count: 3 },
        for_each: { for_each: ['p', { q: 1 }] },
        until: { until: tree.condition },
        while: { while: tree.condition },
      }[tree.how];
      const mark = tree.how === 'for_each' ? '{{ repeat.index }}{{ repeat.item }}' : '{{ repeat.index }}';
      // A round takes its time, so that none goes on for ever at one instant.
      return { type: 'repeat', ...how, do: [...inside(tree.body, 'r', { round: mark }), { type: 'delay', for: '2s' }] };
    }
    case 'parallel':
      return {
        type: 'parallel',
        branches: tree.branches.map((branch, index) => inside(branch, `b${index}`, { alone: false })),
        outputs: ['n'],
      };
    case 'sequence':
      return {
        type: 'sequence',
        do: some(tree.body, 's'),
        // Never at the very instant at which what is inside ends.
        ...(tree.timeout !== undefined && { timeout: `${tree.timeout * 1000 + 500}ms` }),
        on_error: Array.isArray(tree.onError) ? inside(tree.onError, 'o') : tree.onError,
        ...(tree.onError === 'fail' && failing),
      };
    case 'call':
      return { type: 'call_rule', rule: 'called', wait: tree.waits, args: { text: path } };
  }
}

/** One strand that depends on nothing but itself. */
const { plain } = fc.letrec<{ plain: Tree[]; tree: Tree }>(tie => {
  const plain = fc.array(tie('tree') as fc.Arbitrary<Tree>, { minLength: 1, maxLength: 4, depthIdentifier: 'plain' });
  const leaf = fc.oneof(
    fc.record({ do: fc.constant('mark' as const), device: fc.integer({ min: 0, max: 3 }) }),
    fc.record({ do: fc.constant('poke' as const), device: fc.constant(0) }),
    fc.record({ do: fc.constant('delay' as const), s: seconds }),
    fc.record({ do: fc.constant('add' as const), name: fc.constantFrom('n' as const, 'kept' as const) }),
  ) as fc.Arbitrary<Tree>;
  const inner = fc.oneof(
    fc.record({
      do: fc.constant('repeat' as const),
      how: fc.constantFrom('count' as const, 'for_each' as const),
      condition: truth,
      body: plain,
    }),
    fc.record({
      do: fc.constant('sequence' as const),
      body: plain,
      timeout: fc.constant(undefined),
      onError: fc.constant('fail' as const),
    }),
  ) as fc.Arbitrary<Tree>;
  return { plain, tree: fc.oneof({ maxDepth: 2, depthIdentifier: 'plain' }, leaf, inner) as fc.Arbitrary<Tree> };
});

// --- the house around it -----------------------------------------------------------------------------------------------------

interface Plan {
  tree: Tree[];
  mode: string;
  while: boolean;
  pushes: number[];
  outside: { at: number; what: number }[];
}

const plan: fc.Arbitrary<Plan> = fc.record({
  tree: trees,
  mode: fc.constantFrom('parallel', 'queued', 'restart', 'single'),
  while: fc.boolean(),
  pushes: fc.uniqueArray(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 2 }),
  outside: fc.array(fc.record({ at: fc.integer({ min: 1, max: 20 }), what: fc.integer({ min: 0, max: 5 }) }), {
    maxLength: 8,
  }),
});

const OUTSIDE = [
  { set: { [SENSOR]: { switch: 'on' } } },
  { set: { [SENSOR]: { switch: 'off' } } },
  { set: { [SENSOR]: { temperature: 22 } } },
  { set: { [SENSOR]: { temperature: 19 } } },
  { set: { [SENSOR]: { temperature: 15 } } },
  { event: { device: BUTTON, name: 'pushed', value: 9 } },
];

const marker = (idempotent: boolean) => ({ args: [{ name: 'text', type: 'string' }], effects: [], idempotent });
const END_S = 45;
/** What the guard remembers of a minute does not outlive a crash. */
const LIMITS = { runs: 10_000, per: '1h' };

function scenarioOf(plan: Plan, slow: readonly string[] = []) {
  const pushes = plan.pushes.map(at => ({
    at,
    entry: { event: { device: BUTTON, name: 'pushed', value: 1 } } as object,
  }));
  const outside = plan.outside.map(({ at, what }) => ({ at, entry: OUTSIDE[what] as object }));
  const marking = { attributes: { x: { type: 'number' } }, commands: { mark: marker(true), poke: marker(false) } };
  return {
    devices: {
      ...Object.fromEntries([0, 1, 2, 3, 4].map(n => [`virtual:x${n}`, marking])),
      'virtual:flaky': marking,
      [SENSOR]: { capabilities: ['switch', 'temperature'] },
      [BUTTON]: { capabilities: ['button'] },
    },
    given: { [SENSOR]: { switch: 'off', temperature: 18 }, variables: { shared: 0 } },
    rules: [
      {
        id: 'tree',
        name: 'Tree',
        mode: { type: plan.mode },
        limits: LIMITS,
        variables: { n: { initial: 0 }, kept: { initial: 0, persist: true } },
        triggers: [{ type: 'event', device: BUTTON, name: 'pushed', value: 1 }],
        ...(plan.while && {
          while: { type: 'not', condition: { type: 'numeric', device: SENSOR, attribute: 'temperature', above: 21 } },
        }),
        actions: stepsOf(plan.tree, { path: '', round: '', alone: plan.mode !== 'parallel' }),
        finally: [{ type: 'command', device: 'virtual:x4', command: 'mark', args: { text: 'finally {{ vars.n }}' } }],
      },
      {
        id: 'called',
        name: 'Called',
        mode: { type: 'parallel', max: 100 },
        limits: LIMITS,
        triggers: [{ type: 'startup', enabled: false }],
        actions: [
          { type: 'delay', for: '2s' },
          { type: 'command', device: 'virtual:x3', command: 'mark', args: { text: 'called {{ args.text }}' } },
          { type: 'stop', result: 1 },
        ],
      },
    ],
    timeline: [
      { at: '0s', fail: { device: 'virtual:flaky', error: 'BACKEND_TIMEOUT', until: '9s' } },
      ...slow.map(device => ({ at: '0s', fail: { device, answerAfter: '3s' } })),
      ...[...pushes, ...outside].sort((a, b) => a.at - b.at).map(({ at, entry }) => ({ at: ms(at * 1000), ...entry })),
    ] as object[],
    until: `${END_S}s`,
  };
}

/** The same, killed at a moment, after all that happens then. */
function killedAt(scenario: ReturnType<typeof scenarioOf>, at: number) {
  const before = scenario.timeline.filter(entry => Number.parseInt((entry as { at: string }).at, 10) <= at);
  const timeline = [
    ...before,
    { at: ms(at), stop: true },
    { at: ms(at), start: true },
    ...scenario.timeline.slice(before.length),
  ];
  return { ...scenario, timeline };
}

// --- what is compared ----------------------------------------------------------------------------------------------------------

const isOnce = (sent: Sent) => sent.command === 'poke';

/** The branch in which a step stands, by its path. */
const strandOf = ({ run, args }: Sent) => `${run} ${/^\S*b\d/.exec((args as { text: string }).text)?.[0]}`;

/** Idempotent commands of each strand as they took effect: each row of the outbox once. */
function effective(sent: readonly Sent[], isTimed = true): string[][] {
  const seen = new Set<string>();
  const strands = new Map<string, string[]>();
  for (const one of sent) {
    if (isOnce(one) || seen.has(one.id)) continue;
    seen.add(one.id);
    const { at, device, command, args } = one;
    const strand = strandOf(one);
    const text = `${isTimed ? at : ''} ${device} ${command} ${JSON.stringify(args)}`;
    strands.set(strand, [...(strands.get(strand) ?? []), text]);
  }
  return [...strands.values()].sort((a, b) => (a.join() < b.join() ? -1 : 1));
}

const onceOf = ({ sent, world }: Driven): string[] => [
  ...sent.filter(isOnce).map(one => JSON.stringify([one.at, one.args])),
  ...world.seen.notifies.map(({ at, fields }) => JSON.stringify([at, fields.message])),
];

/** Every one of `some` is among `all`, and no more often. */
function expectWithin(some: readonly string[], all: readonly string[], why: string): void {
  const left = [...all];
  for (const one of some) {
    const index = left.indexOf(one);
    expect(index, `${one} was not to be sent, or not again; ${why}`).toBeGreaterThanOrEqual(0);
    left.splice(index, 1);
  }
}

const spread = (all: readonly number[], most: number): number[] =>
  all.length <= most
    ? [...all]
    : Array.from({ length: most }, (_, n) => all[Math.floor((n * all.length) / most)] as number);

const isOverBudget = ({ sent }: Driven) => sent.length > 55;

describe('a killed run', () => {
  it(
    'does what one that was not killed does, whenever the kill comes between two turns',
    async () => {
      await fc.assert(
        fc.asyncProperty(plan, async plan => {
          const scenario = scenarioOf(plan);
          const whole = await drive(scenario);
          fc.pre(!isOverBudget(whole));
          const instants = [...new Set(whole.commits)].filter(at => at > 0).sort((a, b) => a - b);
          for (const at of spread(
            instants.flatMap(at => [at, at + 500]),
            14,
          )) {
            const killed = await drive(killedAt(scenario, at));
            const why = `killed at ${at} ms${shown(killedAt(scenario, at))}`;
            expect(effective(killed.sent), why).toEqual(effective(whole.sent));
            expect(onceOf(killed), why).toEqual(onceOf(whole));
          }
        }),
        tried(25),
      );
    },
    LAW_TIMEOUT_MS,
  );

  it(
    'does so when the kill comes in the midst of a turn, before or after its commit',
    async () => {
      await fc.assert(
        fc.asyncProperty(plan, async plan => {
          const scenario = scenarioOf(plan);
          const whole = await drive(scenario);
          fc.pre(!isOverBudget(whole));
          // What came from outside in a turn that was not committed is lost with it, as if it had come a moment later.
          const outside = new Set(scenario.timeline.map(entry => Number.parseInt((entry as { at: string }).at, 10)));
          const deaths = whole.commits.flatMap((at, commit): Death[] => [
            { commit, when: 'after' },
            ...(outside.has(at) ? [] : [{ commit, when: 'before' as const }]),
          ]);
          for (const n of spread([...deaths.keys()], 14)) {
            const death = deaths[n] as Death;
            const killed = await drive(scenario, death);
            const why = `died ${death.when} commit ${death.commit} at ${whole.commits[death.commit]} ms${shown(scenario)}`;
            expect(effective(killed.sent), why).toEqual(effective(whole.sent));
            expectWithin(onceOf(killed), onceOf(whole), why);
          }
        }),
        tried(25),
      );
    },
    LAW_TIMEOUT_MS,
  );

  it(
    'does so in the same order when answers to its commands were still to come, and repeats none that is not idempotent',
    async () => {
      await fc.assert(
        fc.asyncProperty(plain, async tree => {
          const plan = { tree, mode: 'single', while: false, pushes: [1], outside: [] };
          const scenario = { ...scenarioOf(plan, ['virtual:x0', 'virtual:x1']), until: '10m' };
          const whole = await drive(scenario);
          fc.pre(whole.sent.length < 40);
          const instants = [...new Set(whole.commits)].filter(at => at > 0).sort((a, b) => a - b);
          for (const at of spread(
            instants.flatMap(at => [at, at + 500]),
            10,
          )) {
            const killed = await drive(killedAt(scenario, at));
            const why = `killed at ${at} ms${shown(killedAt(scenario, at))}`;
            expect(effective(killed.sent, false), why).toEqual(effective(whole.sent, false));
            const texts = (driven: Driven) => driven.sent.filter(isOnce).map(one => JSON.stringify(one.args));
            expectWithin(texts(killed), texts(whole), why);
          }
        }),
        tried(15),
      );
    },
    LAW_TIMEOUT_MS,
  );
});
