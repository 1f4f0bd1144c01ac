// Law: a numeric trigger fires exactly when an automaton of one flag says: a number that is inside the region fires if
// none has been inside since the numbers last left it by the hysteresis. The flag survives kills, power cuts and outages.
// Long form: LAW_RUNS=20000 npx vitest run test/laws/crossings.test.ts
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LAW_TIMEOUT_MS, live, ms, runsOf, shown, tried } from './kit.ts';

const DEVICE = 'virtual:d';

type Op =
  | { do: 'set'; n: number }
  | { do: 'move'; limit: number }
  | { do: 'unavailable' | 'available' | 'kill' | 'power' | 'start' | 'disable' | 'enable' | 'edit' };

interface Train {
  initial: number | undefined;
  region: { above?: number; below?: number };
  /** The upper or lower bound is a variable. */
  isMoving: boolean;
  hysteresis: number;
  for: number;
  ops: { gap: number; op: Op }[];
}

/** The automaton, with its hold. Times are elapsed ms. */
class Automaton {
  readonly fires: number[] = [];
  now = 0;
  private readonly train: Train;
  private region: { above: number; below: number };
  private device: { n: number | null; isOnline: boolean };
  private known: number | null;
  private hasBeenInside = false;
  isRunning = true;
  private isTold: boolean;
  private isEnabled = true;
  private hold: { due: number; isOverdue: boolean } | undefined;
  private wasPowerCut = false;

  constructor(train: Train) {
    this.train = train;
    const { above = -Infinity, below = Infinity } = train.region;
    this.region = { above, below };
    this.device = { n: train.initial ?? null, isOnline: true };
    this.known = train.initial ?? null;
    this.isTold = this.known !== null;
    this.take(false);
  }

  private isInside(): boolean {
    return this.known !== null && this.known > this.region.above && this.known < this.region.below;
  }

  private isClear(): boolean {
    const { above, below } = this.region;
    const h = this.train.hysteresis;
    return this.known !== null && (this.known <= above - h || this.known >= below + h);
  }

  private level(): boolean | null {
    if (!this.isTold || !this.device.isOnline) return null;
    return this.hasBeenInside ? !this.isClear() : this.isInside();
  }

  /** A number, or a region, as it is now. */
  private take(isNews: boolean): void {
    if (this.isInside()) {
      if (isNews && !this.hasBeenInside) this.enter();
      this.hasBeenInside = true;
    } else if (this.isClear()) this.hasBeenInside = false;
    this.look();
  }

  private enter(): void {
    if (this.train.for === 0) this.fires.push(this.now);
    else this.hold ??= { due: this.now + this.train.for, isOverdue: false };
  }

  private look(): void {
    const level = this.level();
    if (!this.hold || level === null) return;
    if (!level) this.hold = undefined;
    else if (this.hold.isOverdue) {
      this.fires.push(this.now);
      this.hold = undefined;
    }
  }

  private hear(isNews: boolean): void {
    const { n } = this.device;
    if (n === null) return;
    const isChange = this.known !== null && this.known !== n;
    this.known = n;
    this.isTold = true;
    if (this.isEnabled) this.take(isNews && isChange);
  }

  runTo(time: number): void {
    if (this.isRunning && this.hold && !this.hold.isOverdue && this.hold.due <= time) {
      this.now = this.hold.due;
      this.hold.isOverdue = true;
      this.look();
    }
    this.now = time;
  }

  can(op: Op): boolean {
    switch (op.do) {
      case 'set':
        return true;
      case 'move':
        return this.train.isMoving && this.isRunning && this.device.isOnline && this.isTold && this.isEnabled;
      case 'unavailable':
        return this.device.isOnline && !(this.wasPowerCut && !this.isRunning);
      case 'available':
        return !this.device.isOnline;
      case 'kill':
        return this.isRunning;
      case 'power':
        return this.isRunning && this.device.isOnline;
      case 'start':
        return !this.isRunning;
      case 'disable':
        return this.isRunning && !(this.train.isMoving && this.train.hysteresis > 0);
      case 'enable':
      case 'edit':
        return this.isRunning;
    }
  }

