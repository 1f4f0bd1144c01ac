import { describe, expect, test } from 'vitest';
import { HouseBackend, type HouseConfig } from '../../../src/backends/house/index.ts';
import { checkWorkdays, isWorkday } from '../../../src/backends/house/workdays.ts';
import { houseSchema } from '../../../src/config/house.ts';
import { parseDate } from '../../../src/lib/time/calendar.ts';
import { VirtualClock } from '../../../src/lib/virtual-clock.ts';
import type { CapabilityName } from '../../../src/model/capability.ts';
import { rootCause } from '../../../src/model/cause.ts';
import { backendOf, deviceOf } from '../../../src/model/device.ts';
import type { Event, Report } from '../../../src/model/event.ts';
import { Target } from '../../../src/model/target.ts';
import type { Json } from '../../../src/model/value.ts';
import { Devices } from '../../../src/state/devices.ts';
import { Values } from '../../../src/state/values.ts';
import { recorder } from './kit.ts';

const START = Date.parse('2026-01-05T00:00:00Z');
const MINUTE = 60_000;

/** The house among devices of `virtual`, with just enough of an engine around it. */
class Stage {
  readonly clock = new VirtualClock(START);
  readonly devices: Devices;
  readonly values: Values;
  readonly sink = recorder(report => this.apply(report));
  readonly house: HouseBackend;
  private seq = 0;
  private epoch = 0;

  constructor(config: object, before?: Stage) {
    this.devices = new Devices();
    this.values = before?.values ?? new Values();
    if (before) this.clock.advanceTo(before.clock.elapsed());
    const { devices, values, clock } = this;
    const house = houseSchema(Target).parse(config) as HouseConfig & { aliases: Record<string, string> };
    devices.setNames({ aliases: house.aliases, rooms: {} });
    this.backend('online', false);
    this.house = new HouseBackend({ devices, values, clock, config: house, seq: () => this.seq });
  }

  backend(state: 'online' | 'offline', ready: boolean): void {
    if (ready) this.epoch++;
    this.devices.setBackend('virtual', { state, ready, epoch: this.epoch, since: 0 });
  }

  device(id: string, ...capabilities: CapabilityName[]): this {
    this.devices.put(deviceOf({ id, name: id, capabilities }));
    return this;
  }

  /** All backends are there, the house too; forgets what was told until then. */
  async ready(): Promise<string[]> {
    this.backend('online', true);
    await this.house.start(this.sink);
    return this.sink.take();
  }

  /** A report of a device, and what the house makes of it. */
  tell(device: string, attribute: string, value: Json, more: Partial<Event> = {}): string[] {
    this.event(device, attribute, value, more);
    return this.sink.take();
  }

  available(device: string, isAvailable: boolean): string[] {
    this.devices.setAvailability(device, isAvailable ? 'online' : 'offline');
    const value = isAvailable ? 'online' : 'offline';
    this.house.onEvent(this.envelope(device, '$availability', value, { change: 'changed' }));
    return this.sink.take();
  }

  pass(ms: number): string[] {
    this.clock.advanceTo(this.clock.elapsed() + ms);
    return this.sink.take();
  }

  private envelope(device: string, attribute: string, value: Json, more: Partial<Event>): Event {
    const id = `event-${++this.seq}`;
    const cause = rootCause(id, { kind: 'device', ref: device }, 'device');
    const kind = attribute.startsWith('$') ? 'system' : 'device';
    const base = {
      v: 1,
      id,
      kind,
      ts: this.clock.now(),
      boot: 'b',
      seq: this.seq,
      backend: backendOf(device),
    } as const;
    return { ...base, device, attribute, value, previous: null, quality: 'good', change: 'changed', cause, ...more };
  }

  private event(device: string, attribute: string, value: Json, more: Partial<Event>): void {
    this.applied(device, attribute, value, more)();
  }

