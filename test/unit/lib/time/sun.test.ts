import { expect, it } from 'vitest';
import { parseDate } from '../../../../src/lib/time/calendar.ts';
import { occurrencesBetween } from '../../../../src/lib/time/occurrence.ts';
import { SUN_EVENTS, sunEvents } from '../../../../src/lib/time/sun-events.ts';
import { HORIZON, type Place, sunPosition } from '../../../../src/lib/time/sun-position.ts';
import {
  nextAzimuth,
  nextElevation,
  nextElevationChange,
  nextSunEvent,
  type SunSpec,
} from '../../../../src/lib/time/sun-schedule.ts';
import { formatLocal } from '../../../../src/lib/time/zone.ts';

const ms = Date.parse;
const MINUTE = 60_000;
const HOUR = 3_600_000;
const berlin: Place = { latitude: 52.52, longitude: 13.4, zone: 'Europe/Berlin' };
const tromso: Place = { latitude: 69.65, longitude: 18.96, zone: 'Europe/Oslo' };
const london: Place = { latitude: 51, longitude: -0.1, zone: 'Europe/London' };
const auckland: Place = { latitude: -36.85, longitude: 174.76, zone: 'Pacific/Auckland' };
const honolulu: Place = { latitude: 21.31, longitude: -157.86, zone: 'Pacific/Honolulu' };

const near = (found: number | null | undefined, expected: string, tolerance = 2 * MINUTE) => {
  expect(Math.abs((found ?? Number.NaN) - ms(expected))).toBeLessThanOrEqual(tolerance);
};
const fires = (spec: SunSpec, place: Place, from: string, to: string) =>
  occurrencesBetween(after => nextSunEvent(spec, place, after), ms(from), ms(to), 20);

it('has the sun where an almanac has it', () => {
  // NREL SPA (Reda & Andreas 2003), example A.5: zenith 50.11162° with refraction at 820 mbar and 11 °C, 0.0164° of it
  // refraction; azimuth 194.34024°.
  const { elevation, azimuth } = sunPosition(ms('2003-10-17T12:30:30-07:00'), {
    latitude: 39.742476,
    longitude: -105.1786,
    zone: 'America/Denver',
  });
  expect(elevation).toBeCloseTo(39.872, 2);
  expect(azimuth).toBeCloseTo(194.34, 2);
});

it('reports elevation without refraction, above and below the horizon', () => {
  // At solar noon the geometric elevation is 90° - latitude + declination; on 2026-06-21 the declination is 23.436°.
  const noon = sunEvents(parseDate('2026-06-21')!, berlin).solar_noon!;
  expect(sunPosition(noon, berlin).elevation).toBeCloseTo(90 - 52.52 + 23.436, 2);
  const midnight = sunPosition(noon - 12 * HOUR, berlin).elevation;
  expect(midnight).toBeCloseTo(-(90 - 52.52 - 23.436), 2);
});

it('counts the sun as up from the very millisecond of sunrise to that of sunset', () => {
  const { sunrise, sunset } = sunEvents(parseDate('2026-04-10')!, berlin);
  expect([sunrise! - 1, sunrise!, sunset! - 1, sunset!].map(at => sunPosition(at, berlin).up)).toEqual([
    false,
    true,
    true,
    false,
  ]);
});

it('has all events of a day in their order', () => {
  const events = sunEvents(parseDate('2026-03-20')!, berlin);
  const order = [
    'nadir',
    'night_end',
    'nautical_dawn',
    'dawn',
    'sunrise',
    'sunrise_end',
    'golden_hour_end',
    'solar_noon',
    'golden_hour',
    'sunset_start',
    'sunset',
    'dusk',
    'nautical_dusk',
    'night',
  ] as const;
  expect([...order].sort()).toEqual([...SUN_EVENTS].sort());
  const times = order.map(event => events[event]!);
  expect(times).toEqual([...times].sort((a, b) => a - b));
});

it('makes no occurrence in the polar night and names the sunrise that ends it (BC-37)', () => {
  expect(sunEvents(parseDate('2026-12-21')!, tromso).sunrise).toBeNull();
  near(nextSunEvent({ event: 'sunrise' }, tromso, ms('2026-12-21T00:00+01:00'))?.at, '2027-01-15T10:35Z');
});

it('knows in polar night and midnight sun whether the sun is up (BC-38)', () => {
  expect(sunPosition(ms('2026-12-21T12:00+01:00'), tromso).up).toBe(false);
  expect(sunPosition(ms('2026-06-21T00:00+02:00'), tromso).up).toBe(true);
});

