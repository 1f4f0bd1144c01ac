// Laws of time: each schedule against the slow reference, over zones and moments where clocks misbehave.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { DAY_MS, dayOf, formatWall, WEEKDAYS, weekdayOf } from '../../../../src/lib/time/calendar.ts';
import { nextCron, parseCron } from '../../../../src/lib/time/cron.ts';
import { type DailySpec, nextDaily, parseDaily } from '../../../../src/lib/time/daily.ts';
import { latestOccurrence, type Next, occurrencesBetween } from '../../../../src/lib/time/occurrence.ts';
import { offsetAt } from '../../../../src/lib/time/offsets.ts';
import { SUN_EVENTS, sunEvents } from '../../../../src/lib/time/sun-events.ts';
import { HORIZON, isAbove, sunPosition } from '../../../../src/lib/time/sun-position.ts';
import {
  nextAzimuth,
  nextElevation,
  nextElevationChange,
  nextSunEvent,
} from '../../../../src/lib/time/sun-schedule.ts';
import { inWindow, nextWindowEdge, parseWindow } from '../../../../src/lib/time/window.ts';
import { firstInstantOf, formatLocal, instantsOf, startOfDay, wallAt } from '../../../../src/lib/time/zone.ts';
import { cronMatcher, everyPass, firstPasses, intlWall } from './reference.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Where clocks jump: gaps and folds of 30 minutes to a day, at midnight, over midnight, against the season. */
const JUMPS: [string, string][] = [
  ['Europe/Berlin', '2026-03-29T01:00Z'],
  ['Europe/Berlin', '2026-10-25T01:00Z'],
  ['Europe/Dublin', '2026-03-29T01:00Z'],
  ['Europe/Dublin', '2026-10-25T01:00Z'],
  ['America/New_York', '2026-03-08T07:00Z'],
  ['America/New_York', '2026-11-01T06:00Z'],
  ['Australia/Lord_Howe', '2026-04-04T15:00Z'],
  ['Australia/Lord_Howe', '2026-10-03T15:30Z'],
  ['America/Santiago', '2026-09-06T04:00Z'],
  ['America/Santiago', '2026-04-05T03:00Z'],
  ['America/Havana', '2026-03-08T05:00Z'],
  ['America/Havana', '2026-11-01T05:00Z'],
  ['America/St_Johns', '2006-10-29T02:31Z'],
  ['Africa/Casablanca', '2026-02-15T02:00Z'],
  ['Africa/Casablanca', '2026-03-22T02:00Z'],
  ['Africa/Cairo', '2026-04-23T22:00Z'],
  ['Pacific/Apia', '2011-12-30T10:00Z'],
  ['Antarctica/Troll', '2026-03-29T01:00Z'],
  ['Antarctica/Troll', '2026-10-25T01:00Z'],
  ['Pacific/Chatham', '2026-09-26T14:00Z'],
];
const jump = fc.constantFrom(...JUMPS).map(([zone, at]) => ({ zone, around: Date.parse(at) }));
const anywhere = fc.record({
  zone: fc.constantFrom(...Intl.supportedValuesOf('timeZone')),
  around: fc.integer({ min: Date.parse('1975-01-01'), max: Date.parse('2037-12-31') }),
});
const moment = fc.oneof({ weight: 3, arbitrary: jump }, { weight: 1, arbitrary: anywhere });
const hours = (n: number) => fc.integer({ min: -n * 60, max: n * 60 }).map(minutes => minutes * MINUTE);
const wholeMinute = (ms: number) => Math.floor(ms / MINUTE) * MINUTE;

const clock = fc
  .oneof({ weight: 3, arbitrary: fc.integer({ min: 0, max: 4 * 60 }) }, fc.integer({ min: 0, max: 24 * 60 }))
  .map(minutes =>
    formatWall(minutes * MINUTE)
      .slice(11, 16)
      .replace('00:00', minutes ? '24:00' : '00:00'),
  );
