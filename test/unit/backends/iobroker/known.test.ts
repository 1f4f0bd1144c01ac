// What is told of states: values are what is confirmed, all else are commands that were seen.
import { beforeEach, describe, expect, test } from 'vitest';
import { newCounters } from '../../../../src/backends/iobroker/counters.ts';
import { Held } from '../../../../src/backends/iobroker/held.ts';
import { Known } from '../../../../src/backends/iobroker/known.ts';
import { matcherOf } from '../../../../src/backends/iobroker/patterns.ts';
import type { IobState } from '../../../../src/backends/iobroker/wire.ts';
import type { Json } from '../../../../src/model/value.ts';
import { type Recorder, recorder } from '../kit.ts';
import { branch, catalogueOf, state } from './kit.ts';

const ON = 'hue.0.lamp.on';
const HUE = 'system.adapter.hue.0';
const ADMIN = 'system.adapter.admin.0';

let now: number;
let sink: Recorder;
let known: Known;
let counters: ReturnType<typeof newCounters>;

const is = (val: Json, ack: boolean, more: Partial<IobState> = {}): IobState => ({
  val,
  ack,
  ts: ++now,
  q: 0,
  from: ack ? HUE : ADMIN,
  ...more,
});
const take = (val: Json, ack: boolean, more: Partial<IobState> = {}, isOurs = false) =>
  known.take(ON, is(val, ack, more), isOurs);
const makers = () => sink.reports.flatMap(report => (report.type === 'value' ? [report.by ?? 'device'] : []));

beforeEach(async () => {
  now = 1_000;
  sink = recorder();
  counters = newCounters();
  const catalogue = await catalogueOf({
    'hue.0.lamp': branch('channel', 'Lamp'),
    [ON]: state('boolean', 'switch.light'),
    'hue.0.lamp.press': state('boolean', 'button', { write: true }),
    '0_userdata.0.x': state('number', 'value'),
  });
  known = new Known({ catalogue, sink, counters, isUnowned: matcherOf('0_userdata.*'), now: () => now });
});

describe('a command that is carried out', () => {
  test('is one change: what was written is a command, what is confirmed a value', () => {
    take(true, false);
    take(true, true);
    expect(sink.take()).toEqual([
      'iobroker:hue.0.lamp!command:on=true',
      'iobroker:hue.0.lamp/on=true',
      'iobroker:hue.0.lamp/switch=on',
    ]);
  });

  test('of our own is not told as one of others', () => {
    take(true, false, {}, true);
    expect(sink.take()).toEqual([]);
  });

  test('by a person is that person’s doing, if it is confirmed soon', () => {
    take(true, false);
    take(true, true);
    expect(new Set(makers())).toEqual(new Set(['user']));
    sink.reports.length = 0;
    take(false, false);
    now += 60_000;
    take(false, true);
    expect(new Set(makers())).toEqual(new Set(['device']));
  });

  test('by a script is nobody’s but the device’s', () => {
    take(true, false, { from: 'system.adapter.javascript.0' });
    take(true, true);
    expect(new Set(makers())).toEqual(new Set(['device']));
  });
});

describe('a value', () => {
  test('of another type leaves the old one, and is counted', () => {
    take(true, true);
    take('warm', true);
    expect(known.valueOf(ON)).toBe(true);
    expect(counters.misfits).toBeGreaterThan(0);
    expect(sink.lines).not.toContain('iobroker:hue.0.lamp/on=warm');
  });

  test('that comes late is told as it is, and the newer one stands', () => {
    take(true, true, { ts: 5_000 });
    sink.take();
    take(false, true, { ts: 4_000 });
    expect(sink.take()).toEqual(['iobroker:hue.0.lamp/on=false']);
    expect(known.valueOf(ON)).toBe(true);
  });

  test('of bad quality says so, for what is made of it too', () => {
    take(true, true, { q: 0x42 });
    expect(sink.take()).toEqual([
      'iobroker:hue.0.lamp/on=true (unavailable)',
      'iobroker:hue.0.lamp/switch=on (unavailable)',
    ]);
  });

  test('that is gone is unknown, without a time that could be ahead of what comes next', () => {
    take(true, true, { ts: 5_000 });
    known.take(ON, undefined, false);
    const [report] = sink.reports.slice(-1);
    expect(report).toMatchObject({ value: null, quality: 'unknown' });
    expect(report).not.toHaveProperty('sourceTime');
    take(false, true, { ts: 5_001 });
    expect(sink.take().at(-1)).toBe('iobroker:hue.0.lamp/switch=off');
  });

  test('of a state that nobody owns is whatever is written', () => {
    known.take('0_userdata.0.x', is(7, false), false);
    expect(sink.take()).toEqual(['iobroker:0_userdata.0/x=7']);
    expect(makers()).toEqual(['user']);
  });

  test('of a button is an event, its release none, and nothing is left of it', () => {
    known.take('hue.0.lamp.press', is(true, true), false);
    known.take('hue.0.lamp.press', is(false, true), false);
    expect(sink.take()).toEqual(['iobroker:hue.0.lamp!press=true']);
  });
});

describe('what comes while a snapshot is taken', () => {
  const replay = (snapshot: IobState, ...events: (IobState | undefined)[]): string[] => {
    known.load(ON, snapshot);
    const held = new Held();
    for (const event of events) held.add(ON, event);
    const told: string[] = [];
    held.release((_id, one) => told.push(one ? `${one.val}${one.ack ? '' : '?'}@${one.ts}` : 'gone'), known);
    return told;
  };
  const at = (ts: number, val: boolean, ack = true) => is(val, ack, { ts });

  test('is told where it is newer than the snapshot', () => {
    expect(replay(at(10, true), at(9, false), at(10, true), at(11, false))).toEqual(['false@11']);
  });

  test('is not lost where it is of the same millisecond', () => {
    expect(replay(at(10, true), at(10, true), at(10, false))).toEqual(['false@10']);
    expect(replay(at(10, true), at(10, false))).toEqual(['false@10']);
  });

  test('is a command or an end, whenever that was', () => {
    expect(replay(at(10, true), at(9, false, false), undefined)).toEqual(['false?@9', 'gone']);
  });

  test('is bounded: in a flood the last of each state stays', () => {
    const held = new Held();
    for (let n = 0; n < 100_000; n++) held.add(`s${n % 10}`, is(n, true));
    const last = new Map<string, Json>();
    held.release((id, one) => last.set(id, one?.val ?? null), { shows: () => false, isNewer: () => false });
    expect([...last.values()].sort()).toEqual(Array.from({ length: 10 }, (_, n) => 99_990 + n));
  });
});