  /** A report that was taken over, and what tells the house of it: events leave after their turn. */
  applied(device: string, attribute: string, value: Json, more: Partial<Event> = {}): () => void {
    const event = this.envelope(device, attribute, value, more);
    const { quality, cause } = event;
    const at = { now: this.clock.now(), seq: this.seq, resync: false, epoch: Math.max(1, this.epoch), cause };
    const applied = this.values.apply(device, attribute, { value, quality }, undefined, at);
    if (!('reading' in applied) || more.change !== undefined) return () => this.house.onEvent(event);
    const { reading, previous } = applied;
    return () => this.house.onEvent({ ...event, value: reading.value, previous });
  }

  private apply(report: Report): void {
    if (report.type !== 'value') return;
    const cause = rootCause('house', { kind: 'device' }, 'device');
    const at = { now: this.clock.now(), seq: ++this.seq, resync: false, epoch: 1, cause };
    this.values.apply(report.device, report.attribute, report, undefined, at);
  }
}

const PEOPLE = {
  people: {
    anna: { trackers: ['virtual:anna-phone', 'virtual:anna-watch'], away_after: '5m' },
    ben: { trackers: ['virtual:ben-phone'], away_after: '0s' },
  },
};

function people(before?: Stage): Stage {
  const stage = new Stage(PEOPLE, before);
  return stage
    .device('virtual:anna-phone', 'presence')
    .device('virtual:anna-watch', 'connectivity')
    .device('virtual:ben-phone', 'presence');
}

