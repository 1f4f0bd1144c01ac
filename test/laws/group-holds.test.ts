// Law: a trigger on several devices counted together (`match`), with or without a hold, fires exactly when a plain count
// says, over random values, outages and restarts.
// Long form: LAW_RUNS=20000 npx vitest run test/laws/group-holds.test.ts
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LAW_TIMEOUT_MS, live, ms, runsOf, shown, tried } from './kit.ts';

const DEVICES = ['virtual:a', 'virtual:b', 'virtual:c'];
type Match = 'all' | 'last' | 'first' | 'none';
type Op =
  | { do: 'set'; device: number; isOn: boolean }
  | { do: 'unavailable' | 'available'; device: number }
  | { do: 'restart' };

interface Train {
  match: Match;
  for: number;
  initial: boolean[];
  ops: { gap: number; op: Op }[];
}

interface Member {
  isOn: boolean;
  isOnline: boolean;
  /** What the engine last heard since it started; null for nothing yet. */
  known: boolean | null;
}

function model(train: Train): { fires: number[]; timeline: object[] } {
  const members = train.initial.map((isOn): Member => ({ isOn, isOnline: true, known: isOn }));
  const fires: number[] = [];
  const timeline: object[] = [];
  let due: number | undefined;
  let isOverdue = false;
  let now = 0;

  const yes = () => members.filter(member => member.known === true).length;
  const level = (): boolean | null => {
    const levels = members.map(member => (member.isOnline ? member.known : null));
    const [any, all] = [levels.includes(true), !levels.includes(false)];
    const isUnknown = levels.includes(null);
    if (train.match === 'first') return any || (isUnknown ? null : false);
    if (train.match === 'none') return any ? false : isUnknown ? null : true;
    return all && (isUnknown ? null : true);
  };
  const comesTo = (before: number, after: number): boolean => {
    if (train.match === 'first') return before === 0 && after > 0;
    if (train.match === 'none') return before > 0 && after === 0;
    return before < members.length && after === members.length;
  };
  const look = () => {
    const is = level();
    if (due === undefined || is === null) return;
    if (is === false) due = undefined;
    else if (isOverdue) {
      fires.push(now);
      due = undefined;
    }
  };
  const hear = (member: Member, isNews: boolean) => {
    const before = yes();
    const isChange = member.known !== null && member.known !== member.isOn;
    member.known = member.isOn;
    if (isNews && isChange && comesTo(before, yes())) {
      if (train.for === 0) fires.push(now);
      else if (due === undefined) {
        due = now + train.for;
        isOverdue = false;
      }
    }
    look();
  };
  const runTo = (time: number) => {
    if (due !== undefined && !isOverdue && due <= time) {
      now = due;
      isOverdue = true;
      look();
    }
    now = time;
  };

  let at = 0;
  for (const { gap, op } of train.ops) {
    at += Math.max(gap, op.do === 'restart' ? 1 : 0) * 1000;
    runTo(at);
    const time = ms(at);
    if (op.do === 'restart') {
      timeline.push({ at: time, stop: true }, { at: time, start: true });
      // Those that cannot be reached tell nothing; what was stored of them is compared with when they return.
      for (const member of members) if (member.isOnline) hear(member, false);
      look();
      continue;
    }
    const id = DEVICES[op.device] as string;
    const member = members[op.device] as Member;
    if (op.do === 'set') {
      timeline.push({ at: time, set: { [id]: { switch: op.isOn ? 'on' : 'off' } } });
      member.isOn = op.isOn;
      if (member.isOnline) hear(member, true);
    } else if (op.do === 'unavailable' && member.isOnline) {
      timeline.push({ at: time, unavailable: [id] });
      member.isOnline = false;
    } else if (op.do === 'available' && !member.isOnline) {
      timeline.push({ at: time, available: [id] });
      member.isOnline = true;
      hear(member, true);
    }
  }
  runTo(at + 10_000);
  return { fires, timeline };
}

const device = fc.integer({ min: 0, max: 2 });
const op: fc.Arbitrary<Op> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('set' as const), device, isOn: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('unavailable' as const, 'available' as const), device }) },
  { weight: 1, arbitrary: fc.constant({ do: 'restart' as const }) },
);
const train: fc.Arbitrary<Train> = fc.record({
  match: fc.constantFrom('all', 'last', 'first', 'none'),
  for: fc.constantFrom(0, 3_000),
  initial: fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
  ops: fc.array(fc.record({ gap: fc.integer({ min: 0, max: 3 }), op }), { maxLength: 24 }),
});

const scenarioOf = (train: Train, timeline: object[]) => ({
  given: Object.fromEntries(DEVICES.map((id, n) => [id, { switch: train.initial[n] ? 'on' : 'off' }])),
  rules: [
    {
      id: 'group',
      name: 'Group',
      mode: { type: 'parallel', max: 1000 },
      limits: { runs: 100_000, per: '1h' },
      triggers: [
        {
          type: 'state',
          device: DEVICES,
          attribute: 'switch',
          to: 'on',
          match: train.match,
          ...(train.for > 0 && { for: ms(train.for) }),
        },
      ],
      actions: [{ type: 'log', message: 'so' }],
    },
  ],
  timeline,
  until: '5m',
});

describe('a trigger on several devices', () => {
  it(
    'fires when a plain count says',
    async () => {
      await fc.assert(
        fc.asyncProperty(train, async train => {
          const { fires, timeline } = model(train);
          const scenario = scenarioOf(train, timeline);
          expect(runsOf(await live(scenario), 'group'), shown(scenario)).toEqual(fires);
        }),
        tried(300),
      );
    },
    LAW_TIMEOUT_MS,
  );
});
