// Which devices can be reached, by all that ioBroker says of it.
import { describe, expect, test } from 'vitest';
import { Reachability } from '../../../../src/backends/iobroker/reachability.ts';
import type { Instance, IobState } from '../../../../src/backends/iobroker/wire.ts';
import type { Json, Quality } from '../../../../src/model/value.ts';
import { recorder } from '../kit.ts';
import { branch, catalogueOf, state } from './kit.ts';

const is = (val: Json): IobState => ({ val, ack: true, ts: 1, q: 0, from: '' });
const instance = (id: string, more: Partial<Instance> = {}): Instance => ({
  id,
  enabled: true,
  mode: 'daemon',
  title: '',
  version: '',
  ...more,
});

async function stage(values: Record<string, Json> = {}, qualities: Record<string, Quality> = {}) {
  const catalogue = await catalogueOf({
    'hue.0.lamp': branch('channel', 'Lamp'),
    'hue.0.lamp.on': state('boolean', 'switch.light'),
    'hue.0.lamp.unreach': state('boolean', 'indicator.maintenance.unreach', { write: false }),
    'hue.0.info.connection': state('boolean', 'indicator.connected', { write: false }),
    'alias.0.desk.on': state('boolean', 'switch.light', { alias: { id: 'hue.0.lamp.on' } }),
  });
  const sink = recorder();
  const reachability = new Reachability({
    catalogue,
    sink,
    valueOf: id => values[id],
    qualityOf: id => qualities[id],
  });
  const now = () => {
    reachability.tell('all');
    return Object.fromEntries(sink.take().map(line => line.replace('iobroker:', '').split(' ') as [string, string]));
  };
  return { reachability, sink, now };
}

describe('a device', () => {
  test('of which nothing is said can be reached', async () => {
    const { now } = await stage();
    expect(now()).toEqual({ 'hue.0.lamp': 'online', 'hue.0.info': 'online', 'alias.0.desk': 'online' });
  });

  test.each([
    ['does not live', false],
    ['has stopped to say that it lives', null],
  ])('whose instance %s cannot, nor can its alias; what the instance says of itself can', async (_what, alive) => {
    const { reachability, now } = await stage();
    reachability.instances.set('hue.0', instance('hue.0'));
    reachability.take('system.adapter.hue.0.alive', is(true));
    expect(now()['hue.0.lamp']).toBe('online');
    reachability.take('system.adapter.hue.0.alive', alive === null ? undefined : is(alive));
    expect(now()).toEqual({ 'hue.0.lamp': 'offline', 'hue.0.info': 'online', 'alias.0.desk': 'offline' });
  });

  test('whose instance runs now and then only can', async () => {
    const { reachability, now } = await stage();
    reachability.instances.set('hue.0', instance('hue.0', { mode: 'schedule' }));
    reachability.take('system.adapter.hue.0.alive', is(false));
    expect(now()['hue.0.lamp']).toBe('online');
  });

  test.each([
    [false, 'offline'],
    [true, 'online'],
    ['', 'offline'],
    ['[]', 'offline'],
    ['bridge 1', 'online'],
  ])('whose instance says %j of its connection is %s', async (val, expected) => {
    const { reachability, now } = await stage();
    reachability.take('hue.0.info.connection', is(val));
    expect(now()['hue.0.lamp']).toBe(expected);
  });

  test('that says itself that it is gone cannot', async () => {
    const { now } = await stage({ 'hue.0.lamp.unreach': true });
    expect(now()['hue.0.lamp']).toBe('offline');
  });

  test('of which all is "not connected" cannot, while one good value is enough', async () => {
    const gone = await stage({}, { 'hue.0.lamp.on': 'unavailable', 'hue.0.lamp.unreach': 'unavailable' });
    expect(gone.now()['hue.0.lamp']).toBe('offline');
    const partly = await stage({}, { 'hue.0.lamp.on': 'unavailable', 'hue.0.lamp.unreach': 'good' });
    expect(partly.now()['hue.0.lamp']).toBe('online');
  });

  test('is told once', async () => {
    const { reachability, sink } = await stage();
    reachability.tell('changed');
    expect(sink.take()).toEqual([]);
    expect(reachability.take('hue.0.info.connection', is(false))).toBe('hue.0');
    reachability.tell('changed', 'hue.0');
    reachability.tell('changed', 'hue.0');
    expect(sink.take().sort()).toEqual(['iobroker:alias.0.desk offline', 'iobroker:hue.0.lamp offline']);
    expect(reachability.take('hue.0.info.connection', is(false))).toBeUndefined();
  });
});
