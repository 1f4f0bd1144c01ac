// Law: a hold (`for`) fires exactly when a slow, plain model of it says, whatever else happens: other values, outages,
// kills and power cuts of any length, disabling, edits that are not its own, a stepped clock.
// Long form: LAW_RUNS=20000 npx vitest run test/laws/holds.test.ts
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LAW_TIMEOUT_MS, live, ms, runsOf, shown, tried } from './kit.ts';

const DEVICE = 'virtual:d';
const VALUES = ['a', 'b', 'c'] as const;
type Value = (typeof VALUES)[number];

type Op =
  | { do: 'set'; value: Value }
  | { do: 'unavailable' | 'available' | 'kill' | 'power' | 'disable' | 'enable' | 'edit' | 'other' }
  | { do: 'start'; readyMs: number }
  | { do: 'clock'; byMs: number };

interface Train {
  initial: Value | undefined;
  trigger: { from?: Value; to?: Value[]; not_to?: Value; for: number };
  unavailable: 'bridge' | 'cancel';
  onStartup: 'ignore' | 'evaluate' | 'compare';
  onEnable: 'ignore' | 'evaluate';
  ops: { gap: number; op: Op }[];
}

// --- the model -----------------------------------------------------------------------------------------------------------

interface Hold {
  due: number;
  /** What it began with; undefined when it began by being looked at. */
  value: Value | undefined;
  isOverdue: boolean;
}

/** The plain model: one device, one trigger, one hold. Times are elapsed ms. */
class Model {
  readonly fires: number[] = [];
  now = 0;
  private readonly train: Train;
  private device: { value: Value | null; isOnline: boolean };
  /** The last value that the engine heard. */
  private known: Value | null;
  /** What the engine knows it may decide upon. */
  private isTold = false;
  engine: 'off' | 'starting' | 'ready' = 'off';
  private readyAt = 0;
  isEnabled = true;
  private hold: Hold | undefined;
  /** Dropped by an outage, to begin anew at the return. */
  private isDropped = false;
  /** To begin at the first value that can be told. */
  private isWanted = false;
  private isCompared = false;
  wasPowerCut = false;

  constructor(train: Train) {
    this.train = train;
    this.device = { value: train.initial ?? null, isOnline: true };
    this.known = train.initial ?? null;
  }

  get isOnline(): boolean {
    return this.device.isOnline;
  }

  /** Whether a value is one that the trigger waits for. */
  private fits(value: Value): boolean {
    const { from, to, not_to: notTo } = this.train.trigger;
    if (to) return to.includes(value);
    if (notTo !== undefined) return value !== notTo;
    return from === undefined || value !== from;
  }

  private level(hold?: Hold): boolean | null {
    if (!this.isTold || !this.device.isOnline || this.known === null) return null;
    const { from, to, not_to: notTo } = this.train.trigger;
    const isAnyChange = from === undefined && to === undefined && notTo === undefined;
    if (isAnyChange && hold?.value !== undefined) return this.known === hold.value;
    return this.fits(this.known);
  }

  private enter(value: Value | undefined, restart: boolean): void {
    if (this.train.trigger.for === 0) this.fires.push(this.now);
    else if (!this.hold || restart) this.hold = { due: this.now + this.train.trigger.for, value, isOverdue: false };
  }

  private hear(value: Value | null, isNews: boolean): void {
    if (value === null) return;
    const before = this.known;
    this.known = value;
    this.isTold = true;
    if (!this.isEnabled) return;
    const { from, to, not_to: notTo } = this.train.trigger;
    const isEdge = value !== before && before !== null && this.fits(value) && (from === undefined || before === from);
    const isAnyChange = from === undefined && to === undefined && notTo === undefined;
    if (this.engine === 'starting') {
      if (isEdge) this.isCompared = true;
    } else if (isNews && isEdge) {
      this.isWanted = false;
      this.enter(value, isAnyChange);
    } else if (isNews && value !== before && !this.fits(value)) this.hold = undefined;
    this.look();
  }

  private look(): void {
    const level = this.level(this.hold);
    if (!this.isEnabled || level === null) return;
    if (this.isWanted && this.engine === 'ready') {
      this.isWanted = false;
      if (level) this.enter(undefined, false);
    }
    if (this.isDropped) {
      this.isDropped = false;
      if (level) this.enter(this.known ?? undefined, false);
    }
    if (this.hold && !level) this.hold = undefined;
    if (this.hold?.isOverdue && this.engine === 'ready') this.fire();
  }