  apply(op: Op): void {
    switch (op.do) {
      case 'set':
        this.device.n = op.n;
        if (this.isRunning && this.device.isOnline) this.hear(true);
        return;
      case 'move': {
        if (this.train.region.above !== undefined) this.region.above = op.limit;
        else this.region.below = op.limit;
        this.take(true);
        return;
      }
      case 'unavailable':
        this.device.isOnline = false;
        return;
      case 'available':
        this.device.isOnline = true;
        if (this.isRunning) this.hear(true);
        return;
      case 'kill':
      case 'power':
        this.isRunning = false;
        this.isTold = false;
        this.wasPowerCut = op.do === 'power';
        return;
      case 'start':
        this.isRunning = true;
        if (this.device.isOnline) this.hear(false);
        if (this.hold && this.hold.due <= this.now) this.hold.isOverdue = true;
        this.look();
        return;
      case 'disable':
        this.isEnabled = false;
        this.hold = undefined;
        return;
      case 'enable':
        // What it remembered is gone; what is known is known.
        if (!this.isEnabled) this.hasBeenInside = this.isInside();
        this.isEnabled = true;
        return;
      case 'edit':
        return;
    }
  }
}

const n = fc.integer({ min: 4, max: 13 }).map(half => half * 2);
const op: fc.Arbitrary<Op> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant('set' as const), n }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('move' as const), limit: fc.constantFrom(9, 11, 15, 19, 21) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constantFrom('unavailable', 'available', 'kill', 'power', 'start', 'start', 'disable', 'enable', 'edit'),
    }),
  },
) as fc.Arbitrary<Op>;

const train: fc.Arbitrary<Train> = fc.record({
  initial: fc.option(n, { nil: undefined, freq: 6 }),
  region: fc.constantFrom({ above: 15 }, { below: 15 }, { above: 11, below: 19 }),
  isMoving: fc.boolean(),
  hysteresis: fc.constantFrom(0, 0, 3),
  for: fc.constantFrom(0, 0, 4_000),
  ops: fc.array(fc.record({ gap: fc.integer({ min: 0, max: 5 }), op }), { maxLength: 30 }),
});

function ruleOf({ region: { above, below }, isMoving, hysteresis, for: forMs }: Train): object {
  const limit = { expr: 'vars.limit' };
  return {
    id: 'crossed',
    name: 'Crossed',
    mode: { type: 'parallel', max: 1000 },
    limits: { runs: 100_000, per: '1h' },
    triggers: [
      {
        type: 'numeric',
        device: DEVICE,
        attribute: 'level',
        ...(above !== undefined && { above: isMoving ? limit : above }),
        ...(below !== undefined && { below: isMoving && above === undefined ? limit : below }),
        ...(hysteresis > 0 && { hysteresis }),
        ...(forMs > 0 && { for: ms(forMs) }),
      },
    ],
    actions: [{ type: 'log', message: 'crossed' }],
  };
}

function entryOf(op: Op, index: number): object {
  switch (op.do) {
    case 'set':
      return { set: { [DEVICE]: { level: op.n } } };
    case 'move':
      return { variable: { name: 'limit', value: op.limit } };
    case 'unavailable':
    case 'available':
      return { [op.do]: [DEVICE] };
    case 'kill':
      return { stop: true };
    case 'power':
      return { stop: 'power' };
    case 'start':
      return { start: true };
    case 'disable':
    case 'enable':
      return { [op.do]: 'crossed' };
    case 'edit':
      return { patch: { id: 'crossed', description: `edit ${index}` } };
  }
}

function both(train: Train): { scenario: object; fires: number[] } {
  const automaton = new Automaton(train);
  const timeline: object[] = [];
  let at = 0;
  for (const [index, { gap, op }] of train.ops.entries()) {
    at += Math.max(gap, op.do === 'kill' || op.do === 'power' ? 1 : 0) * 1000;
    automaton.runTo(at);
    if (!automaton.can(op)) continue;
    automaton.apply(op);
    timeline.push({ at: ms(at), ...entryOf(op, index) });
  }
  at += 10_000;
  automaton.runTo(at);
  const { above, below } = train.region;
  const scenario = {
    devices: { [DEVICE]: { attributes: { level: { type: 'number' } } } },
    given: {
      ...(train.initial !== undefined && { [DEVICE]: { level: train.initial } }),
      variables: { limit: above ?? below },
    },
    rules: [ruleOf(train)],
    timeline,
    until: ms(at),
  };
  return { scenario, fires: automaton.fires };
}

describe('a numeric trigger', () => {
  it(
    'fires when the automaton says, over random numbers',
    async () => {
      await fc.assert(
        fc.asyncProperty(train, async train => {
          const { scenario, fires } = both(train);
          expect(runsOf(await live(scenario), 'crossed'), shown(scenario)).toEqual(fires);
        }),
        tried(400),
      );
    },
    LAW_TIMEOUT_MS,
  );
});
