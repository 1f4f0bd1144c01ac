// Coming and going as laws: whatever a console tells in whatever order, nobody leaves who was seen within the grace time, and
// everybody leaves who was not.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  changeOf,
  type Learned,
  learn,
  nobody,
  type Presence,
  SETTLE_MS,
} from '../../../../src/backends/unifi/network/presence.ts';

const GRACE = 300_000;
const LONG_AGO = Number.NEGATIVE_INFINITY;

const having = (...steps: Learned[]): Presence => steps.reduce((presence, one) => learn(presence, one, GRACE), nobody);
const seen = (at: number, seenAt = at, ap?: string): Learned => ({ type: 'seen', at, seenAt, ap });
const recalled = (at: number, seenAt: number): Learned => ({ type: 'recalled', at, seenAt });
const left = (at: number, leftAt = at): Learned => ({ type: 'left', at, leftAt });
const settled = (at: number): Learned => ({ type: 'settled', at });
const listed = (at: number, isIn: boolean, watchedSince = LONG_AGO): Learned => ({
  type: 'listed',
  at,
  isIn,
  watchedSince,
});

describe('a client', () => {
  test('that is seen is present at once', () => {
    expect(having(seen(1_000))).toMatchObject({ is: 'present', isConnected: true });
  });

  test('that was not seen for the grace time is away by the first list that says so, and not before', () => {
    expect(having(seen(0), listed(299_999, false)).is).toBe('present');
    expect(having(seen(0), listed(300_000, false)).is).toBe('not present');
    expect(having(seen(0), settled(900_000)).is).toBe('present');
  });

  test('that is listed with an old sighting goes away as one that is not listed', () => {
    expect(having(seen(0), seen(310_000, 0), listed(310_000, true)).is).toBe('not present');
  });

  test('that is away is not home again by an old sighting, however it is told', () => {
    const away = having(seen(0), listed(400_000, false));
    expect(learn(away, seen(500_000, 50_000), GRACE).is).toBe('not present');
    expect(learn(away, recalled(500_000, 199_000), GRACE).is).toBe('not present');
    expect(learn(away, seen(500_000, 201_000), GRACE).is).toBe('present');
  });

  test('that an event calls gone stays present for the grace time, and disconnected after moments', () => {
    const gone = having(seen(0), left(50_000));
    expect(gone).toMatchObject({ is: 'present', isConnected: true });
    expect(learn(gone, settled(50_000 + SETTLE_MS), GRACE)).toMatchObject({ is: 'present', isConnected: false });
    expect(learn(gone, listed(349_999, false), GRACE).is).toBe('present');
    expect(learn(gone, listed(350_000, false), GRACE).is).toBe('not present');
  });

  test('that an event calls gone while no list has it was there until then', () => {
    const unlisted = having(seen(0), listed(100_000, false), left(200_000));
    expect(unlisted).toMatchObject({ isConnected: false, leftAt: undefined });
    expect(learn(unlisted, listed(499_999, false), GRACE).is).toBe('present');
    expect(learn(unlisted, listed(500_000, false), GRACE).is).toBe('not present');
  });

  test('that is away is not brought home by a leaving that is noticed late', () => {
    expect(having(seen(0), listed(400_000, false), left(410_000)).is).toBe('not present');
    expect(having(seen(0), listed(400_000, false), left(410_000), listed(420_000, false)).is).toBe('not present');
  });

  test('that is seen after an event called it gone has never been away (home-assistant #34669)', () => {
    expect(having(seen(0), left(50_000), seen(80_000, 79_000), listed(350_000, true))).toMatchObject({
      is: 'present',
      isConnected: true,
    });
  });

  test('that goes over to another access point, with or without a leaving before, only roams', () => {
    const here = having(seen(0, 0, 'hall'));
    for (const steps of [[seen(5_000, 5_000, 'attic')], [left(4_000), seen(7_000, 7_000, 'attic'), settled(20_000)]]) {
      const there = steps.reduce((presence, one) => learn(presence, one, GRACE), here);
      expect(changeOf(here, there)).toEqual({ roamed: { from: 'hall', to: 'attic' } });
    }
  });

  test('whom the console goes on listing after it has left is not connected by that', () => {
    expect(having(seen(0), left(50_000), seen(60_000, 50_000), settled(61_000), seen(70_000, 51_000)).isConnected).toBe(
      false,
    );
    expect(having(seen(0), left(50_000), settled(61_000), seen(70_000, 69_000)).isConnected).toBe(true);
  });

  test('of whom a leaving comes late, after it came back, has not left', () => {
    expect(having(seen(0), seen(60_000), left(61_000, 30_000)).leftAt).toBeUndefined();
  });

  test('of whom nothing is known is not judged before it was watched for the grace time', () => {
    expect(having(listed(1_000, false, 1_000)).is).toBeUndefined();
    expect(having(recalled(1_000, -900_000), listed(2_000, false, 1_000)).is).toBeUndefined();
    expect(having(listed(301_000, false, 1_000)).is).toBe('not present');
    expect(having(listed(1_000, false)).is).toBe('not present');
  });

  test('who was present before an outage gets the whole grace time after it', () => {
    const before = having(seen(0), listed(1_000, true));
    const BACK = 10_000_000;
    expect(learn(before, listed(BACK + 1_000, false, BACK), GRACE).is).toBe('present');
    expect(learn(before, listed(BACK + 299_999, false, BACK), GRACE).is).toBe('present');
    expect(learn(before, listed(BACK + 300_000, false, BACK), GRACE).is).toBe('not present');
  });

  test('whom the console remembers from moments ago is present, but not connected', () => {
    expect(having(recalled(100_000, 50_000))).toMatchObject({ is: 'present', isConnected: false });
  });
});