it('takes no time from suncalc, which is hours off at the edge of a season without dusk', () => {
  // suncalc 2.0.2 has a dawn at 02:42 UTC on 14 August, with the sun 9° too high; the first one is on the 15th.
  expect(sunEvents(parseDate('2026-08-14')!, tromso).dawn).toBeNull();
  const dawn = sunEvents(parseDate('2026-08-15')!, tromso).dawn!;
  expect(formatLocal(dawn, tromso.zone).slice(0, 16)).toBe('2026-08-15T01:24');
  expect(sunPosition(dawn, tromso).elevation).toBeCloseTo(-6, 5);
});

it('skips a night that does not come in summer (BC-40)', () => {
  expect(sunEvents(parseDate('2026-06-20')!, london).night).toBeNull();
  const next = nextSunEvent({ event: 'night' }, london, ms('2026-06-20T00:00Z'));
  expect(next!.at).toBeGreaterThan(ms('2026-07-01T00:00Z'));
  expect(next!.note).toBeUndefined();
});

it('takes the first fallback that there is, and says so (BC-40)', () => {
  const spec: SunSpec = { event: 'night', fallback: ['nautical_dusk', 'dusk'] };
  const next = nextSunEvent(spec, london, ms('2026-06-20T00:00Z'));
  expect(next?.at).toBe(sunEvents(parseDate('2026-06-20')!, london).nautical_dusk);
  expect(next).toMatchObject({ key: '2026-06-20 night', note: 'no night on 2026-06-20: nautical_dusk instead' });
});

it('takes a time as fallback, untouched by the offset', () => {
  const spec: SunSpec = { event: 'sunset', offsetMs: -30 * MINUTE, fallback: ['16:00'] };
  const found = fires(spec, tromso, '2026-12-20T23:00Z', '2026-12-22T23:00Z');
  expect(found.map(o => formatLocal(o.at, tromso.zone))).toEqual([
    '2026-12-21T16:00:00+01:00',
    '2026-12-22T16:00:00+01:00',
  ]);
});

it('loses no fallback that comes before the event of the day before', () => {
  // The last dusk before the bright nights is at 01:02 on 23 May; the 23rd itself has none.
  const trondheim: Place = { latitude: 63.43, longitude: 10.39, zone: 'Europe/Oslo' };
  const spec: SunSpec = { event: 'dusk', fallback: ['00:30'] };
  const found = fires(spec, trondheim, '2026-05-22T12:00Z', '2026-05-24T12:00Z');
  expect(found.map(o => [o.key, formatLocal(o.at, trondheim.zone).slice(0, 16)])).toEqual([
    ['2026-05-23 dusk', '2026-05-23T00:30'],
    ['2026-05-22 dusk', '2026-05-23T01:02'],
    ['2026-05-24 dusk', '2026-05-24T00:30'],
  ]);
});

it('refuses a fallback that is neither event nor time', () => {
  expect(() => nextSunEvent({ event: 'sunset', fallback: ['moonrise'] }, tromso, ms('2026-12-21T00:00Z'))).toThrow(
    expect.objectContaining({ code: 'INPUT_INVALID', path: 'fallback' }),
  );
});

it('moves an event over midnight, back (BC-41)', () => {
  const trondheim: Place = { latitude: 63.43, longitude: 10.39, zone: 'Europe/Oslo' };
  const dusk = nextSunEvent({ event: 'dusk' }, trondheim, ms('2026-05-21T12:00Z'))!;
  expect(formatLocal(dusk.at, trondheim.zone).slice(0, 16)).toBe('2026-05-22T00:43');
  const found = fires({ event: 'dusk', offsetMs: -2 * HOUR }, trondheim, '2026-05-20T22:00Z', '2026-05-22T20:00Z');
  expect(found.map(o => formatLocal(o.at, trondheim.zone).slice(0, 16))).toEqual(['2026-05-21T22:43']);
});

it('moves an event over midnight, forth, once a day (BC-41)', () => {
  const spec: SunSpec = { event: 'sunset', offsetMs: 4 * HOUR };
  const found = fires(spec, berlin, '2026-06-01T00:00+02:00', '2026-06-04T00:00+02:00');
  expect(found.map(o => formatLocal(o.at, berlin.zone).slice(0, 13))).toEqual([
    '2026-06-01T01',
    '2026-06-02T01',
    '2026-06-03T01',
  ]);
});