describe('a person', () => {
  test('who was reported just before the house is ready counts, also where the event comes after', async () => {
    const stage = people();
    await stage.house.start(stage.sink);
    stage.available('virtual:ben-phone', true);
    const tell = stage.applied('virtual:anna-phone', 'presence', 'present');
    stage.backend('online', true);
    stage.house.settle();
    tell();
    expect(stage.sink.take()).toContain('house:anna/presence=present');
  });

  test('is present while one tracker is, and gone when the last one has been gone for long enough', async () => {
    const stage = people();
    stage.tell('virtual:anna-phone', 'presence', 'present');
    stage.tell('virtual:anna-watch', 'connectivity', 'online');
    expect(await stage.ready()).toContain('house:anna/presence=present');
    expect(stage.tell('virtual:anna-phone', 'presence', 'not present')).toEqual([]);
    expect(stage.pass(10 * MINUTE)).toEqual([]);
    expect(stage.tell('virtual:anna-watch', 'connectivity', 'offline')).toEqual([]);
    expect(stage.pass(5 * MINUTE - 1)).toEqual([]);
    expect(stage.pass(1)).toContain('house:anna/presence=not present');
  });

  test('who comes back within that time was never gone', async () => {
    const stage = people();
    stage.tell('virtual:anna-phone', 'presence', 'present');
    await stage.ready();
    stage.tell('virtual:anna-phone', 'presence', 'not present');
    stage.pass(4 * MINUTE);
    expect(stage.tell('virtual:anna-phone', 'presence', 'present')).toEqual([]);
    expect(stage.pass(10 * MINUTE)).toEqual([]);
  });

  test('is not gone by a phone that is not connected, and of which nobody says whether it is present', async () => {
    const before = people();
    before.device('virtual:ben-phone', 'presence', 'connectivity');
    before.tell('virtual:ben-phone', 'presence', 'present');
    await before.ready();
    await before.house.stop();
    // After a power cut a console knows for a while only that it sees nobody.
    const stage = people(before);
    stage.device('virtual:ben-phone', 'presence', 'connectivity');
    stage.values.forget('virtual:ben-phone');
    stage.tell('virtual:ben-phone', 'connectivity', 'offline');
    await stage.ready();
    stage.pass(MINUTE);
    expect(stage.values.get('house:ben', 'presence')?.value).toBe('present');
    expect(stage.tell('virtual:ben-phone', 'presence', 'not present')).toContain('house:ben/presence=not present');
  });

  test('stays what he or she was while no tracker can be told', async () => {
    const stage = people();
    stage.tell('virtual:ben-phone', 'presence', 'present');
    await stage.ready();
    expect(stage.available('virtual:ben-phone', false)).toEqual([]);
    expect(stage.pass(60 * MINUTE)).toEqual([]);
    expect(stage.tell('virtual:ben-phone', 'presence', null, { quality: 'unknown' })).toEqual([]);
  });

  test('whose trackers come back one after the other is not gone in between', async () => {
    const stage = people();
    stage.tell('virtual:anna-phone', 'presence', 'not present');
    stage.tell('virtual:anna-watch', 'connectivity', 'online');
    await stage.ready();
    stage.pass(10 * MINUTE);
    stage.available('virtual:anna-watch', false);
    stage.available('virtual:anna-phone', false);
    stage.pass(10 * MINUTE);
    expect(stage.available('virtual:anna-phone', true)).toEqual([]);
    expect(stage.available('virtual:anna-watch', true)).toEqual([]);
    expect(stage.pass(60 * MINUTE)).toEqual([]);
  });

  test('who is only seen by a tracker that cannot be told any more is away after the usual time', async () => {
    const stage = people();
    stage.tell('virtual:anna-phone', 'presence', 'not present');
    stage.tell('virtual:anna-watch', 'connectivity', 'online');
    await stage.ready();
    stage.pass(10 * MINUTE);
    expect(stage.available('virtual:anna-watch', false)).toEqual([]);
    expect(stage.pass(5 * MINUTE - 1)).toEqual([]);
    expect(stage.pass(1)).toContain('house:anna/presence=not present');
  });

  test('of whom nothing was ever known is away as soon as a tracker says so', async () => {
    const stage = people();
    stage.tell('virtual:anna-phone', 'presence', 'not present');
    expect(await stage.ready()).toContain('house:anna/presence=not present');
  });

  test('of whom nothing is known at all is not told', async () => {
    expect((await people().ready()).filter(line => line.includes('='))).toEqual([]);
  });

  test('who left before a restart is gone at the time that was due', async () => {
    const before = people();
    before.tell('virtual:anna-phone', 'presence', 'present');
    await before.ready();
    before.pass(MINUTE);
    before.tell('virtual:anna-phone', 'presence', 'not present');
    before.pass(2 * MINUTE);
    await before.house.stop();

    const stage = people(before);
    stage.pass(MINUTE);
    expect(await stage.ready()).toContain('house:anna/presence=present');
    expect(stage.pass(2 * MINUTE - 1)).toEqual([]);
    expect(stage.pass(1)).toContain('house:anna/presence=not present');
  });

  test('whose time passed during the stop is gone at the start, and one who was away stays so', async () => {
    const before = people();
    before.tell('virtual:anna-phone', 'presence', 'present');
    await before.ready();
    before.tell('virtual:anna-phone', 'presence', 'not present');
    await before.house.stop();
    before.pass(60 * MINUTE);

    const stage = people(before);
    expect(await stage.ready()).toContain('house:anna/presence=not present');
    await stage.house.stop();
    expect(await people(stage).ready()).toContain('house:anna/presence=not present');
  });

  test('leaves no timer behind when the house stops', async () => {
    const stage = people();
    stage.tell('virtual:anna-phone', 'presence', 'present');
    await stage.ready();
    stage.tell('virtual:anna-phone', 'presence', 'not present');
    await stage.house.stop();
    expect(stage.clock.nextDue()).toBeUndefined();
  });
});

describe('house:anyone and house:everyone', () => {
  test('are present when one is, and when all are', async () => {
    const stage = people();
    stage.tell('virtual:anna-phone', 'presence', 'not present');
    stage.tell('virtual:ben-phone', 'presence', 'present');
    expect(await stage.ready()).toEqual(
      expect.arrayContaining(['house:anyone/presence=present', 'house:everyone/presence=not present']),
    );
    expect(stage.tell('virtual:anna-phone', 'presence', 'present')).toEqual([
      'house:anna/presence=present',
      'house:everyone/presence=present',
    ]);
    expect(stage.tell('virtual:ben-phone', 'presence', 'not present')).toEqual([
      'house:ben/presence=not present',
      'house:everyone/presence=not present',
    ]);
    stage.tell('virtual:anna-phone', 'presence', 'not present');
    expect(stage.pass(5 * MINUTE)).toEqual(['house:anna/presence=not present', 'house:anyone/presence=not present']);
  });

  test('are not there in a house without people', async () => {
    const stage = new Stage({});
    await stage.ready();
    expect([...stage.sink.declared.keys()]).toEqual(['house:notify']);
  });
});