// --- laws ------------------------------------------------------------------------------------------------------------

const instant = fc.integer({ min: 0, max: 3_600_000 });
const anyStep: fc.Arbitrary<(at: number) => Learned> = fc.oneof(
  fc.nat(1_000_000).map(age => (at: number) => seen(at, at - age)),
  fc.nat(1_000_000).map(age => (at: number) => recalled(at, at - age)),
  fc.nat(100_000).map(age => (at: number) => left(at, at - age)),
  fc.constant((at: number) => settled(at)),
  fc.boolean().map(isIn => (at: number) => listed(at, isIn)),
);
const history = fc
  .array(fc.tuple(instant, anyStep), { maxLength: 40 })
  .map(steps => steps.sort(([a], [b]) => a - b).map(([at, make]) => make(at)));

const sightingOf = (step: Learned): number =>
  step.type === 'seen' || step.type === 'recalled' ? step.seenAt : step.type === 'left' ? step.leftAt : LONG_AGO;

describe('whatever happens', () => {
  test('nobody is away who was seen within the grace time', () => {
    fc.assert(
      fc.property(history, steps => {
        let presence = nobody;
        let last = LONG_AGO;
        for (const step of steps) {
          presence = learn(presence, step, GRACE);
          if (step.type !== 'left') last = Math.max(last, sightingOf(step));
          if (step.at - last < GRACE) expect(presence.is).toBe('present');
        }
      }),
    );
  });

  test('nobody is present at a list who was not seen for the grace time', () => {
    fc.assert(
      fc.property(history, steps => {
        let presence = nobody;
        let last = LONG_AGO;
        for (const step of steps) {
          presence = learn(presence, step, GRACE);
          last = Math.max(last, sightingOf(step));
          if (step.type === 'listed' && step.at - last >= GRACE) expect(presence.is).toBe('not present');
        }
      }),
    );
  });

  test('nobody comes home who was not seen within the grace time', () => {
    fc.assert(
      fc.property(history, steps => {
        let presence = nobody;
        let last = LONG_AGO;
        for (const step of steps) {
          const before = presence;
          presence = learn(presence, step, GRACE);
          last = Math.max(last, sightingOf(step));
          if (before.is !== 'present' && presence.is === 'present') expect(step.at - last).toBeLessThan(GRACE);
        }
      }),
    );
  });

  test('nobody goes away but by a list', () => {
    fc.assert(
      fc.property(history, steps => {
        let presence = nobody;
        for (const step of steps) {
          const before = presence;
          presence = learn(presence, step, GRACE);
          if (before.is === 'present' && presence.is === 'not present') expect(step.type).toBe('listed');
        }
      }),
    );
  });

  test('older sightings change nothing', () => {
    fc.assert(
      fc.property(history, fc.nat(1_000_000), (steps, age) => {
        const presence = having(...steps);
        const at = (steps.at(-1)?.at ?? 0) + 1;
        const older = learn(presence, recalled(at, Math.min(presence.seenAt, at - age)), GRACE);
        expect(older.seenAt).toBe(presence.seenAt);
        if (presence.is !== undefined && at - presence.seenAt >= GRACE) expect(older.is).toBe(presence.is);
      }),
    );
  });

  test('whoever is not in a list is not connected, and comes back by being seen', () => {
    fc.assert(
      fc.property(history, steps => {
        const at = (steps.at(-1)?.at ?? 0) + 1;
        const gone = learn(having(...steps), listed(at, false), GRACE);
        expect(gone).toMatchObject({ isConnected: false, leftAt: undefined });
        expect(learn(gone, seen(at + 1), GRACE)).toMatchObject({ isConnected: true, is: 'present' });
      }),
    );
  });

  test('a whole stay is told as one coming and one going, through naps, roams and lost events', () => {
    const stay = fc.record({
      seconds: fc.integer({ min: 60, max: 7_200 }),
      naps: fc.array(fc.record({ at: fc.nat(7_200), seconds: fc.integer({ min: 1, max: 240 }) }), { maxLength: 5 }),
      roams: fc.array(fc.record({ at: fc.nat(7_200), withLeaving: fc.boolean() }), { maxLength: 10 }),
      saysGoodbye: fc.boolean(),
      poll: fc.integer({ min: 10, max: 45 }),
    });
    fc.assert(
      fc.property(stay, ({ seconds, naps, roams, saysGoodbye, poll }) => {
        let presence = nobody;
        const told: string[] = [];
        const take = (step: Learned) => {
          const next = learn(presence, step, GRACE);
          const { presence: change } = changeOf(presence, next);
          if (change) told.push(`${change} ${Math.round(step.at / 1_000)}`);
          presence = next;
        };
        const isAwake = (second: number) => !naps.some(nap => second >= nap.at && second < nap.at + nap.seconds);
        let lastSeen = 0;
        for (let second = 0; second <= seconds + 300 + 2 * poll; second++) {
          const at = second * 1_000;
          const isHere = second < seconds;
          // The machine trusts what the console saw; naps that follow each other closely may add up beyond the grace time.
          if (isHere && (isAwake(second) || second - lastSeen > 200)) lastSeen = second;
          for (const roam of roams) {
            if (roam.at !== second || !isHere) continue;
            if (roam.withLeaving) take(left(at));
            lastSeen = second;
            take(seen(at, at, `ap-${second % 3}`));
          }
          if (second === seconds && saysGoodbye) take(left(at));
          if (second % poll !== 0) continue;
          if (second < seconds + 60) take(seen(at, lastSeen * 1_000));
          take(listed(at, second < seconds + 60));
        }
        expect(told).toHaveLength(2);
        expect(told[0]).toMatch(/^present /);
        const goneAt = Number(told[1]?.replace('not present ', ''));
        expect(goneAt).toBeGreaterThanOrEqual(Math.min(seconds, lastSeen) + 300);
        expect(goneAt).toBeLessThanOrEqual(seconds + 300 + poll);
      }),
    );
  });
});
