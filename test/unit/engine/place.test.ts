// Where the house stands, as backends tell it.
import { describe, expect, it } from 'vitest';
import { rememberedPlace } from '../../../src/engine/place.ts';
import type { Surroundings } from '../../../src/engine/view.ts';
import { memoryStore } from '../../../src/store/memory.ts';
import { type BareOptions, bareEngine } from '../../kit/bare-engine.ts';

const HOUR_MS = 3_600_000;
const SUNRISE = {
  id: 'dawn',
  name: 'Dawn',
  triggers: [{ type: 'sun', event: 'sunrise' }],
  actions: [{ type: 'log', message: 'up' }],
};
const HAMBURG = { latitude: 53.55, longitude: 9.99 };

/** An engine that was told places by backends; when the rule ran, in hours UTC. */
async function dawnAfter(told: [backend: string, latitude: number, longitude: number][], options: BareOptions = {}) {
  const store = memoryStore();
  const ran: number[] = [];
  const { engine, clock, start, runTo } = bareEngine({
    store,
    backends: ['hub', 'iob'],
    ...options,
    sinks: { onLog: () => void ran.push(clock.elapsed() / HOUR_MS) },
  });
  await start([SUNRISE]);
  for (const [backend, latitude, longitude] of told) {
    engine.sink(backend).report({ type: 'place', latitude, longitude });
    await engine.idle();
  }
  await runTo(24 * HOUR_MS);
  const { meta } = (await store.load()).tables;
  const { surroundings } = engine.core;
  engine.kill();
  return { ran, meta, surroundings: surroundings as Surroundings };
}

describe('the place of the house', () => {
  it('is what a backend tells: schedules by the sun begin then', async () => {
    expect((await dawnAfter([])).ran).toEqual([]);
    const { ran } = await dawnAfter([['iob', 53.55, 9.99]]);
    // Hamburg, 1 January: 8:37 CET.
    expect(ran).toHaveLength(1);
    expect(ran[0]).toBeCloseTo(7.61, 1);
  });

  it('follows the backend that told it, and no other one', async () => {
    const { surroundings, ran } = await dawnAfter([
      ['iob', 10, 10],
      ['hub', 20, 20],
      ['iob', 53.55, 9.99],
    ]);
    expect(surroundings.place).toEqual(HAMBURG);
    expect(ran).toHaveLength(1);
  });

  it('is what config.yaml says, whatever backends tell', async () => {
    const { surroundings, meta } = await dawnAfter([['iob', 10, 10]], { surroundings: { place: HAMBURG } });
    expect(surroundings.place).toEqual(HAMBURG);
    expect(meta.has('place')).toBe(false);
  });

  it.each([
    ['off the earth', 91, 0],
    ['nowhere', 0, 0],
    ['not a number', Number.NaN, 10],
  ])('is not known where a backend says that it is %s', async (_, latitude, longitude) => {
    expect((await dawnAfter([['iob', latitude, longitude]])).surroundings.place).toBeUndefined();
  });

  it('is remembered while that backend is one of ours', async () => {
    const { meta } = await dawnAfter([['iob', 53.55, 9.99]]);
    expect(rememberedPlace(meta, () => true)).toEqual({ ...HAMBURG, by: 'iob' });
    expect(rememberedPlace(meta, id => id === 'hub')).toBeUndefined();
    expect(rememberedPlace(new Map([['place', { latitude: 'x' }]]), () => true)).toBeUndefined();
  });
});