it.each([auckland, honolulu])('finds the event of the local date at either end of the day: $zone (BC-42)', place => {
  const offset = place === auckland ? '+12:00' : '-10:00';
  const early = nextSunEvent({ event: 'sunrise' }, place, ms(`2026-06-01T00:00:05${offset}`));
  expect(formatLocal(early!.at, place.zone).slice(0, 10)).toBe('2026-06-01');
  const late = nextSunEvent({ event: 'sunrise' }, place, ms(`2026-06-01T23:59:55${offset}`));
  expect(formatLocal(late!.at, place.zone).slice(0, 10)).toBe('2026-06-02');
  const events = sunEvents(parseDate('2026-06-01')!, place);
  expect(early!.at).toBe(events.sunrise);
  for (const at of [events.sunrise!, events.sunset!, events.solar_noon!]) {
    expect(formatLocal(at, place.zone).slice(0, 10)).toBe('2026-06-01');
  }
});

it('goes on to the next day after a negative offset has fired (BC-43)', () => {
  const spec: SunSpec = { event: 'sunset', offsetMs: -15 * MINUTE };
  const first = nextSunEvent(spec, berlin, ms('2026-06-01T00:00+02:00'))!;
  const second = nextSunEvent(spec, berlin, first.at)!;
  expect([first.key, second.key]).toEqual(['2026-06-01 sunset', '2026-06-02 sunset']);
});

it('fires daily west of Greenwich (BC-46)', () => {
  const faro: Place = { latitude: 37.1, longitude: -8.5, zone: 'Europe/Lisbon' };
  expect(fires({ event: 'sunrise' }, faro, '2026-06-01T00:00+01:00', '2026-06-04T00:00+01:00')).toHaveLength(3);
});

it('loses no day where zone and longitude do not fit, over changes of the clocks too', () => {
  const odd: Place = { ...berlin, zone: 'Pacific/Auckland' };
  const found = fires({ event: 'sunrise' }, odd, '2026-03-28T00:00Z', '2026-04-12T00:00Z');
  expect(found).toHaveLength(15);
  expect(new Set(found.map(o => o.key)).size).toBe(15);
});

it('passes an elevation once a day, in the direction asked for', () => {
  const rising = nextElevation(10, 'rising', berlin, ms('2026-06-01T00:00+02:00'))!;
  const setting = nextElevation(10, 'setting', berlin, ms('2026-06-01T00:00+02:00'))!;
  for (const { at } of [rising, setting]) expect(sunPosition(at, berlin).elevation).toBeCloseTo(10, 4);
  expect(rising.at).toBeLessThan(setting.at);
  expect(nextElevation(10, 'rising', berlin, rising.at)!.key).toBe('2026-06-02 rising');
});

it('waits for the season that reaches an elevation, and gives up on one that none reaches', () => {
  const reached = nextElevation(60, 'rising', berlin, ms('2026-12-01T00:00Z'))!;
  expect(formatLocal(reached.at, berlin.zone).slice(0, 7)).toMatch(/2027-0[56]/);
  const started = performance.now();
  expect(nextElevation(80, 'rising', berlin, ms('2026-12-01T00:00Z'))).toBeNull();
  expect(performance.now() - started).toBeLessThan(200);
});

it('finds the azimuths in their order, by day and night', () => {
  const from = ms('2026-06-21T01:30+02:00');
  const found = [90, 180, 270, 0].map(azimuth => nextAzimuth(azimuth, berlin, from)!.at);
  expect(found).toEqual([...found].sort((a, b) => a - b));
  for (const [index, at] of found.entries()) {
    const off = sunPosition(at, berlin).azimuth - (index + 1) * 90;
    expect(Math.abs(((off + 540) % 360) - 180)).toBeLessThan(0.001);
  }
  near(found[1], new Date(sunEvents(parseDate('2026-06-21')!, berlin).solar_noon!).toISOString(), 1_000);
});

it('finds the same azimuth from wherever it is sought, and once', () => {
  const first = nextAzimuth(123, berlin, ms('2026-06-21T00:00Z'))!;
  expect(nextAzimuth(123, berlin, first.at - 1)).toEqual(first);
  expect(nextAzimuth(123, berlin, first.at)!.at).toBeGreaterThan(first.at + 23 * HOUR);
});

it('tells when to look again whether the sun is up', () => {
  const { sunrise, sunset } = sunEvents(parseDate('2026-06-01')!, berlin);
  expect(nextElevationChange([HORIZON], berlin, ms('2026-06-01T00:00+02:00'))).toBe(sunrise);
  expect(nextElevationChange([HORIZON], berlin, sunrise!)).toBe(sunset);
  expect(nextElevationChange([80], berlin, sunrise!)).toBeNull();
});