const gap = fc.constantFrom('next' as const, 'skip' as const);

const expectAscending = (instants: number[]) => {
  for (let i = 1; i < instants.length; i++) expect(instants[i]).toBeGreaterThan(instants[i - 1]!);
};

it('shows the wall time that Intl shows, in every zone', () => {
  fc.assert(
    fc.property(moment, hours(72), ({ zone, around }, shift) => {
      const ms = Math.floor((around + shift) / 1000) * 1000;
      expect(wallAt(ms, zone)).toBe(intlWall(ms, zone));
    }),
    { numRuns: 3_000 },
  );
});

it('finds each instant of a wall time, and no other', () => {
  fc.assert(
    fc.property(moment, hours(30), ({ zone, around }, shift) => {
      const wall = wholeMinute(wallAt(around, zone) + shift);
      const expected: number[] = [];
      for (let at = wall - 27 * HOUR; at <= wall + 27 * HOUR; at += MINUTE) {
        if (intlWall(at, zone) === wall) expected.push(at);
      }
      expect(instantsOf(wall, zone)).toEqual(expected);
      const first = firstInstantOf(wall, zone);
      if (expected.length > 0) expect(first).toBe(expected[0]);
      else {
        expect(intlWall(first, zone)).toBeGreaterThan(wall);
        expect(intlWall(first - 1000, zone)).toBeLessThan(wall);
      }
    }),
    { numRuns: 60 },
  );
});

it('starts a day at the first instant of its date', () => {
  fc.assert(
    fc.property(moment, hours(48), ({ zone, around }, shift) => {
      const ms = around + shift;
      const start = startOfDay(dayOf(wallAt(ms, zone)), zone);
      expect(start).toBeLessThanOrEqual(ms);
      expect(dayOf(wallAt(start, zone))).toBe(dayOf(wallAt(ms, zone)));
      expect(dayOf(wallAt(start - 1, zone))).toBeLessThan(dayOf(wallAt(ms, zone)));
    }),
  );
});

it('fires daily times when the clock on the wall first shows them', () => {
  const spec = fc.record({
    at: fc.array(clock, { minLength: 1, maxLength: 4 }),
    weekdays: fc.option(fc.subarray([...WEEKDAYS], { minLength: 1 }), { nil: undefined }),
    gap,
  });
  fc.assert(
    fc.property(spec, moment, hours(20), (rest, { zone, around }, shift) => {
      const [from, to] = [wholeMinute(around + shift) - DAY_MS, wholeMinute(around + shift) + 2 * DAY_MS];
      const daily = parseDaily({ ...rest, zone });
      const minutes = rest.at.map(text => Number(text.slice(0, 2)) * 60 + Number(text.slice(3)));
      const scheduled = (wall: number) =>
        minutes.some(minute => {
          const day = (wall - minute * MINUTE) / DAY_MS;
          return Number.isInteger(day) && (rest.weekdays?.includes(weekdayOf(day)) ?? true);
        });
      const found = occurrencesBetween(after => nextDaily(daily, after), from, to, 1_000);
      const expected = firstPasses(scheduled, zone, rest.gap, from, to, MINUTE);
      expect(found).toEqual(expected.map(({ at, wall }) => ({ at, key: formatWall(wall) })));
      expectAscending(found.map(o => o.at));
    }),
    { numRuns: 100 },
  );
});