describe('being ready', () => {
  test('waits for all other backends', async () => {
    const stage = people();
    await stage.house.start(stage.sink);
    stage.house.settle();
    stage.tell('virtual:ben-phone', 'presence', 'present', { change: 'resync' });
    expect(stage.sink.lines).not.toContain('ready');
    stage.backend('online', true);
    stage.house.settle();
    expect(stage.sink.take()).toEqual([
      'house:ben/presence=present',
      'house:anyone/presence=present',
      'house:everyone/presence=present',
      'ready',
    ]);
  });

  test('comes with the last event of a snapshot, without being asked', async () => {
    const stage = people();
    await stage.house.start(stage.sink);
    stage.backend('online', true);
    expect(stage.tell('virtual:ben-phone', 'presence', 'present', { change: 'resync' })).toContain('ready');
  });

  test('comes at the engine’s startup at the latest', async () => {
    const stage = people();
    await stage.house.start(stage.sink);
    stage.backend('offline', false);
    expect(stage.tell('house:house', 'startup', 'b', { kind: 'system' })).toContain('ready');
  });

  test('what follows from a snapshot of another backend is told as one', async () => {
    const stage = people();
    stage.tell('virtual:ben-phone', 'presence', 'present');
    await stage.ready();
    expect(stage.tell('virtual:ben-phone', 'presence', 'not present', { change: 'resync' })).toEqual([
      'online',
      'house:ben/presence=not present',
      'house:anyone/presence=not present',
      'house:everyone/presence=not present',
      'ready',
    ]);
  });

  test('what follows from an event has its cause', async () => {
    const stage = people();
    stage.tell('virtual:ben-phone', 'presence', 'present');
    await stage.ready();
    const cause = rootCause('command-1', { kind: 'user' }, 'rule:x');
    stage.tell('virtual:ben-phone', 'presence', 'not present', { cause, id: 'event-x' });
    expect(stage.sink.reports.at(-1)).toMatchObject({ cause: { root: 'command-1', parent: 'event-x', by: 'rule:x' } });
  });
});

