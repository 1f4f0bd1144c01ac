// Law: over random restarts, downtimes and steps of the wall clock, a schedule (time, cron) fires each occurrence on time,
// makes up for missed ones as `catch_up` says, and none twice: exactly as a walk along the wall clock says, which asks
// nothing but "what comes next". An interval follows elapsed time and keeps its phase.
// Long form: LAW_RUNS=20000 npx vitest run test/laws/schedules.test.ts
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nextCron, parseCron } from '../../src/lib/time/cron.ts';
import { nextDaily, parseDaily } from '../../src/lib/time/daily.ts';
import type { Next } from '../../src/lib/time/occurrence.ts';
import { LAW_TIMEOUT_MS, live, ms, runsOf, shown, tried } from './kit.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** From further back than this a wall clock is believed (an RTC that stood in another year). */
const STEP_BACK_MS = 26 * HOUR;

/** Around changes of the clocks: of an hour, of half an hour, at midnight; and none. */
const PLACES = [
  { timezone: 'UTC', start: '2026-01-05T11:02:07' },
  { timezone: 'Europe/Berlin', start: '2026-03-28T15:02:07' },
  { timezone: 'Europe/Berlin', start: '2026-10-24T15:02:07' },
  { timezone: 'America/New_York', start: '2026-03-07T15:02:07' },
  { timezone: 'Australia/Lord_Howe', start: '2026-04-04T15:02:07' },
  { timezone: 'Australia/Lord_Howe', start: '2026-10-03T15:02:07' },
  { timezone: 'America/Santiago', start: '2026-09-05T15:02:07' },
];
const CRONS = ['*/15 * * * *', '30 2 * * *', '0 8 * * 1-5', '0 */6 * * *', '5 0 * * *', '30 1,2 * * 0', '20 * * * *'];

type Schedule =
  | { type: 'time'; at: string[]; weekdays: readonly ('sat' | 'sun' | 'mon')[] | undefined; dst_gap: 'next' | 'skip' }
  | { type: 'cron'; cron: string; dst_gap: 'next' | 'skip' };

type Op = { do: 'wait' } | { do: 'down'; byMs: number } | { do: 'step'; byMs: number };

interface Train {
  place: (typeof PLACES)[number];
  schedule: Schedule;
  catchUp: { type: 'none' | 'once' | 'latest'; within: number };
  /** Each takes a while first; `down` is off for that while. */
  ops: { minutes: number; op: Op }[];
}

// --- the walk ----------------------------------------------------------------------------------------------------------------

class Walk {
  readonly fires: number[] = [];
  private readonly next: Next;
  private readonly catchUp: Train['catchUp'];
  private offset: number;
  private elapsed = 0;
  /** The wall up to which occurrences were considered. */
  private seen: number;
  private lastFired = Number.NEGATIVE_INFINITY;

  constructor(next: Next, catchUp: Train['catchUp'], start: number) {
    this.next = next;
    this.catchUp = catchUp;
    this.offset = start;
    this.seen = start;
  }

  private wall(): number {
    return this.elapsed + this.offset;
  }

  /** Occurrences up to a wall time that have not fired, nor come before one that has. */
  private pending(until: number): number[] {
    const found: number[] = [];
    for (let one = this.next(this.seen); one && one.at <= until; one = this.next(one.at)) {
      const isPast = one.at <= this.lastFired && this.lastFired - this.seen <= STEP_BACK_MS;
      if (!isPast) found.push(one.at);
    }
    return found;
  }

  private fire(at: number, elapsed: number): void {
    this.lastFired = at;
    this.fires.push(elapsed);
  }

  /** The wall goes on by itself. */
  go(byMs: number): void {
    for (const at of this.pending(this.wall() + byMs)) this.fire(at, at - this.offset);
    this.elapsed += byMs;
    this.seen = this.wall();
  }

  /** What lies before the wall was not seen at its time. */
  private makeUp(): void {
    const wall = this.wall();
    const { type, within } = this.catchUp;
    const recent = this.pending(wall).filter(at => at >= wall - within);
    const chosen = type === 'once' ? recent[0] : type === 'latest' ? recent.at(-1) : undefined;
    if (chosen !== undefined) this.fire(chosen, this.elapsed);
    this.seen = wall;
  }

  step(byMs: number): void {
    this.offset += byMs;
    if (byMs < 0) this.seen = this.wall();
    // Two seconds are no step: what they passed over is a little late.
    else if (byMs <= 2000) this.go(0);
    else this.makeUp();
  }

  down(byMs: number, stepMs: number): void {
    this.elapsed += byMs;
    this.offset += stepMs;
    if (this.wall() < this.seen) this.seen = this.wall();
    else this.makeUp();
  }
}

const nextOf = (schedule: Schedule, zone: string): Next => {
  const { dst_gap: gap } = schedule;
  if (schedule.type === 'cron') {
    const cron = parseCron(schedule.cron);
    return after => nextCron(cron, zone, after, gap);
  }
  const { at, weekdays } = schedule;
  const daily = parseDaily({ at, zone, gap, ...(weekdays && { weekdays }) });
  return after => nextDaily(daily, after);
};

// --- the trains ----------------------------------------------------------------------------------------------------------------