/** A field of a cron expression; small numbers are likelier, since clocks jump at night. */
const field = (low: number, high: number) => {
  const number = fc.integer({ min: low, max: high });
  const range = fc.tuple(number, number).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`);
  const step = fc.integer({ min: 1, max: Math.min(high, 20) });
  return fc.oneof(
    fc.constant('*'),
    step.map(n => `*/${n}`),
    number.map(String),
    fc.tuple(range, step).map(([r, n]) => `${r}/${n}`),
    fc.array(fc.oneof(number.map(String), range), { minLength: 1, maxLength: 4 }).map(parts => parts.join(',')),
  );
};
const often = (arbitrary: fc.Arbitrary<string>) => fc.oneof({ weight: 2, arbitrary: fc.constant('*') }, arbitrary);
const hourField = fc.oneof(field(0, 23), field(0, 4));
const dateFields = fc.tuple(often(field(1, 31)), often(field(1, 12)), often(field(0, 7)));

it('fires cron expressions as the clock on the wall meets them', () => {
  fc.assert(
    fc.property(
      field(0, 59),
      hourField,
      dateFields,
      gap,
      moment,
      hours(20),
      (minute, hour, dates, gapRule, when, shift) => {
        const { zone } = when;
        const text = [minute, hour, ...dates].join(' ');
        const from = wholeMinute(when.around + shift) - DAY_MS / 2;
        const to = from + 2 * DAY_MS;
        const cron = parseCron(text);
        const found = occurrencesBetween(after => nextCron(cron, zone, after, gapRule), from, to, 10_000);
        const scheduled = cronMatcher(`0 ${text}`);
        const expected = hour.includes('*')
          ? everyPass(scheduled, zone, from, to, MINUTE)
          : firstPasses(scheduled, zone, gapRule, from, to, MINUTE);
        expect(found.map(o => o.at)).toEqual(expected.map(seen => seen.at));
        expect(new Set(found.map(o => o.key)).size).toBe(found.length);
      },
    ),
    { numRuns: 100 },
  );
});

it('fires cron expressions with seconds just so', () => {
  fc.assert(
    fc.property(field(0, 59), field(0, 59), hourField, gap, jump, (second, minute, hour, gapRule, { zone, around }) => {
      const text = `${second} ${minute} ${hour} * * *`;
      const [from, to] = [around - 900_000, around + 900_000];
      const cron = parseCron(text);
      const found = occurrencesBetween(after => nextCron(cron, zone, after, gapRule), from, to, 10_000);
      const expected = hour.includes('*')
        ? everyPass(cronMatcher(text), zone, from, to, 1_000)
        : firstPasses(cronMatcher(text), zone, gapRule, from, to, 1_000);
      expect(found.map(o => o.at)).toEqual(expected.map(seen => seen.at));
    }),
    { numRuns: 8 },
  );
});

it('finds the dates of a cron expression as leafing through the calendar does', () => {
  fc.assert(
    fc.property(dateFields, fc.integer({ min: 0, max: 40_000 }), (dates, day) => {
      const text = `0 12 ${dates.join(' ')}`;
      const matches = cronMatcher(`0 ${text}`);
      let noon = day * DAY_MS + DAY_MS / 2;
      while (!matches(noon) && noon < (day + 12 * 366) * DAY_MS) noon += DAY_MS;
      const next = nextCron(parseCron(text), 'UTC', day * DAY_MS);
      expect(next?.at ?? null).toBe(matches(noon) ? noon : null);
    }),
    { numRuns: 300 },
  );
});

it('finds the latest occurrence that a list of all would end with', () => {
  const schedule = fc.oneof(
    fc.tuple(field(0, 59), hourField, dateFields).map(([minute, hour, dates]) => (zone: string): Next => {
      const cron = parseCron([minute, hour, ...dates].join(' '));
      return after => nextCron(cron, zone, after);
    }),
    fc.array(clock, { minLength: 1, maxLength: 3 }).map(at => (zone: string): Next => {
      const daily = parseDaily({ at, zone } satisfies DailySpec);
      return after => nextDaily(daily, after);
    }),
  );
  fc.assert(
    fc.property(schedule, moment, hours(100), (make, { zone, around }, length) => {
      const next = make(zone);
      const [from, to] = [around, around + Math.abs(length)];
      expect(latestOccurrence(next, from, to)).toEqual(occurrencesBetween(next, from, to, 100_000).at(-1) ?? null);
    }),
    { numRuns: 150 },
  );
});

it('is in a window of times exactly between the triggers that begin and end it', () => {
  fc.assert(
    fc.property(clock, clock, moment, hours(30), (after, before, { zone, around }, shift) => {
      const place = { latitude: 0, longitude: 0, zone };
      const ms = around + shift;
      const window = parseWindow({ after, before });
      const last = (text: string) => {
        const daily = parseDaily({ at: [text], zone });
        return latestOccurrence(a => nextDaily(daily, a), ms - 4 * DAY_MS, ms)!.at;
      };
      const [begun, ended] = [last(after), last(before)];
      // 24:00 is 00:00 of the next day.
      const start = after.replace('24:', '00:');
      const end = before.replace('24:', '00:');
      const always = start === end;
      // Where a whole date is left out, both bounds of a day and of the next fall on one instant.
      fc.pre(always || begun !== ended || Math.abs(offsetAt(begun, zone) - offsetAt(begun - 1, zone)) < DAY_MS / 2);
      // Both at one instant (a gap): a window within a day is empty then, one over midnight begins anew.
      expect(inWindow(window, place, ms)).toBe(always || begun > ended || (begun === ended && start > end));
    }),
    { numRuns: 1_000 },
  );
});

const place = fc.record({
  latitude: fc.double({ min: -72, max: 72, noNaN: true }),
  longitude: fc.double({ min: -180, max: 180, noNaN: true }),
  zone: fc.constantFrom('Europe/Berlin', 'America/Santiago', 'Pacific/Auckland', 'UTC'),
});
const polarPlace = fc.record({
  latitude: fc.double({ min: -89.9, max: 89.9, noNaN: true }),
  longitude: fc.double({ min: -180, max: 180, noNaN: true }),
  zone: fc.constantFrom('Europe/Oslo', 'UTC'),
});
const instant = fc.integer({ min: Date.parse('2020-01-01'), max: Date.parse('2040-01-01') });
const bound = fc.oneof(
  clock,
  fc
    .tuple(fc.constantFrom(...SUN_EVENTS), fc.constantFrom('', '-30m', '+1h', '+6h', '-8h'))
    .map(([event, offset]) => event + offset),
);

it('gives one answer until the edge that it names', () => {
  const days = fc.option(fc.subarray([...WEEKDAYS], { minLength: 1 }), { nil: undefined });
  const spec = fc.record({
    after: fc.option(bound, { nil: undefined }),
    before: fc.option(bound, { nil: undefined }),
    weekdays: days,
    weekdayOf: fc.constantFrom('window_start' as const, 'now' as const),
  });
  fc.assert(
    fc.property(
      spec,
      polarPlace,
      instant,
      fc.double({ min: 0, max: 1, noNaN: true }),
      (windowSpec, where, ms, part) => {
        const window = parseWindow(windowSpec);
        const edge = nextWindowEdge(window, where, ms);
        expect(edge).toBeGreaterThan(ms);
        expect(edge - ms).toBeLessThanOrEqual(DAY_MS + HOUR);
        const between = Math.floor(ms + part * (edge - 1 - ms));
        expect(inWindow(window, where, between)).toBe(inWindow(window, where, ms));
        expect(inWindow(window, where, edge - 1)).toBe(inWindow(window, where, ms));
      },
    ),
    { numRuns: 500 },
  );
});

it('crosses an elevation exactly where minute after minute would show it', () => {
  const elevation = fc.constantFrom(HORIZON, -6, -18, 10, 35);
  fc.assert(
    fc.property(place, instant, elevation, (where, from, degrees) => {
      const to = from + 3 * DAY_MS;
      const seen: { at: number; up: boolean }[] = [];
      let before = isAbove(degrees, from, where);
      for (let at = from + MINUTE; at <= to; at += MINUTE) {
        const above = isAbove(degrees, at, where);
        if (above !== before) seen.push({ at, up: above });
        before = above;
      }
      for (const direction of ['rising', 'setting'] as const) {
        const next: Next = after => nextElevation(degrees, direction, where, after);
        // A touch of less than a minute escapes the walk.
        const found = occurrencesBetween(next, from, to, 10).filter(
          o => isAbove(degrees, o.at + 2 * MINUTE, where) === (direction === 'rising'),
        );
        const expected = seen.filter(({ up }) => up === (direction === 'rising')).map(({ at }) => at);
        expect(found.map(o => from + Math.ceil((o.at - from) / MINUTE) * MINUTE)).toEqual(expected);
      }
    }),
    { numRuns: 60 },
  );
});

it('is of one opinion on elevation, asked for the number or for a comparison', () => {
  fc.assert(
    fc.property(polarPlace, instant, (where, ms) => {
      const { elevation } = sunPosition(ms, where);
      expect([isAbove(elevation - 1e-9, ms, where), isAbove(elevation + 1e-9, ms, where)]).toEqual([true, false]);
    }),
  );
});

it('is on the far side of an elevation from the millisecond of its event on', () => {
  fc.assert(
    fc.property(polarPlace, instant, (where, ms) => {
      const events = sunEvents(dayOf(ms), where);
      for (const [event, up] of [
        ['sunrise', true],
        ['sunset', false],
      ] as const) {
        const at = events[event];
        if (at === null) continue;
        expect([sunPosition(at - 1, where).up, sunPosition(at, where).up]).toEqual([!up, up]);
      }
    }),
    { numRuns: 300 },
  );
});

it('names the next change of up and down', () => {
  fc.assert(
    fc.property(polarPlace, instant, fc.double({ min: 0, max: 1, noNaN: true }), (where, ms, part) => {
      const change = nextElevationChange([HORIZON], where, ms);
      if (change === null) return;
      const up = sunPosition(ms, where).up;
      expect(sunPosition(change, where).up).toBe(!up);
      expect(sunPosition(Math.floor(ms + part * (change - 1 - ms)), where).up).toBe(up);
    }),
    { numRuns: 300 },
  );
});

it('orders sun events strictly, wherever the search begins, each with a key of its own', () => {
  const spec = fc.record({
    event: fc.constantFrom(...SUN_EVENTS),
    offsetMs: hours(30),
    fallback: fc.option(fc.subarray(['dusk', '22:30', 'sunset', '01:00'], { minLength: 1 }), { nil: undefined }),
  });
  fc.assert(
    fc.property(spec, polarPlace, instant, fc.double({ min: 0, max: 1, noNaN: true }), (sunSpec, where, from, part) => {
      const next: Next = after => nextSunEvent(sunSpec, where, after);
      const found = occurrencesBetween(next, from, from + 8 * DAY_MS, 30);
      expectAscending(found.map(o => o.at));
      expect(new Set(found.map(o => o.key)).size).toBe(found.length);
      const [first, second] = found;
      if (first && second) expect(next(Math.floor(first.at + part * (second.at - 1 - first.at)))).toEqual(second);
    }),
    { numRuns: 150 },
  );
});

it('finds azimuths strictly ahead and true to a second', () => {
  fc.assert(
    fc.property(place, instant, fc.integer({ min: 0, max: 359 }), (where, from, azimuth) => {
      const found = nextAzimuth(azimuth, where, from);
      if (!found) return;
      expect(found.at).toBeGreaterThan(from);
      const turn = (ms: number) => ((sunPosition(ms, where).azimuth - azimuth + 540) % 360) - 180;
      expect(Math.sign(turn(found.at - 1_000))).toBe(-Math.sign(turn(found.at + 1_000)));
      expect(nextAzimuth(azimuth, where, found.at - 1)).toEqual(found);
    }),
    { numRuns: 150 },
  );
});

it('writes local time so that it can be read back', () => {
  fc.assert(
    fc.property(moment, hours(30), ({ zone, around }, shift) => {
      fc.pre(offsetAt(around + shift, zone) % MINUTE === 0);
      expect(Date.parse(formatLocal(around + shift, zone))).toBe(around + shift);
    }),
  );
});
