import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Timeline } from '../../../src/engine/timeline.ts';
import { VirtualClock } from '../../../src/lib/virtual-clock.ts';

const START = Date.UTC(2026, 0, 5);

/** A timeline whose due timers are called as the engine's turns would. */
function stage(skew = 0) {
  const clock = new VirtualClock(START);
  const timeline: Timeline = new Timeline(clock, skew, () => {
    for (let call = timeline.takeDue(); call; call = timeline.takeDue()) call();
    timeline.arm();
  });
  const called: { name: unknown; at: number }[] = [];
  const call = (name: unknown) => () => called.push({ name, at: clock.elapsed() });
  return { clock, timeline, called, call };
}

describe('engine time', () => {
  test('goes on with elapsed time when the wall is stepped, and a step is told once', () => {
    const { clock, timeline } = stage();
    clock.advanceTo(1_000);
    clock.step(3_600_000);
    expect(timeline.now()).toBe(START + 1_000);
    expect(timeline.follow()).toBe(3_600_000);
    expect(timeline.follow()).toBe(0);
    expect(timeline.now()).toBe(START + 1_000);
    expect(timeline.toWall(timeline.now())).toBe(clock.now());
    expect(timeline.fromWall(clock.now())).toBe(timeline.now());
  });

  test('follows small drift without a word', () => {
    const { clock, timeline } = stage();
    clock.step(500);
    expect(timeline.follow()).toBe(0);
    expect(timeline.toWall(timeline.now())).toBe(clock.now());
  });

  test('goes on where the last process ended, by the skew that it left', () => {
    const { timeline } = stage(-7_200_000);
    expect(timeline.now()).toBe(START - 7_200_000);
    expect(timeline.toWall(timeline.now())).toBe(START);
  });
});

describe('timers', () => {
  test('of the wall are called when the wall shows their time, others by elapsed time alone', () => {
    const { clock, timeline, called, call } = stage();
    timeline.at(START + 60_000, call('elapsed'));
    timeline.atWall(START + 3_600_000 + 60_000, call('wall'));
    timeline.arm();
    clock.advanceTo(10_000);
    clock.step(3_600_000);
    timeline.follow();
    timeline.arm();
    clock.advanceTo(120_000);
    expect(called).toEqual([
      { name: 'elapsed', at: 60_000 },
      { name: 'wall', at: 60_000 },
    ]);
  });

  test('of the wall are not called early by a step back that nobody has noticed yet', () => {
    const { clock, timeline, called, call } = stage();
    timeline.atWall(START + 60_000, call('wall'));
    timeline.arm();
    clock.step(-30_000);
    clock.advanceTo(89_999);
    expect(called).toEqual([]);
    clock.advanceTo(90_000);
    expect(called).toEqual([{ name: 'wall', at: 90_000 }]);
  });

  test('that are due when an input arrives come before it or after it by what was first', () => {
    const { clock, timeline, call } = stage();
    const early = call('early');
    timeline.at(START + 100, early);
    clock.moveTo(100);
    const input = timeline.arrival();
    timeline.at(START + 150, call('late'));
    clock.moveTo(200);
    expect(timeline.takeDue(input)).toBe(early);
    expect(timeline.takeDue(input)).toBeUndefined();
    expect(timeline.takeDue()).toBeDefined();
  });

  test('that are cancelled are never called', () => {
    const { clock, timeline, called, call } = stage();
    timeline.at(START + 10, call('a')).cancel();
    const wall = timeline.atWall(START + 10, call('b'));
    timeline.arm();
    wall.cancel();
    clock.advanceTo(1_000);
    expect(called).toEqual([]);
    expect(timeline.pending).toBe(0);
  });
});

// --- laws ----------------------------------------------------------------------------------------------------------------

const timers = fc.array(
  fc.record({
    due: fc.integer({ min: 0, max: 50 }),
    isWall: fc.boolean(),
    isCancelled: fc.boolean(),
  }),
  { maxLength: 40 },
);

describe('whatever timers there are', () => {
  test('each one left is called at its time, by due time and then by creation, whenever it is asked for', () => {
    fc.assert(
      fc.property(timers, fc.array(fc.integer({ min: 1, max: 20 }), { maxLength: 10 }), (all, pauses) => {
        const { clock, timeline, called, call } = stage();
        for (const [n, { due, isWall, isCancelled }] of all.entries()) {
          const timer = isWall ? timeline.atWall(START + due, call(n)) : timeline.at(START + due, call(n));
          if (isCancelled) timer.cancel();
        }
        timeline.arm();
        let at = 0;
        for (const pause of pauses) {
          at += pause;
          clock.advanceTo(at);
        }
        clock.advanceTo(300);
        const wanted = all
          .map(({ due, isCancelled }, n) => ({ name: n, at: due, isCancelled }))
          .filter(one => !one.isCancelled)
          .sort((a, b) => a.at - b.at || a.name - b.name)
          .map(({ name, at }) => ({ name, at }));
        expect(called).toEqual(wanted);
      }),
    );
  });

  test('steps of the wall move none of elapsed time, and call none of the wall before its time shows', () => {
    const steps = fc.array(
      fc.record({ at: fc.integer({ min: 1, max: 60 }), by: fc.integer({ min: -40, max: 40 }).map(s => s * 1_000) }),
      { maxLength: 5 },
    );
    fc.assert(
      fc.property(timers, steps, (all, jumps) => {
        const { clock, timeline, called, call } = stage();
        const shown = new Map<unknown, number>();
        for (const [n, { due, isWall }] of all.entries()) {
          const noted = () => {
            shown.set(n, clock.now());
            call(n)();
          };
          if (isWall) timeline.atWall(START + due * 1_000, noted);
          else timeline.at(START + due * 1_000, noted);
        }
        timeline.arm();
        for (const { at, by } of [...jumps].sort((a, b) => a.at - b.at)) {
          clock.advanceTo(at * 1_000 + 500);
          clock.step(by);
          timeline.follow();
          timeline.arm();
        }
        clock.advanceTo(1_000_000);
        expect(called).toHaveLength(all.length);
        for (const { name, at } of called) {
          const { due, isWall } = all[name as number] as (typeof all)[number];
          if (isWall) expect(shown.get(name)).toBeGreaterThanOrEqual(START + due * 1_000);
          else expect(at).toBe(due * 1_000);
        }
      }),
    );
  });
});