  private fire(): void {
    this.hold = undefined;
    this.fires.push(this.now);
  }

  private gone(): void {
    if (this.train.unavailable !== 'cancel' || !this.hold || !this.isEnabled) return;
    this.hold = undefined;
    this.isDropped = true;
  }

  private evaluate(): void {
    const level = this.level();
    this.isWanted = level === null;
    if (level) this.enter(undefined, false);
  }

  private due(): void {
    const level = this.level(this.hold);
    if (level) this.fire();
    else if (this.hold && level === null) this.hold.isOverdue = true;
    else this.hold = undefined;
  }

  /** All that time alone brings, up to and with an instant. */
  runTo(time: number): void {
    for (;;) {
      const dues = [
        ...(this.engine === 'starting' ? [this.readyAt] : []),
        ...(this.engine === 'ready' && this.hold && !this.hold.isOverdue ? [this.hold.due] : []),
      ];
      const next = Math.min(...dues);
      if (!(next <= time)) break;
      this.now = Math.max(this.now, next);
      if (this.engine === 'starting') this.becomeReady();
      else this.due();
    }
    this.now = time;
  }

  private becomeReady(): void {
    this.engine = 'ready';
    if (this.train.onStartup === 'evaluate') this.isWanted = false;
    this.look();
    if (this.hold && this.hold.due <= this.now) this.due();
    if (this.isEnabled && this.isCompared && this.train.onStartup === 'compare' && this.level() === true)
      this.enter(this.known ?? undefined, true);
    this.isCompared = false;
    if (this.isEnabled && this.train.onStartup === 'evaluate') this.evaluate();
  }

  start(readyMs: number): void {
    this.engine = 'starting';
    this.readyAt = this.now + readyMs;
    this.isTold = false;
    if (this.device.isOnline) this.hear(this.device.value, false);
    else this.gone();
    if (readyMs === 0) this.becomeReady();
  }

  // Whether an operation makes sense now: the others are left out.
  can(op: Op): boolean {
    switch (op.do) {
      case 'set':
        return true;
      case 'clock':
        // By how much a wall was stepped while nobody looked cannot be told.
        return this.engine !== 'off';
      case 'unavailable':
        // After a power cut the engine may know an older value, with which a return is compared.
        return this.device.isOnline && !(this.engine === 'off' && this.wasPowerCut);
      case 'available':
        return !this.device.isOnline;
      case 'kill':
        return this.engine !== 'off';
      case 'power':
        return this.engine !== 'off' && this.device.isOnline && this.train.onStartup !== 'compare';
      case 'start':
        return this.engine === 'off';
      case 'disable':
      case 'enable':
      case 'edit':
      case 'other':
        return this.engine === 'ready';
    }
  }

  apply(op: Op): void {
    switch (op.do) {
      case 'set':
        this.device.value = op.value;
        if (this.engine !== 'off' && this.device.isOnline) this.hear(op.value, this.engine === 'ready');
        return;
      case 'unavailable':
        this.device.isOnline = false;
        if (this.engine !== 'off') this.gone();
        return;
      case 'available':
        this.device.isOnline = true;
        if (this.engine !== 'off') this.hear(this.device.value, this.engine === 'ready');
        return;
      case 'kill':
      case 'power':
        this.engine = 'off';
        this.isCompared = false;
        this.wasPowerCut = op.do === 'power';
        return;
      case 'start':
        this.start(op.readyMs);
        return;
      case 'disable':
        this.isEnabled = false;
        this.hold = undefined;
        this.isDropped = false;
        this.isWanted = false;
        return;
      case 'enable':
        if (this.isEnabled) return;
        this.isEnabled = true;
        if (this.train.onEnable === 'evaluate') this.evaluate();
        return;
      case 'edit':
      case 'other':
      case 'clock':
        return;
    }
  }
}

// --- the trains ------------------------------------------------------------------------------------------------------------

const value = fc.constantFrom(...VALUES);
const op: fc.Arbitrary<Op> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('set' as const), value }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom('unavailable', 'available', 'kill', 'power', 'disable', 'enable', 'edit', 'other'),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('start' as const), readyMs: fc.constantFrom(0, 0, 2000) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('clock' as const),
      byMs: fc.constantFrom(-3_600_000, -700, 900, 7_200_000),
    }),
  },
) as fc.Arbitrary<Op>;

