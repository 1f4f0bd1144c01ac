import { expect, it } from 'vitest';
import { parseBound } from '../../../../src/lib/time/bound.ts';
import { parseDate } from '../../../../src/lib/time/calendar.ts';
import { sunEvents } from '../../../../src/lib/time/sun-events.ts';
import type { Place } from '../../../../src/lib/time/sun-position.ts';
import { inWindow, nextWindowEdge, parseWindow, type WindowSpec } from '../../../../src/lib/time/window.ts';

const ms = Date.parse;
const MINUTE = 60_000;
const berlin: Place = { latitude: 52.52, longitude: 13.4, zone: 'Europe/Berlin' };
const tromso: Place = { latitude: 69.65, longitude: 18.96, zone: 'Europe/Oslo' };

/** Whether local stamps (with offset) lie within a window. */
const within = (spec: WindowSpec, place: Place, ...stamps: string[]) => {
  const window = parseWindow(spec);
  return stamps.map(stamp => inWindow(window, place, ms(stamp)));
};

it('holds its first instant and not its last (BC-59)', () => {
  const spec = { after: '20:00', before: '07:00' };
  const stamps = ['2026-01-05T20:00+01:00', '2026-01-06T07:00+01:00', '2026-01-06T06:59:59.999+01:00'];
  expect(within(spec, berlin, ...stamps)).toEqual([true, false, true]);
});

it('wraps midnight, with midnight inside (BC-58)', () => {
  const spec = { after: '19:00', before: '07:00' };
  const stamps = ['2026-01-05T18:59+01:00', '2026-01-06T00:00+01:00', '2026-01-06T12:00+01:00'];
  expect(within(spec, berlin, ...stamps)).toEqual([false, true, false]);
});

it('counts weekdays by the start of the window, or by now (BC-60)', () => {
  const night: WindowSpec = { after: '22:00', before: '06:00', weekdays: ['fri'] };
  const stamps = ['2026-01-09T23:00+01:00', '2026-01-10T02:00+01:00', '2026-01-09T02:00+01:00'];
  expect(within(night, berlin, ...stamps)).toEqual([true, true, false]);
  expect(within({ ...night, weekdayOf: 'now' }, berlin, ...stamps)).toEqual([true, false, true]);
});

it('counts dates like weekdays', () => {
  const spec: WindowSpec = { after: '18:00', before: '02:00', dates: ['12-31'] };
  const stamps = ['2026-12-31T19:00+01:00', '2027-01-01T01:00+01:00', '2027-01-01T19:00+01:00'];
  expect(within(spec, berlin, ...stamps)).toEqual([true, true, false]);
});

it('means always with equal bounds', () => {
  const stamps = ['2026-01-05T07:59+01:00', '2026-01-05T08:00+01:00', '2026-01-06T00:00+01:00'];
  for (const [after, before] of [
    ['08:00', '08:00'],
    ['00:00', '24:00'],
    ['24:00', '00:00'],
    ['sunset', 'sunset'],
  ]) {
    expect(within({ after, before }, berlin, ...stamps)).toEqual([true, true, true]);
  }
});

it('reaches from one bound to the end of the day, or from its start', () => {
  const stamps = [
    '2026-01-05T00:00+01:00',
    '2026-01-05T07:59:59+01:00',
    '2026-01-05T08:00+01:00',
    '2026-01-05T23:59+01:00',
  ];
  expect(within({ after: '08:00' }, berlin, ...stamps)).toEqual([false, false, true, true]);
  expect(within({ before: '08:00' }, berlin, ...stamps)).toEqual([true, true, false, false]);
  expect(within({ weekdays: ['mon'] }, berlin, ...stamps, '2026-01-06T00:00+01:00')).toEqual([
    true,
    true,
    true,
    true,
    false,
  ]);
});

it('takes 24:00 as the end of the day', () => {
  const spec = { after: '22:00', before: '24:00' };
  expect(within(spec, berlin, '2026-01-05T23:59:59+01:00', '2026-01-06T00:00+01:00')).toEqual([true, false]);
});

it('is true after sunset and before sunrise (BC-44)', () => {
  const stamps = [
    '2026-03-20T23:30+01:00',
    '2026-03-21T00:30+01:00',
    '2026-03-21T05:00+01:00',
    '2026-03-21T12:00+01:00',
  ];
  expect(within({ after: 'sunset', before: 'sunrise' }, berlin, ...stamps)).toEqual([true, true, true, false]);
});

it('wraps from a sunset that is later than the end (BC-47)', () => {
  // Sunset is at 19:01 local time; 18:00 is the end of the window that began the evening before.
  const place: Place = { latitude: 45, longitude: 15, zone: 'Europe/Vienna' };
  const spec = { after: 'sunset', before: '18:00' };
  const stamps = ['2026-09-20T00:00+02:00', '2026-09-20T18:30+02:00', '2026-09-20T19:30+02:00'];
  expect(within(spec, place, ...stamps)).toEqual([true, false, true]);
});

