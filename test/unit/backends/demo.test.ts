import { describe, expect, test } from 'vitest';
import { demoHouse, furnish, pastEvents, runDemo } from '../../../src/backends/virtual/demo/index.ts';
import { VirtualBackend } from '../../../src/backends/virtual/index.ts';
import { VirtualClock } from '../../../src/lib/virtual-clock.ts';
import { deviceOf } from '../../../src/model/device.ts';
import type { Report } from '../../../src/model/event.ts';
import { coerce } from '../../../src/model/value.ts';
import { recorder } from './kit.ts';

const BERLIN = { place: { latitude: 52.52, longitude: 13.4 }, zone: 'Europe/Berlin' };
const demo = demoHouse({ seed: 20, ...BERLIN });
const NOON = Date.parse('2026-03-27T11:00:00Z');
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const WEEK = 7 * DAY;

const devices = new Map(
  demo.devices.map(({ id, name, room, capabilities = [] }) => [id, deviceOf({ id, name, room, capabilities })]),
);

describe('the demo house', () => {
  test('has at least a dozen devices of different capabilities in five rooms', () => {
    const rooms = new Set(demo.devices.map(device => device.room).filter(Boolean));
    const capabilities = new Set(demo.devices.flatMap(device => device.capabilities ?? []));
    expect(demo.devices.length).toBeGreaterThanOrEqual(12);
    expect(rooms).toEqual(new Set(['Living room', 'Kitchen', 'Hall', 'Bedroom', 'Attic']));
    expect(capabilities.size).toBeGreaterThanOrEqual(12);
  });

  test('has a name in house.yaml for each device, and people whose trackers exist', () => {
    expect(Object.values(demo.house.aliases).sort()).toEqual([...devices.keys()].sort());
    for (const { trackers } of Object.values(demo.house.people)) {
      for (const tracker of trackers) expect(demo.house.aliases).toHaveProperty(tracker);
    }
  });
});

describe('its story', () => {
  test('is the same however it is asked for', () => {
    const again = demoHouse({ seed: 20, ...BERLIN });
    const whole = demo.eventsBetween(NOON, NOON + 3 * DAY);
    const cuts = [0, 1, 7 * HOUR, 13 * HOUR + 12_345, DAY, 2 * DAY, 3 * DAY];
    const pieces = cuts.slice(1).flatMap((cut, i) => again.eventsBetween(NOON + cuts[i]!, NOON + cut));
    expect(pieces).toEqual(whole);
    expect(whole.length).toBeGreaterThan(500);
  });

  test('is another one with another seed', () => {
    const other = demoHouse({ seed: 21, ...BERLIN });
    expect(other.eventsBetween(NOON, NOON + DAY)).not.toEqual(demo.eventsBetween(NOON, NOON + DAY));
  });

  test('tells values that its devices declare', () => {
    for (const { device, attribute, value } of demo.eventsBetween(NOON, NOON + DAY)) {
      const type = devices.get(device)?.attributes[attribute];
      expect(type && coerce(value, type), `${device}/${attribute}`).toEqual({ ok: true, value });
    }
  });

  test('leads to the values that it gives for any instant', () => {
    const from = NOON - 5 * DAY;
    const values = structuredClone(demo.valuesAt(from)) as Record<string, Record<string, unknown>>;
    let at = from + 1;
    for (const cut of [
      from + 90 * 60_000,
      NOON - 2 * DAY + 9 * HOUR,
      NOON,
      NOON + 2 * DAY,
      NOON + 3 * DAY + 21.3 * HOUR,
    ]) {
      for (const event of demo.eventsBetween(at, cut + 1)) {
        if (event.attribute !== 'pushed') values[event.device]![event.attribute] = event.value;
      }
      at = cut + 1;
      expect(demo.valuesAt(cut)).toEqual(values);
    }
  });

  test('goes on over a change of the clocks', () => {
    const events = demo.eventsBetween(Date.parse('2026-03-28T12:00:00Z'), Date.parse('2026-03-30T12:00:00Z'));
    expect(events.map(event => event.at)).toEqual([...events.map(event => event.at)].sort((a, b) => a - b));
    expect(events.some(({ device }) => device === 'virtual:front-door')).toBe(true);
  });

  test.each(['2026-01-10', '2026-06-21', '2026-10-01'])('on %s makes the attic hot by day and cool by night', date => {
    const midnight = Date.parse(`${date}T00:00:00Z`);
    const attic = demo
      .eventsBetween(midnight, midnight + DAY)
      .filter(event => event.device === 'virtual:attic-sensor' && event.attribute === 'temperature')
      .map(event => event.value as number);
    expect(Math.max(...attic)).toBeGreaterThan(26);
    expect(Math.min(...attic)).toBeLessThan(23);
  });

  test('has people who come and go, and a door that is sometimes not locked after them', () => {
    const events = demo.eventsBetween(NOON, NOON + WEEK);
    const of = (device: string, value: string) =>
      events.filter(e => e.device === `virtual:${device}` && e.value === value).length;
    expect(of('anna-phone', 'not present')).toBeGreaterThan(2);
    expect(of('anna-phone', 'present')).toBe(of('anna-phone', 'not present'));
    // The bolt is thrown once more each night.
    expect(of('front-lock', 'locked')).toBeLessThan(of('front-lock', 'unlocked') + 7);
  });

  test('is told in a place where the sun does not rise', () => {
    const far = demoHouse({ seed: 1, place: { latitude: 78.2, longitude: 15.6 }, zone: 'Arctic/Longyearbyen' });
    const night = Date.parse('2026-12-21T00:00:00Z');
    for (const { value } of far.eventsBetween(night, night + DAY)) expect(value).not.toBeNaN();
  });
});