describe('a group', () => {
  const lights = (of: string, more: object = {}) =>
    new Stage({
      groups: { lights: { members: ['virtual:a', 'virtual:b'], attribute: 'switch', function: of }, ...more },
    })
      .device('virtual:a', 'switch')
      .device('virtual:b', 'switch');
  const numbers = (of: string, capability: 'temperature' | 'power' = 'temperature') =>
    new Stage({ groups: { g: { members: ['virtual:a', 'virtual:b'], attribute: capability, function: of } } })
      .device('virtual:a', capability)
      .device('virtual:b', capability);

  test.each([
    ['any', 'on'],
    ['all', 'off'],
    ['count', '1'],
  ])('%s of one lamp that is on and one that is off is %s', async (of, expected) => {
    const stage = lights(of);
    stage.tell('virtual:a', 'switch', 'on');
    stage.tell('virtual:b', 'switch', 'off');
    expect(await stage.ready()).toContain(`house:lights/switch=${expected}`);
  });

  test.each([
    ['min', 20],
    ['max', 22.2],
    ['average', 21.1],
    ['sum', 42.2],
  ])('%s of 20 and 22.2 is %d', async (of, expected) => {
    const stage = numbers(of);
    stage.tell('virtual:a', 'temperature', 20);
    stage.tell('virtual:b', 'temperature', 22.2);
    expect(await stage.ready()).toContain(`house:g/temperature=${expected}`);
    expect(stage.sink.declared.get('house:g')?.attributes).toEqual({ temperature: { type: 'number', unit: '°C' } });
  });

  test('integral adds up over time, a minute at a time and at each change, and goes on after a restart', async () => {
    const stage = numbers('integral', 'power');
    stage.tell('virtual:a', 'power', 600);
    expect(await stage.ready()).toContain('house:g/power=0');
    expect(stage.sink.declared.get('house:g')?.attributes.power?.unit).toBe('Wh');
    expect(stage.pass(MINUTE)).toEqual(['house:g/power=10']);
    stage.pass(MINUTE / 2);
    expect(stage.tell('virtual:b', 'power', 600)).toEqual(['house:g/power=15']);
    expect(stage.pass(MINUTE / 2)).toEqual(['house:g/power=25']);
    await stage.house.stop();
    stage.pass(60 * MINUTE);
    const again = new Stage(
      { groups: { g: { members: ['virtual:a'], attribute: 'power', function: 'integral' } } },
      stage,
    );
    expect(await again.device('virtual:a', 'power').ready()).toContain('house:g/power=25');
    expect(again.pass(MINUTE)).toEqual(['house:g/power=35']);
  });

  test('leaves out members that cannot be told, until none can', async () => {
    const stage = lights('all');
    stage.tell('virtual:a', 'switch', 'on');
    stage.tell('virtual:b', 'switch', 'off');
    await stage.ready();
    expect(stage.available('virtual:b', false)).toEqual(['house:lights/switch=on']);
    expect(stage.available('virtual:a', false)).toEqual(['house:lights/switch=null (unknown)']);
    expect(stage.available('virtual:b', true)).toEqual(['house:lights/switch=off']);
  });

  test('does not count on what was only restored from before the stop', async () => {
    const stage = lights('all');
    stage.tell('virtual:a', 'switch', 'on');
    stage.tell('virtual:b', 'switch', 'off');
    stage.values.set('virtual:b', 'switch', { ...stage.values.get('virtual:b', 'switch')!, epoch: 0 });
    expect(await stage.ready()).toContain('house:lights/switch=on');
  });

  test('sees each event by its own value, though several fell into one turn', async () => {
    const stage = lights('any');
    stage.tell('virtual:a', 'switch', 'on');
    await stage.ready();
    // Both are in the values already when the first one is handed over.
    stage.values.set('virtual:b', 'switch', { ...stage.values.get('virtual:a', 'switch')!, value: 'on' });
    expect(stage.tell('virtual:a', 'switch', 'off')).toEqual(['house:lights/switch=off']);
    expect(stage.tell('virtual:b', 'switch', 'on')).toEqual(['house:lights/switch=on']);
  });

  test('tells nothing while it stays the same', async () => {
    const stage = lights('any');
    stage.tell('virtual:a', 'switch', 'on');
    await stage.ready();
    expect(stage.tell('virtual:b', 'switch', 'on')).toEqual([]);
  });

  test('of a selector has the members that there are now', async () => {
    const stage = new Stage({ groups: { wet: { members: { capability: 'leak' }, attribute: 'water' } } });
    stage.device('virtual:a', 'leak');
    stage.tell('virtual:a', 'water', 'dry');
    expect(await stage.ready()).toContain('house:wet/water=dry');
    stage.device('virtual:b', 'leak');
    stage.pass(0);
    expect(stage.tell('virtual:b', 'water', 'wet')).toEqual(['house:wet/water=wet']);
    stage.devices.remove('virtual:b');
    expect(stage.pass(0)).toEqual(['house:wet/water=dry']);
  });

  test('of all who are present does not count the people made of them', async () => {
    const stage = new Stage({
      people: { anna: { trackers: ['virtual:a'] } },
      groups: { phones: { members: { capability: 'presence' }, attribute: 'presence', function: 'count' } },
    });
    stage.device('virtual:a', 'presence');
    stage.tell('virtual:a', 'presence', 'present');
    expect(await stage.ready()).toContain('house:phones/presence=1');
  });

  test('may have groups as members, named before or after, and a circle does no harm', async () => {
    const stage = lights('any', {
      both: { members: ['house:lights', 'house:more'], attribute: 'switch', function: 'all' },
      more: { members: ['virtual:b', 'house:both'], attribute: 'switch', function: 'any' },
    });
    stage.tell('virtual:a', 'switch', 'on');
    stage.tell('virtual:b', 'switch', 'on');
    expect(await stage.ready()).toContain('house:both/switch=on');
    stage.tell('virtual:b', 'switch', 'off');
    expect(stage.tell('virtual:a', 'switch', 'off')).toContain('house:lights/switch=off');
    expect(stage.values.get('house:both', 'switch')?.value).toBe('off');
  });

  test('takes names of house.yaml for its members', async () => {
    const stage = new Stage({
      aliases: { lamp: 'virtual:a' },
      groups: { g: { members: 'lamp', attribute: 'switch' } },
    }).device('virtual:a', 'switch');
    stage.tell('virtual:a', 'switch', 'on');
    expect(await stage.ready()).toContain('house:g/switch=on');
  });

  test('takes no commands', async () => {
    const stage = lights('any');
    await stage.ready();
    expect(stage.sink.declared.get('house:lights')).toMatchObject({ capabilities: [], commands: {} });
    await expect(stage.house.execute({ device: 'house:lights' } as never)).rejects.toMatchObject({
      code: 'COMMAND_UNKNOWN',
    });
  });

  test('can be described otherwise while the house runs', async () => {
    const stage = lights('any');
    stage.tell('virtual:a', 'switch', 'on');
    stage.tell('virtual:b', 'switch', 'off');
    await stage.ready();
    const config = houseSchema(Target).parse({
      groups: { lights: { members: ['virtual:a', 'virtual:b'], attribute: 'switch', function: 'all' } },
    });
    stage.house.reconfigure(config);
    expect(stage.sink.take()).toEqual(['devices: house:lights house:notify', 'house:lights/switch=off']);
  });
});