const clock = fc.constantFrom('00:00', '00:30', '01:30', '02:15', '02:30', '03:00', '08:00', '16:00', '23:45');
const dstGap = fc.constantFrom('next' as const, 'skip' as const);
const schedule = fc.oneof(
  fc.record({
    type: fc.constant('time' as const),
    at: fc.uniqueArray(clock, { minLength: 1, maxLength: 3 }),
    weekdays: fc.constantFrom(undefined, undefined, ['sun' as const], ['sat' as const, 'mon' as const]),
    dst_gap: dstGap,
  }),
  fc.record({ type: fc.constant('cron' as const), cron: fc.constantFrom(...CRONS), dst_gap: dstGap }),
) as fc.Arbitrary<Schedule>;
/** Odd seconds, so that no step lands on an occurrence to the millisecond. */
const stepMs = fc
  .tuple(fc.constantFrom(-25 * 60, -3 * 60, -61, -7, 4, 17, 65, 4 * 60, 24 * 60), fc.constant(13_000))
  .map(([minutes, odd]) => minutes * MINUTE + odd);
const op: fc.Arbitrary<Op> = fc.oneof(
  { weight: 2, arbitrary: fc.constant({ do: 'wait' as const }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('down' as const), byMs: fc.oneof(fc.constant(0), stepMs) }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('step' as const), byMs: fc.oneof(stepMs, fc.constantFrom(-1000, 1000)) }),
  },
);
const train: fc.Arbitrary<Train> = fc.record({
  place: fc.constantFrom(...PLACES),
  schedule,
  catchUp: fc.record({
    type: fc.constantFrom('none', 'once', 'latest'),
    within: fc.constantFrom(5 * MINUTE, HOUR, 24 * HOUR),
  }),
  ops: fc.array(fc.record({ minutes: fc.constantFrom(0, 1, 4, 14, 50, 130, 600, 1500), op }), { maxLength: 14 }),
});

const ruleWith = (trigger: object) => ({
  id: 'timed',
  name: 'Timed',
  mode: { type: 'parallel', max: 1000 },
  limits: { runs: 100_000, per: '1h' },
  triggers: [trigger],
  actions: [{ type: 'log', message: 'now' }],
});

function both(train: Train): { scenario: object; fires: number[] } {
  const { place, schedule, catchUp } = train;
  const next = nextOf(schedule, place.timezone);
  const start = nextDaily(parseDaily({ at: [place.start], zone: place.timezone }), 0)?.at ?? 0;
  const walk = new Walk(next, catchUp, start);
  const timeline: object[] = [];
  let at = 0;
  for (const { minutes, op } of [...train.ops, { minutes: 1500, op: { do: 'wait' as const } }]) {
    const byMs = minutes * MINUTE;
    if (op.do === 'down') {
      timeline.push({ at: ms(at), stop: true });
      if (op.byMs !== 0) timeline.push({ at: ms(at), clock: ms(op.byMs) });
      at += byMs;
      timeline.push({ at: ms(at), start: true });
      walk.down(byMs, op.byMs);
      continue;
    }
    at += byMs;
    walk.go(byMs);
    if (op.do === 'step') {
      timeline.push({ at: ms(at), clock: ms(op.byMs) });
      walk.step(op.byMs);
    }
  }
  const { weekdays, ...fields } = { weekdays: undefined, ...schedule };
  const trigger = {
    ...fields,
    ...(weekdays && { weekdays }),
    catch_up: { type: catchUp.type, within: ms(catchUp.within) },
  };
  const scenario = {
    location: { timezone: place.timezone },
    start: place.start,
    rules: [ruleWith(trigger)],
    timeline,
    until: ms(at),
  };
  return { scenario, fires: walk.fires };
}

describe('a schedule', () => {
  it(
    'fires when a walk along the wall clock says',
    async () => {
      await fc.assert(
        fc.asyncProperty(train, async train => {
          const { scenario, fires } = both(train);
          expect(runsOf(await live(scenario), 'timed'), shown(scenario)).toEqual(fires);
        }),
        tried(300),
      );
    },
    LAW_TIMEOUT_MS,
  );
});

describe('an interval', () => {
  const pauses = fc.array(
    fc.record({
      seconds: fc.integer({ min: 0, max: 900 }),
      op: fc.oneof(
        fc.constantFrom('down' as const, 'wait' as const),
        fc.constantFrom(-3_600_000, -1_500, 900, 86_400_000).map(byMs => ({ byMs })),
      ),
    }),
    { maxLength: 14 },
  );

  it(
    'beats in its phase, whatever the wall clock does, and is silent while the gateway is off',
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.constantFrom(7, 60, 600), pauses, async (every, pauses) => {
          const timeline: object[] = [];
          const beats: number[] = [];
          let at = 0;
          for (const { seconds, op } of [...pauses, { seconds: 1200, op: 'wait' as const }]) {
            const from = at;
            if (op === 'down') timeline.push({ at: ms(at), stop: true });
            at += seconds * 1000;
            if (op === 'down') timeline.push({ at: ms(at), start: true });
            else
              for (let n = Math.floor(from / every / 1000) + 1; n * every * 1000 <= at; n++)
                beats.push(n * every * 1000);
            if (typeof op === 'object') timeline.push({ at: ms(at), clock: ms(op.byMs) });
          }
          const scenario = {
            rules: [ruleWith({ type: 'interval', every: `${every}s` })],
            timeline,
            until: ms(at),
          };
          expect(runsOf(await live(scenario), 'timed'), shown(scenario)).toEqual(beats);
        }),
        tried(80),
      );
    },
    LAW_TIMEOUT_MS,
  );
});