describe('its past', () => {
  const events = [...pastEvents(demo, NOON - WEEK, NOON)];

  test('begins with a snapshot and then tells what changed', () => {
    const first = events.filter(event => event.ts === NOON - WEEK);
    expect(first.every(event => event.change === 'resync')).toBe(true);
    expect(first.length).toBeGreaterThan(30);
    expect(events.slice(first.length).some(event => event.change === 'resync')).toBe(false);
  });

  test('is in order, with ids of its own', () => {
    for (const [index, event] of events.entries()) {
      expect(event.seq).toBe(index + 1);
      expect(event.ts).toBeLessThan(NOON);
      if (index > 0) expect(event.ts).toBeGreaterThanOrEqual(events[index - 1]!.ts);
    }
    expect(new Set(events.map(event => event.id)).size).toBe(events.length);
  });

  test('has what the house makes of it: Anna is gone five minutes after her phone', () => {
    const gone = (device: string) =>
      events.filter(e => e.device === device && e.value === 'not present' && e.change === 'changed').map(e => e.ts);
    expect(gone('house:anna')).toEqual(gone('virtual:anna-phone').map(ts => ts + 300_000));
    expect(gone('house:anna').length).toBeGreaterThan(2);
  });

  test('knows what was before', () => {
    const last = new Map<string, unknown>();
    for (const { device, attribute, value, previous, change } of events) {
      const key = `${device}/${attribute}`;
      if (attribute !== 'pushed' && change !== 'resync') expect(previous).toEqual(last.get(key));
      last.set(key, value);
    }
  });

  test('ends where the present begins', () => {
    const last = new Map(events.map(({ device, attribute, value }) => [`${device}/${attribute}`, value]));
    for (const [device, values] of Object.entries(demo.valuesAt(NOON - 1))) {
      for (const [attribute, value] of Object.entries(values))
        expect(last.get(`${device}/${attribute}`)).toEqual(value);
    }
  });
});

describe('the demo, live', () => {
  async function live(now = NOON) {
    const clock = new VirtualClock(now);
    const backend = new VirtualBackend({ clock });
    furnish(backend, demo, now);
    const told: { at: number; report: Report }[] = [];
    await backend.start(recorder(report => told.push({ at: clock.now(), report })));
    told.length = 0;
    return { clock, backend, told };
  }
  const key = (report: Report) =>
    report.type === 'value' ? `${report.device}/${report.attribute}=${report.value}` : '';

  test('goes on with the story, each event when it is due', async () => {
    const { clock, backend, told } = await live();
    runDemo(backend, clock, demo, { opening: false });
    clock.advanceTo(12 * HOUR);
    const expected = demo.eventsBetween(NOON, NOON + 12 * HOUR - 1);
    expect(told.map(({ report }) => report)).toMatchObject(expected.map(({ device, value }) => ({ device, value })));
    for (const [index, { at }] of told.entries()) expect(at - expected[index]!.at).toBeLessThanOrEqual(1);
  });

  test('begins with something for each example within ten seconds', async () => {
    const { clock, backend, told } = await live();
    runDemo(backend, clock, demo);
    clock.advanceTo(10_000);
    expect(told.map(({ report }) => key(report))).toEqual(
      expect.arrayContaining([
        'virtual:hall-motion/motion=active',
        'virtual:front-door/contact=open',
        'virtual:bed-left/switch=on',
        'virtual:front-door/contact=closed',
      ]),
    );
    const story = demo.valuesAt(clock.now());
    expect(backend.present('virtual:hall-motion').motion).toBe(story['virtual:hall-motion']?.motion);
  });

  test('leaves nothing behind when it ends', async () => {
    const { clock, backend } = await live();
    runDemo(backend, clock, demo)();
    expect(clock.nextDue()).toBeUndefined();
  });

  test('bears what people do to its devices', async () => {
    const { clock, backend, told } = await live();
    backend.deleteDevice('virtual:outside');
    backend.renameDevice('virtual:hall-motion', 'Somewhere else');
    runDemo(backend, clock, demo);
    clock.advanceTo(HOUR);
    expect(told.length).toBeGreaterThan(10);
  });

  test('finds everything again at the next start, and leaves lamps as they were left', async () => {
    const { backend } = await live();
    backend.setValue('virtual:living-lamp', 'level', 12);
    backend.renameDevice('virtual:attic-fan', 'Big fan');
    const later = NOON + 5 * HOUR;
    furnish(backend, demo, later);
    expect(backend.list()).toHaveLength(demo.devices.length);
    expect(backend.present('virtual:living-lamp').level).toBe(12);
    expect(backend.list().find(device => device.id === 'virtual:attic-fan')?.name).toBe('Big fan');
    expect(backend.present('virtual:outside')).toEqual(demo.valuesAt(later)['virtual:outside']);
  });

  test('after a sleep of the machine is where the story then is', async () => {
    const { clock, backend, told } = await live();
    runDemo(backend, clock, demo, { opening: false });
    clock.step(2 * DAY);
    clock.advanceTo(HOUR + 1_000);
    expect(told.length).toBeLessThan(200);
    const { temperature } = demo.valuesAt(clock.now())['virtual:outside'] ?? {};
    expect(backend.present('virtual:outside').temperature).toBe(temperature);
  });
});