describe('answers to notifications', () => {
  test('are events of house:notify', async () => {
    const stage = new Stage({});
    await stage.ready();
    stage.house.answered('yes');
    expect(stage.sink.take()).toEqual(['house:notify!answered=yes']);
  });
});

describe('workdays', () => {
  const day = (text: string) => parseDate(text)!;
  const given = { except: ['12-24', '12-28..01-01'], extra: ['2026-12-05', '2026-12-30'] };

  test.each([
    ['2026-12-04', true, 'a Friday'],
    ['2026-12-06', false, 'a Sunday'],
    ['2026-12-05', true, 'an extra Saturday'],
    ['2026-12-24', false, 'an excepted Thursday'],
    ['2026-12-29', false, 'a Tuesday within an excepted range'],
    ['2026-12-30', true, 'an extra day within it'],
  ])('%s: %s, %s', (text, expected) => {
    expect(isWorkday(day(text), given)).toBe(expected);
  });

  test.each([
    ['DE', undefined, '2026-05-01', false, 'Labour Day'],
    ['DE', undefined, '2026-04-03', false, 'Good Friday, which moves'],
    ['DE', 'BE', '2027-03-08', false, 'a holiday of Berlin alone'],
    ['DE', 'BY', '2027-03-08', true, 'which Bavaria has not'],
    ['US', undefined, '2026-07-03', false, 'Independence Day, observed'],
    ['DE', undefined, '2026-05-04', true, 'a plain Monday'],
  ])('know the public holidays of %s %s: %s is one: %s (%s)', (country, region, text, expected, _why) => {
    expect(isWorkday(day(text), { country, region, extra: [], except: [] })).toBe(expected);
  });

  test('say which countries and regions there are', () => {
    expect(() => checkWorkdays({ country: 'XX', extra: [], except: [] })).toThrow('"XX"');
    expect(() => checkWorkdays({ country: 'DE', region: 'ZZ', extra: [], except: [] })).toThrow('no region "ZZ"');
    expect(() => checkWorkdays({ country: 'DE', region: 'BE', extra: [], except: [] })).not.toThrow();
    expect(() => checkWorkdays({ extra: [], except: [] })).not.toThrow();
  });
});