const train: fc.Arbitrary<Train> = fc.record({
  initial: fc.option(value, { nil: undefined, freq: 6 }),
  trigger: fc
    .oneof(
      fc.record({ to: fc.constantFrom<Value[]>(['a'], ['a', 'b']) }),
      fc.constant({ from: 'b' as Value, to: ['a'] as Value[] }),
      fc.constant({ from: 'b' as Value }),
      fc.constant({ not_to: 'b' as Value }),
      fc.constant({}),
    )
    .chain(fields => fc.constantFrom(0, 4_000, 7_000).map(forMs => ({ ...fields, for: forMs }))),
  unavailable: fc.constantFrom('bridge', 'cancel'),
  onStartup: fc.constantFrom('ignore', 'evaluate', 'compare'),
  onEnable: fc.constantFrom('ignore', 'evaluate'),
  ops: fc.array(fc.record({ gap: fc.integer({ min: 0, max: 6 }), op }), { maxLength: 24 }),
});

const ruleOf = ({ trigger: { to, for: forMs, ...fields }, unavailable, onStartup, onEnable }: Train) => ({
  id: 'held',
  name: 'Held',
  mode: { type: 'parallel', max: 1000 },
  limits: { runs: 100_000, per: '1h' },
  on_enable: onEnable,
  triggers: [
    {
      type: 'state',
      device: DEVICE,
      attribute: 'what',
      ...fields,
      ...(to && { to: to.length === 1 ? to[0] : to }),
      ...(forMs > 0 && { for: ms(forMs) }),
      unavailable,
      on_startup: onStartup,
    },
  ],
  actions: [{ type: 'log', message: 'held' }],
});

const OTHER = {
  id: 'other',
  name: 'Other',
  triggers: [{ type: 'state', device: DEVICE, attribute: 'what', to: 'c', for: '5s' }],
  actions: [{ type: 'log', message: 'other' }],
};

function entryOf(op: Op, n: number): object {
  switch (op.do) {
    case 'set':
      return { set: { [DEVICE]: { what: op.value } } };
    case 'unavailable':
    case 'available':
      return { [op.do]: [DEVICE] };
    case 'kill':
      return { stop: true };
    case 'power':
      return { stop: 'power' };
    case 'start':
      return { start: op.readyMs === 0 ? true : { ready: ms(op.readyMs) } };
    case 'disable':
    case 'enable':
      return { [op.do]: 'held' };
    case 'edit':
      return { patch: { id: 'held', description: `edit ${n}` } };
    case 'other':
      return { patch: { id: 'other', triggers: [{ ...OTHER.triggers[0], for: ms(5_000 + n) }] } };
    case 'clock':
      return { clock: ms(op.byMs) };
  }
}

/** The scenario of a train, and what the model says of it. */
function both(train: Train): { scenario: object; fires: number[] } {
  const model = new Model(train);
  model.start(0);
  const timeline: object[] = [];
  let at = 0;
  for (const [n, { gap, op }] of train.ops.entries()) {
    // Last known values are stored a quarter of a second later (DESIGN §8): no kill before.
    at += Math.max(gap, op.do === 'kill' || op.do === 'power' ? 1 : 0) * 1000;
    model.runTo(at);
    if (!model.can(op)) continue;
    model.apply(op);
    timeline.push({ at: ms(at), ...entryOf(op, n) });
  }
  at += 20_000;
  model.runTo(at);
  const scenario = {
    devices: { [DEVICE]: { attributes: { what: { type: 'string' } } } },
    given: train.initial === undefined ? {} : { [DEVICE]: { what: train.initial } },
    rules: [ruleOf(train), OTHER],
    timeline,
    until: ms(at),
  };
  return { scenario, fires: model.fires };
}

describe('a hold', () => {
  it(
    'fires when the model says, over random trains of events',
    async () => {
      await fc.assert(
        fc.asyncProperty(train, async train => {
          const { scenario, fires } = both(train);
          expect(runsOf(await live(scenario), 'held'), shown(scenario)).toEqual(fires);
        }),
        tried(400),
      );
    },
    LAW_TIMEOUT_MS,
  );
});