it('moves sun bounds by their offsets, over midnight too', () => {
  const { sunset } = sunEvents(parseDate('2026-06-01')!, berlin);
  const before = parseWindow({ after: 'sunset-30m', before: 'sunset' });
  expect([-31, -30, -1, 0].map(minutes => inWindow(before, berlin, sunset! + minutes * MINUTE))).toEqual([
    false,
    true,
    true,
    false,
  ]);
  const late = parseWindow({ after: 'sunset+4h', before: 'sunset+5h' });
  expect([239, 240, 299, 300].map(minutes => inWindow(late, berlin, sunset! + minutes * MINUTE))).toEqual([
    false,
    true,
    true,
    false,
  ]);
});

it('belongs to the day of its sun event, though it lies on the evening before', () => {
  const { sunrise } = sunEvents(parseDate('2026-06-02')!, berlin);
  const window = parseWindow({ after: 'sunrise-8h', before: 'sunrise-7h', dates: ['06-02'] });
  const at = [-481, -480, -421, -420].map(minutes => sunrise! + minutes * MINUTE);
  expect(at.map(ms => inWindow(window, berlin, ms))).toEqual([false, true, true, false]);
  expect(nextWindowEdge(window, berlin, at[0]!)).toBe(at[1]);
});

it('is unknown on a day without the sun event, and known again on the next that has it', () => {
  const night = { after: 'sunset', before: 'sunrise' };
  expect(within(night, tromso, '2026-12-21T12:00+01:00', '2026-06-21T12:00+02:00')).toEqual([null, null]);
  expect(within(night, tromso, '2026-03-21T00:00+01:00', '2026-03-21T12:00+01:00')).toEqual([true, false]);
  const day = { after: 'sunrise', before: '22:00' };
  const stamps = [
    '2027-01-14T12:00+01:00',
    '2027-01-14T23:00+01:00',
    '2027-01-15T10:00+01:00',
    '2027-01-15T12:00+01:00',
  ];
  expect(within(day, tromso, ...stamps)).toEqual([null, false, false, true]);
  expect(
    within({ after: '22:00', before: 'sunrise' }, tromso, '2026-12-21T21:00+01:00', '2026-12-21T23:00+01:00'),
  ).toEqual([null, null]);
});

it('asks no sun where the weekday decides', () => {
  const spec: WindowSpec = { after: 'sunset', before: '23:00', weekdays: ['sun'] };
  expect(within(spec, tromso, '2026-12-21T12:00+01:00')).toEqual([false]);
});

it('begins and ends with the triggers of the same times, in a gap', () => {
  const stamps = ['2026-03-29T01:59:59+01:00', '2026-03-29T03:00+02:00', '2026-03-29T03:30+02:00'];
  expect(within({ after: '02:30', before: '03:30' }, berlin, ...stamps)).toEqual([false, true, false]);
  expect(within({ after: '02:15', before: '02:45' }, berlin, ...stamps)).toEqual([false, false, false]);
  expect(within({ after: '02:45', before: '02:15' }, berlin, ...stamps)).toEqual([true, true, true]);
});

it('begins and ends with the triggers of the same times, in a fold', () => {
  const stamps = ['2026-10-25T02:45+02:00', '2026-10-25T02:15+01:00', '2026-10-25T02:45+01:00'];
  expect(within({ after: '22:00', before: '02:30' }, berlin, ...stamps)).toEqual([false, false, false]);
  expect(within({ after: '02:30', before: '06:00' }, berlin, ...stamps)).toEqual([true, true, true]);
});

it('stays in a window that began before the clock went back over midnight', () => {
  const place: Place = { latitude: 47.56, longitude: -52.71, zone: 'America/St_Johns' };
  const stamps = [
    '2006-10-28T23:30-02:30',
    '2006-10-29T00:00-02:30',
    '2006-10-28T23:30-03:30',
    '2006-10-29T00:30-03:30',
  ];
  expect(within({ after: '00:00', before: '01:00' }, place, ...stamps)).toEqual([false, true, true, true]);
});

it('says when to look again', () => {
  const edge = (spec: WindowSpec, stamp: string) => new Date(nextWindowEdge(parseWindow(spec), berlin, ms(stamp)));
  const night = { after: '22:00', before: '06:00' };
  expect(edge(night, '2026-01-05T21:00+01:00')).toEqual(new Date('2026-01-05T22:00+01:00'));
  expect(edge(night, '2026-01-06T00:30+01:00')).toEqual(new Date('2026-01-06T06:00+01:00'));
  const { sunrise } = sunEvents(parseDate('2026-01-06')!, berlin);
  expect(edge({ after: 'sunset', before: 'sunrise' }, '2026-01-06T00:30+01:00').getTime()).toBe(sunrise);
});

it('reads bounds', () => {
  expect(parseBound('22:00')).toEqual({ time: 79_200_000 });
  expect(parseBound('sunset')).toEqual({ event: 'sunset', offset: 0 });
  expect(parseBound('sunset-30m')).toEqual({ event: 'sunset', offset: -1_800_000 });
  expect(parseBound('nautical_dawn + 1h30m')).toEqual({ event: 'nautical_dawn', offset: 5_400_000 });
  expect(['moonrise', 'sunset30m', 'sunset-', 'sunset-x', '25:00'].map(parseBound)).toEqual(Array(5).fill(undefined));
});

it('names the bound that it cannot read', () => {
  expect(() => parseWindow({ after: '22:00', before: 'late' })).toThrow(expect.objectContaining({ path: 'before' }));
});
